"""The speech recogniser's grammar, built from the house's names."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from assistant.brains.offline.names import Name, Names, number_words, without_words
from assistant.brains.offline.phones import pronounce, wake_tails
from audio.recognize.protocol import Grammar
from integrations.home_assistant.house import House

# Stands for the end of the wake word, with which the audio can begin.
WAKE = "wakeword"

# Pronunciations of words in the grammar that CMUdict lacks.
READINGS: Mapping[str, tuple[str, ...]] = {"unmute": ("AH N M Y UW T",)}

# Beginnings of sentences that negate a command or ask about it. They must be long enough not to
# be confused with the end of the wake word.
NOT_ASKED = ("do not", "don't", "never", "did you", "why did you")

_SWITCHABLE = ("light", "switch", "fan", "media_player", "input_boolean", "climate")
_TOLD = ("light", "switch", "fan")
_OPENABLE = ("cover", "binary_sensor")
# Domains that have their own sentences.
_ALONE = (
    *("light", "climate", "cover", "lock", "media_player", "fan", "vacuum", "script", "scene"),
    "sensor",
)
SAID = frozenset((*_SWITCHABLE, *_TOLD, *_OPENABLE, *_ALONE))  # domains that occur in sentences


@cache
def _written() -> dict[str, Any]:
    path = Path(__file__).parent / "sentences" / "recogniser-en.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def jsgf(names: Names) -> str:
    """Return the recogniser's grammar with these names, in the JSpeech Grammar Format (JSGF).

    The parser understands all sentences of the grammar except negated commands and questions about
    a command.
    """
    lists = _name_lists(names)
    sentences = [
        " | ".join(one["said"])
        for one in _written()["sentences"]
        if all(lists.get(need) for need in one["needs"])
    ]
    rules: dict[str, str] = _written()["rules"] | {"notasked": " | ".join(NOT_ASKED)}
    rules |= {"number": _number(0), "count": _number(1)}
    rules |= {rule: " | ".join(texts) for rule, texts in lists.items() if texts}
    lines = ["#JSGF V1.0;", "grammar house;"]
    lines.append(f"public <said> = [{WAKE}] [please | <asked> | <notasked>] <command> [please];")
    lines.append("<command> = " + "\n | ".join(sentences) + ";")
    lines.extend(f"<{rule}> = {body};" for rule, body in rules.items())
    return "\n".join(lines)


def is_talk(text: str) -> bool:
    """Return True if the sentence negates a command or asks about one ("don't", "why did you")."""
    return text.startswith(tuple(f"{words} " for words in NOT_ASKED))


def vocabulary(names: Names) -> list[str]:
    """Return the words that occur in the names, without duplicates."""
    called = (*names.entities, *names.areas, *names.floors, *names.doors)
    texts = (name.text for name in called)
    return list(dict.fromkeys(word for text in texts for word in text.split()))


def _number(least: int) -> str:
    # Combining tens and ones takes only a tenth of the space of a complete list.
    small = " | ".join(number_words(number) for number in range(least, 20))
    tens = " | ".join(number_words(number) for number in range(20, 100, 10))
    ones = " | ".join(number_words(number) for number in range(1, 10))
    return f"{small} | ({tens}) [{ones}] | {number_words(100)}"


def _name_lists(names: Names) -> dict[str, list[str]]:
    lists = {domain: names.of(domain) for domain in _ALONE}
    lists["thing"] = names.of(*_SWITCHABLE)
    lists["told"] = names.of(*_TOLD)
    lists["openable"] = names.of(*_OPENABLE)
    lists["door"] = list(dict.fromkeys(name.text for name in names.doors))
    lists["area"] = list(dict.fromkeys(name.text for name in names.areas))
    lists["floor"] = list(dict.fromkeys(name.text for name in names.floors))
    return lists


# Names that the recogniser listens for. In a large house, only the nearest are included.
#
# Each name costs memory and time, and can be confused with others. The names of 5,000 entities take
# 74 MB, and 0.16 s of a core per second of audio. The names included here take 17 MB and 0.06 s
# (docs/reports/scale.md). The other entities can be controlled by typing, by room ("the lights in
# the attic"), or with a brain that needs no grammar.

MOST_NAMES = 250  # names of entities
MOST_PLACES = 60  # names of rooms and floors; each is used in many sentences
_MOST_FLOORS = 10
_ASKED = frozenset({"sensor", "binary_sensor"})  # can only be queried


def nearby(names: Names, house: House, area_id: str) -> Names:
    """Return at most MOST_NAMES entity names, and at most MOST_PLACES names of rooms and floors.

    Names in and near `area_id` are preferred; it is "" if this device's area is unknown.
    """
    can_be_said = tuple(name for name in names.entities if name.domain in SAID)
    here = house.areas.get(area_id)
    floor_id = here.floor_id if here is not None else None

    def far(place_id: str | None) -> int:
        area = house.areas.get(place_id or "")
        if area is None or here is None:
            return 2
        return 0 if area is here else 1 if floor_id and area.floor_id == floor_id else 2

    def rank(name: Name) -> tuple[bool, int]:
        areas = [house.entities[one].area_id for one in name.ids]
        near = min(1 if one is None else 2 * far(one) for one in areas)
        # Outside this area, sensors come last, because people can only ask about them.
        return name.domain in _ASKED and near > 0, near

    floors = _first(names.floors, _MOST_FLOORS, lambda name: (floor_id not in name.ids, 0))
    areas = _first(
        names.areas, MOST_PLACES - len(floors), lambda name: (False, min(map(far, name.ids)))
    )
    things = _first(can_be_said, MOST_NAMES, rank)
    kept = {one for name in things for one in name.ids}
    doors = tuple(name for name in names.doors if not kept.isdisjoint(name.ids))
    return Names(things, areas, floors, doors)


def _first(
    names: tuple[Name, ...], most: int, rank: Callable[[Name], tuple[bool, int]]
) -> tuple[Name, ...]:
    if len(names) <= most:
        return names
    kept = sorted(range(len(names)), key=lambda at: rank(names[at]))[:most]
    return tuple(names[at] for at in sorted(kept))


def sayable(
    names: Names, house: House, area_id: str, unknown: Callable[[Sequence[str]], list[str]]
) -> Grammar:
    """Return the grammar of all commands, with the names near this area.

    `names` are all names of the house. `area_id` is "" if it is unknown. `unknown` returns the
    words that the recogniser's dictionary lacks; espeak-ng generates their pronunciation, which
    takes a moment. Names that can't be pronounced are left out.
    """
    near = nearby(names, house, area_id)
    strange = unknown(vocabulary(near))
    readings = {WAKE: wake_tails(), **READINGS, **pronounce(strange)}
    return Grammar(jsgf(without_words(near, set(strange) - set(readings))), readings)
