"""Which language running text is in, by its most frequent function words: enough to notice a wrong or swapped pair."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[^\W\d_]+(?:[\u0900-\u0903\u093a-\u094f]+[^\W\d_]*)*")  # Devanagari vowel signs belong to words
_LISTS: Mapping[str, str] = {
    "en": "the of and to in is that it was for on are with as be this have from at by not or but which were had they "
          "his her been their will would there what you i he she we",
    "de": "der die das und ist nicht ein eine zu den mit von auf dem für sich im auch es an als wie aber nach wird bei "
          "sind noch nur oder wurde hat einen ich sie er wir",
    "fr": "le la les des et est une dans que pour qui pas sur au avec plus ce il par ne sont du cette mais ont aux été "
          "ses nous leur je vous elle de un",
    "es": "el la los las que de y en un una por con para es se del al no como más pero su sus fue ha lo este esta son "
          "está",
    "pt": "o a os as que de e do da em um uma para com não por mais dos das no na ao se foi são pelo pela à como mas "
          "sua seu",
    "it": "il la di che e un una per in non del della con sono è gli le da si dei nel alla più anche come ma ha questo",
    "ca": "de la i el que les els en a un una per amb és no del al es dels més però ha com aquest són",
    "ro": "de și în la a cu pe din că nu este o un pentru care mai se fi sunt ale dar au prin după fost ce cel",
    "nl": "de het een van en in is dat op te zijn met voor niet aan er om ook als bij maar naar door uit worden wordt "
          "heeft deze ik je",
    "af": "die en van is in het dat nie om te met wat sy op vir was ek aan hy sal deur word ook",
    "sv": "och att det som en är på av för med den till inte har de om ett jag var från men så kan när vi också i",
    "da": "og at det er en af på til den for med som ikke de et har jeg var fra der men så kan vi også blev i",
    "nb": "og i det er å en som på av for med til den ikke at de et har jeg var fra men så kan vi også ble",
    "is": "og að er í á til sem um við en var ekki það fyrir með af hann hún ég þetta frá eru þá hefur því",
    "fi": "ja on ei että se oli hän mutta myös kun niin ovat joka mukaan sekä kuin tai jo vain ollut nyt sen",
    "et": "ja on ei et see oli ka kui aga ta mis oma seda nii või kes tema siis ning mida pole selle ma",
    "hu": "a az és hogy nem is egy van ez csak de meg azt volt már mint még ha el vagy lesz kell",
    "pl": "i w na z się nie do to że jest o jak co ale po od za tak przez dla są tym był które już",
    "cs": "a v se na je že to s z do o i ve jako pro za by ale si po jsou od které jeho při bude byl který",
    "sk": "a v sa na je že to s z do o aj vo ako pre za by ale si po sú od ktoré jeho pri bude bol ktorý",
    "sl": "in je v na da se za so ki z pa po tudi ne bi kot ni od bo še s o pri ali",
    "hr": "i je u na da se za su s od koji što o kao ne iz bi a ili će koje bio nije",
    "lv": "un ir ka no uz ar par bet kas lai tas arī gan kā vai nav tika jau pēc",
    "lt": "ir yra kad į iš su bet kaip tai po ar už jo buvo dėl nuo prie apie nėra taip",
    "sq": "dhe të në e i për me një që nga nuk është ka do më si ishte ai por",
    "tr": "ve bir bu da de için ile olarak çok daha ne olan gibi sonra kadar var ama en o değil olduğu",
    "eu": "eta da ez bat du dira ere baina izan zen zuen dute hau",
    "vi": "và của là có trong cho không được một các với người này đã những ở khi đến như tôi cũng",
    "id": "yang dan di itu dengan untuk tidak ini dari dalam akan pada juga ke karena adalah ada bisa telah oleh",
    "ha": "da na a ta ya ba cikin ga su don wannan kuma yi daga ce ne an za wata shi",
    "sw": "ya na wa kwa ni katika za la kuwa hiyo cha huo kama hii lakini baada hata wake",
    "ru": "и в не на что с как это по но из к у за от так же его было для все она он они был",
    "uk": "і в не на що з як це та до але у за від так його було для все вона він вони був який й про",
    "be": "і ў не на што з як гэта да але у за ад так яго было для ўсе яна ён яны быў які",
    "bg": "и на да се в е за от не с по че са като но към до ще това му има тя той",
    "ar": "في من على إلى أن التي الذي هذا هذه عن مع ما لا كان أو قد بعد",
    "fa": "و در به از که این را با است برای آن می یک شد",
    "ur": "کے میں کی ہے اور سے کا کو پر نے یہ کہ ہیں",
    "hi": "के में की है और से का को पर ने यह कि हैं नहीं भी एक",
    "ne": "छ र को मा का गर्न भएको पनि यो हो छन् लागि यस गरेको",
}  # fmt: skip
_LIKE = {"no": "nb", "nn": "nb", "bs": "hr"}  # close enough to be judged by another list
_WORDS = {lang: frozenset(words.split()) for lang, words in _LISTS.items()}
_ALL = frozenset[str]().union(*_WORDS.values())
_OWNERS = {word: [lang for lang, words in _WORDS.items() if word in words] for word in _ALL}

ENOUGH = 0.12  # the share of words that running text of a language has on its list, at the least
DISTINCT, TIMES = 0.04, 3.0  # the share of those that the other language lacks, and how many times its own


def listed(lang: str) -> str:
    """The list a language is judged by, or "" where there is none."""
    return lang if lang in _LISTS else _LIKE.get(lang, "")


def other_language(texts: Iterable[str], lang: str, least: int) -> str:
    """The language that texts of at least ``least`` words are in, where that is clearly not ``lang``; else "".

    Related languages share words, so the two are compared by the words that only one of them has.
    """
    counts = Counter(_WORD.findall(" ".join(texts).lower()))
    if counts.total() < least:
        return ""
    found: Counter[str] = Counter()
    own = listed(lang)
    for word in counts.keys() & _OWNERS.keys():
        for each in _OWNERS[word]:
            found[each] += counts[word]
    if not found:
        return ""
    best, most = found.most_common(1)[0]
    if best == own or most < ENOUGH * counts.total():
        return ""
    mine, other = _WORDS.get(own, frozenset()), _WORDS[best]
    here, there = (sum(counts[word] for word in words) for words in (other - mine, mine - other))
    return best if here >= DISTINCT * counts.total() + TIMES * there else ""
