"""What the WMT metrics tasks agreed on for their test sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_GOLD = ("mqm", "esa", "mqm-sev", "wmt-raw", "wmt", "wmt-appraise", "da-sqm", "wmt-z", "da")


@dataclass(frozen=True)
class Conventions:
    """The conventions of one test set; names are separated by blanks."""

    references: Mapping[str, str]  # language pair → what metrics use; "": every other pair
    # systems that correlations go without
    outliers: Mapping[str, str] = field(default_factory=dict)
    human: str = ""  # language pairs whose second reference the official tasks judge as a system
    pairs: str = ""  # language pairs of the official tasks, in the order of their tables
    primary: str = ""  # primary submissions and baselines, without the reference
    tasks: tuple[str, ...] = ()  # of the year's official table, for every language pair
    pooled: bool = False  # accuracy over all pairs too, which weighs as much as there are pairs
    gold: str = ""  # human scores that count where a pair has them; else MQM where there is MQM

    def reference(self, langs: str) -> str:
        return self.references.get(langs, self.references.get("", ""))


_PRIMARY_21 = (
    "bleurt-20 COMET-MQM_2021 COMET-QE-MQM_2021 C-SPECpn MEE2 MTEQA OpenKiwi-MQM regEMT YiSi-1 "
    "YiSi-2 BERTScore "
    "sentBLEU BLEU chrF Prism TER cushLEPOR(LM) hLEPOR RoBLEURT"
)
ALL = "*"  # every reference
SETS: dict[str, Conventions] = {
    # rated summaries; of SummEval the extractive systems are left out (Zhao et al. 2023, A.2)
    "summaries": Conventions({"": ALL}),
    "table": Conventions({"": ALL}),  # a file with a column of human scores
    "summeval": Conventions({"": ALL}, outliers={"en-en": "M0 M1 M2 M5"}),
    "ner18": Conventions({"": ALL}),
    "wmt19": Conventions({"": "ref"}),
    "wmt20": Conventions(
        {"": "ref"},
        outliers={
            "cs-en": "zlabs-nlp.1149 CUNI-DocTransformer.1457",
            "de-en": "yolo.1052 zlabs-nlp.1153 WMTBiomedBaseline.387",
            "en-cs": "zlabs-nlp.1151 Online-G.1555",
            "en-de": "zlabs-nlp.179 WMTBiomedBaseline.388 Online-G.1556",
            "en-iu": "UEDIN.1281 OPPO.722 UQAM_TanLe.521",
            "en-ja": "Online-G.1557 SJTU-NICT.370",
            "en-pl": "Online-Z.1634 zlabs-nlp.180 Online-A.1576",
            "en-ta": "TALP_UPC.1049 SJTU-NICT.386 Online-G.1561",
            "iu-en": "NiuTrans.1206 Facebook_AI.729",
            "ja-en": "Online-G.1564 zlabs-nlp.66 Online-Z.1640",
            "pl-en": "zlabs-nlp.1162",
            "ru-en": "zlabs-nlp.1164",
            "ta-en": "Online-G.1568 TALP_UPC.192",
            "zh-en": "WMTBiomedBaseline.183",
        },
    ),
    "wmt21": Conventions(
        {"": "refA"}, primary=_PRIMARY_21, tasks=("sys:pearson", "seg:kendall/item")
    ),
    "wmt21.news": Conventions(
        {"": "refA", "en-de": "refC", "zh-en": "refB"},
        pairs="en-de en-ru zh-en",
        primary=_PRIMARY_21,
    ),
    "wmt21.tedtalks": Conventions(
        {"": "refA", "zh-en": "refB"},
        pairs="en-de en-ru zh-en",
        primary=_PRIMARY_21,
    ),
    "wmt22": Conventions(
        {"": "refA", "cs-en": "refB", "en-cs": "refB"},
        outliers={"en-de": "M2M100_1.2B-B4"},
        pairs="en-de en-ru zh-en",
        primary=(
            "BERTScore BLEURT-20 BLEU chrF COMET-20 COMET-22 COMETKiwi COMET-QE f200spBLEU "
            "HuaweiTSC_EE_BERTScore_0.3_With_Human HWTSC-Teacher-Sim MATESE-QE MATESE MEE4 "
            "metricx_xxl_MQM_2020 "
            "MS-COMET-22 MS-COMET-QE-22 REUSE SEScore UniTE UniTE-src YiSi-1"
        ),
        tasks=("sys:pearson", "seg:kendall/none", "seg:kendall/item", "seg:kendall/system"),
        pooled=True,
    ),
    "wmt23": Conventions(
        {"": "refA", "he-en": "refB", "en-he": "refB"},
        outliers={"en-de": "synthetic_ref", "zh-en": "synthetic_ref"},
        human="en-he he-en",
        pairs="en-de he-en zh-en",
        primary=(
            "Calibri-COMET22 Calibri-COMET22-QE cometoid22-wmt22 eBLEU embed_llama GEMBA-MQM "
            "KG-BERTScore MaTESe MEE4 "
            "MetricX-23 MetricX-23-QE mre-score-labse-regular mbr-metricx-qe sescoreX tokengram_F "
            "XCOMET-Ensemble "
            "XCOMET-QE-Ensemble XLsim BERTscore BLEU BLEURT-20 chrF COMET CometKiwi "
            "docWMT22CometDA "
            "docWMT22CometKiwiDA f200spBLEU MS-COMET-QE-22 prismRef prismSrc Random-sysname YiSi-1"
        ),
        tasks=("sys:pearson", "seg:pearson", "seg:acc_eq"),
        pooled=True,
    ),
    "wmt24": Conventions(
        {"": "refA", "en-de": "refB"},
        outliers={"en-de": "MSLC", "en-es": "MSLC", "ja-zh": "MSLC"},
        human="en-de",
        pairs="en-de en-es ja-zh",
        primary=(
            "BERTScore BLCOM_1 BLEU BLEURT-20 bright-qe chrF chrfS COMET-22 CometKiwi damonmonli "
            "gemba_esa MEE4 "
            "metametrics_mt_mqm_hybrid_kendall metametrics_mt_mqm_qe_kendall "
            "metametrics_mt_mqm_qe_kendall.seg.s "
            "MetricX-24-Hybrid MetricX-24-Hybrid-QE PrismRefMedium PrismRefSmall sentinel-cand-mqm "
            "sentinel-ref-mqm "
            "sentinel-src-mqm spBLEU XCOMET XCOMET-QE XLsimMqm YiSi-1"
        ),
        tasks=("sys:spa", "seg:acc_eq"),
    ),
    # Deutsch et al. 2025, "WMT24++": post-edited references are the standard ones
    "wmt24pp": Conventions({"": "posteditA"}, tasks=("sys:spa", "seg:acc_eq")),
    # Lavie et al. 2025: ESA, but MQM for en-ko and ja-zh; en-it and en-mas have no reference
    "wmt25": Conventions(
        {"": "refA"},
        pairs=(
            "cs-de_DE cs-uk_UA en-ar_EG en-bho_IN en-cs_CZ en-et_EE en-is_IS en-it_IT en-ja_JP "
            "en-ko_KR en-mas_KE "
            "en-ru_RU en-sr_Cyrl_RS en-uk_UA en-zh_CN ja-zh_CN"
        ),
        tasks=("sys:spa", "seg:acc_eq"),
        gold="esa",
    ),
}


def known_set(name: str) -> str:
    """The longest known name that this folder's name begins with (``wmt22.da`` → ``wmt22``), or ""."""
    return max(
        (key for key in SETS if name == key or name.startswith(f"{key}.")), key=len, default=""
    )


def conventions(name: str) -> Conventions:
    """Return the conventions of a test set by the name of its folder; empty ones if it is unknown."""
    return SETS.get(known_set(name), Conventions({}))


def standard_references(test_set: str, langs: str, references: Sequence[str]) -> tuple[str, ...]:
    """The references that metrics use in this set: all of them, the agreed one, or the first."""
    standard = conventions(test_set).reference(langs)
    if standard == ALL:
        return tuple(references)
    return (standard,) if standard in references else tuple(references[:1])


def standard_gold(names: Sequence[str]) -> str | None:
    """MQM where there is MQM, else direct assessment."""
    return next((name for name in _GOLD if name in names), names[0] if names else None)


def paragraph_gold(names: Sequence[tuple[str, str]]) -> str | None:
    """The standard gold among (name, level), but direct assessments standardised by rater, as they are averaged."""
    gold = standard_gold([name for name, _ in names])
    return "wmt-z" if gold == "wmt-raw" and ("wmt-z", "seg") in names else gold


def is_human(system: str, references: Sequence[str]) -> bool:
    """Tell whether an output is a reference that was judged (``refA``, in older sets ``Human-A.0``)."""
    return system in {*references, "ref", "refA", "refB", "refC", "refD"} or system.startswith(
        ("Human-", "ref.", "ref-")
    )
