"""Runs the original tools inside their own environment: reads a job as JSON, writes scores and times as JSON.

Started by benchmarks/neural.py; it does not import wholetext.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def comet(job):
    """Doc-COMET as its users run it: strings joined by the separator, one ``predict`` per system."""
    from comet import load_from_checkpoint

    model = load_from_checkpoint(job["model"] + "/checkpoints/model.ckpt")
    model.enable_context()

    def predict(rows):
        return model.predict(rows, batch_size=16, gpus=0, num_workers=0, progress_bar=False)["scores"]

    predict(job["systems"][0][:2])
    found = []
    for rows in job["systems"]:
        scores, times = timed(lambda rows=rows: predict(rows))
        found.append({"scores": scores, **times})
    return found


def bertscore(job):
    """Ten calls of ``bert_score.score``, and the same with one scorer kept between calls."""
    from bert_score import BERTScorer, score

    options = {"model_type": job["model"], "num_layers": job["layer"]}
    calls, kept = [], []
    for hyp in job["systems"]:
        (_, _, f1), times = timed(lambda hyp=hyp: score(hyp, job["ref"], **options))
        calls.append({"scores": f1.tolist(), **times})
    scorer = BERTScorer(**options)
    for hyp in job["systems"]:
        (_, _, f1), times = timed(lambda hyp=hyp: scorer.score(hyp, job["ref"]))
        kept.append({"scores": f1.tolist(), **times})
    return {"calls": calls, "kept": kept}


def main():
    warnings.simplefilter("ignore")
    job = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    import torch

    torch.set_num_threads(job["threads"])
    result = {"comet": comet, "bertscore": bertscore}[job["tool"]](job)
    Path(sys.argv[2]).write_text(json.dumps(result), "utf-8")


if __name__ == "__main__":
    main()
