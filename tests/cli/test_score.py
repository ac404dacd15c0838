"""The command line as a person uses it: files in, table out, run folder re-read; every mistake answered."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import demo_files
from tests.in_process import Capture, call
from wholetext.cli.main import main
from wholetext.demo import load
from wholetext.errors import InputError
from wholetext.io import Loaded
from wholetext.io.formats import jsonl
from wholetext.scoring.evaluate import score

METRICS = ["-m", "bleu", "-m", "slide(size=3,step=2):chrf", "-m", "ter"]


def arguments(files: Path, *more: str) -> list[str]:
    return ["score", *demo_files(files, "coherent", "patchwork", "literal"), *METRICS, *more]


def test_score_prints_one_table_and_keeps_a_run_that_compare_reads(
    files: Path, tmp_path: Path, capsys: Capture
) -> None:
    run = tmp_path / "run"
    code, out, err = call(capsys, *arguments(files, "--out", str(run)))
    assert code == 0, err
    for shown in ("bleu ↑", "ter ↓", "slide(size=3,step=2):chrf ↑", "12 documents, 112 segments, de-en", "1 ref: ref"):
        assert shown in out
    rows = [line.split()[0] for line in re.findall(r"^\w+ +\d+\.\d.*", out, re.M)[:3]]
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


def test_segments_can_be_resampled_and_that_is_said(files: Path, capsys: Capture) -> None:
    _, out, _ = call(capsys, *arguments(files, "--resample", "segments", "--test", "bootstrap", "--seed", "7"))
    assert "unit:segment" in out
    assert "seed:7" in out
    assert "as if they were independent" in out


def test_the_seed_may_come_from_where_sacrebleu_takes_it(
    files: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "None")
    assert "seed:none" in call(capsys, *arguments(files))[1]
    assert "seed:0|" in call(capsys, *arguments(files, "--seed", "0"))[1]


def test_plan_shows_the_text_with_the_scored_part_marked(files: Path, capsys: Capture) -> None:
    texts = ("-t", files / "coherent.txt", "-r", files / "ref.txt", "-d", files / "docs.txt")
    code, out, err = call(capsys, "score", "--plan", *texts, "-m", "context(prev=1):chrf", "--show", 2)
    assert code == 0, err
    refs = (files / "ref.txt").read_text("utf-8").split("\n")
    assert f"{refs[0]} ┃ «{refs[1]}»" in out
    assert "112 rows of 1 system," in out


def test_what_is_wrong_is_told_before_scoring(
    files: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wholetext.scoring.compute.Computer.run", lambda *_: pytest.fail("it was measured"))
    (tmp_path / "file").write_text("mine")
    for wrong in (["--baseline", "nobody"], ["--alpha", "2"], ["--out", str(tmp_path / "file")], ["--device", "foo"]):
        code, _, err = call(capsys, *arguments(files, "-m", "chrf", *wrong))
        assert code == 2 and err.startswith("error:") and "→" in err, wrong


@pytest.mark.parametrize("fault", [ZeroDivisionError("by nought"), MemoryError(), RecursionError("too deep")])
def test_faults_of_our_own_show_no_traceback(
    fault: Exception, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise fault

    monkeypatch.setattr("wholetext.registry.catalogue", broken)
    code, _, err = call(capsys, "list")
    said = f"{type(fault).__name__}: {fault}".removesuffix(": ")
    assert code == 1 and err.startswith(f"error: wholetext failed unexpectedly: {said}")
    assert "--debug" in err and "Traceback" not in err
    for words in (["--debug", "list"], ["list", "--debug"]):
        with pytest.raises(type(fault)):
            main(words)
    with pytest.raises(InputError):
        main(["--debug", "score", "-t", "none.txt"])


def test_workers_print_the_same(files: Path, capsys: Capture) -> None:
    here = call(capsys, *arguments(files, "-m", "chrf", "-f", "json", "--no-cache"))
    assert here[0] == 0
    assert call(capsys, *arguments(files, "-m", "chrf", "-f", "json", "--no-cache", "--workers", "1")) == here
    texts = arguments(files)[1 : -len(METRICS)]
    sweep = ["score", *texts, "-m", "chrf", "--sweep", "window=2", "-f", "json", "--no-cache"]
    assert (found := call(capsys, *sweep))[0] == 0
    assert call(capsys, *sweep, "--workers", "1") == found
    for wrong in (["--on", "spark"], ["--on", "local", "--workers", "2"], ["--gpus", "99"]):
        code, _, err = call(capsys, *arguments(files, "-m", "chrf", *wrong))
        assert code == 2 and "→" in err, wrong


def test_an_interrupted_run_says_how_to_go_on(files: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wholetext.scoring.compute.Computer.run", interrupted)
    code, _, err = call(capsys, *arguments(files))
    assert code == 130 and "finished rows are cached" in err
    code, _, err = call(capsys, *arguments(files, "--no-cache"))
    assert code == 130 and "rows are cached" not in err
    monkeypatch.setattr("wholetext.registry.catalogue", interrupted)
    assert call(capsys, "list")[2] == "interrupted\n"


def test_one_system_gets_no_marks_and_one_document_no_interval(files: Path, tmp_path: Path, capsys: Capture) -> None:
    lines = ["-t", str(files / "coherent.txt"), "-r", str(files / "ref.txt")]
    code, out, err = call(capsys, "score", *lines, "-m", "chrf")
    assert code == 0, err
    assert "±" not in out and "#1" not in out and " =" not in out and "1 document, 112 segments." in out


@pytest.mark.parametrize("content", ['{"x": 1}', "{"])
def test_a_folder_that_is_not_ours_is_not_called_a_run(content: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(content)
    (tmp_path / "a.txt").write_text("one\n")
    text = tmp_path / "a.txt"
    told = call(capsys, "score", "-t", text, "-r", text, "-m", "chrf", "--out", tmp_path / "run")[2]
    assert "--overwrite" not in told and "run.json" in told
    assert (tmp_path / "run" / "run.json").read_text() == content


def test_the_run_and_the_next_command_are_named(files: Path, tmp_path: Path, capsys: Capture) -> None:
    run = tmp_path / "a run"
    code, _, err = call(capsys, *arguments(files, "--out", str(run)))
    assert code == 0 and f"run folder: '{run}'" in err and f"wholetext compare '{run}' --baseline coherent" in err
    assert "next" not in call(capsys, *arguments(files, "--out", str(run), "--overwrite", "-q"))[2]
    assert "--out run" in call(capsys, *arguments(files))[2]


def test_without_metrics_the_choice_is_printed(files: Path, capsys: Capture) -> None:
    words = ("-t", str(files / "coherent.txt"), "-r", str(files / "ref.txt"))
    code, out, err = call(capsys, "score", *words)
    assert code == 0 and "metrics: chrf, bleu (choose others with -m)" in err and "chrf ↑" in out
    assert "metrics:" not in call(capsys, "score", *words, "-q")[2]


def test_scores_by_domain(tmp_path: Path, capsys: Capture) -> None:
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
