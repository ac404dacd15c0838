"""How far one call reaches: functions and modules of wholetext that a command enters, as a measure of what to read.

    python tools/call_path.py score -s src.txt -t out.txt -r ref.txt -m bleu
    python tools/call_path.py            # score of two documents with bleu and chrf
"""

from __future__ import annotations

import sys
import tempfile
import threading
from pathlib import Path
from types import CodeType, FrameType

EXAMPLE = {"src": "eins\nzwei\ndrei\n", "ref": "one\ntwo\nthree\n", "out": "one\ntoo\nthree\n", "docs": "a\na\nb\n"}


def entered(arguments: list[str]) -> set[CodeType]:
    """The code objects of wholetext that a command runs; class bodies and module bodies are not calls."""
    seen: set[CodeType] = set()

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and "/wholetext/" in frame.f_code.co_filename:
            seen.add(frame.f_code)

    from wholetext.cli.main import main

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        main(arguments)
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    return {code for code in seen if code.co_flags & 0x1 and not code.co_name.startswith("<")}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        arguments = sys.argv[1:]
        if not arguments:
            paths = {name: Path(folder) / f"{name}.txt" for name in EXAMPLE}
            for name, text in EXAMPLE.items():
                paths[name].write_text(text, "utf-8")
            files = {"-s": "src", "-t": "out", "-r": "ref", "-d": "docs"}
            arguments = ["score", *(str(word) for flag, name in files.items() for word in (flag, paths[name]))]
            arguments += ["-m", "bleu", "-m", "chrf", "-l", "de-en", "--no-cache"]
        codes = entered(arguments)
    print(f"{len(codes)} functions in {len({code.co_filename for code in codes})} modules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
