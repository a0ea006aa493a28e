"""Read sentences that contain several commands, and sentences that correct themselves."""

import re
from collections.abc import Callable, Sequence

from assistant.brains.offline.frames import Reading
from assistant.brains.offline.lexicon import lexicon, tokens
from assistant.brains.offline.parse import MAX_PARTS
from assistant.brains.offline.spanish import with_noun

Read = Callable[[str], Reading]
_NOT_A = r"(?! (?:more|need|longer|one|lights?|music|heating)\b)"  # "no more light"
_NO = {
    "en": rf"no sorry|no wait|no i mean|sorry|no{_NOT_A}|i mean|i meant|wait no|wait|make that"
    "|actually",
    "es": "me equivoqué|me he equivocado|no perdón|no espera|perdón|no|digo|quiero decir"
    "|quería decir|mejor|mejor dicho",
}


def read_corrected(text: str, language: str, read: Read) -> Reading:
    """Read a sentence that corrects itself: "the living room, no, the kitchen light"."""
    words = _NO.get(language)
    if words is None:
        return []
    started = re.fullmatch(rf"({words})([,;]?)\s+(.+)", text.strip(), re.IGNORECASE)
    if started:  # "no, turn it back on", but not "no quiero que enciendas la luz"
        denies = language == "es" and started[1].lower() == "no" and not started[2]
        return [] if denies else read(started[3])
    negated = re.fullmatch(r"(?:not|no) [^,]+,\s*(.+)", text.strip(), re.IGNORECASE)
    if negated:  # "not the kitchen, turn on the hall light"
        return read(negated[1])
    parts = re.split(rf"[,;]\s*(?:(?:{words})\b[,;]?\s*)+", text.strip(), flags=re.IGNORECASE)
    if len(parts) != 2 or not all(parts):
        return []
    first, meant = parts[0].split(), parts[1]
    # A new value keeps as much as possible, a new device as little.
    counts = range(1, len(first))
    new_value = any(
        word[0].isdigit() or word in lexicon(language).numbers for word in meant.split()
    )
    tries = [f"{' '.join(first[:count])} {meant}" for count in counts]
    tries = tries[::-1] if new_value else tries
    if fuller := with_noun(meant, parts[0]):
        tries = [fuller, *tries]
    return next((found for one in (*tries, meant) if (found := read(one))), [])


def plain(text: str, language: str) -> str:
    """Return the sentence without polite words at its start or end."""
    words, known = tokens(text), lexicon(language)

    def polite(some: Sequence[str], joint: str = "") -> bool:
        tags = {one.tag for one in known.phrases.get(" ".join(some), ())}
        return joint in tags or ("filler" in tags and (len(some) > 1 or len(some[0]) > 3))

    start, end = 0, len(words)
    while size := next(
        (n for n in range(5, 0, -1) if start + n < end and polite(words[start : start + n], "and")),
        0,
    ):
        start += size
    while size := next(
        (n for n in range(4, 0, -1) if end - n > start and polite(words[end - n : end])), 0
    ):
        end -= size
    return " ".join(words[start:end])


_REASON = {
    "en": r"(?:because |as |since |cos |'cause )?(?:it's|it is|i'm|i am|we're|we are|i've|we've"
    r"|i can't|we can't|there's|everyone's|everybody's|the kids are)\b[^,;]*",
    "es": r"(?:porque |que |ya )?(?:hace|está|estoy|estamos|tengo|tenemos|me voy|nos vamos)\b"
    r"[^,;]*",
}
_BECAUSE = {"en": r"\s+(?:because|'cause|cos)\s.*", "es": r"\s+porque\s.*"}
_VERBS = frozenset(
    "turn set on off open close lock start stop play pause mute dim brighten up down send".split()
)
_PRONOUN = re.compile(r"\b(?:it|them|that|those|eso|esto)\b|l[oa]s?$", re.IGNORECASE)


def without_reasons(text: str, language: str) -> str:
    """Return a sentence without the clauses that only say why: "it's dark, turn on the hall light".

    A pronoun can refer to a reason, which then stays.
    """
    reason = _REASON.get(language)
    if reason is None:
        return text
    said = re.sub(_BECAUSE[language], "", text.strip(" .!"), flags=re.IGNORECASE)
    clauses = re.split(r"\s*[,;.]\s+", said)
    kept = [one for one in clauses if not re.fullmatch(reason, one, re.IGNORECASE)]
    told = ", ".join(kept)
    asks = any(
        one.tag in _VERBS
        for word in tokens(told)
        for one in lexicon(language).phrases.get(word, ())
    )
    return told if asks and len(kept) < len(clauses) and not _PRONOUN.search(told) else said


def read_parts(text: str, language: str, read: Read) -> Reading:
    """Read each part of a sentence. A part without a verb uses the verb of the part before it."""
    text = text.strip()
    joints = [found.span() for found in _joints(language).finditer(text)]
    starts, ends = [0, *(end for _, end in joints)], [*(start for start, _ in joints), len(text)]
    if not 1 < len(starts) <= MAX_PARTS:
        return []
    made: Reading = []
    before, at = "", 0
    while at < len(starts):
        # In "add bread and milk to the list and turn on the light", the first "and" joins items.
        for last in range(at, len(starts) - (at == 0)):
            found, said = _read_part(text[starts[at] : ends[last]], before, read)
            if found:
                break
        else:
            return []
        made += found
        before, at = said, last + 1
    return made


def _read_part(part: str, before: str, read: Read) -> tuple[Reading, str]:
    """Read a part of a sentence, and return its commands and the part with what it left out."""
    if not part.strip():
        return [], part
    if found := read(part):
        return found, part
    words = before.split()
    starts = (" ".join(words[:count]) for count in range(min(3, len(words) - 1), 0, -1))
    fuller = with_noun(part, before)
    for said in (*([fuller] if fuller else []), *(f"{start} {part}" for start in starts)):
        if found := read(said):
            return found, said
    return [], part


_AND = {
    "en": "and then|and also|and|then|but",
    "es": "y luego|y después|y también|y|e|luego|después|pero",
}


def _joints(language: str) -> re.Pattern[str]:
    words = _AND.get(language, "and|und|et|e|và")
    return re.compile(rf"\s*[,;.]\s+(?:(?:{words})\s+)?|\s+(?:{words})\s+", re.IGNORECASE)
