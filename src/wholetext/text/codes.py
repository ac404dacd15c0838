"""Language codes and names: ISO 639-1 and -3, BCP 47, FLORES (``en``, ``eng_Latn``, ``zh-CN``).

``language`` reads a code once; everything that depends on a language compares ``Language.code``.
Rests on langcodes (IANA subtag registry, ISO 639-3 macrolanguages), which is imported for codes
that are not in ISO 639-1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from wholetext.errors import MissingExtra

UNDETERMINED = frozenset({"", "und", "mul", "zxx", "mis"})
# ISO 639-1 without replaced codes: known without the registry, which takes 0.1 s to import
TWO_LETTERS = frozenset(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv
    cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho
    hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku
    kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn
    no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm
    sn so sq sr ss st su sv sw ta te tg th ti tk tn to tr ts tt tw ty ug uk ur uz ve vi vo
    wa wo xh yi yo za zh zu
    """.split()  # noqa: SIM905 - a list literal takes 190 lines
)


@dataclass(frozen=True)
class Language:
    """A parsed language code; ``code`` is the shortest one of the language or macrolanguage."""

    text: str  # as written by the user
    code: str  # "zh" for zh, zho, cmn_Hans, zh-CN; "" where no language is stated
    script: str = ""  # ISO 15924, only where the code states it: "Hans"
    region: str = ""  # ISO 3166, only where the code states it: "CN"
    member: str = ""  # the individual language that ``code`` replaces: "arz" where ``code`` is "ar"
    known: bool = True  # False: no registry lists it

    def note(self) -> str:
        """What a reader must know about how the code was read, or ``""``."""
        if not self.known:
            return (
                f"the language code {self.text!r} is unknown: language-specific rules do not apply"
            )
        if self.member:
            return f"the language code {self.text!r} is treated as {self.code!r}, its macrolanguage"
        return ""


@lru_cache(maxsize=1024)
def language(code: str) -> Language:
    """Parse a language code; an unknown one is kept in lower case and marked."""
    text = code.strip()
    plain = text.replace("_", "-").lower()
    if plain in UNDETERMINED:
        return Language(text, "")
    return Language(text, plain) if plain in TWO_LETTERS else _registered(text, plain)


def _registered(text: str, plain: str) -> Language:
    from langcodes import Language as Tag, LanguageTagError, tag_is_valid
    from langcodes.data_dicts import MACROLANGUAGES

    try:
        tag = Tag.get(plain)
    except LanguageTagError:
        return Language(text, plain.split("-")[0], known=False)
    individual = tag.language or ""
    # sr, nb and id are not replaced by their macrolanguage
    macro = str(MACROLANGUAGES.get(individual, "")) if len(individual) == 3 else ""
    # reserved for private use
    private = "qaa" <= individual <= "qtz" or individual.startswith("x-")
    return Language(
        text,
        macro or individual,
        tag.script or "",
        tag.territory or "",
        member=individual if macro else "",
        known=tag_is_valid(individual) and not private,
    )


def code_of(code: str) -> str:
    """Return the key of language tables: ``zh`` for ``zho_Hans``, ``en`` for ``en-US``."""
    return language(code).code


def same_language(code: str, other: str) -> bool:
    """Tell whether two codes agree; script, region and member count only if both state them."""
    a, b = language(code), language(other)
    stated = ((a.member, b.member), (a.script, b.script), (a.region, b.region))
    return a.code == b.code and all(not x or not y or x == y for x, y in stated)


def pair_of(text: str) -> tuple[str, str]:
    """Split ``"en-de"``, ``"eng_Latn-isl_Latn"``, ``"en-zh-CN"``; ValueError if impossible.

    A hyphen separates the two languages and may also be part of a code, so the split is made where
    both sides are registered codes; the first such place counts.
    """
    parts = text.strip().split("-")
    splits = [("-".join(parts[:i]), "-".join(parts[i:])) for i in range(1, len(parts))]
    for source, target in splits:
        if source and target and language(source).known and language(target).known:
            return source, target
    if len(splits) == 1 and all(splits[0]):
        return splits[0]
    raise ValueError(f"{text!r} is not a pair of language codes")


@lru_cache(maxsize=1024)
def language_name(code: str) -> str:
    """Return the English name of a language: ``Chinese (Simplified)`` for ``zho_Hans``."""
    if not code:
        return "an unstated language"
    from langcodes import Language as Tag, LanguageTagError

    try:
        return str(Tag.get(code.replace("_", "-")).display_name())
    except LanguageTagError:
        return code
    except ModuleNotFoundError:
        raise MissingExtra("language_data, which has the names of languages,", "judges") from None
