"""Put words in the place of the same sort of words of another sentence.

"The bedroom" takes the place of "the kitchen" in "what's the temperature in the kitchen", "thirty"
that of "twenty" in "set a timer for twenty minutes", and a name that of a pronoun.
"""

import re
from collections.abc import Iterator, Sequence

from assistant.brains.offline.lexicon import (
    NameIndex,
    Piece,
    lexicon,
    pieces_of,
    token_spans,
    words_of,
)
from assistant.brains.offline.spanish import noun_said
from assistant.tools.vocabulary import fold
from integrations.home_assistant.house import House

_NUMBERS = frozenset(
    "number percent degrees hour minute second_unit clock half half_unit quarter max min".split()
)
_UNITS = frozenset("percent degrees hour minute second_unit".split())
_TARGETS = frozenset("thing area floor kind here outside nowhere music".split())
_COLOURS = frozenset({"colours", "white"})
_DAYS = frozenset({"today", "tomorrow", "week"})
_SORTS = (_NUMBERS, _TARGETS, _COLOURS, _DAYS)
# Words that need no place in the other sentence.
_SMALL = frozenset("filler article to also and one it no instead after during by too timer".split())
_IT = re.compile(
    r"\b(?:(?:all|both) of (?:it|them)|them both|th(?:at|is) one|it(?! is)|them|that|those)\b(?!')",
    re.IGNORECASE,
)
# Spanish: "apágala", or "eso" after a verb.
_ENCLITIC = re.compile(r"\b(\w{2,}?[aeoáéó])l[oa]s?\b|(?<= )(?:eso|esas?|esos?|ellas?|él)\b", re.I)
_ELSEWHERE = re.compile(r"(?:them|those) (?:in|of|from) ", re.I)  # "those in the kitchen"
_MOST_TRIES = 6


def swapped(
    first: str, other: str, language: str, index: NameIndex, *, keeps: bool = True
) -> Iterator[str]:
    """Yield the first sentence with the other's words in their place, the likeliest one first.
    `keeps` is False if as little of the first sentence as possible is kept."""
    if (found := exchanged(first, other, language, index)) is not None:
        yield found
    words = first.split()
    counts = range(1, len(words) + 1)
    for count in (counts[::-1] if keeps else counts)[:_MOST_TRIES]:
        yield f"{' '.join(words[:count])} {other}"


def with_name(text: str, name: str, language: str) -> str | None:
    """Return the sentence with a name in place of its first pronoun, or None if it has none."""
    text = text.replace("’", "'")
    found = (_ENCLITIC if language == "es" else _IT).search(text)
    if found is None or _ELSEWHERE.match(text[found.start() :]):
        return None
    verb = words_of(found[1]) if language == "es" and found[1] else ""
    if verb and verb not in lexicon(language).phrases:
        return None
    return f"{text[: found.start()]}{verb} {name}{text[found.end() :]}".strip()


def with_noun(part: str, before: str, language: str, index: NameIndex) -> str | None:
    """Return "pon la luz del garaje al 30" for "la del garaje" after "pon la luz de la cocina al
    30", or None if no noun is left out."""
    found = noun_said(part, before) if language == "es" else None
    if found is None:
        return None
    verb, named = found
    return exchanged(before, named, language, index) or f"{verb} {named}"


def target_said(text: str, language: str, index: NameIndex) -> str:
    """Return the words of a sentence that name its device or room, or ""."""
    pieces = pieces_of(text, language, index) or []
    run = _run(pieces, _TARGETS)
    spans = _spans(text, pieces, run) if run else None
    return text[spans[0] : spans[1]] if spans else ""


_NOUN = frozenset({"kind", "thing"})
_SHARING = frozenset({"light", "fan", "cover", "climate", "humidifier", "switch"})
_BETWEEN = frozenset({"filler", "article", "to", "after"})
_PLACED = re.compile(r"(?:^|\s)(?:in|of|en|del?)\s.+")


def with_shared_place(text: str, language: str, index: NameIndex, house: House) -> str:
    """Return "the bedroom lamp and the bedroom light" for "the bedroom lamp and light", and "the
    light in the bedroom and the lamp in the bedroom" for "the light and the lamp in the bedroom".
    """
    pieces = pieces_of(text, language, index) or []
    tags = [{one.tag for one in some} for some in pieces]
    for at in range(1, len(pieces) - 1):
        if "and" not in tags[at] or not tags[at - 1] & _NOUN:
            continue
        after = next((n for n in range(at + 1, len(pieces)) if not tags[n] & _BETWEEN), at)
        if not all(tags[n] & _NOUN and _domains(pieces[n]) <= _SHARING for n in (at - 1, after)):
            continue
        here, there = _spans(text, pieces, (at - 1, at - 1)), _spans(text, pieces, (after, after))
        if here is None or there is None:
            continue
        end = _place_after(tags, after)
        rest = _spans(text, pieces, (after + 1, end)) if end else there
        placed = _PLACED.search(text[slice(*rest)]) if rest else None
        if placed and "kind" in tags[at - 1] and at > 1 and "area" not in tags[at - 2]:
            return f"{text[: here[1]]} {placed[0].strip()}{text[here[1] :]}"
        area = (
            "" if placed or after != at + 1 else _area_said(text[slice(*here)], pieces, at, house)
        )
        if area and "kind" in tags[after]:
            return f"{text[: there[0]]}{area} {text[there[0] :]}"
    return text


def _domains(options: Sequence[Piece]) -> set[str]:
    kinds = {one.value[1] for one in options if one.tag == "kind"}
    return kinds | {one.value[0].partition(".")[0] for one in options if one.tag == "thing"}


def _place_after(tags: Sequence[set[str]], at: int) -> int:
    """Return the position of the room that follows with a preposition, or 0."""
    for number in range(at + 1, len(tags)):
        if "area" in tags[number]:
            return number if number > at + 1 else 0
        if not tags[number] & _BETWEEN:
            break
    return 0


def _area_said(noun: str, pieces: Sequence[Sequence[Piece]], at: int, house: House) -> str:
    """Return the name of the room that a device's name begins with or follows, or ""."""
    before = pieces[at - 2] if at > 1 else []
    if said := next((one.text for one in before if one.tag == "area"), ""):
        return said
    ids = [one.value[0] for one in pieces[at - 1] if one.tag == "thing"]
    areas = (house.areas.get(house.entities[one].area_id or "") for one in ids)
    names = [name for area in areas if area for name in (area.name, *area.aliases)]
    return next((one for one in names if fold(noun).startswith(f"{fold(one)} ")), "")


def exchanged(first: str, other: str, language: str, index: NameIndex) -> str | None:
    """Return the first sentence with each sort of words that the other has in its place, or None if
    the other says anything else."""
    there = pieces_of(first, language, index, partly=True) or []
    new = pieces_of(other, language, index) or []
    told = [_sort(some) for some in new]
    small = all(
        any(one.tag in _SMALL for one in some)
        for some, sort in zip(new, told, strict=True)
        if sort is None
    )
    changes: list[tuple[tuple[int, int], str]] = []
    for sort in dict.fromkeys(one for one in told if one is not None):
        own = _run(new, sort)
        # "Thirty" replaces only the number of "ten minutes", but all of "half past six".
        tags = {one.tag for some in new for one in some}
        counted = sort is _NUMBERS and not tags & _UNITS and _run(there, _UNITS)
        run = _run(there, tags & sort if counted else sort)
        if own is None or run is None:
            return None
        place, words = _spans(first, there, run), _spans(other, new, own)
        if place is None or words is None:
            return None
        changes.append((place, other[words[0] : words[1]]))
    if not changes or not small:
        return None
    for (start, end), words_there in sorted(changes, reverse=True):
        first = first[:start] + words_there + first[end:]
    return first


def _sort(options: Sequence[Piece]) -> frozenset[str] | None:
    if any(one.tag == "one" for one in options):
        return None
    return next((sort for sort in _SORTS if any(one.tag in sort for one in options)), None)


def _run(
    pieces: Sequence[Sequence[Piece]], tags: frozenset[str] | set[str]
) -> tuple[int, int] | None:
    """Return the first and the last piece with one of these meanings."""
    found = [
        number
        for number, some in enumerate(pieces)
        if _sort(some) is not None and any(one.tag in tags for one in some)
    ]
    return (found[0], found[-1]) if found else None


def _spans(
    text: str, pieces: Sequence[Sequence[Piece]], run: tuple[int, int]
) -> tuple[int, int] | None:
    """Return the first and the last character of some pieces."""
    tokens = token_spans(text)
    ends = [some[0].at for some in pieces[1:]] + [len(tokens)]
    if ends[run[1]] > len(tokens):
        return None
    return tokens[pieces[run[0]][0].at][0], tokens[ends[run[1]] - 1][1]
