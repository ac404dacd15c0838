"""Prompt leakage: remarks of a chat model, and marks of its prompt, in the output."""

from __future__ import annotations

import re

# Templates and special tokens of chat models; no document has them.
_TOKENS = re.compile(
    r"</?think>|<\|(?:im_start|im_end|endoftext|eot_id|assistant|user|system|end|start_header_id|end_header_id)\|>"
    r"|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|^#{2,3} ?(?:Response|Instruction|Translation|Input|Output):?\s*$"
    r"|^(?:assistant|system|user)\s*\n",
    re.M,
)
# At the beginning: an announcement, in the languages of instructions and of common targets.
_ANNOUNCED = re.compile(
    r"(?i)^\W{0,4}(?:(?:sure|certainly|of course|okay|ok|natürlich|klar|bien sûr|certo|claro|por supuesto|конечно)\b"
    r"[^\n]{0,3}\s*)?"
    r"(?:"
    r"(?:here(?:['’]s| is| are)|below is|the following is) (?:the|a|your|my)\b[^\n.]{0,40}\btranslat(?:ion|ed)\b"
    r"|(?:hier ist|hier die|nachfolgend) [^\n.]{0,30}\bübersetz(?:ung|te)"
    r"|(?:voici|voilà) [^\n.]{0,30}\b(?:traduction|traduit)"
    r"|(?:aquí (?:está|tienes|tiene)|a continuación) [^\n.]{0,30}\b(?:traducción|traducid)"
    r"|(?:ecco|di seguito) [^\n.]{0,30}\b(?:traduzione|tradott)"
    r"|(?:aqui está|segue|eis) [^\n.]{0,30}\b(?:tradução|traduzid)"
    r"|(?:hier is|hieronder) [^\n.]{0,30}\b(?:vertaling|vertaald)"
    r"|(?:вот|ниже)\b[^\n.]{0,30}\b(?:перевод|переведен)|(?:вось|ніжэй)\b[^\n.]{0,30}\bпераклад"
    r"|(?:ось|нижче)\b[^\n.]{0,30}\bпереклад|(?:oto|poniżej)\b[^\n.]{0,30}\b(?:tłumaczenie|przetłumaczon)"
    r"|(?:zde je|tady je|níže)\b[^\n.]{0,30}\b(?:překlad|přelož)|(?:siin on|allpool)\b[^\n.]{0,30}\btõl(?:ge|gitud)"
    r"|(?:hér er|hérna er|hér að neðan)\b[^\n.]{0,30}\b(?:þýðing|þýdd)|(?:tässä on|alla on)\b[^\n.]{0,30}\bkäännö"
    r"|(?:işte|aşağıda)\b[^\n.]{0,30}\bçeviri|(?:dưới đây|đây) là bản dịch|(?:berikut|inilah)\b[^\n.]{0,30}\bterjemahan"
    r"|(?:以下是|这是|這是|下面是)[^\n。]{0,20}(?:翻译|翻譯|译文|譯文)|(?:以下|こちら)(?:が|は)[^\n。]{0,20}(?:翻訳|訳文)"
    r"|(?:다음은|아래는|여기)[^\n.]{0,20}번역|(?:إليك|فيما يلي|هذه هي|دي)\b[^\n.]{0,20}(?:الترجمة|ترجمة)"
    r"|(?:यहाँ|यहां|निम्नलिखित)[^\n।]{0,30}अनुवाद"
    r")[^\n]{0,60}?[:：\n]"
)
# A bare heading; "Translation:" and the like on a line of its own or before the text.
_HEADED = re.compile(
    r"(?i)^\W{0,4}(?:(?:the )?translation(?: \([^)\n]{2,20}\)| (?:in)?to [A-Z]\w+)?|translated text|übersetzung"
    r"|traduction|traducción|traduzione|tradução|перевод|переклад|пераклад|tłumaczenie|překlad|tõlge|þýðing|käännös|çeviri"
    r"|bản dịch|terjemahan"
    r"|翻译|翻譯|译文|譯文|翻訳|訳文|번역|الترجمة|अनुवाद)\W{0,4}[:：]"
)
# Refusals and remarks of the model about itself or its task.
_ABOUT_ITSELF = re.compile(
    r"(?i)\bas an? (?:AI|artificial intelligence)(?: language)? (?:model|assistant)\b"
    r"|\bI(?:['’]m sorry| am sorry|['’]m unable| cannot| can['’]t| apologi[sz]e)\b[^\n.]{0,60}\btranslat"
    r"|\b(?:please provide|you haven['’]t provided|you did not provide)\b[^\n.]{0,40}\b(?:text|sentence|source)"
    r"[^\n.]{0,40}\btranslat"
    r"|\b(?:note|explanation)s?\W{1,4}(?:I|the|this) [^\n]{0,40}\btranslat(?:ed|ion)\b"
    r"|\btranslate the following\b|\b(?:let me know if you|feel free to ask)\b[^\n.]{0,60}\btranslat"
    r"|тут (?:можна|лепш) не перакладаць|здесь (?:можно|лучше) не переводить"
    r"|als (?:KI|künstliche Intelligenz)[- ]?(?:Sprachmodell|Modell|Assistent)|en tant que (?:modèle de langage|IA)\b"
    r"|como modelo de lenguaje|как (?:языковая модель|ИИ-модель)|作为(?:一个|一款)?(?:AI|人工智能|大?语言模型)"
)

# A refusal without a word of translation; a dialogue may have the same words.
_REFUSAL = re.compile(
    r"(?i)^\W{0,4}(?:I(?:['’]m| am) (?:really |very |so )?sorry,? (?:but )?)?I(?:['’]m| am)? ?"
    r"(?:can['’]t|cannot|can not|unable to|not able to|won['’]t) "
    r"(?:assist|help|comply|fulfill?|provide|continue|engage|create|generate|process)"
    r"\b[^\n]{0,60}\b(?:request|content|that|this)\b"
)


def leaked(output: str, source: str | None) -> str:
    """Return leaked words, or ``""``; quiet where the source is about translation."""
    match = None
    if ":" in output or "：" in output or "\n" in output:  # one of which ends both
        match = _ANNOUNCED.match(output) or _HEADED.match(output)
    if match is None and any(map(output.__contains__, _MARKS)):
        match = _TOKENS.search(output)
    if match is None and any(map(output.lower().__contains__, _CUES)):
        match = _ABOUT_ITSELF.search(output)
    if match is None and (refusal := _REFUSAL.match(output)) and len(output) < 300:
        much_shorter = source is not None and len(source) > 2 * len(output)
        return " ".join(refusal[0].split()) if much_shorter else ""
    if match is None or (
        source is not None and (match[0].strip() in source or _TRANSLATION.search(source))
    ):
        return ""
    return " ".join(match[0].split())


# without one of these the slow patterns find nothing
_MARKS = ("<", "[", "##", "assistant", "system", "user")
_CUES = (
    "translat",
    " ai ",
    "artificial",
    "перакл",
    "переводить",
    "als k",
    "en tant que",
    "como modelo",
    "как ",
    "作为",
)
_TRANSLATION = re.compile(
    r"(?i)translat|übersetz|tradu|перев[оі]д|перекл|перакл|tłumacz|přek|tõl[gk]|þýð|käänn|çevir|翻[译譯訳]|[译譯訳]文|번역|ترجم|अनुवाद"
    r"|language model|sprachmodell"
)
