"""Find a length of time in a sentence: "for an hour and a half"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assistant.brains.offline.lexicon import Lexicon, lexicon, tokens, written_tokens

# A length of time as letters: N number, A article, H half, Q quarter, U unit, & "and".
_PART = re.compile(
    r"A?(?P<part>[HQ])A?(?P<of>U)"
    r"|(?P<number>[NA])?(?P<more>&A?H)?(?P<most>&A?Q)?(?P<unit>U)(?P<half>&A?H)?(?P<quarter>&A?Q)?"
    r"(?P<rest>&?N$)?"  # "1h 20"
)
_LENGTH = re.compile(re.sub(r"\?P<\w+>", "?:", f"(?:{_PART.pattern})(?:&?(?:{_PART.pattern}))*"))
_UNITS = {"hour": 3600, "minute": 60, "second_unit": 1}


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time in a sentence."""

    kind: str  # "after" ("in ten minutes"), "during" ("for ten minutes") or ""
    lengths: Mapping[str, int]  # hours, minutes, seconds
    rest: str  # the sentence without it
    text: str
    first: int  # positions of its words, with "for" or "in"
    last: int


def find_length(text: str, language: str) -> Span | None:
    """Return the first length of time in a sentence."""
    words, known = tokens(text), lexicon(language)
    letters, spans, values = "", [], []
    at = 0
    while at < len(words):
        size, letter, value = _letter(words, at, known)
        letters += letter
        spans.append((at, at + size))
        values.append(value)
        at += size
    for found in _LENGTH.finditer(letters):
        seconds = _seconds(
            letters[found.start() : found.end()], values[found.start() : found.end()]
        )
        if not seconds:
            continue
        first, last = spans[found.start()][0], spans[found.end() - 1][1]
        before, size = _tag_before(words, first, known)
        start = first - size
        if not before and (ending := _tag_after(words, last, known)):
            before, last = "after", last + ending
        hours, rest = divmod(seconds, 3600)
        given = {"hours": hours, "minutes": rest // 60, "seconds": rest % 60}
        return Span(
            before,
            {key: value for key, value in given.items() if value},
            " ".join((*words[:start], *words[last:])),
            " ".join(words),
            start,
            last,
        )
    return None


def _tag_after(words: Sequence[str], at: int, known: Lexicon) -> int:
    """Return the number of words such as "from now" after a length of time."""
    for size in range(min(3, len(words) - at), 0, -1):
        tags = {one.tag for one in known.phrases.get(" ".join(words[at : at + size]), ())}
        if tags & {"from_now", "later"}:
            return size
    return 0


def _tag_before(words: Sequence[str], at: int, known: Lexicon) -> tuple[str, int]:
    """Return the meaning of the words before a length of time, and the number of these words."""
    for size in range(min(3, at), 0, -1):
        tags = {one.tag for one in known.phrases.get(" ".join(words[at - size : at]), ())}
        if found := next((tag for tag in ("after", "during") if tag in tags), ""):
            return found, size
    return "", 0


def _letter(words: Sequence[str], at: int, known: Lexicon) -> tuple[int, str, float]:
    for size in range(min(4, len(words) - at), 0, -1):
        text = " ".join(words[at : at + size])
        tags = {one.tag for one in known.phrases.get(text, ())}
        unit = next((tag for tag in _UNITS if tag in tags), None)
        if unit:
            return size, "U", float(_UNITS[unit])
        if "half_unit" in tags:
            return size, "H", 0.5
        if "quarter" in tags:
            return size, "Q", 0.75 if size > 1 and text[0] in "t3" else 0.25
        if "article" in tags:
            return size, "A", 1.0
        if text in known.numbers:
            return size, "N", known.numbers[text]
        if size == 1 and re.fullmatch(r"\d+(?:[.,]\d+)?", text):
            return 1, "N", float(text.replace(",", "."))
        if "and" in tags:
            return size, "&", 0.0
    return 1, "x", 0.0


def _seconds(letters: str, values: Sequence[float]) -> int:
    """Return the length in seconds that the letters describe, or 0 if a number is missing."""
    total = 0.0
    for found in _PART.finditer(letters):
        if found["of"]:
            total += values[found.start("part")] * values[found.start("of")]
            continue
        if not (found["number"] or found["half"] or found["quarter"]):
            return 0
        number = values[found.start("number")] if found["number"] else 1.0
        number += (0.5 if found["more"] else 0.0) + (0.5 if found["half"] else 0.0)
        number += 0.25 if found["quarter"] or found["most"] else 0.0
        total += number * values[found.start("unit")]
        if found["rest"] and values[found.start("unit")] > 1:
            total += values[found.end("rest") - 1] * values[found.start("unit")] / 60
    return round(total)


# Times of day. Each is read as part of a command that has only a time.


_AT = {"en": ("at", "alarm"), "es": ("a las", "alarma")}  # before a time, and the command's words
_MOST_TIME_WORDS = 6  # "at twenty five past seven tonight"


def times_in(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Yield a sentence without the words that can be its time of day, and a command for an alarm at
    that time."""
    start, alarm = _AT.get(language.partition("-")[0], ("", ""))
    words = written_tokens(text)
    at, size = start.split(), len(start.split())
    found = [n for n in range(len(words)) if at and [w.lower() for w in words[n : n + size]] == at]
    spans = [(first, len(words)) for first in found if first > 0]
    if 0 in found:
        spans += [(0, last) for last in range(min(_MOST_TIME_WORDS, len(words) - 1), size, -1)]
    for first, last in spans:
        when = " ".join(words[first:last])
        yield " ".join((*words[:first], *words[last:])), f"{alarm} {when}"
