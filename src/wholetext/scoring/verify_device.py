"""Verify a device: scores of frozen texts by the small bundled models, beside those of a CPU."""

from __future__ import annotations

import numpy as np

from wholetext.metrics.verify import ModelFinding
from wholetext.models.device import attention_error, pick_device
from wholetext.scoring.evaluate import Options, score

# texts, and the scores of their segments on a CPU in fp32
HYPOTHESES = (
    "The cat sat on the mat.",
    "It is late.",
    "He promised that the ferry, which had been out of service for eleven months, would run again "
    "on Monday.",
)
REFERENCES = (
    "A cat sat on a mat.",
    "It was late.",
    "The ferry, out of service for eleven months, runs again from Monday, he promised.",
)
FROZEN = {
    "bertscore@minilm": (0.90807199, 0.87008603, 0.82962433),
    "sbert@minilm": (0.98278768, 0.81624799, 0.94934312),
    "wt-mini": (87.6271117, 83.5224055, 73.3446854),
}
TOLERANCES = {"fp32": 1e-5, "fp16": 2e-3, "bf16": 1e-2}  # relative to the largest score


def verify_device(device: str) -> list[ModelFinding]:
    """Score frozen texts with the small bundled models on a device, and compare with a CPU's scores.

    A CPU is checked in fp32, other devices in every precision. Heads of the small models are
    smaller than those of others, whose attention a device may compute by other code: it is
    compared by itself.
    """
    findings = []
    device = pick_device(device)  # small models would not use a GPU by themselves
    for dtype, tolerance in TOLERANCES.items():
        if device == "cpu" and dtype != "fp32":
            continue
        for spec, expected in FROZEN.items():
            options = Options(device=device, dtype=dtype, cache=False, flags=False)
            results = score(HYPOTHESES, spec, refs=REFERENCES, langs="de-en", options=options)
            (scores,) = (
                scores for systems in results.scores.values() for scores in systems.values()
            )
            difference = np.abs(scores.at("row") - expected).max() / max(expected)
            good = bool(difference <= tolerance)  # not if it is NaN
            what = f"largest difference {difference:.1e} from a CPU, tolerance {tolerance:.0e}"
            findings.append(ModelFinding(f"{spec} {dtype}", good, what))
        difference = attention_error(device, dtype)
        what = f"largest difference {difference:.1e} from a CPU, tolerance {tolerance:.0e}"
        findings.append(ModelFinding(f"attention {dtype}", difference <= tolerance, what))
    return findings
