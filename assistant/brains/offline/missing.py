"""Find what a command names although the house doesn't have it: "turn on the dishwasher".

If a sentence becomes a command when some of its words are replaced with a name from the house, then
those words name something that the house lacks. Hearth can then say so, instead of only saying that
it didn't understand.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from assistant.brains.offline.frames import Ask, Reading
from assistant.brains.offline.lexicon import (
    NameIndex,
    Piece,
    lexicon,
    pieces_of,
    tokens,
    written_tokens,
)
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import MISSING
from assistant.brains.offline.targets import Target, members
from assistant.tools.house.questions import is_lock
from assistant.tools.policy.words import read
from assistant.tools.vocabulary import entries, find, fold
from integrations.home_assistant.house import Entity, House

_ARTICLES = frozenset("the my our el la los las mi nuestro nuestra del al".split())
_NUMBER = frozenset({"number", "numero", "no"})
_IT = frozenset({"it", "them", "that", "that thing", "this thing", "eso", "esto"})
_MOST_WORDS = 3  # in a name
_MOST_TRIES = 24  # sentences to read, each of which takes some ms
# Kinds of things that people switch, move or ask about.
_DOMAINS = ("light", "switch", "cover", "lock", "climate", "fan", "media_player", "scene")
# Kinds that many homes lack.
_ABSENT = frozenset(
    "alarm_control_panel fan humidifier lawn_mower lock vacuum valve water_heater".split()
)
# Meanings of words that can be part of a name; words with another meaning can't.
_OF_NAMES = frozenset("kind colours white filler first second third last surface again".split())
_VERBS = frozenset(
    "turn on off open close lock dim brighten set start play pause stop clean warmer cooler is_it "
    "how_warm mute louder quieter send arm mow dock unlock unmute pause".split()
)


@dataclass(frozen=True, slots=True)
class _Gap:
    """The words from `first` to `last` (exclusive), which could be a name."""

    first: int
    last: int
    room: bool = False
    area_id: str = ""  # a room of the house, which lacks what the sentence is about


def read_missing(
    text: str,
    language: str,
    index: NameIndex,
    house: House,
    reads: Callable[[str], Reading],
) -> ParsedCommand | Ask | None:
    """Return a command that says what the house lacks, the question which device is meant, or None.
    `reads` returns the commands of a sentence that Hearth understands."""
    words = tokens(text)
    if not words or not _begins_with_verb(words, language):
        return None
    if (meant := _which_it(words, language, index, house, reads)) is not None:
        return meant
    if (kind := _absent_kind(text, language, index, house)) is not None:
        return ParsedCommand(MISSING, text, {"name": kind}, response="")
    tries = 0
    for gap in _gaps(words, language, index, house):
        for name in _substitutes(gap, house):
            if (tries := tries + 1) > _MOST_TRIES:
                return None
            said = " ".join((*words[: gap.first], *tokens(name), *words[gap.last :]))
            if reads(said):
                return _told(gap, text)
    return _missing_room(text, house)


def _missing_room(text: str, house: House) -> ParsedCommand | None:
    for topic in read(house, text).wanted.lacking if house.areas else ():
        if (span := find(topic, text)) is not None:
            name = " ".join(fold(text, marks=True).split()[slice(*span)])
            return ParsedCommand(MISSING, text, {"name": name}, response="room")
    return None


def read_excess(text: str, language: str, reads: Callable[[str], Reading]) -> ParsedCommand | None:
    """Return a command that says which percentages there are, if a larger one was said."""
    for number in re.findall(r"\b\d+(?= ?%| percent| por ciento)", text):
        if int(number) > 100 and reads(text.replace(number, "50")):
            return ParsedCommand(MISSING, text, response="percent")
    return None


def _which_it(
    words: Sequence[str],
    language: str,
    index: NameIndex,
    house: House,
    reads: Callable[[str], Reading],
) -> ParsedCommand | Ask | None:
    """Return the question which device "it" is, with all devices that it can be."""
    found = [p for p in _pieces(" ".join(words), ("it",), language, index) if p.text in _IT]
    if len(found) != 1:
        return None
    first, last = found[0].at, found[0].at + len(tokens(found[0].text))
    choices: list[tuple[Entity, ParsedCommand]] = []
    for name in _substitutes(_Gap(first, last), house):
        made = reads(" ".join((*words[:first], *tokens(name), *words[last:])))
        command = made[0] if len(made) == 1 else None
        if not isinstance(command, ParsedCommand) or not command.entity_ids:
            continue
        choices += [
            (one, replace(command, entity_ids=(one.entity_id,), name=one.name, called=""))
            for one in house.of_domain(str(command.slots.get("domain")))
        ]
    return choices[0][1] if len(choices) == 1 else Ask(tuple(choices)) if choices else None


def _absent_kind(text: str, language: str, index: NameIndex, house: House) -> str | None:
    """Return the first kind of device in the sentence that the house has none of."""
    pieces = pieces_of(text, language, index) or []
    if any(one.tag in ("thing", "area", "nowhere") for some in pieces for one in some):
        return None
    absent = _ABSENT - {one.domain for one in house.exposed()}
    all_of_them = [one for some in pieces for one in some]
    kinds = [one.text for one in all_of_them if one.tag == "kind" and one.value[1] in absent]
    if kinds:
        return " ".join(tokens(max(kinds, key=len)))
    mows = "lawn_mower" in absent and any(one.tag == "mow" for one in all_of_them)
    return entries("mowers", language)[0] if mows else None


def _begins_with_verb(words: Sequence[str], language: str) -> bool:
    """Return True if a command's verb or a question word comes first, apart from filler."""
    phrases = lexicon(language).phrases
    at = 0
    while at < len(words):
        size, pieces = next(
            (
                (size, found)
                for size in range(min(4, len(words) - at), 0, -1)
                if (found := phrases.get(" ".join(words[at : at + size])))
            ),
            (0, ()),
        )
        if not pieces:
            return False
        if any(piece.tag in _VERBS for piece in pieces):
            return True
        if not any(piece.tag == "filler" for piece in pieces):
            return False
        at += size
    return False


def _gaps(words: Sequence[str], language: str, index: NameIndex, house: House) -> Iterator[_Gap]:
    for piece in _pieces(" ".join(words), ("nowhere", "area"), language, index):
        area_id = piece.value[0] if piece.tag == "area" else ""
        yield _Gap(piece.at, piece.at + len(tokens(piece.text)), True, area_id)
    for at, word in enumerate(words[:-1]):
        if word in _NUMBER:  # "plug number two"
            of_kind = at > 0 and _is_kind(words[at - 1], language)
            yield _Gap(at - of_kind, at + 2)
        if word not in _ARTICLES:
            continue
        for size in range(min(_MOST_WORDS, len(words) - at - 1), 0, -1):
            if words[at + size] in _ARTICLES or words[at + size] in ("de", "of", "in", "en"):
                continue
            name = words[at + 1 : at + 1 + size]
            if not any(_is_no_name(one, language) for one in name) and not _is_there(
                name, language, index, house
            ):
                yield _Gap(at + 1, at + 1 + size)


def _is_no_name(word: str, language: str) -> bool:
    known = lexicon(language)
    tags = {piece.tag for piece in known.phrases.get(word, ())}
    return word in known.numbers or bool(tags and tags.isdisjoint(_OF_NAMES))


def _is_there(name: Sequence[str], language: str, index: NameIndex, house: House) -> bool:
    """Return True if the house has a device with this name or of this kind."""
    kinds = (one for one in lexicon(language).phrases.get(" ".join(name), ()) if one.tag == "kind")
    known = index.find(name)
    return any(one.tag in ("thing", "area", "floor") for one in known) or any(
        members(Target(domain=one.value[1], topic=one.value[0], word=one.text), house)
        for one in kinds
    )


def _is_kind(word: str, language: str) -> bool:
    return any(piece.tag == "kind" for piece in lexicon(language).phrases.get(word, ()))


def _pieces(text: str, tags: Sequence[str], language: str, index: NameIndex) -> list[Piece]:
    pieces = pieces_of(text, language, index) or []
    return [one for some in pieces for one in some if one.tag in tags and one.text]


def _substitutes(gap: _Gap, house: House) -> list[str]:
    if gap.room:
        return [area.name for area in house.areas.values()]
    found: dict[str, Entity] = {}
    for one in house.exposed():
        if one.domain in _DOMAINS and (one.domain != "lock" or is_lock(one)):
            found.setdefault(one.domain, one)
    return [found[domain].name for domain in _DOMAINS if domain in found]


def _told(gap: _Gap, text: str) -> ParsedCommand:
    name = " ".join(written_tokens(text)[gap.first : gap.last])
    response = "room" if gap.room else ""
    return ParsedCommand(MISSING, text, {"name": name}, area_id=gap.area_id, response=response)
