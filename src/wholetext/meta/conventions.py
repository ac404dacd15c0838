"""What the WMT metrics tasks agreed on for their test sets: standard references, gold scores, outlier systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

#: test set → language pair → the reference that metrics use; "" is every other pair
REFERENCES: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "wmt19": {"": "ref"},
    "wmt20": {"": "ref"},
    "wmt21.news": {"": "refA", "en-de": "refC", "zh-en": "refB"},
    "wmt21.tedtalks": {"": "refA", "zh-en": "refB"},
    "wmt21": {"": "refA"},
    "wmt22": {"": "refA", "cs-en": "refB", "en-cs": "refB"},
    "wmt23": {"": "refA", "he-en": "refB", "en-he": "refB"},
    "wmt24": {"": "refA", "en-de": "refB"},
})

#: systems so far off that correlations are reported without them
OUTLIERS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType({
    "wmt20": {
        "cs-en": ("zlabs-nlp.1149", "CUNI-DocTransformer.1457"),
        "de-en": ("yolo.1052", "zlabs-nlp.1153", "WMTBiomedBaseline.387"),
        "en-cs": ("zlabs-nlp.1151", "Online-G.1555"),
        "en-de": ("zlabs-nlp.179", "WMTBiomedBaseline.388", "Online-G.1556"),
        "en-iu": ("UEDIN.1281", "OPPO.722", "UQAM_TanLe.521"),
        "en-ja": ("Online-G.1557", "SJTU-NICT.370"),
        "en-pl": ("Online-Z.1634", "zlabs-nlp.180", "Online-A.1576"),
        "en-ta": ("TALP_UPC.1049", "SJTU-NICT.386", "Online-G.1561"),
        "iu-en": ("NiuTrans.1206", "Facebook_AI.729"),
        "ja-en": ("Online-G.1564", "zlabs-nlp.66", "Online-Z.1640"),
        "pl-en": ("zlabs-nlp.1162",),
        "ru-en": ("zlabs-nlp.1164",),
        "ta-en": ("Online-G.1568", "TALP_UPC.192"),
        "zh-en": ("WMTBiomedBaseline.183",),
    },
    "wmt22": {"en-de": ("M2M100_1.2B-B4",)},
    "wmt23": {"en-de": ("synthetic_ref",), "zh-en": ("synthetic_ref",)},
    "wmt24": {"en-de": ("MSLC",), "en-es": ("MSLC",), "ja-zh": ("MSLC",)},
})

_GOLD = ("mqm", "esa", "mqm-sev", "wmt-raw", "wmt", "wmt-appraise", "wmt-z", "da")  # the first that a set has


def _of(table: Mapping[str, Mapping[str, object]], name: str) -> Mapping[str, object]:
    """The entry of the longest test set name that this folder's name begins with."""
    known = [key for key in table if name == key or name.startswith(f"{key}.")]
    return table[max(known, key=len)] if known else {}


def standard_reference(test_set: str, langs: str, there: Sequence[str]) -> str | None:
    """The reference that metrics use in this set, if it is there; else the only or the first one."""
    table = _of(REFERENCES, test_set)
    wanted = str(table.get(langs, table.get("", "")))
    if wanted in there:
        return wanted
    return there[0] if there else None


def outliers(test_set: str, langs: str) -> tuple[str, ...]:
    """The systems that the metrics task leaves out."""
    found = _of(OUTLIERS, test_set).get(langs, ())
    return tuple(found) if isinstance(found, tuple) else ()


def standard_gold(there: Sequence[str]) -> str | None:
    """MQM where there is MQM, else direct assessment."""
    return next((name for name in _GOLD if name in there), there[0] if there else None)


def is_human(system: str, references: Sequence[str]) -> bool:
    """Whether an output is a reference that was judged (``refA``, or ``Human-A.0`` in older sets)."""
    return system in references or system.startswith(("Human-", "ref.", "ref-")) or system in ("ref", "refA", "refB",
                                                                                              "refC", "refD")
