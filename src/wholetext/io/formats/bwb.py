"""BWB, the corpus of BlonDe (Jiang et al. 2022): books of aligned chapters, with human annotations.

``test/BookN/i.chs_re.txt`` is the source of chapter i, ``i.ref_re.txt`` its reference, a sentence
per line; outputs lie beside them (``i.mt_re.txt`` …) or in folders of their own
(``Google/BookN/i.chs_re.txt.Google`` …). ``i.an.txt`` has the errors of the output ``ms``,
``i.ner_re.txt`` the names of the reference. The layers of 2023 (``bwb_layers``) take their places
where these are missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from wholetext.errors import AlignmentError, InputError, count
from wholetext.io.assembly import Langs, Loaded, assemble, pair
from wholetext.io.formats.bwb_layers import AnnotatedLine, ellipsis_line, names_line, parse
from wholetext.io.text import FilePath, TextFile, at, is_folder, read_lines
from wholetext.types import Corpus, Document, Output

SOURCE, REFERENCE = "chs_re.txt", "ref_re.txt"
# system, as the paper names it → folder beside the texts ("": with them), endings of its files
SYSTEMS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "smt": ("SMT_Hiero", ("chs_re.txt.SMT",)),
    "ms": ("", ("mt_re.txt",)),
    "google": ("Google", ("chs_re.txt.Google",)),
    "bd": ("Baidu", ("chs_re.txt.Baidu",)),
    "sent": ("", ("sent_re.txt",)),
    "doc": ("Naive", (SOURCE,)),
    "cad": ("CAD", (SOURCE,)),
    "ctx": ("", ("ctx_re.txt",)),
    "pe": ("", ("pe.txt", "pe_re.txt")),
}
ANNOTATIONS: Mapping[str, tuple[str, ...]] = {  # parameter of BlonDe → endings
    "annotations": ("an.txt",),
    "names": ("ner_re.txt",),
}
LAYERS = "BWB_annotation"  # folder of the layers of 2023; endings .chs_re.an.txt, .ref_re.an.txt
# Table 2: kind of error → digits of an.txt
ERRORS: Mapping[str, str] = {
    "no error": "0",
    "sentence": "6",
    "document": "12345",
    "inconsistency": "45",
    "named entity": "4",
    "tense": "5",
    "ellipsis": "23",
    "pronoun": "2",
    "other": "3",
    "ambiguity": "1",
}
_BOOK = re.compile(r"Book\d+")
_LAYOUT = "a folder of BWB has test/BookN/1.chs_re.txt, 1.ref_re.txt …"


def recognise(file: TextFile) -> bool:
    """Accept a folder with books in it, or in its folder ``test``."""
    return is_folder(file) and bool(_books(_texts(Path(file.path))))


def read(file: TextFile, langs: Langs = None) -> Loaded:
    """Read every chapter as a document; a system without all chapters is left out, with a note."""
    root = Path(file.path)
    chapters = chapters_of(root)
    docs = [
        Document(
            name,
            tuple(read_lines(place.with_name(f"{place.name}.{SOURCE}"))),
            {"ref": tuple(read_lines(place.with_name(f"{place.name}.{REFERENCE}")))},
            {"domain": place.parent.name},
        )
        for name, place in chapters.items()
    ]
    outputs, notes = [], []
    for system, (beside, endings) in SYSTEMS.items():
        files = {name: _file(root, place, beside, endings) for name, place in chapters.items()}
        texts = {name: tuple(read_lines(path)) for name, path in files.items() if path}
        if len(texts) == len(chapters):
            outputs.append(Output(system, texts))
        elif texts:
            lost = f"{len(chapters) - len(texts)} of {count(len(chapters), 'chapter')}"
            notes.append(f"system {system} is left out: it lacks {lost}")
    layers = has_layers(root)
    annotations = {kind: str(root) for kind in ANNOTATIONS if layers or _annotated(root, kind)}
    if layers and not _annotated(root, "annotations"):
        notes.append(
            "BlonDe+ reads ellipsis from the layers of 2023: pronouns that the source omits; "
            "ambiguity is not annotated there"
        )
    corpus = Corpus(root.name, pair(langs or "zh-en"), tuple(docs), annotations)
    return assemble(corpus, outputs, notes, str(root))


def chapters_of(root: Path) -> dict[str, Path]:
    """Chapter (``Book1/3``) → path without ending, books and chapters in numerical order."""
    places = {
        f"{book.name}/{path.name.removesuffix(f'.{SOURCE}')}": path.with_name(
            path.name.removesuffix(f".{SOURCE}")
        )
        for book in _books(_texts(root))
        for path in sorted(book.glob(f"*.{SOURCE}"), key=lambda path: _number(path.name))
    }
    if not places:
        raise InputError("there are no chapters of BWB here", where=str(root), next=_LAYOUT)
    for place in places.values():
        for what, ending in (("source", SOURCE), ("reference", REFERENCE)):
            path = place.with_name(f"{place.name}.{ending}")
            if not path.is_file():  # a pipe or a device would never end
                raise InputError(f"a chapter has no {what}", where=str(path), next=_LAYOUT)
    return places


def annotation_lines(root: FilePath, kind: str) -> list[str]:
    """Read the lines of all chapters' annotations, a line per segment of the corpus."""
    lines: list[str] = []
    if not _annotated(Path(root), kind) and has_layers(root):
        write = ellipsis_line if kind == "annotations" else names_line
        return [write(line) for part in read_layers(root).values() for line in part]
    for name, place in chapters_of(Path(root)).items():
        lines += _fitting(place.with_name(f"{place.name}.{ANNOTATIONS[kind][0]}"), place, name)
    return lines


def has_errors(root: FilePath) -> bool:
    """Tell whether a chapter has errors marked in the output ``ms``."""
    return _annotated(Path(root), "annotations")


def has_layers(root: FilePath) -> bool:
    """Tell whether a chapter has the layers of 2023."""
    return any(
        _layer_file(Path(root), place).is_file() for place in chapters_of(Path(root)).values()
    )


def read_layers(root: FilePath, side: str = REFERENCE) -> dict[str, list[AnnotatedLine]]:
    """Read the layers of 2023 of every chapter, a sentence per line; ``side`` is its file."""
    chapters: dict[str, list[AnnotatedLine]] = {}
    for name, place in chapters_of(Path(root)).items():
        lines = enumerate(_fitting(_layer_file(Path(root), place, side), place, name, "layers"), 1)
        chapters[name] = [parse(line, at(f"{name}.{side}", number)) for number, line in lines]
    return chapters


def error_types(root: FilePath) -> tuple[int, dict[str, int]]:
    """Count the sentences of the corpus, and those with errors of each kind (Table 2)."""
    marked = [
        {item.strip()[:1] for item in line.split("\t")[1:]}
        for line in annotation_lines(root, "annotations")
    ]
    counts = {
        kind: sum(bool(set(digits) & own) for own in marked) for kind, digits in ERRORS.items()
    }
    return len(marked), counts


def _texts(root: Path) -> Path:
    return root / "test" if (root / "test").is_dir() else root


def _books(texts: Path) -> list[Path]:
    books = (entry for entry in texts.glob("Book*") if _BOOK.fullmatch(entry.name))
    return sorted((book for book in books if book.is_dir()), key=lambda book: _number(book.name))


def _number(name: str) -> tuple[int, str]:
    """Sort ``2.chs_re.txt`` before ``10.chs_re.txt``."""
    digits = re.search(r"\d+", name)
    return (int(digits[0]) if digits else 0), name


def _file(root: Path, place: Path, beside: str, endings: tuple[str, ...]) -> Path | None:
    """Find the file of a chapter that has one of the endings."""
    book = _beside(root, beside) / place.parent.name if beside else place.parent
    paths = (book / f"{place.name}.{ending}" for ending in endings)
    return next((path for path in paths if path.is_file()), None)


def _layer_file(root: Path, place: Path, side: str = REFERENCE) -> Path:
    book = _beside(root, LAYERS) / place.parent.name
    return book / f"{place.name}.{side.removesuffix('.txt')}.an.txt"


def _beside(root: Path, name: str) -> Path:
    """Find a folder beside that of the texts; ``root`` may be either's parent or the texts."""
    inside = root / name
    return inside if inside.is_dir() else _texts(root).parent / name


def _fitting(path: Path, place: Path, chapter: str, what: str = "annotation") -> list[str]:
    """Read an annotation, which has a line for each sentence of its chapter."""
    if not path.is_file():
        raise InputError(
            f"chapter {chapter} has no {what}",
            where=str(path),
            next="add the file, move the book elsewhere, or use a metric that needs no "
            "annotation, e.g. -m blonde",
        )
    lines, size = read_lines(path), len(read_lines(place.with_name(f"{place.name}.{REFERENCE}")))
    if len(lines) != size:
        raise AlignmentError(
            f"{count(len(lines), 'line')} of annotation for {count(size, 'sentence')}",
            where=str(path),
            next="an annotation has one line for each sentence of its chapter",
        )
    return lines


def _annotated(root: Path, kind: str) -> bool:
    return any(_file(root, place, "", ANNOTATIONS[kind]) for place in chapters_of(root).values())
