"""Settings: which addresses need a token, which names and metrics are served."""

from __future__ import annotations

from typing import Any

import pytest

from wholetext.errors import InputError, SpecError
from wholetext.serving.settings import ServeOptions, allowed_metric, known_host, same

TOKEN = "0123456789abcdef"


def test_addresses_other_than_loopback_need_a_token() -> None:
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        assert not known_host("192.168.1.5", ServeOptions(host=host))
    for host in ("0.0.0.0", "::", "192.168.1.5", "example.org", "localhost.example.org"):
        with pytest.raises(InputError, match="needs a token"):
            ServeOptions(host=host)
        assert known_host("192.168.1.5", ServeOptions(host=host, token=TOKEN))


@pytest.mark.parametrize(("given", "said"), [
    ({"token": "short"}, "at least 16"), ({"token": "ä" * 20}, "ASCII"),
    ({"port": 70000}, "port 70000.*impossible"), ({"timeout": 0}, "impossible"), ({"workers": 0}, "impossible"),
    ({"upload": -1}, "impossible"),
])  # fmt: skip
def test_values_that_cannot_be(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        ServeOptions(**given)
    assert given.get("token", "none") not in str(caught.value)


def test_names_under_which_a_server_is_reached() -> None:
    here = ServeOptions(names=("my.box",))
    for header in ("localhost:8765", "LOCALHOST", "127.0.0.1:8765", "[::1]:8765", "my.box.:8765"):
        assert known_host(header, here)
    for header in ("evil.org:8765", "192.168.1.5", "localhost.evil.org", "0.0.0.0", "", "127.0.0.1.evil.org",
                   "localhost:80:80", "[::1", "user@localhost"):  # fmt: skip
        assert not known_host(header, here)
    reachable = ServeOptions(host="0.0.0.0", token=TOKEN, names=("scores.example.org",))
    for header in ("192.168.1.5:8765", "scores.example.org", "localhost", "[2001:db8::1]:8765"):
        assert known_host(header, reachable)
    assert not known_host("evil.org", reachable)


def test_secrets_are_compared_whole() -> None:
    assert same(TOKEN, TOKEN)
    assert not any(same(other, TOKEN) for other in ("", TOKEN[:-1], TOKEN + "0", TOKEN.upper(), "\udcff"))
    assert ServeOptions(token=TOKEN).cookie != ServeOptions(token=TOKEN[::-1]).cookie
    assert TOKEN not in ServeOptions(token=TOKEN).cookie and TOKEN not in repr(ServeOptions(token=TOKEN))


@pytest.mark.parametrize(("text", "spec"), [
    ("chrf", "chrf"), ("doc-comet", "context:comet"), ("paragraph(size=6):chrf", "paragraph(size=6):chrf"),
    ("slide-kiwi", "slide(joiner=space,size=6,step=6):comet@Unbabel/wmt22-cometkiwi-da"),
    ("comet@our/model", "comet@our/model"),
    ("learned@wt-mini", "learned@wt-mini"), ("doc-bertscore@minilm", "context:bertscore@minilm"),
    ("blonde(table=de)", "blonde(table=de)"),
])  # fmt: skip
def test_metrics_that_are_served(text: str, spec: str) -> None:
    assert allowed_metric(text, ServeOptions(models=("our/model",))) == spec


@pytest.mark.parametrize("text", [
    "comet@/etc/passwd", "comet@other/model", "comet@gpt2", "comet(model=gpt2)", "bertscore@../x", "comet@~/x",
    "lexical-graph(vectors=/etc/passwd)", "lexical-graph(vectors=x)", "metricx(tokenizer=gpt2)",
    "blonde(names=/etc/passwd)", "blonde(names=..)", "blonde(names=notes.txt)", "blonde(annotations=notes)",
    "bertscore(baseline=notes.tsv)", "blonde(table=notes.toml)",
    "judge-da", "GEMBA-MQM@our/model", "comet@our/model#../x",
])  # fmt: skip
def test_metrics_that_are_not(text: str) -> None:
    with pytest.raises(SpecError, match=r"requests may not name files|judges are not served"):
        allowed_metric(text, ServeOptions(models=("our/model",)))
