"""Comparison of names, similar names, and the wording of names and states."""

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from heapq import nlargest
from itertools import pairwise
from typing import Any

from assistant.speech.catalogue import FALLBACK, Catalogue, Names, is_plural
from assistant.speech.speakable import spoken_name
from assistant.tools.house import articles
from assistant.tools.house.articles import best_name, listed, with_article
from assistant.tools.house.targets import KEPT_NAMES, domain_of, is_called, is_wildcard, same
from integrations.home_assistant.house import Area, Entity, Floor, House

_OWNED = re.compile(r"(?i)(?:the|my|our)\b|\S+['’]s?\b")  # "Ana's window" takes no article
_ADVERBS = frozenset({"downstairs", "inside", "outdoors", "outside", "upstairs"})
_TITLED = frozenset({"automation", "scene", "script"})  # "Run the script Film?"
_ROBOTS = frozenset({"hoover", "lawnmower", "mower", "robot", "vacuum"})
_TECHNICAL = re.compile(r"[._/]|://")  # file and program names
MOST_NAMED = 8  # names in a sentence; any others are counted


def spoken_names(names: Iterable[str]) -> Names:
    """Return names as a spoken list, without articles or duplicates."""
    return _listed(names, lambda name, language, case: name)


def spoken_things(names: Iterable[str | Sequence[str]], untitled: Container[str] = ()) -> Names:
    """Return the names of entities or rooms as a spoken list, with their articles.

    A sequence contains all names of one entity, of which each language uses its own. `untitled`
    contains main names that take no article, such as the name of a scene.
    """
    aliases: dict[str, tuple[str, ...]] = {}
    for one in names:
        every = (one,) if isinstance(one, str) else tuple(one)
        aliases.setdefault(every[0], every)
    spoken = {spoken_name(main): every for main, every in aliases.items()}
    bare = {spoken_name(main) for main in aliases if main in untitled}

    def worded(name: str, language: str, case: str) -> str:
        if name in bare:
            return name
        if language == FALLBACK:
            return _with_article(name)
        return with_article(spoken_name(best_name(spoken[name], language)), language, case)

    return _listed(aliases, worded, bare)


def spoken_place(place: str | Sequence[str]) -> Names:
    """Return a room or floor, in English with its preposition: "in the kitchen", "upstairs"."""
    names = (place,) if isinstance(place, str) else tuple(place)
    said = spoken_name(names[0])
    others = spoken_things([names]).others
    if said.lower() in _ADVERBS:
        return Names(said, said.lower(), others)
    return Names(said, f"in {_with_article(said)}", others)


def spoken_places(places: Iterable[str | Sequence[str]], here: str = "") -> Names:
    """Return several rooms or floors, in English with prepositions: "in the hall and upstairs".

    `here` is the phrase for the current room, which takes no article.
    """
    every = [(one,) if isinstance(one, str) else tuple(one) for one in places]
    names = spoken_things(every, (here,))
    rooms = [one for one in every if spoken_name(one[0]).lower() not in _ADVERBS]
    floors = [spoken_name(one[0]).lower() for one in every if one not in rooms]
    inside = [f"in {spoken_things(rooms, (here,)).english}"] if rooms else []
    return Names(names, " and ".join(filter(None, _but_last([*inside, *floors]))), names.others)


def _listed(
    names: Iterable[str],
    worded: Callable[[str, str, str], str],
    titles: Container[str] = (),
) -> Names:
    """Return names as a spoken list. `worded` takes a name, a language and a German case. A single
    name in `titles` counts as singular, even if it ends with "s"."""
    plain = list(dict.fromkeys(filter(None, map(spoken_name, names))))
    told, rest = plain[:MOST_NAMED], len(plain) - MOST_NAMED
    english = [worded(one, FALLBACK, "") for one in told]
    if rest > 0:
        english.append(f"{rest} more")
    others = {
        f"{language}.{case}" if case else language: listed(
            [worded(one, language, case) for one in told], rest, language
        )
        for language in (*articles.LANGUAGES, "vi")
        for case in (articles.CASES if language == "de" else ("",))
    }
    counted = [*told, *([f"+{rest}"] if rest > 0 else [])]
    words = " and ".join(filter(None, _but_last(english)))
    several = len(plain) > 1 or any(one not in titles and is_plural(one) for one in plain)
    return Names(", ".join(counted), words, others, several=several)


def _but_last(words: Sequence[str]) -> tuple[str, str]:
    return ", ".join(words[:-1]), "".join(words[-1:])


def named_thing(names: str | Sequence[str], say: Catalogue, language: str) -> str:
    """Return an entity's name with its article, for use in a sentence: "the front door".

    A German name is in the nominative, and is returned as a `Names` that also contains the other
    cases.
    """
    every = (names,) if isinstance(names, str) else tuple(names)
    own = say.own(language).partition("-")[0]
    if own == FALLBACK:
        return _with_article(every[0])
    name = best_name(every, own)
    said = with_article(name, own, "nom")
    if own != "de":
        return said
    return Names(said, said, _by_case(lambda case: with_article(name, own, case)))


def in_cases(names: Sequence[str], listed: Callable[[Sequence[str]], str]) -> str:
    """Join names from `named_thing` with `listed`. For German, this is done for every grammatical
    case."""
    told = listed(names)
    german = [one for one in names if isinstance(one, Names)]
    if not german:
        return told
    return Names(
        told, told, _by_case(lambda case: listed([one.within("de", case) for one in german]))
    )


def _by_case(worded: Callable[[str], str]) -> dict[str, str]:
    return {f"de.{case}" if case else "de": worded(case) for case in articles.CASES}


def _with_article(name: str) -> str:
    if _OWNED.match(name) or _TECHNICAL.search(name):
        return name
    return f"the {_lowered(name)}"


def has_no_article(entity_id: str, name: str) -> bool:
    """Return True if a name takes no article, such as the name of a scene."""
    domain = domain_of(entity_id)
    if domain in _TITLED or "." not in entity_id:
        return True
    return domain in ("lawn_mower", "vacuum") and " " not in name and name.lower() not in _ROBOTS


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lowered(name: str) -> str:
    return " ".join(
        word.lower() if word[:1].isupper() and word[1:].islower() else word for word in name.split()
    )


MOST_NEAR = 3
_LONGEST = 80  # characters to compare; longer texts are not names
_LIKE = 0.6  # by difflib's measure; below, names share letters only by chance
# Names to compare letter by letter, at 60 µs each: those that share most pairs of letters.
# Comparing all names of 5,000 entities would block for 0.1 s.
_COMPARED = 150
_BITS = 251  # a prime, which spreads the pairs well


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return up to three of the known names that resemble `name`, the most similar first."""
    written = {one[:_LONGEST].casefold(): one for one in known}
    wanted = name[:_LONGEST].casefold()
    likely: Iterable[str] = written
    if len(written) > _COMPARED:
        pairs = _pairs(wanted)
        likely = nlargest(_COMPARED, written, lambda one: _shared(pairs, _pairs(one)))
    found = get_close_matches(wanted, likely, MOST_NEAR, _LIKE)
    return tuple(written[match] for match in found)


@lru_cache(KEPT_NAMES)
def _pairs(name: str) -> int:
    bits = 0
    for one, other in pairwise(map(ord, f" {name} ")):
        bits |= 1 << (one * 31 + other) % _BITS
    return bits


def _shared(one: int, other: int) -> float:
    return 2 * (one & other).bit_count() / (one.bit_count() + other.bit_count())


def nearest_in_house(arguments: Mapping[str, Any], house: House) -> tuple[str, ...]:
    """Return the names that are most similar to the call's name, area or floor if the house doesn't
    have it, or ()."""
    name = _text(arguments, "name")
    if name and not is_wildcard(name):
        exposed = house.exposed()
        if not any(is_called(entity, name) for entity in exposed):
            return nearest(name, (one for entity in exposed for one in entity.names))
    places: dict[str, Mapping[str, Area] | Mapping[str, Floor]] = {
        "area": house.areas,
        "floor": house.floors,
    }
    for kind, known in places.items():
        wanted = _text(arguments, kind)
        names = [one for place in known.values() for one in (place.name, *place.aliases)]
        if wanted and wanted not in known and not same(wanted, names):
            return nearest(wanted, names)
    return ()


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    return value if isinstance(value, str) else ""


_APOSTROPHES = dict.fromkeys(map(ord, "'’‘`´ʼ′"))
_ARTICLES = frozenset(
    {"the", "a", "an", "my", "our", "el", "la", "los", "las", "un", "una", "mi", "mis"}
)


@lru_cache(KEPT_NAMES)
def folded(text: str) -> str:
    """Return the text in lower case, cut to _LONGEST characters, and without accents, apostrophes
    or invisible characters."""
    signs = unicodedata.normalize("NFKD", text[:_LONGEST]).translate(_APOSTROPHES).casefold()
    plain = unicodedata.normalize("NFKD", signs)
    return "".join(one for one in plain if unicodedata.category(one) not in ("Mn", "Cf")).strip()


@lru_cache(KEPT_NAMES)
def stemmed(text: str) -> str:
    """Return the folded text without spaces, hyphens, a leading article or plural endings."""
    words = [word for word in re.split(r"[\s\-_]+", folded(text)) if word]
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
    return "".join(map(_stem, words))


def are_near(one: str, other: str) -> bool:
    """Return True if two names are equal or differ only by typos. Short names, first letters and
    numbers must be equal."""
    first, second = stemmed(one), stemmed(other)
    shortest = min(len(first), len(second))
    allowed = 0 if shortest < 5 else 1 if shortest < 9 else 2
    if first[:1] != second[:1] or abs(len(first) - len(second)) > allowed:
        return False
    if re.findall(r"\d+", first) != re.findall(r"\d+", second):
        return False
    return slips(first, second) <= allowed


def slips(one: str, other: str) -> int:
    """Return the number of typos between two texts (optimal string alignment distance)."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, sign in enumerate(other, 1):
            cost = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != sign))
            swapped = (
                row > 1 and column > 1 and letter == other[column - 2] and sign == one[row - 2]
            )
            line.append(min(cost, before[column - 2] + 1) if swapped else cost)
        before, last = last, line
    return last[-1]


def _stem(word: str) -> str:
    """Return a stem that is the same for "light" and "lights", "luz" and "luces", or "story" and
    "stories"."""
    if len(word) < 3:
        return word
    word = word.removesuffix("s") if len(word) > 3 else word
    word = word.removesuffix("e") if len(word) > 3 else word
    return word[:-1] + {"z": "c", "y": "i"}.get(word[-1], word[-1])


def kelvin_range(lamp: Entity) -> tuple[float, float] | None:
    """Return the lowest and highest white tone of a lamp in kelvin, or None if it doesn't say."""
    low, high = (lamp.attributes.get(f"{end}_color_temp_kelvin") for end in ("min", "max"))
    if isinstance(low, int | float) and isinstance(high, int | float):
        return low, high
    return None


def celsius(entity: Entity, degrees: float, unit: str = "") -> float:
    """Convert a thermostat's temperature to Celsius.

    `unit` is the house's. If it is "", thermostats with a maximum above 45 are assumed to use
    Fahrenheit.
    """
    highest = entity.attributes.get("max_temp")
    fahrenheit = isinstance(highest, int | float) and highest > 45
    if unit:
        fahrenheit = unit == "°F"
    return (degrees - 32) / 1.8 if fahrenheit else degrees


# State of an entity in short words, as the journal and the model see it.
UNKNOWN = frozenset({"unavailable", "unknown"})
# Words for on and off by device class (names of states in `components/binary_sensor`).
_OPEN, _SENSED = ("open", "closed"), ("detected", "clear")
ON_AND_OFF = {
    **dict.fromkeys(("door", "garage_door", "opening", "window"), _OPEN),
    **dict.fromkeys(("motion", "occupancy", "smoke", "gas", "carbon_monoxide", "sound"), _SENSED),
    "lock": ("unlocked", "locked"),
    "moisture": ("wet", "dry"),
    "presence": ("home", "away"),
    "battery": ("low", "normal"),
}


def plain_state(entity: Entity, state: str | None = None) -> str:
    """Return a state, by default the current one, as people would say it: "open" for a door contact
    that is "on"."""
    state = entity.state if state is None else state
    if entity.domain != "binary_sensor" or state not in ("on", "off"):
        return state
    on, off = ON_AND_OFF.get(entity.device_class or "", ("on", "off"))
    return on if state == "on" else off


def short_state(entity: Entity) -> str:
    """Return the state with its most important attribute: "on 30 %", "heat 21 °C", "open 20 %"."""
    state, attributes = entity.state, entity.attributes
    if state in UNKNOWN:
        return state
    detail = ""
    if entity.domain == "light" and state == "on":
        detail = _percent(brightness_percent(entity))
    elif entity.domain in ("climate", "water_heater"):
        detail = _degrees(entity)
    elif entity.domain in ("cover", "valve") and attributes.get("current_position") not in (0, 100):
        detail = _percent(attributes.get("current_position"))
    elif entity.domain == "fan" and state == "on":
        detail = _percent(attributes.get("percentage"))
    elif entity.domain == "media_player":
        volume = attributes.get("volume_level")
        detail = _percent(round(volume * 100) if isinstance(volume, int | float) else None)
        if attributes.get("is_volume_muted"):
            detail = "muted"
    elif entity.domain == "humidifier":
        detail = _percent(attributes.get("humidity"))
    elif entity.domain == "sensor":
        detail = str(attributes.get("unit_of_measurement") or "")
    return f"{state} {detail}".strip()


def brightness_percent(entity: Entity) -> int | None:
    """Return a light's brightness in percent, or None if the light doesn't report it."""
    brightness = entity.attributes.get("brightness")
    return round(brightness * 100 / 255) if isinstance(brightness, int | float) else None


def _percent(value: Any) -> str:
    return f"{round(value)} %" if isinstance(value, int | float) else ""


def _degrees(entity: Entity) -> str:
    value, highest = entity.attributes.get("temperature"), entity.attributes.get("max_temp")
    if not isinstance(value, int | float):
        return ""
    fahrenheit = isinstance(highest, int | float) and highest > 45 and entity.domain == "climate"
    return f"{value:g} °{'F' if fahrenheit else 'C'}"
