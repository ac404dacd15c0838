"""`meta --tasks wmt23|wmt24` alone is the official table: its systems, references, metrics and weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.in_process import call
from tests.meta import wmt_folders
from tests.meta.wmt_folders import Values
from wholetext.meta.agreement.measures import Measure, estimate
from wholetext.meta.conventions import standard_references
from wholetext.meta.tasks import official_langs, preset

OFFICIAL = {"wmt23": ("en-de", "he-en", "zh-en"), "wmt24": ("en-de", "en-es", "ja-zh")}
HUMAN = {("wmt23", "he-en"): "refA", ("wmt24", "en-de"): "refA"}  # second references, judged as systems


def table(capsys: pytest.CaptureFixture[str], *argv: str) -> dict:
    code, out, err = call(capsys, "meta", *argv, "--draws", 0, "--json")
    assert code == 0, err
    return json.loads(out)


def systems_of(year: str, lp: str) -> list[str]:
    names = [f"Sys{i}" for i in range(wmt_folders.PAIRS[year][lp][3])]
    return sorted([*names, *([HUMAN[year, lp]] if (year, lp) in HUMAN else [])])


def means(values: Values, systems: list[str]) -> np.ndarray:
    """(systems, 1) the means in the files."""
    return np.array([[float(np.nanmean(values[name]))] for name in systems])


def expected(year: str, made: dict, name: str) -> dict[str, float]:
    """Column → value of one metric, in the order of the official table."""
    result: dict[str, float] = {}
    parts = []
    for lp in OFFICIAL[year]:
        gold, metrics = made[lp]
        std = wmt_folders.PAIRS[year][lp][0]
        parts.append((gold, metrics[f"{name}-{'src' if name == wmt_folders.QE[year] else std}"], systems_of(year, lp)))
    if year == "wmt23":
        single = [estimate(means(gold, systems), means(metric, systems), Measure("accuracy", "item"))
                  for gold, metric, systems in parts]
        result["sys:accuracy"] = sum(e.value * e.pairs for e in single) / sum(e.pairs for e in single)
    for lp, (gold, metric, systems) in zip(OFFICIAL[year], parts):
        g, m = ([values[name] for name in systems] for values in (gold, metric))
        if year == "wmt23":
            level = means(gold, systems), means(metric, systems)
            result[f"sys:pearson {lp}"] = estimate(*level, Measure("pearson")).value
            result[f"seg:pearson {lp}"] = estimate(np.array(g), np.array(m), Measure("pearson")).value
        else:
            result[f"sys:spa {lp}"] = estimate(np.array(g), np.array(m), Measure("spa")).value
        result[f"seg:acc_eq {lp}"] = estimate(np.array(g), np.array(m), Measure("acc_eq", "item")).value
    return result


@pytest.mark.parametrize("year", ["wmt23", "wmt24"])
@pytest.mark.parametrize("name", ["", "without texts"])
def test_the_official_table(year: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = wmt_folders.make(tmp_path, year)
    folder = tmp_path / year
    for part in ("references", "sources") if name == "without texts" else ():
        shutil.rmtree(folder / part)
    result = table(capsys, str(folder), "--tasks", year)
    metrics = {*wmt_folders.METRICS[year], wmt_folders.QE[year]}
    assert {row["name"] for row in result["average"]["metrics"]} == metrics  # no contrastive submission
    averages = {row["name"]: row["value"] for row in result["average"]["metrics"]}
    for metric in sorted(metrics):
        required = expected(year, made, metric)
        values = [row["value"] for task in result["tasks"] for row in task["metrics"] if row["name"] == metric]
        assert values == pytest.approx(list(required.values()), abs=1e-9), metric
        weights = [3.0 if column == "sys:accuracy" else 1.0 for column in required]
        unit = [(value + 1) / 2 if "pearson" in column else value for column, value in required.items()]
        assert averages[metric] == pytest.approx(np.average(unit, weights=weights), abs=1e-9)
    if year == "wmt23":
        assert result["tasks"][0]["metrics"][0]["pairs"] == 15 + 15 + 21  # he-en: five systems and refA


def test_what_the_preset_decides_can_be_said_otherwise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wmt_folders.make(tmp_path, "wmt23")
    folder = str(tmp_path / "wmt23")
    result = table(capsys, folder, "--tasks", "wmt23", "--no-human", "--no-primary")
    assert result["tasks"][0]["metrics"][0]["pairs"] == 15 + 10 + 21
    assert "contrastive" in {row["name"] for row in result["average"]["metrics"]}
    single = table(capsys, folder, "--tasks", "wmt23", "-l", "en-de")
    assert [task["task"] for task in single["tasks"]] == ["sys:accuracy", "sys:pearson", "seg:pearson", "seg:acc_eq"]
    assert single["average"]["weights"] == [0.25] * 4
    later = table(capsys, folder, "--tasks", "wmt24")  # the next year's tasks on this set
    assert [task["where"] for task in later["tasks"][::2]] == [f"wmt23 {lp}" for lp in OFFICIAL["wmt23"]]
    assert "refA" in later["fields"][1]["systems"]


def test_a_missing_system_counts_as_zero_with_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = wmt_folders.make(tmp_path, "wmt24")
    for level in ("seg", "sys"):
        path = tmp_path / "wmt24" / "metric-scores" / "en-es" / f"BLEU-refA.{level}.score"
        path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("Sys2")))
    made["en-es"][1]["BLEU-refA"]["Sys2"] = np.zeros(wmt_folders.SEGMENTS)
    result = table(capsys, str(tmp_path / "wmt24"), "--tasks", "wmt24")
    value = next(row["value"] for row in result["tasks"][3]["metrics"] if row["name"] == "BLEU")
    assert value == pytest.approx(expected("wmt24", made, "BLEU")["seg:acc_eq en-es"], abs=1e-9)
    assert any("Sys2" in note and "count as 0" in note for note in result["notes"])


def test_an_unknown_folder_is_warned_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wmt_folders.make(tmp_path, "wmt23")
    folder = tmp_path / "mine"
    (tmp_path / "wmt23").rename(folder)
    result = table(capsys, str(folder), "-l", "he-en", "--level", "sys")
    assert result["fields"][0]["refs"] == ["refA"]
    assert any("mine is not the name of a WMT test set" in note for note in result["notes"])
    result = table(capsys, str(folder), "-l", "he-en", "--level", "sys", "--conventions", "wmt23")
    assert result["fields"][0]["refs"] == ["refB"]
    assert not any("not the name" in note for note in result["notes"])


def test_wmt25_takes_esa_where_there_is_esa(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wmt_folders.make(tmp_path, "wmt23")
    folder = str(tmp_path / "wmt23")
    result = table(capsys, folder, "--tasks", "wmt25", "-l", "en-de", "-l", "cs-uk")
    assert [(task["task"], task["gold"]) for task in result["tasks"]] == [
        ("sys:spa", "esa"), ("seg:acc_eq", "esa"), ("sys:spa", "da-sqm"), ("seg:acc_eq", "da-sqm")]
    same = table(capsys, folder, "--tasks", "wmt24", "-l", "en-de", "--gold", "esa")
    assert result["tasks"][:2] == same["tasks"]
    requested = table(capsys, folder, "--tasks", "wmt25", "-l", "en-de", "--gold", "mqm")
    assert {task["gold"] for task in requested["tasks"]} == {"mqm"}


def test_language_pairs_and_references_of_wmt25_and_wmt24pp() -> None:
    assert official_langs("wmt25", "wmt25", ["en-ja", "ja-zh_CN", "en-de", "en-sr_Cyrl_RS"]) == [
        "en-ja", "en-sr_Cyrl_RS", "ja-zh_CN"]
    assert official_langs("wmt24", "wmt24", ["ja-zh", "en-de", "en-is"]) == ["en-de", "ja-zh"]
    assert official_langs("wmt24pp", "wmt24pp", ["en-de_DE", "en-is_IS"]) == ["en-de_DE", "en-is_IS"]
    assert preset("wmt24pp").tasks == preset("wmt24").tasks
    assert standard_references("wmt24pp", "en-de_DE", ["refA", "posteditA"]) == ("posteditA",)
    assert standard_references("wmt24pp", "en-de_DE", ["refA"]) == ("refA",)
