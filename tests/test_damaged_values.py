"""Values in files and on the command line that used to end in a traceback: each is an error that names its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import wholetext as wt
from wholetext.cli.main import main
from wholetext.errors import SpecError, WholetextError
from wholetext.registry import scorer

DEMO = Path(wt.__file__).parent / "demo" / "de-en.jsonl"
DIGITS, DEEP = "9" * 5000, "[" * 100_000


@pytest.mark.parametrize("spec", [f"chrf(word={DIGITS})", "chrf(beta=1e999)", f"slide(size={DIGITS}):chrf"])
def test_specs(spec: str) -> None:
    with pytest.raises(SpecError, match=r"\^"):
        scorer(spec)


@pytest.mark.parametrize("verb", ["compare", "rank", "sample", "gate", "stress", "report", "spans"])
def test_seeds_of_every_verb(verb: str, oracle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, demo = str(oracle / "run-0.1.0"), str(DEMO)
    words = {"sample": [run, "--documents", "1"], "gate": [run, "--baseline", "coherent"], "spans": [run, run],
             "report": [run, "-o", str(tmp_path / "x.html")], "stress": [demo, "-l", "de-en", "-m", "chrf"]}
    for seed in ("-1", DIGITS):
        with pytest.raises(SystemExit) as left:
            main([verb, *words.get(verb, [run]), "--seed", seed])
        said = capsys.readouterr().err
        assert left.value.code == 2 and "--seed" in said and "unexpectedly" not in said, said


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True])
def test_seeds_from_python(seed: Any, oracle: Path) -> None:
    results = wt.Results.load(oracle / "run-0.1.0")
    first = next(iter(results.scores))
    for use in (
        lambda: wt.Significance(seed=seed).compare(results.scores[first]),
        lambda: wt.ranking.rank(results, seed=seed, draws=5),
        lambda: wt.annotation.sample(results, documents=1, seed=seed),
    ):
        with pytest.raises(WholetextError, match="seed"):
            use()


@pytest.mark.parametrize("words", [
    ["--seed", "-1"], ["--seed", DIGITS], ["--seed", "1_0"], ["--alpha", "nan"], ["--draws", DIGITS],
    ["--alpha", "inf"], ["-l", "../x-en"], ["--baseline", "\ud800"], ["--system", "no\0name"],
])
def test_options(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    text = str(tmp_path / "a.txt")
    with pytest.raises(SystemExit) as left:
        main(["score", "-t", text, "-r", text, "-m", "chrf", "--no-cache", *words])
    said = capsys.readouterr().err
    assert left.value.code in (0, 2) and "unexpectedly" not in said and "Traceback" not in said, said
    assert left.value.code == 2 or words[0] == "-l"
