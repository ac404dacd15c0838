"""The command line as a person uses it: files in, table out, run folder re-read; every mistake answered."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.in_process import call
from wholetext.cli.main import main
from wholetext.demo import load
from wholetext.errors import InputError
from wholetext.io import Loaded
from wholetext.io.formats import jsonl
from wholetext.scoring.evaluate import score

METRICS = ["-m", "bleu", "-m", "slide(size=3,step=2):chrf", "-m", "ter"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo corpus as parallel line files."""
    folder = tmp_path_factory.mktemp("lines")
    corpus, outputs = load("de-en")

    def write(name: str, lines: list[str]) -> None:
        (folder / f"{name}.txt").write_text("".join(line + "\n" for line in lines), "utf-8")

    write("docs", [doc.id for doc in corpus.docs for _ in range(len(doc))])
    write("src", [segment for doc in corpus.docs for segment in doc.src or ()])
    write("ref", [segment for doc in corpus.docs for segment in doc.refs["human"]])
    for output in outputs:
        write(output.system, [segment for doc in corpus.docs for segment in output.docs[doc.id]])
    return folder


def arguments(files: Path, *more: str) -> list[str]:
    systems = [str(files / f"{name}.txt") for name in ("coherent", "patchwork", "literal")]
    return [
        "score",
        "-s",
        str(files / "src.txt"),
        "-t",
        *systems,
        "-r",
        str(files / "ref.txt"),
        "-d",
        str(files / "docs.txt"),
        "-l",
        "de-en",
        *METRICS,
        *more,
    ]


def test_score_prints_one_table_and_keeps_a_run_that_compare_reads(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    code, out, err = call(capsys, *arguments(files, "--out", str(run)))
    assert code == 0, err
    assert "bleu ↑" in out
    assert "ter ↓" in out
    assert "slide(size=3,step=2):chrf ↑" in out
    assert "12 documents, 112 segments, de-en" in out
    rows = [line.split()[0] for line in out.splitlines()[1:4]]
    assert rows == ["patchwork", "coherent", "literal"]
    assert "bleu|sentence|refs:1|" in out
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text("utf-8").split("\n")[:-1]]
    assert {line["level"] for line in lines} == {"corpus", "doc", "row"}
    assert all(isinstance(line["score"], float) for line in lines)
    code, again, err = call(capsys, "compare", str(run), "--baseline", "coherent", "-f", "json")
    assert code == 0, err
    (first, *_) = json.loads(again)["metrics"]
    assert first["baseline"] == "coherent"
    printed = {
        line["system"]: line["score"] for line in lines if line["metric"] == "bleu" and line["level"] == "corpus"
    }
    assert {s["system"]: s["score"] for s in first["systems"]} == pytest.approx(printed)


@pytest.mark.parametrize("format", ["json", "tsv", "latex"])
def test_other_formats_are_complete(files: Path, format: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, *arguments(files, "-f", format, "--baseline", "literal"))
    assert code == 0, err
    if format == "json":
        found = json.loads(out)
        assert [m["name"] for m in found["metrics"]] == ["bleu", "slide(size=3,step=2):chrf", "ter"]
        assert all(s["interval"][0] <= s["score"] <= s["interval"][1] for m in found["metrics"] for s in m["systems"])
        assert all(s["signature"] for m in found["metrics"] for s in m["systems"])
    elif format == "tsv":
        rows = [line.split("\t") for line in out.strip().split("\n")]
        assert len(rows) == 1 + 3 * 3
        assert all(len(row) == len(rows[0]) for row in rows)
    else:
        assert out.count(r"\\") == 4
        assert r"\toprule" in out


def test_the_same_command_twice_gives_the_same_output(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, *arguments(files)) == call(capsys, *arguments(files, "--no-cache"))


def test_segments_can_be_resampled_and_that_is_said(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = call(capsys, *arguments(files, "--resample", "segments", "--test", "bootstrap", "--seed", "7"))
    assert "unit:segment" in out
    assert "seed:7" in out
    assert "as if they were independent" in out


def test_the_seed_may_come_from_where_sacrebleu_takes_it(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "None")
    assert "seed:none" in call(capsys, *arguments(files))[1]
    assert "seed:0|" in call(capsys, *arguments(files, "--seed", "0"))[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["-m", "bleux"], "did you mean"),
        (["-r", "nowhere.txt"], "nowhere.txt"),
        (["--baseline", "coherant"], "did you mean coherent"),
        (["--system", "nobody"], "nobody"),
        (["--ref", "nobody"], "nobody"),
    ],
)
def test_mistakes_are_answered_without_a_traceback(
    files: Path, change: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, *arguments(files, *change))
    assert code == 2
    assert message in err
    assert err.startswith("error: ")
    assert "Traceback" not in err


def test_files_of_different_lengths_are_an_error(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = tmp_path / "short.txt"
    short.write_text("".join((files / "coherent.txt").read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    code, _, err = call(
        capsys, "score", "-t", str(short), "-r", str(files / "ref.txt"), "-d", str(files / "docs.txt"), "-m", "bleu"
    )
    assert code == 2
    assert "short.txt" in err
    assert "111" in err
    assert "112" in err


def test_a_reference_free_corpus_cannot_use_bleu(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "score", "-s", str(files / "src.txt"), "-t", str(files / "coherent.txt"), "-m", "bleu")
    assert code == 2
    assert "bleu needs a reference" in err
    assert "-r" in err


@pytest.mark.parametrize("argv", [["compare", "nowhere"], ["score"], ["show", "nothing"], ["compare", "."]])
def test_every_verb_answers_nonsense(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, *argv)
    assert code == 2
    assert "→" in err


def test_a_damaged_run_folder_is_an_error(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    call(capsys, *arguments(files, "--out", str(run)))
    for name in ("stats0.npz", "texts.jsonl", "run.json"):
        kept = (run / name).read_bytes()
        for damage in (kept[: len(kept) // 2], b"", b"\x00" * 50):
            (run / name).write_bytes(damage)
            code, _, err = call(capsys, "compare", str(run))
            assert code == 2, (name, damage[:10])
            assert "Traceback" not in err
        (run / name).write_bytes(kept)
    assert call(capsys, "compare", str(run))[0] == 0


def test_plan_shows_the_text_with_the_scored_part_marked(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(
        capsys,
        "plan",
        "-t",
        str(files / "coherent.txt"),
        "-r",
        str(files / "ref.txt"),
        "-d",
        str(files / "docs.txt"),
        "-m",
        "context(prev=1):chrf",
        "--show",
        "2",
    )
    assert code == 0, err
    refs = (files / "ref.txt").read_text("utf-8").split("\n")
    assert f"{refs[0]} ┃ «{refs[1]}»" in out
    assert "112 rows of 1 system," in out


@pytest.mark.parametrize("verb", [["--help"], ["list"], ["score", "--help"]])
def test_help_and_list_import_nothing_heavy(verb: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "wholetext", *verb], capture_output=True, text=True
    )
    assert done.returncode == 0
    imported = {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if "|" in line}
    assert not imported & {"torch", "transformers", "spacy", "scipy.stats", "scipy", "sacrebleu", "pydantic", "pandas"}


def test_generated_pages_are_fresh() -> None:
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, str(root / "tools" / "make_docs.py"), "--check"])
    assert done.returncode == 0, "docs/cli.md or docs/notes.md is out of date: run `make docs`"


def test_what_is_wrong_is_told_before_scoring(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wholetext.scoring.compute.Computer.run", lambda *_: pytest.fail("it was measured"))
    (tmp_path / "file").write_text("mine")
    for wrong in (["--baseline", "nobody"], ["--alpha", "2"], ["--out", str(tmp_path / "file")], ["--device", "foo"]):
        code, _, err = call(capsys, *arguments(files, "-m", "chrf", *wrong))
        assert code == 2 and err.startswith("error:") and "→" in err, wrong


def test_faults_of_our_own_show_no_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr("wholetext.registry.catalogue", broken)
    code, _, err = call(capsys, "list")
    assert code == 1 and "ZeroDivisionError: by nought" in err and "Traceback" not in err
    for words in (["--debug", "list"], ["list", "--debug"]):
        with pytest.raises(ZeroDivisionError):
            main(words)
    with pytest.raises(InputError):
        main(["--debug", "score", "-t", "none.txt"])


@pytest.mark.parametrize("fault", [MemoryError(), RecursionError("maximum recursion depth exceeded")])
def test_faults_of_the_machine_are_one_message(
    fault: Exception, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise fault

    monkeypatch.setattr("wholetext.registry.catalogue", broken)
    code, _, err = call(capsys, "list")
    assert code == 1 and err.startswith(f"error: wholetext failed unexpectedly: {type(fault).__name__}")
    assert "--debug" in err and "Traceback" not in err


def test_workers_print_the_same(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = call(capsys, *arguments(files, "-m", "chrf", "-f", "json", "--no-cache"))
    assert here[0] == 0
    assert call(capsys, *arguments(files, "-m", "chrf", "-f", "json", "--no-cache", "--workers", "1")) == here
    texts = arguments(files)[1 : -len(METRICS)]
    sweep = ["sweep", *texts, "-m", "chrf", "--window", "2", "-f", "json", "--no-cache"]
    assert (found := call(capsys, *sweep))[0] == 0
    assert call(capsys, *sweep, "--workers", "1") == found
    for wrong in (["--on", "spark"], ["--on", "local", "--workers", "2"], ["--gpus", "99"]):
        code, _, err = call(capsys, *arguments(files, "-m", "chrf", *wrong))
        assert code == 2 and "→" in err, wrong


def test_an_interrupted_run_says_how_to_go_on(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wholetext.scoring.compute.Computer.run", interrupted)
    code, _, err = call(capsys, *arguments(files))
    assert code == 130 and "finished rows are cached" in err
    code, _, err = call(capsys, *arguments(files, "--no-cache"))
    assert code == 130 and "rows are cached" not in err
    monkeypatch.setattr("wholetext.registry.catalogue", interrupted)
    assert call(capsys, "list")[2] == "interrupted\n"


def test_one_system_gets_no_marks_and_one_document_no_interval(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["-t", str(files / "coherent.txt"), "-r", str(files / "ref.txt")]
    code, out, err = call(capsys, "score", *lines, "-m", "chrf")
    assert code == 0, err
    assert "±–" in out and "#1" not in out and "1 document, 112 segments. ±" in out


def test_a_file_name_that_is_not_utf8_still_names_a_system(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/sy\xff.txt")
    try:
        shutil.copy(files / "coherent.txt", path)
    except OSError:
        pytest.skip("this file system takes no such name")
    code, out, err = call(capsys, "score", "-t", path, "-r", str(files / "ref.txt"), "-m", "chrf", "--out",
                          str(tmp_path / "run"))
    assert code == 0 and "sy\ufffd" in out, err


def test_plan_repeats_what_the_reader_decided(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "plan", "-t", str(files / "coherent.txt"), "-r", str(files / "ref.txt"), "-m", "chrf")
    assert code == 0 and "taken as one document" in err


@pytest.mark.parametrize("content", ['{"x": 1}', "{"])
def test_a_folder_that_is_not_ours_is_not_called_a_run(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(content)
    (tmp_path / "a.txt").write_text("one\n")
    with pytest.raises(SystemExit):
        main(["score", "-t", str(tmp_path / "a.txt"), "-r", str(tmp_path / "a.txt"), "-m", "chrf", "--out",
              str(tmp_path / "run")])
    told = capsys.readouterr().err
    assert "--overwrite" not in told and "run.json" in told
    assert (tmp_path / "run" / "run.json").read_text() == content


def test_what_the_reader_noticed_is_printed_with_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"doc": "d", "refs": {"A": ["one"]}, "hyps": {"s": ["one"]}}\n')
    with pytest.raises(SystemExit):
        main(["score", str(path), "-m", "chrf"])
    told = capsys.readouterr().err
    assert "hyps" in told and "no output to score" in told


def test_the_run_and_the_next_command_are_named(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "a run"
    code, _, err = call(capsys, *arguments(files, "--out", str(run)))
    assert code == 0 and f"run folder: '{run}'" in err and f"wholetext compare '{run}' --baseline coherent" in err
    assert "next" not in call(capsys, *arguments(files, "--out", str(run), "--overwrite", "-q"))[2]
    assert "--out run" in call(capsys, *arguments(files))[2]


def test_without_metrics_the_choice_is_printed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("-t", str(files / "coherent.txt"), "-r", str(files / "ref.txt"))
    code, out, err = call(capsys, "score", *words)
    assert code == 0 and "metrics: chrf, bleu (choose others with -m)" in err and "chrf ↑" in out
    assert "metrics:" not in call(capsys, "score", *words, "-q")[2]


def test_scores_by_domain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A domain's score is that of its documents scored alone; every format has it."""
    corpus, outputs = load("de-en")
    docs = tuple(replace(doc, meta={"domain": "ab"[i % 2]}) for i, doc in enumerate(corpus.docs))
    corpus = replace(corpus, docs=docs)
    part = replace(corpus, docs=corpus.docs[1::2])
    alone = score(
        Loaded(part, [replace(one, docs={doc.id: one.docs[doc.id] for doc in part.docs}) for one in outputs]), ["bleu"]
    )["bleu"]
    jsonl.write(tmp_path / "c.jsonl", Loaded(corpus, tuple(outputs), ()))
    command = ["score", str(tmp_path / "c.jsonl"), "-m", "bleu", "-m", "ter", "--by-domain"]
    _, out, _ = call(capsys, *command, "--json")
    found = {one["system"]: one["domains"] for one in json.loads(out)["metrics"][0]["systems"]}
    assert {system: each["b"] for system, each in found.items()} == {
        system: pytest.approx(one.score) for system, one in alone.items()}
    _, table, _ = call(capsys, *command)
    assert table.count("By domain") == 2 and f"{found['literal']['a']:.2f}" in table.split("By domain")[1]
    for format in ("tsv", "latex"):
        _, out, _ = call(capsys, *command, "-f", format)
        assert f"{found['literal']['b']:.2f}"[:-1] in out
    _, out, _ = call(capsys, "score", str(tmp_path / "c.jsonl"), "-m", "bleu")
    assert "By domain" not in out


def test_without_domains_that_is_said(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources = ["-s", str(files / "src.txt"), "-t", str(files / "literal.txt"), "-r", str(files / "ref.txt")]
    _, out, _ = call(capsys, "score", *sources, "-m", "chrf", "--by-domain")
    assert "no document has a domain" in out and "By domain" not in out
