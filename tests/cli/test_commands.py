"""The tree of commands: groups, help with examples, one meaning per option, old names, topics."""

from __future__ import annotations

import ast
import re
import shlex
from collections import defaultdict
from pathlib import Path

import pytest

from tests.in_process import Capture, call
from tools.make_docs import leaves
from wholetext.cli import help, renamed
from wholetext.cli.main import build
from wholetext.cli.terminal import MINUTE, progress_bar
from wholetext.cli.topics import TOPICS, page
from wholetext.files.parsing import read_toml

ROOT = Path(__file__).resolve().parents[2]
APP = build()
LEAVES = dict(leaves(APP))


@pytest.mark.parametrize("name", LEAVES)
def test_help_has_examples_that_parse_and_few_options(
    name: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command = LEAVES[name]
    shown = [entry for entry in help.entries(command) if not entry.rare and not entry.positional]
    examples = help.examples(command)
    assert 2 <= len(examples) <= 4 and len(shown) <= 15
    assert command.default_command.__doc__ and all(entry.text for entry in help.entries(command))
    code, out, _ = call(capsys, *name.split(), "--help")
    assert code == 0 and max(map(len, out.splitlines())) <= 80
    for example in examples:
        assert f"  {example}\n" in out
        words = [word for word in shlex.split(example) if not re.match("[A-Z_]+=", word)]
        assert words[0] == "wholetext" and renamed.modern(words[1:]) == words[1:]
        if words[1] == "meta" and words[2] not in APP["meta"]:
            words.insert(2, "agreement")
        function, bound, _ = APP.parse_args(words[1:], print_error=False, exit_on_error=False)
        assert function is command.default_command and bound is not None


def test_an_option_takes_the_same_everywhere() -> None:
    """`--out` takes a file or a folder, choices differ by command; anything else has one placeholder."""
    takes: dict[str, set[str]] = defaultdict(set)
    for command in LEAVES.values():
        for entry in help.entries(command):
            for option in () if entry.positional else entry.names:
                takes[option].add("choice" if "|" in entry.takes else entry.takes.removesuffix(" …"))
    several = {option: kinds for option, kinds in takes.items() if len(kinds) > 1 and option.startswith("--")}
    assert several == {"--out": {"FILE", "FOLDER"}, "--langs": {"PAIR", "choice"},
                       "--metric": {"METRIC", "JUDGE"}, "--metrics": {"METRIC", "JUDGE"}}  # fmt: skip


@pytest.mark.parametrize(("old", "new"), [
    ("plan corpus.jsonl -m chrf --show 1", "score --plan corpus.jsonl -m chrf --show 1"),
    ("sweep corpus.jsonl -m chrf --window 4 --step 1", "score corpus.jsonl -m chrf --sweep window=4 step=1"),
    ("features corpus.jsonl --foci", "explain --features corpus.jsonl --foci"),
    ("show 'context(prev=2):chrf'", "list 'context(prev=2):chrf'"),
    ("contrast set.json --documents folder --context 2", "meta contrast set.json --context-from folder --context 2"),
    ("stress corpus.jsonl --change drop", "meta stress corpus.jsonl --change drop"),
    ("spans gold.tsv --raters", "meta spans gold.tsv --compare-raters"),
    ("judge-check corpus.jsonl -m judge-da@x --samples 3", "meta judges corpus.jsonl -m judge-da@x --answers 3"),
    ("paragraphs wmt22 --k 3", "meta paragraphs wmt22 --k 3"),
    ("sample run --documents 3 --method spread", "annotate sample run --number 3 --by spread"),
    ("annotations log.jsonl --run run", "annotate read log.jsonl --run run"),
    ("meta wmt22 --context=0..3 --hyp own", "meta wmt22 --sweep context=0..3 hyp=own"),
    ("train wmt22 --human mqm --rate 1e-5", "train wmt22 --gold mqm --learning-rate 1e-5"),
    ("score -t a.txt --docs ids.txt --width 3", "score -t a.txt --docids ids.txt --decimals 3"),
    ("compare run --output recall", "compare run --component recall"),
    ("report run --segments 9", "report run --max-segments 9"),
])  # fmt: skip
def test_old_names_are_answered_with_the_new_command(old: str, new: str, capsys: Capture) -> None:
    code, out, err = call(capsys, *shlex.split(old))
    assert code == 2 and out == "" and err.endswith(f"\n  → write: wholetext {new}\n"), err
    assert "has another name now" in err and renamed.modern(shlex.split(new)) == shlex.split(new)


def test_every_new_name_exists() -> None:
    for name in renamed.COMMANDS.values():
        assert name.partition(" --")[0] in LEAVES
    for name, changes in renamed.OPTIONS.items():
        commands = [LEAVES[name]] if name in LEAVES else [LEAVES["meta agreement" if name == "meta" else "score"]]
        options = {option for command in commands for entry in help.entries(command) for option in entry.names}
        assert {new for new in changes.values() if not new.endswith("=")} <= options, name
        assert not options & {*changes}, name


def test_meta_without_a_command_is_agreement(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spans").mkdir()
    assert "meta spans: GOLD is missing" in call(capsys, "meta", "spans")[2]
    assert call(capsys, "meta", "./spans")[2] == call(capsys, "meta", "agreement", "./spans")[2]
    assert "did you mean contrast?" in call(capsys, "meta", "contrst")[2]
    assert "there is no option --colour" in call(capsys, "meta", "--colour")[2]
    code, out, _ = call(capsys, "meta", "--help")
    assert code == 0 and "./spans" in out and re.search("^  agreement +Evaluate", out, re.M)


@pytest.mark.parametrize("topic", TOPICS)
def test_topics_are_pages_of_the_documentation_and_of_the_wheel(topic: str, capsys: Capture) -> None:
    wheel = read_toml((ROOT / "pyproject.toml").read_bytes())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"][f"docs/{topic}.md"] == f"wholetext/pages/{topic}.md"
    text = page(topic)
    assert text.startswith("# ") and "<!--" not in text and ".md)" not in text
    assert call(capsys, "help", topic)[1].startswith(text)
    words = re.findall(r"\w+", (ROOT / "docs" / f"{topic}.md").read_text("utf-8"))
    assert len(re.findall(r"\w+", text)) > 0.8 * len(words)  # nothing is lost but links and comments


def test_help_of_a_topic_a_command_and_neither(capsys: Capture) -> None:
    assert all(f"\n  {topic} " in call(capsys, "help")[1] for topic in TOPICS)
    assert call(capsys, "help", "score")[1] == call(capsys, "score", "--help")[1]
    code, _, err = call(capsys, "help", "formts")
    assert code == 2 and "there is no topic 'formts'" in err and "did you mean formats" in err


def test_messages_point_to_topics_and_not_to_files_of_the_repository() -> None:
    """Docstrings and comments may name a page; a user of the wheel has no docs/."""
    wrong = []
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text("utf-8")
        if "docs/" not in text and "help" not in text:
            continue
        tree = ast.parse(text)
        docstrings = {id(node.body[0].value) for node in ast.walk(tree)
                      if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body
                      and isinstance(node.body[0], ast.Expr)}  # fmt: skip
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                wrong += [f"{path.name}:{node.lineno}"] if "docs/" in node.value else []
                for topic in re.findall("`?wholetext help ([a-z]+)", node.value):
                    assert topic in TOPICS, (path, topic)
    assert not wrong


def test_progress_of_a_log_is_a_line_per_metric_and_minute(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with progress_bar(quiet=False) as progress:
        assert progress is not None
        for second in range(0, 200, 10):
            now = float(second)
            progress("chrf", second, 1000)
            progress("quick", second, 20) if second < 30 else None
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["chrf: 60 of 1,000", "chrf: 120 of 1,000", "chrf: 180 of 1,000"] and MINUTE == 60


@pytest.mark.parametrize(("words", "option"), [
    ("score x.jsonl --plan --out run", "--out"), ("score x.jsonl --plan --sweep window=2", "--plan"),
    ("score x.jsonl --sweep window=2 --align", "--align"),
    ("score x.jsonl --sweep window=2 --baseline a", "--baseline"),
    ("score x.jsonl --plan --controls copy", "--controls"),
    ("score x.jsonl -m judge-da --dry-run calls.jsonl --out run", "--out"),
    ("list chrf --no-ref", "--no-ref"),
])  # fmt: skip
def test_options_without_effect_are_refused(words: str, option: str, capsys: Capture) -> None:
    code, _, err = call(capsys, *words.split())
    assert code == 2 and f"{option} has no effect beside" in err and f"leave out {option}" in err


@pytest.mark.parametrize(("settings", "message"), [
    (["window=2", "depth=3"], "there is no setting 'depth'"),
    (["window=x"], "'x' is not an integer"), (["window=0"], "from 1"),
    (["context=2..3"], "write the largest size"), (["window=2", "partial=drop,include"], "has one partial="),
    (["corpus.jsonl"], "files come before --sweep"), (["hyp=own"], "either the context or the window"),
    (["context=1", "hyp=onw"], "there is no hyp 'onw'"), (["context=1", "window=2"], "either the context or"),
])  # fmt: skip
def test_mistakes_in_settings_of_a_sweep(settings: list[str], message: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    text = str(tmp_path / "a.txt")
    code, _, err = call(capsys, "score", "-t", text, "-r", text, "-m", "chrf", "--sweep", *settings)
    assert code == 2 and message in err and "→" in err, err


def test_list_explains_a_change(capsys: Capture) -> None:
    assert "change swap (" in call(capsys, "list", "swap")[1]


def test_a_report_is_opened(oracle: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jinja2")
    pages: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda page: pages.append(page) or True)
    code, _, err = call(capsys, "report", oracle / "run-0.2.0", "-o", tmp_path / "x.html", "--open")
    assert code == 0 and pages == [(tmp_path / "x.html").as_uri()], err


def test_metrics_and_views_ignore_case(capsys: Capture) -> None:
    assert call(capsys, "list", "CHRF", "--json")[1] == call(capsys, "list", "chrf", "--json")[1]
    assert call(capsys, "list", "Whole:BLEU", "--json")[1] == call(capsys, "list", "whole:bleu", "--json")[1]
    assert call(capsys, "list", "Slide", "--json")[1] == call(capsys, "list", "slide", "--json")[1]
