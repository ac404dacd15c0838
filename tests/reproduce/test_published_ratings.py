"""P Table 2 from direct assessments as WMT published them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.in_process import call
from tests.meta import evalset_folder
from tests.meta.test_direct_assessments import HEADER, hit, written
from wholetext.errors import InputError
from wholetext.reproduce import reproduce


def test_table_2_reads_the_published_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Documents of 5 and 3 segments, two systems, one rater; pairs and years that are missing are left out."""
    (tmp_path / "evalsets").mkdir()
    evalset_folder.make(tmp_path).rename(tmp_path / "evalsets" / "wmt19")
    archive = tmp_path / "evalsets" / "wmt19" / "human-scores" / "newstest2019-humaneval" / "mturk-doclevel"
    lines = [hit(f"{system}.6", i, 0.1 * i) for system in ("alpha", "beta") for i in range(1, 9)]
    written(archive / "ad-deen-good-stnd-redup.csv", [HEADER, *lines])
    result = reproduce("P", "table2", data=tmp_path)
    assert result.obtained == {"2019 de-en": (16, 6, 4, 2, 2, 0, 0, 0, 0, 0)}
    assert result.published("2019 de-en")[0] == 34756
    assert any("2020 zh-en is left out: the data set wmt20-da is needed" in note for note in result.notes)
    code, out, _ = call(capsys, "reproduce", "P", "table2", "--needs", "--data", tmp_path)
    assert not code and "newstest2020-humaneval.tar.gz" in "".join(out.split()) and "wmt19-da: missing" not in out


def test_an_archive_without_the_pair(tmp_path: Path) -> None:
    (tmp_path / "evalsets").mkdir()
    evalset_folder.make(tmp_path).rename(tmp_path / "evalsets" / "wmt19")
    with pytest.raises(InputError) as fault:
        reproduce("P", "table2", data=tmp_path)
    assert str(tmp_path / "evalsets" / "wmt19") in str(fault.value)
