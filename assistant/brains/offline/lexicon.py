"""Divides a sentence into pieces by meaning: verbs, kinds of devices, amounts, names and rooms.

Each `phrases/LANGUAGE.toml` contains the following:

- `meanings`: words and phrases by meaning (`turn`, `on`, `brighten`). `filler` can be left out.
- `verbs`: verbs by meaning, with all their forms that ask for something (Spanish only).
- `kinds`: nouns for kinds of devices, in addition to those of `assistant/tools/vocabulary`.
- `colours`: names of colours, with the names that Home Assistant knows.
- `white`: names of white tones, with their temperature in kelvin.
- `names`: what people say for a scene, script or device with a usual English name.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from assistant.brains.offline.names import Name, Names, number_words
from assistant.brains.offline.spanish import (
    Verbs,
    asking_forms,
    forbids,
    tells,
    verbs_of,
    without_pronouns,
)
from assistant.speech.language.spanish import integer
from assistant.tools.house.names import slips, stemmed
from assistant.tools.vocabulary import LANGUAGES, entries, fold, mentions

_FOLDER = Path(__file__).parent / "phrases"
LOOSE_LANGUAGES = frozenset(path.stem for path in _FOLDER.glob("*.toml"))
# Domains of the kinds of devices that the vocabulary names.
KINDS: Mapping[str, str] = {
    "lights": "light",
    "kind_blinds": "cover",
    "kind_garages": "cover",
    "outer_gates": "cover",
    "fans": "fan",
    "heating": "climate",
    "players": "media_player",
    "locks": "lock",
    "doors": "lock",
    "switches": "switch",
    "plugs": "switch",
    "valves": "valve",
    "vacuums": "vacuum",
    "mowers": "lawn_mower",
    "boilers": "water_heater",
    "humidity": "humidifier",
    "alarms": "alarm_control_panel",
}
_ROOMS = (
    *("room_attic", "room_bath", "room_bed", "room_cellar", "room_child", "room_dining"),
    *("room_garage", "room_garden", "room_hall", "room_kitchen", "room_laundry", "room_living"),
    *("room_stairs", "room_terrace", "room_toilet", "room_work", "floor_up", "floor_down"),
)
# Domains of things that can only be asked about.
_NEVER_SET = frozenset("binary_sensor camera event person sensor sun todo weather zone".split())
_COUNTED = frozenset({"percent", "degrees", "hour", "minute", "second_unit"})
_MOST_WORDS = 7  # in one phrase or name
_SHORTEST_TYPO = 5  # letters; shorter words differ from others by a single letter too often
_PAUSE = re.compile(r"[,;:.](?!\d)")
_TOKEN = re.compile(r"\d+[:.]\d\d(?= ?[ap]\.?m\b)|\d+:\d\d|\d+(?:[.,]\d+)?|[^\W\d_]+|[%°]")
_ENGLISH = [
    ("a hundred", 100),
    *((f"{one}couple{of}", 2) for one in ("a ", "") for of in (" of", "")),
]
# Words of names and sentences that distinguish nothing.
_SMALL = frozenset(
    "the a an of in on at my our s el la los las un una de del en mi al lo "
    "der die das den dem im in am le les l du des d dans o os as do da dos das no na em".split()
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a sentence with one meaning."""

    tag: str  # a meaning, or "kind", "thing", "area", "floor", "nowhere", "number", "time", ...
    text: str
    value: Any = None  # number, domain, colour, or ids
    sure: float = 1.0  # less than 1.0 for a name that was completed or corrected
    at: int = 0  # position of its first word


@dataclass(frozen=True, slots=True)
class Lexicon:
    phrases: Mapping[str, tuple[Piece, ...]]  # by folded text
    numbers: Mapping[str, float]
    names: Mapping[str, str] = field(default_factory=dict)  # usual English names
    words: frozenset[str] = field(default_factory=frozenset)  # of phrases and numbers
    verbs: Verbs = field(default_factory=Verbs)


@cache
def lexicon(language: str) -> Lexicon:
    """Return the lexicon of a language in `LOOSE_LANGUAGES`."""
    written = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    phrases: dict[str, list[Piece]] = defaultdict(list)
    verbs = {tag: tuple(some) for tag, some in written.get("verbs", {}).items()}
    for tag, some in verbs.items():  # "other" are verbs of `wordings`
        for form in dict.fromkeys(form for verb in some for form in asking_forms(verb)):
            phrases[words_of(form)].append(Piece(tag, form))
    for tag, texts in (written["meanings"] | written.get("asking", {})).items():
        for text in texts:
            phrases[words_of(text)].append(Piece(tag, text))
    for topic, domain in KINDS.items():
        for text in (*entries(topic, language), *written.get("kinds", {}).get(topic, ())):
            phrases[words_of(text)].append(Piece("kind", text, (topic, domain)))
    # The policy must understand the same exceptions.
    for topic in ("except", "except_names"):
        for text in entries(topic, language):
            said = phrases[words_of(text)]
            said.append(Piece("except", text))
            if mentions("everything", text):  # "all but"
                said.append(Piece("all", text))
    for tag in ("colours", "white"):
        for text, value in written.get(tag, {}).items():
            phrases[words_of(text)].append(Piece(tag, text, value))
    numbers = {words_of(text): float(value) for text, value in _numbers(language)}
    found = {text: tuple(pieces) for text, pieces in phrases.items()}
    names = {words_of(text): name for text, name in written.get("names", {}).items()}
    words = frozenset(word for text in (*found, *numbers, *names) for word in text.split())
    every = [verb for some in verbs.values() for verb in some]
    asking = (text for texts in written.get("asking", {}).values() for text in texts)
    known = verbs_of(every, {word for text in asking for word in text.split()})
    return Lexicon(found, numbers, names, words, known)


def asks_for_nothing(text: str, language: str) -> bool:
    """Return True if the sentence forbids something or tells of something: "no apagues la luz",
    "apagué la luz"."""
    verbs = lexicon(language).verbs
    if not verbs.past.isdisjoint(written_tokens(text.lower())):
        return True
    return any(forbids(tokens(part), verbs) for part in _PAUSE.split(text))


def words_of(text: str) -> str:
    return " ".join(tokens(text))


def tokens(text: str) -> list[str]:
    """Return the folded words, numbers and signs of a text."""
    written = written_tokens(text.lower())
    return [fold(token) or token if token[0].isalpha() else token for token in written]


def written_tokens(text: str) -> list[str]:
    """Return the words, numbers and signs of a text, unfolded."""
    return _TOKEN.findall(text.replace("º", "°"))


def token_spans(text: str) -> list[tuple[int, int]]:
    """Return the first and the last character of each token."""
    return [found.span() for found in _TOKEN.finditer(text.replace("º", "°"))]


def _numbers(language: str) -> Iterable[tuple[str, int]]:
    for number in range(201):
        if language == "es":
            yield integer(number), number
        elif number <= 100:
            yield number_words(number), number
    yield from {"en": _ENGLISH, "es": [("cien", 100)]}.get(language, [])


class NameIndex:
    """Finds a house's names in sentences, even if they are abbreviated or contain typing errors."""

    def __init__(self, names: Names) -> None:
        self._exact: dict[tuple[str, ...], list[Piece]] = defaultdict(list)
        self._by_word: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        self._apart: dict[str, list[str]] = {}  # "livingroom": ["living", "room"]
        self.words: set[str] = set()  # of the house's names
        for name in (*names.entities, *names.doors):
            if name.domain not in _NEVER_SET:
                self._add("thing", name)
        for name in names.areas:
            self._add("area", name)
        for name in names.floors:
            self._add("floor", name)
        self._add_rooms(names)

    def _add(self, tag: str, name: Name) -> None:
        for text in dict.fromkeys((name.text, words_of(name.written))):
            if not (key := key_of(text.split())):
                continue
            self.words.update(text.split())
            piece = Piece(tag, name.written, name.ids)
            if piece not in self._exact[key]:
                self._exact[key].append(piece)
            if len(parts := text.split()) > 1:
                self._apart["".join(parts)] = parts
            for word in key if tag == "thing" else ():
                self._by_word[word].add(key)

    def _add_rooms(self, names: Names) -> None:
        # "the lounge" is the living room if the house has a room that is called so, in any
        # language.
        for topic in _ROOMS:
            texts = {fold(text) for code in LANGUAGES for text in entries(topic, code)}
            places = names.floors if topic.startswith("floor") else names.areas
            ids = {name.ids[0] for name in places if name.text in texts or fold(name.text) in texts}
            tag = "floor" if topic.startswith("floor") else "area"
            piece = Piece(tag, "", (next(iter(ids)),)) if len(ids) == 1 else Piece("nowhere", "")
            for text in texts:
                key = key_of(text.split())
                known = any(one.tag in ("area", "floor") for one in self._exact.get(key, ()))
                if key and not known and not (len(ids) > 1):
                    self._exact[key].append(replace(piece, text=text))

    def find(self, words: Sequence[str]) -> list[Piece]:
        """Return the things and places whose name consists of these words, in any order."""
        if words[0] in _SMALL or words[-1] in _SMALL:
            return []
        return [one for one in self._exact.get(key_of(words), ()) if not _is_group(words, one)]

    def apart(self, word: str) -> list[str]:
        """Return the words of a name that is written as one word, such as "livingroom"."""
        return self._apart.get(word, [])

    def part(self, word: str) -> list[Piece]:
        """Return the things whose name contains this word."""
        keys = self._by_word.get(stemmed(word), ())
        return [
            replace(piece, sure=0.8)
            for key in keys
            for piece in self._exact[key]
            if piece.tag == "thing"
        ]


def key_of(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(stemmed(word) for word in words if word not in _SMALL))


def _is_group(words: Sequence[str], name: Piece) -> bool:
    # "the kitchen lights" are all lights there, even if one is named "Kitchen light".
    own = tokens(name.text)
    return name.tag == "thing" and any(
        word not in own
        and any(stemmed(word) == stemmed(one) and len(word) > len(one) for one in own)
        for word in words
    )


def nearest_word(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that differs from this one by a single typing error, or None if there
    is no such word or more than one. Words of four letters may only have two letters swapped."""
    if len(word) < _SHORTEST_TYPO - 1 or not word.isalpha():
        return None
    near = {
        one
        for one in known
        if one[0] == word[0] and abs(len(one) - len(word)) < 2 and slips(one, word) < 2
    }
    if len(word) < _SHORTEST_TYPO:
        near = {one for one in near if sorted(one) == sorted(word)}
    if len({stemmed(one) for one in near}) == 1:  # "light" and "lights"
        return min(near, key=lambda one: (abs(len(one) - len(word)), one))
    return None


def pieces_of(
    text: str, language: str, index: NameIndex, *, partly: bool = False
) -> list[list[Piece]] | None:
    """Divide a sentence into pieces, each with all its possible meanings. Longer pieces are
    preferred.

    Returns None if a word has no known meaning, or gives it the tag "unknown" if `partly` is set.
    """
    known = lexicon(language)
    words: list[str] = []
    mended: set[int] = set()  # positions of corrected words
    said = tokens(text)
    while said:
        word = said.pop(0)
        if said and word not in index.words and word + said[0] in index.words:  # "bed room"
            word += said.pop(0)
        found = _known_words(word, known, index)
        if not found and (base := [one for one in base_forms(word) if one in known.phrases]):
            found = base[:1]  # "would you mind raising the shade"
        if not found:
            right = nearest_word(word, known.words | index.words)
            if right is None or tells(word, known.verbs):
                if not partly:
                    return None
                right = word
            mended.add(len(words))
            found = [right]
        words += found
    pieces: list[list[Piece]] = []
    at = 0
    while at < len(words):
        size, options = _longest(words, at, known, index)
        if not options:
            size, options = 1, index.part(words[at])
        if not options and not partly:
            return None
        options = options or [Piece("unknown", words[at])]
        doubt = 0.8 if mended.intersection(range(at, at + size)) else 1.0
        pieces.append([replace(one, at=at, sure=min(one.sure, doubt)) for one in options])
        at += size
    return _without_prepositions(_with_verbs(pieces))


def _with_verbs(pieces: list[list[Piece]]) -> list[list[Piece]]:
    # "esta luz", but "la luz está encendida", with or without its accent
    kept = list(pieces)
    for number, (some, after) in enumerate(pairwise(pieces)):
        state = any(one.tag.startswith("be_") for one in after)
        if state and any(one.tag == "is_it" for one in some):
            kept[number] = [one for one in some if one.tag != "filler"]
    return kept


def _without_prepositions(pieces: list[list[Piece]]) -> list[list[Piece]]:
    # In "lights off on the upper floor", "on" is not a state.
    if not any(one.tag == "off" for some in pieces for one in some):
        return pieces
    kept = list(pieces)
    for number, (some, after) in enumerate(pairwise(pieces)):
        article = any(one.tag == "filler" for one in after)
        floor = pieces[number + 2] if article and number + 2 < len(pieces) else []
        if any(one.tag == "on" for one in some) and any(one.tag == "floor" for one in floor):
            kept[number] = [Piece("filler", some[0].text, at=some[0].at)]
    return kept


def _known_words(word: str, known: Lexicon, index: NameIndex) -> list[str]:
    """Return a word, with a joined pronoun or name separated, or [] if it is unknown."""
    if word in known.words or word in index.words or not word[0].isalpha():
        return _without_pronouns(word, known)
    if parts := index.apart(word):
        return parts
    parts = _without_pronouns(word, known)
    known_so = parts != [word] or index.part(word) or index.find([word])
    return parts if known_so else []


def _without_pronouns(word: str, known: Lexicon) -> list[str]:
    return [word] if word in known.phrases else without_pronouns(word, known.verbs)


def _longest(
    words: Sequence[str], at: int, known: Lexicon, index: NameIndex
) -> tuple[int, list[Piece]]:
    for size in range(min(_MOST_WORDS, len(words) - at), 0, -1):
        part = words[at : at + size]
        text = " ".join(part)
        pieces = list(index.find(part))
        if not pieces and text in known.names:
            pieces += index.find(known.names[text].split())
        elif not pieces and size > 1 and known.names:
            usual = [word for one in part for word in known.names.get(one, one).split()]
            pieces += index.find(usual) if usual != [*part] else []
        floor = any(one.tag == "floor" for one in pieces) and words[at - 1 : at] == ["de"]
        pieces += () if floor else known.phrases.get(text, ())  # "las luces de abajo"
        if text in known.numbers and not _is_pronoun(pieces, words, at + size, known):
            pieces.append(Piece("number", text, known.numbers[text]))
        elif size == 1 and text[0].isdigit():
            pieces.append(_figure(text))
        if pieces:
            return size, pieces
    return 0, []


def base_forms(word: str) -> list[str]:
    """Return the verbs that an English form in "-ing" can come from."""
    stem = word.removesuffix("ing")
    if stem == word or len(stem) < 3:
        return []
    return [stem, f"{stem}e", stem[:-1]] if stem[-1] == stem[-2] else [stem, f"{stem}e"]


def _is_pronoun(pieces: Sequence[Piece], words: Sequence[str], after: int, known: Lexicon) -> bool:
    # "the bedroom one", but "one percent"
    if not any(piece.tag == "one" for piece in pieces):
        return False
    following = known.phrases.get(words[after], ()) if after < len(words) else ()
    return not any(piece.tag in _COUNTED for piece in following)


def _figure(text: str) -> Piece:
    if ":" in text:
        return Piece("clock", text, text)
    return Piece("number", text, float(text.replace(",", ".")))
