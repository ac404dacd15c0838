"""Items of WMT26's evaluation task, made up: two pairs, both kinds, documents out of order, a system with a gap."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def item(name: str, src: str, ref: str | None, hyps: dict[str, str | None], kind: str = "postedit") -> dict[str, Any]:
    """An item as the file has it; ``name`` is its id with blanks for separators."""
    about = {} if ref is None else {"ref": {"text": ref, "type": kind}}
    return {"item_id": "_###_".join(name.split()), "src": src, **about, "hyps": hyps}


N1 = "official_###_eng_Latn_###_deu_Latn_###_news_###_n1"
N9 = "official_###_ces_Latn_###_deu_Latn_###_news_###_n9"
X = "challenge_###_en_###_de_###_software_###_x"
ITEMS = [
    item("official eng_Latn deu_Latn news n1 10", "She was there.", "Sie war da.",
         {"A": "Sie war dort.", "B": "Sie war da."}),
    item("official ces_Latn deu_Latn news n9 0", "Dobrý den.", None, {"C": "Guten Tag."}),
    item("official eng_Latn deu_Latn news n1 9", "He was late.", "Er kam spät.",
         {"A": "Er war spät.", "B": "Er kam zu spät."}),
    item("challenge en de software x 0", "Open %s now", "%s jetzt öffnen", {"A": "Öffne 𝒟 %s", "B": None}, "human"),
]  # fmt: skip


def write_items(path: Path, items: list[dict[str, Any]] = ITEMS) -> Path:
    path.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in items), "utf-8")
    return path
