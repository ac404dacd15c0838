"""What a release consists of: files beside the package, the publishing workflow, the checks of `make release-check`."""

from __future__ import annotations

import re
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import wholetext
from tools import make_lock, release_check, test_versions
from tools.release_check import NotReady, contents, named, pinned, same
from wholetext.files.parsing import read_toml

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def extras() -> set[str]:
    return set(read_toml((ROOT / "pyproject.toml").read_bytes())["project"]["optional-dependencies"])


def test_version_changelog_and_citation_agree() -> None:
    named(wholetext.__version__, None)
    named(wholetext.__version__, f"v{wholetext.__version__}")
    with pytest.raises(NotReady, match="the tag is v9"):
        named(wholetext.__version__, "v9")
    with pytest.raises(NotReady, match="CHANGELOG"):
        named("9.9.9", None)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_only_publishing_may_sign(path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    text = path.read_text("utf-8")
    uses = re.findall(r"uses: (\S+)(.*)", text)
    assert uses and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action) for action, _ in uses)
    assert all(re.search(r"# v\d", comment) for _, comment in uses), "the version stands beside the commit"
    assert "secrets." not in text and "password" not in text.replace("no password", "")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert ("id-token" in job["permissions"]) == (name in ("attest", "publish"))
        assert "contents" not in job["permissions"] or job["permissions"]["contents"] == "read"


def test_the_workflow_runs_the_steps_of_continuous_integration() -> None:
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))["jobs"]["test"]
    assert job["steps"][-1]["run"] == "make ${{ matrix.step }}"
    steps = [f"make {step}" for step in job["strategy"]["matrix"]["step"]]
    assert steps == re.findall("^make .+$", (ROOT / ".ci" / "run").read_text("utf-8"), re.M)


def test_the_image_installs_extras_that_exist_and_files_that_are_sent() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", "")
    assert set(re.findall(r"^ARG EXTRAS=(\S+)", text, re.M)[0].split(",")) <= extras()
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = {name for names in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.M) for name in names.split()}
    assert copied == sent
    assert all((ROOT / name).exists() for name in copied - {"build/release/constraints-hashes.txt"})  # made at release
    known = r"FROM|RUN|COPY|ARG|ENV|USER|WORKDIR|ENTRYPOINT|CMD|#"
    assert all(re.match(known, line) for line in text.splitlines() if line.strip())
    assert re.search(r"^USER [1-9]\d*$", text, re.M), "nothing runs as root"


def test_the_image_is_pinned_by_digest_and_its_packages_by_hash() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", "")
    assert re.findall(r"^FROM (\S+)", text, re.M) == ["debian:bookworm-slim@sha256:${DIGEST}"] * 2
    assert re.search(r"^ARG DIGEST$", text, re.M), "a build that names no digest fails"
    for command in re.findall(r"bin/pip [^&\n]+", text):
        assert "--require-hashes" in command or "--no-index" in command


def test_the_example_workflow_is_pinned_and_quotes_its_variables() -> None:
    text = (ROOT / "examples" / "ci" / "quality-gate.yml").read_text("utf-8")
    uses = re.findall(r"uses: ([\w-]+/\S+) *(.*)", text)
    assert len(uses) == 3 and all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", " ".join(use)) for use in uses)
    for command in re.findall(r" run: (.+)", text):
        assert "$" not in re.sub(r'"[^"]*"', "", command)


def test_lower_bounds_name_the_vulnerability_that_they_exclude() -> None:
    requirements = pytest.importorskip("packaging.requirements")
    bounds = re.findall(r'"(.+)", # .*(?:CVE-\d{4}-\d+|GHSA-[\w-]+)', (ROOT / "pyproject.toml").read_text("utf-8"))
    bounded = {need.name: need.specifier for need in map(requirements.Requirement, bounds)}
    assert bounded.keys() == {"starlette", "uvicorn", "python-multipart", "jinja2", "pyarrow", "protobuf",
                              "transformers", "torch"}  # fmt: skip
    for name, versions in bounded.items():
        assert versions.contains(version(name)), name


def test_other_versions_are_tested_with_extras_and_tests_that_exist() -> None:
    assert set(test_versions.EXTRAS) <= extras()
    tests = [*test_versions.LOWEST, *test_versions.CORE, *(name.split("::")[0] for name in test_versions.DESELECTED)]
    assert all((ROOT / name).exists() for name in tests)
    for name in test_versions.DESELECTED:
        path, _, function = name.partition("::")
        assert f"def {function}(" in (ROOT / path).read_text("utf-8")


def wheel(folder: Path, names: list[str], size: int = 0) -> Path:
    path = folder / "wholetext-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as opened:
        for name in names:
            opened.writestr(name, "x" * size)
    return path


def test_wheels_have_all_of_the_package_and_nothing_else(tmp_path: Path) -> None:
    tracked = [f"src/{name}" for name in release_check.WANTED]
    whole = [*release_check.WANTED, "wholetext-1.dist-info/licenses/LICENSE"]
    assert contents(wheel(tmp_path, whole), tracked).endswith(f"{len(tracked)} files")
    with pytest.raises(NotReady, match="lacks LICENSE"):
        contents(wheel(tmp_path, whole[:-1]), tracked)
    with pytest.raises(NotReady, match=r"not in git: wholetext/notes\.txt"):
        contents(wheel(tmp_path, [*whole, "wholetext/notes.txt"]), tracked)
    with pytest.raises(NotReady, match=r"py\.typed"):
        contents(wheel(tmp_path, whole[1:]), tracked)
    with pytest.raises(NotReady, match="more than 2,000,000"):
        contents(wheel(tmp_path, whole, size=400_000), tracked)


def test_the_lock_has_every_package_with_its_hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("packaging")
    wheel = tmp_path / "torch-2.0.0+cpu-cp311-none-any.whl"
    wheel.write_bytes(b"tested")
    monkeypatch.setattr(make_lock, "resolved", lambda: {"numpy": "2.0.1", "torch": "2.0.0+cpu"})
    monkeypatch.setattr(make_lock, "on_index", lambda name, version: ["0" * 64])
    plain, tested = make_lock.lock(), make_lock.lock([wheel])
    assert pinned(plain, ["numpy>=1.26", "torch==2.0.0"]) == pinned(tested, ["numpy", "torch"]) == "2 packages"
    assert "torch==2.0.0+cpu ;" not in plain and "torch==2.0.0+cpu ; sys_platform ==" in tested
    assert make_lock.sha256(wheel) in tested


def test_two_builds_that_differ_are_told() -> None:
    same({"a": "1"}, {"a": "1"})
    for other, file in (({"a": "2"}, "a"), ({"a": "1", "b": "1"}, "b")):
        with pytest.raises(NotReady, match=f"differ: {file}"):
            same({"a": "1"}, other)
