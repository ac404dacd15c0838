"""How far one call reaches: functions and modules of wholetext that a command enters, as a measure of what to read.

    python tools/call_path.py score -s src.txt -t out.txt -r ref.txt -m bleu
    python tools/call_path.py            # score of three segments with bleu and chrf, with --out
    python tools/call_path.py --list     # the same, with the names of the functions by module
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
        arguments = [word for word in sys.argv[1:] if word != "--list"]
        if not arguments:
            paths = {name: Path(folder) / f"{name}.txt" for name in EXAMPLE}
            for name, text in EXAMPLE.items():
                paths[name].write_text(text, "utf-8")
            files = {"-s": "src", "-t": "out", "-r": "ref", "-d": "docs"}
            arguments = ["score", *(str(word) for flag, name in files.items() for word in (flag, paths[name]))]
            arguments += ["-m", "bleu", "-m", "chrf", "-l", "de-en", "--no-cache"]
            arguments += ["--out", str(Path(folder) / "run")]
        codes = entered(arguments)
    print(f"{len(codes)} functions in {len({code.co_filename for code in codes})} modules")
    if "--list" in sys.argv:
        modules: dict[str, list[str]] = {}
        for code in sorted(codes, key=lambda code: (code.co_filename, code.co_firstlineno)):
            modules.setdefault(code.co_filename.partition("/wholetext/")[2], []).append(code.co_qualname)
        for module, names in modules.items():
            print(f"{len(names):4} {module}: {', '.join(names)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
