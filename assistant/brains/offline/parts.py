"""Read sentences that contain several commands, and sentences that correct themselves."""

import re
from collections.abc import Callable, Sequence

from assistant.brains.offline.frames import ARTICLES, Reading
from assistant.brains.offline.lexicon import NameIndex, lexicon, pieces_of, tokens
from assistant.brains.offline.parse import MAX_PARTS, ParsedCommand
from assistant.brains.offline.sentences import MISSING, PART
from assistant.brains.offline.spanish import lacks_a_noun
from assistant.brains.offline.swap import swapped, target_said, with_name, with_noun
from assistant.brains.offline.wordings import wordings

Read = Callable[[str], Reading]
_NOT_A = r"(?! (?:more|need|longer|one|lights?|music|heating)\b)"  # "no more light"
_NO = {
    "en": rf"no{_NOT_A}|sorry|wait|hang on|hold on|i mean|i meant|make that|make it|actually|"
    "rather|or rather|oops|er|erm|uh|um|oh",
    "es": "me equivoqué|me he equivocado|no perdón|no espera|perdón|no|digo|quiero decir"
    "|quería decir|mejor|mejor dicho",
}


def has_correction(text: str, language: str) -> bool:
    """Return True if a sentence may correct itself after a comma."""
    words = _NO.get(language)
    return bool(words) and bool(re.search(rf"[,;.]\s*(?:{words})\b", text, re.IGNORECASE))


def read_corrected(text: str, language: str, read: Read, index: NameIndex) -> Reading:
    """Read a sentence that corrects itself: "the living room, no, the kitchen light"."""
    words = _NO.get(language)
    if words is None:
        return []
    started = re.fullmatch(rf"((?:(?:{words})[,;]?\s+)+)(.+)", text.strip(), re.IGNORECASE)
    if started:  # "no, turn it back on", but not "no quiero que enciendas la luz"
        denies = language == "es" and started[1].lower().strip() == "no"
        return [] if denies else read(started[2])
    refused = re.fullmatch(
        r"(?:don't|do not) ([^,]+),\s*(?:but )?(.+)", text.strip(), re.IGNORECASE
    )
    if refused:  # "don't turn on the hall light, turn on the kitchen light"
        return read(refused[2]) if read(refused[1]) else []
    negated = re.fullmatch(r"(?:not|no) [^,]+,\s*(.+)", text.strip(), re.IGNORECASE)
    if negated:  # "not the kitchen, turn on the hall light"
        return read(negated[1])
    parts = re.split(rf"[,;.]\s*(?:(?:{words})\b[,;]?\s*)+", text.strip(), flags=re.IGNORECASE)
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
    if new_value:
        tries = [next(swapped(parts[0], meant, language, index)), *tries]
    day = _day_at_end(first, meant, language)  # "half six tomorrow, no, seven"
    tries = [f"{one} {day}" for one in tries] * bool(day) + tries
    if fuller := with_noun(meant, parts[0], language, index):
        tries = [fuller, *tries]
    return next((found for one in (*tries, meant) if (found := read(one))), [])


def _day_at_end(first: Sequence[str], meant: str, language: str) -> str:
    known = lexicon(language).phrases

    def names_a_day(word: str) -> bool:
        return any(one.tag in ("today", "tomorrow", "week") for one in known.get(word.lower(), ()))

    return first[-1] if names_a_day(first[-1]) and not any(map(names_a_day, meant.split())) else ""


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
    "turn set on off up down open close lock dim brighten start play pause stop clean warmer "
    "cooler mute unmute louder quieter send next previous dock faster slower add is_it "
    "which".split()
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


def read_parts(text: str, language: str, read: Read, index: NameIndex) -> Reading:
    """Read each part of a sentence. A part without a verb uses the verb of the part before it, and
    a pronoun stands for what that part is about."""
    text = text.strip()
    spans = _spans(text, language)
    if not 1 < len(spans) <= MAX_PARTS:
        alone = text[slice(*spans[0])] if spans else ""
        return read(alone) if alone not in ("", text) else []
    made: Reading = []
    before, at = "", 0
    while at < len(spans):
        # In "add bread and milk to the list and turn on the light", the first "and" joins items.
        for last in range(at, len(spans) - (at == 0)):
            part = text[spans[at][0] : spans[last][1]]
            found, said = _read_part(part, before, made[-1:], language, read, index)
            if found:
                break
        else:
            return []
        made += found
        before, at = said, last + 1
    return made


def _spans(text: str, language: str) -> list[tuple[int, int]]:
    """Return the first and the last character of each part that isn't small talk."""
    joints = [found.span() for found in _joints(language).finditer(text)]
    starts, ends = [0, *(end for _, end in joints)], [*(start for start, _ in joints), len(text)]
    parts = [
        (start, end) for start, end in zip(starts, ends, strict=True) if text[start:end].strip()
    ]
    return [(a, b) for a, b in parts if not any(wordings("talk", text[a:b], language))]


def read_partly(text: str, language: str, read: Read) -> Reading:
    """Return a command that names the first part that isn't understood, if others are."""
    parts = [text[slice(*span)] for span in _spans(text, language)]
    if not 1 < len(parts) <= MAX_PARTS:
        return []
    unread = [part for part in parts if not read(part) and not read(plain(part, language))]
    if not unread or len(unread) == len(parts):
        return []
    return [ParsedCommand(MISSING, text, {"name": unread[0].strip(" ,.!?")}, response=PART)]


def _read_part(
    part: str, before: str, last: Reading, language: str, read: Read, index: NameIndex
) -> tuple[Reading, str]:
    """Return the commands of a part, and its complete sentence."""
    about = target_said(before, language, index)
    named = with_name(part, about, language) if about else None
    if named is not None:
        return read(named) or read(plain(named, language)), named
    noun = with_noun(part, before, language, index)
    alone = [one for one in dict.fromkeys((part, plain(part, language))) if one]
    if before and lacks_a_noun(part):  # "el de la cocina" is what the part before is about
        alone = []
    elif kind := _kind_said(part, before, language, index):
        alone = [f"{kind} {one}" for one in alone]
    carried = list(swapped(before, alone[-1], language, index)) if before and alone else []
    for said in (*carried[:1], *alone) if _lacks_a_verb(part, language, index) else alone:
        bare = (
            said in alone or _alike(found := read(said), last) or _only_names(part, language, index)
        )
        if bare and (found := read(said)):
            return found, said
    words = before.split()
    starts = (" ".join(words[:count]) for count in range(min(3, len(words) - 1), 0, -1))
    others = [*([noun] if noun else []), *carried[:1]]
    for said in (*others, *(f"{start} {one}" for start in starts for one in alone)):
        if found := read(said):
            return found, said
    return [], part


def _lacks_a_verb(part: str, language: str, index: NameIndex) -> bool:
    pieces = pieces_of(part, language, index) or []
    verbs = [any(one.tag in _VERBS for one in some) for some in pieces]
    for at in range(1, len(pieces)):  # "the vacuum"
        article = pieces[at - 1][0].text in ARTICLES
        verbs[at] = verbs[at] and not (article and any(one.tag == "kind" for one in pieces[at]))
    return not any(verbs)


def _kind_said(part: str, before: str, language: str, index: NameIndex) -> str:
    """Return the kind of "heating off in the bedroom" for "on in the office", otherwise ""."""
    pieces = pieces_of(part, language, index) or []
    tags = {one.tag for some in pieces for one in some}
    known = frozenset({"on", "off", "area", "filler", "article"})
    if not tags & {"on", "off"} or not {"area"} <= tags or tags & {"kind", "thing", "it"}:
        return ""
    if not all(any(one.tag in known for one in some) for some in pieces):
        return ""
    there = pieces_of(before, language, index) or []
    kinds = [one.text for some in there for one in some if one.tag == "kind"]
    return kinds[0] if len(kinds) == 1 else ""


def _only_names(part: str, language: str, index: NameIndex) -> bool:
    """Return True for "the vacuum", which isn't "vacuum" after "stop the music and"."""
    pieces = pieces_of(part, language, index) or []
    names = [any(one.tag in _NAMES for one in some) for some in pieces]
    return len(pieces) > 1 and all(names) and pieces[0][0].text in ARTICLES


_NAMES = frozenset({"kind", "thing", "area", "filler", "article"})


def _alike(found: Reading, last: Reading) -> bool:
    """Return True if the commands do the same with different devices or values."""
    intents = {one.intent for one in (*found, *last) if isinstance(one, ParsedCommand)}
    return len(intents) == 1


_AND = {
    "en": "and then|and also|and so|and after that|after that|and while you're at it|and|then|but|"
    "so|plus|as well as|&",
    "es": "y luego|y después|y también|y|e|luego|después|pero",
}


def _joints(language: str) -> re.Pattern[str]:
    words = _AND.get(language, "and|und|et|e|và")
    return re.compile(rf"\s*[,;.]\s+(?:(?:{words})\s+)?|\s+(?:{words})\s+", re.IGNORECASE)
