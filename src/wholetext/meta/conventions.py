"""What the WMT metrics tasks agreed on for their test sets: standard references, gold scores, outlier systems, primary
submissions, and the pairs whose official tasks judge human translations too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from wholetext.errors import InputError, did_you_mean

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

#: language pairs with a second reference that the official tasks judge as a system
HUMAN: Mapping[str, frozenset[str]] = MappingProxyType({
    "wmt23": frozenset({"he-en", "en-he"}), "wmt24": frozenset({"en-de"}),
})

#: the language pairs of the official tasks, in the order of their tables
PAIRS: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "wmt21.news": ("en-de", "en-ru", "zh-en"), "wmt21.tedtalks": ("en-de", "en-ru", "zh-en"),
    "wmt22": ("en-de", "en-ru", "zh-en"), "wmt23": ("en-de", "he-en", "zh-en"), "wmt24": ("en-de", "en-es", "ja-zh"),
})

#: names of the primary submissions and of the baselines, without the reference; other stored metrics are contrastive
PRIMARY: Mapping[str, str] = MappingProxyType({
    "wmt21": (
        "bleurt-20 COMET-MQM_2021 COMET-QE-MQM_2021 C-SPECpn MEE2 MTEQA OpenKiwi-MQM regEMT YiSi-1 YiSi-2 BERTScore "
        "sentBLEU BLEU chrF Prism TER cushLEPOR(LM) hLEPOR RoBLEURT"),
    "wmt22": (
        "BERTScore BLEURT-20 BLEU chrF COMET-20 COMET-22 COMETKiwi COMET-QE f200spBLEU "
        "HuaweiTSC_EE_BERTScore_0.3_With_Human HWTSC-Teacher-Sim MATESE-QE MATESE MEE4 metricx_xxl_MQM_2020 "
        "MS-COMET-22 MS-COMET-QE-22 REUSE SEScore UniTE UniTE-src YiSi-1"),
    "wmt23": (
        "Calibri-COMET22 Calibri-COMET22-QE cometoid22-wmt22 eBLEU embed_llama GEMBA-MQM KG-BERTScore MaTESe MEE4 "
        "MetricX-23 MetricX-23-QE mre-score-labse-regular mbr-metricx-qe sescoreX tokengram_F XCOMET-Ensemble "
        "XCOMET-QE-Ensemble XLsim BERTscore BLEU BLEURT-20 chrF COMET CometKiwi docWMT22CometDA docWMT22CometKiwiDA "
        "f200spBLEU MS-COMET-QE-22 prismRef prismSrc Random-sysname YiSi-1"),
    "wmt24": (
        "BERTScore BLCOM_1 BLEU BLEURT-20 bright-qe chrF chrfS COMET-22 CometKiwi damonmonli gemba_esa MEE4 "
        "metametrics_mt_mqm_hybrid_kendall metametrics_mt_mqm_qe_kendall metametrics_mt_mqm_qe_kendall.seg.s "
        "MetricX-24-Hybrid MetricX-24-Hybrid-QE PrismRefMedium PrismRefSmall sentinel-cand-mqm sentinel-ref-mqm "
        "sentinel-src-mqm spBLEU XCOMET XCOMET-QE XLsimMqm YiSi-1"),
})

#: systems that took part in one of these years only: with metrics and outliers, what a renamed folder is recognised by
_SYSTEMS: Mapping[str, str] = MappingProxyType({
    "wmt21.news": "Facebook-AI VolcTrans-AT VolcTrans-GLAT metricsystem1 metricsystem2 metricsystem3 metricsystem4 "
                  "metricsystem5 NVIDIA-NeMo UEdin UF P3AI Manifold Borderline MiSS SMU IIE-MT happypoet KwaiNLP ICL "
                  "WeChat-AI DIDI-NLP AMU TWB Mideind Allegro.eu AFRL CUNI-Transformer2018",
    "wmt22": "JDExploreAcademy QUARTZ_TuneReranking OpenNMT bleu_bestmbr comet_bestmbr bleurt_bestmbr ALMAnaCH-Inria "
             "AISP-SJTU LanguageX SRPOL Lan-Bridge ARC-NKUA NT5 NAIST-NICT-TIT SHOPLINE-PL LT22",
    "wmt23": "synthetic_ref NLLB_Greedy NLLB_MBR_BLEU GPT4-5shot Lan-BridgeMT GTCOM_Peter GTCOM_DLUT",
    "wmt24": "MSLC Aya23 Claude-3.5 CommandR-plus CycleL CycleL2 Dubformer GPT-4 Gemini-1.5-Pro IKUN IKUN-C "
             "IOL_Research Llama3-70B Mistral-Large Occiglot Phi-3-Medium TSU-HITs TranssionMT Unbabel-Tower70B",
})
_GOLD = ("mqm", "esa", "mqm-sev", "wmt-raw", "wmt", "wmt-appraise", "da-sqm", "wmt-z", "da")  # the first that a set has
SETS = tuple(sorted(REFERENCES))


def known_set(name: str) -> str:
    """The longest known name of a test set that this folder's name begins with (``wmt22.da`` → ``wmt22``), or ""."""
    known = [key for key in SETS if name == key or name.startswith(f"{key}.")]
    return max(known, key=len) if known else ""


def checked_set(name: str) -> str:
    """The same for a name that a user gave: an error where it is not known."""
    found = known_set(name)
    if not found:
        raise InputError(f"there is no test set {name!r}", next=did_you_mean(name, list(SETS)) or
                         f"there are {', '.join(SETS)}")
    return found


def recognised(systems: Sequence[str], metrics: Sequence[str], documents: Sequence[str]) -> str:
    """The test set of which two or more systems and metrics of its own are here, more than of any other; or ""."""
    here = {*systems, *metrics}
    found = {name: len(here & marks) for name, marks in _marks().items()}
    best = max(found, key=lambda name: found[name])
    if found[best] < 2 or sorted(found.values())[-2] == found[best]:
        return ""
    talks = all(doc.startswith(("talk", "tedtalk")) for doc in documents)
    return "wmt21.tedtalks" if best == "wmt21.news" and talks else best


def _marks() -> dict[str, set[str]]:
    """Test set → names of systems and metrics that no other set has."""
    names: dict[str, set[str]] = {}
    far = {key: " ".join(one for many in by.values() for one in many) for key, by in OUTLIERS.items()}
    for table in (PRIMARY, _SYSTEMS, far):
        for key, text in table.items():
            names.setdefault("wmt21.news" if key == "wmt21" else key, set()).update(text.split())
    return {key: mine - set().union(*(other for one, other in names.items() if one != key))
            for key, mine in names.items()}


def standard_reference(test_set: str, langs: str, there: Sequence[str]) -> str | None:
    """The reference that metrics use in this set, if it is there; else the only or the first one."""
    wanted = usual_reference(test_set, langs)
    if wanted in there:
        return wanted
    return there[0] if there else None


def usual_reference(test_set: str, langs: str) -> str:
    """The name of the reference that metrics use in this set, or ""."""
    table = REFERENCES.get(known_set(test_set), {})
    return table.get(langs, table.get("", ""))


def outliers(test_set: str, langs: str) -> tuple[str, ...]:
    """The systems that the metrics task leaves out."""
    return OUTLIERS.get(known_set(test_set), {}).get(langs, ())


def primary(test_set: str) -> frozenset[str]:
    """Names of the primary submissions and baselines; empty where there was no such distinction."""
    name = known_set(test_set)
    return frozenset(PRIMARY.get(name, PRIMARY.get(name.split(".")[0], "")).split())


def judges_humans(test_set: str, langs: str) -> bool:
    """Whether the official task of this pair judges human translations as systems."""
    return langs in HUMAN.get(known_set(test_set), frozenset())


def official_pairs(test_set: str) -> tuple[str, ...]:
    """The language pairs of the official tasks."""
    return PAIRS.get(known_set(test_set), ())


def standard_gold(there: Sequence[str]) -> str | None:
    """MQM where there is MQM, else direct assessment."""
    return next((name for name in _GOLD if name in there), there[0] if there else None)


def system_gold(test_set: str, gold: str, there: Sequence[str]) -> str:
    """The gold of system scores: WMT19-21 take direct assessments standardised by rater there, raw ones elsewhere."""
    years = ("wmt19", "wmt20", "wmt21")
    standardised = gold == "wmt-raw" and "wmt-z" in there and known_set(test_set).startswith(years)
    return "wmt-z" if standardised else gold


def is_human(system: str, references: Sequence[str]) -> bool:
    """Whether an output is a reference that was judged (``refA``, or ``Human-A.0`` in older sets)."""
    return system in references or system.startswith(("Human-", "ref.", "ref-")) or system in ("ref", "refA", "refB",
                                                                                              "refC", "refD")
