"""Bodies of an endpoint: read up to a limit, never decompressed beyond it, and no redirect is followed."""

from __future__ import annotations

import gzip
import tracemalloc

import numpy as np
import pytest

import wholetext as wt
from tests.judges.judge_material import numbered
from tests.judges.scripted import ScriptedServer
from wholetext.errors import ModelError
from wholetext.judges.chat import Calls

GZIP = {"Content-Encoding": "gzip", "Content-Type": "application/json"}


def judged(server: ScriptedServer) -> wt.Results:
    options = wt.Options(cache=False, flags=False, calls=Calls(server.url, retries=0))
    return wt.score(wt.Loaded(*numbered(1, 2, 2)), "judge-da@m", options=options)


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("body", ["gzip", "plain"])
def test_large_bodies_are_not_held_in_memory(server: ScriptedServer, status: int, body: str) -> None:
    """200 KB of gzip that would be 200 MB, and 20 MB as they are."""
    plain = b'{"error": "' + b"x" * 20_000_000 + b'"}'
    data = gzip.compress(b"x" * 200_000_000, 1) if body == "gzip" else plain
    server.reply = lambda request, number: (status, data, GZIP if body == "gzip" else {})
    tracemalloc.start()
    try:
        results = judged(server)
        assert tracemalloc.get_traced_memory()[1] < 60_000_000  # the server, which holds the body, included
    finally:
        tracemalloc.stop()
    assert all(np.isnan(scores.at("row")).all() for scores in results["judge-da@m"].values())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_refused(server: ScriptedServer, status: int) -> None:
    with ScriptedServer(lambda body, number: "100") as other:
        server.reply = lambda request, number: (status, b"", {"Location": f"{other.url}/chat/completions"})
        with pytest.raises(ModelError, match="redirects, which is not followed"):
            judged(server)
        assert other.asked == []
