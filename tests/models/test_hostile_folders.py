"""Python code that comes with a model folder never runs, whichever loader opens it and whatever stdin answers."""

from __future__ import annotations

import ast
import io
import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from wholetext import score
from wholetext.errors import WholetextError
from wholetext.metrics import verify as verifying
from wholetext.scoring.evaluate import Options

ROOT = Path(__file__).resolve().parent.parent.parent
MODELS = ROOT / "tests" / "oracle" / "neural" / "models"
AUTO = ("AutoConfig", "AutoModel", "AutoModelForSeq2SeqLM", "AutoModelForCausalLM", "AutoModelForMaskedLM")
# metric → the small model whose folder is turned into a hostile one
LOADERS = {
    "bertscore@M": "tiny-bert", "mover@M": "tiny-bert", "sbert@M": "tiny-bert", "ds-sent(tagger=plain)@M": "tiny-bert",
    "prism@M": "tiny-mbart50", "bartscore@M": "tiny-mbart50", "metricx@M": "tiny-mt5", "comet@C": "tiny-xlmr",
    "learned@L": "tiny-bert", "metricx(tokenizer=M)@X": "tiny-mt5",
}  # fmt: skip


def hostile(folder: Path, mark: Path, renamed: bool) -> None:
    """Let every table of the folder ask for ``evil.py``, which makes a file; ``renamed``: of an unknown model type."""
    code = f"open({str(mark)!r}, 'w').close()\n"
    names = (*AUTO, "AutoTokenizer")
    for name in ("Evil", "Config"):
        code += f"class {name}:\n    def __init__(self, *a, **k): open({str(mark)!r}, 'w').close()\n"
    (folder / "evil.py").write_text(code, "utf-8")
    for file in ("config.json", "tokenizer_config.json"):
        table = json.loads((folder / file).read_text("utf-8"))
        table["auto_map"] = {name: ["evil.Evil", "evil.Evil"] if name == "AutoTokenizer" else "evil.Evil"
                             for name in names}  # fmt: skip
        if renamed:
            table |= {"model_type": "evil", "tokenizer_class": "Evil"}
        (folder / file).write_text(json.dumps(table), "utf-8")


@pytest.mark.parametrize("renamed", [False, True], ids=["known type", "unknown type"])
@pytest.mark.parametrize("spec", LOADERS)
def test_nothing_in_the_folder_runs(
    spec: str, renamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, mark = tmp_path / LOADERS[spec], tmp_path / "owned"
    shutil.copytree(MODELS / LOADERS[spec], model)
    shutil.copytree(MODELS / "comet-reg-mix", tmp_path / "C")
    shutil.copytree(MODELS / "tiny-mt5", tmp_path / "X")
    (tmp_path / "L").mkdir()
    hostile(model, mark, renamed)
    if spec == "learned@L":
        from wholetext.models.hub.locate import content_hash

        told = {"form": "aligned", "base": LOADERS[spec], "content": content_hash(model)}
        (tmp_path / "L" / "wholetext.json").write_text(json.dumps(told), "utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 100))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for letter in "CLX":
        spec = spec.replace(f"@{letter}", f"@{tmp_path / letter}")
    spec = spec.replace("@M", f"@{model}").replace("=M", f"={model}")
    said = ""
    try:
        score(["A text."], spec, srcs=["Ein Text."], refs=["The text."], langs="de-en", options=Options(device="cpu"))
    except WholetextError as fault:
        said = str(fault)
    verifying.verify(model)
    assert not mark.exists()
    assert "[y/N]" not in capsys.readouterr().out  # nobody was asked
    assert not renamed or said


def test_every_call_into_transformers_refuses_code() -> None:
    """``trust_remote_code`` is not left to the default anywhere, which is to ask."""
    calls = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) \
                    and node.func.attr in {"from_pretrained", "from_config"}:  # fmt: skip
                told = [ast.unparse(keyword) for keyword in node.keywords]
                assert {"trust_remote_code=False", "**SAFE", "**hub.SAFE", "**loading(folder)"} & set(told), path
                calls.append(path.name)
    assert len(calls) >= 5
