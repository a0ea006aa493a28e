"""Parse sentences to intents with hassil, using Home Assistant's sentence templates.

The templates come from home-assistant-intents (OHF-Voice, CC BY 4.0). hassil is licensed under
Apache-2.0.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import home_assistant_intents
from hassil import recognize_all, recognize_best
from hassil.intents import Intents, SlotList, TextSlotList
from hassil.recognize import RecognizeResult

from assistant.brains.offline.lexicon import LOOSE_LANGUAGES, lexicon, tokens
from assistant.brains.offline.names import (
    Name,
    Names,
    digits_for_quantities,
    door_values,
    name_values,
    place_values,
)
from assistant.brains.offline.sentences import MEMORY_TOOLS, our_sentences
from assistant.tools.house.intents import LATER, as_said

ANYTHING = frozenset({"HassMediaSearchAndPlay"})  # intents that accept any words
_OF_TIMERS = frozenset({"timer", "hour", "minute", "second_unit"})
_LESS = frozenset({"minus", "menos"})
_TIME = re.compile(r"\b(\d{1,2}):(\d{2})\b")  # as typed


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A complete command or question."""

    intent: str  # "HassTurnOn"
    text: str  # the command's text
    # Slot values, including domain and device_class.
    slots: Mapping[str, Any] = field(default_factory=dict)
    # Entities with this name; several if it is not unique.
    entity_ids: tuple[str, ...] = ()
    name: str = ""  # name in Home Assistant; "" if none was said
    called: str = ""  # name as the person said it, with the article: "the kitchen light"
    area_id: str = ""
    place: str = ""  # area or floor as the person said it
    floor_id: str = ""
    area_said: bool = False  # False if the area is this device's
    response: str = ""  # type of answer that the template expects: "one_yesno", "how_many"
    colour: str = ""  # as the person said it; the slot has Home Assistant's English word
    later: "ParsedCommand | None" = None  # command to run after the delay
    guessed: bool = False  # a word was completed, corrected or taken as free text


def languages() -> frozenset[str]:
    return frozenset(home_assistant_intents.get_languages())


class Parser:
    """Parses sentences that use the names of one house."""

    def __init__(self, names: Names) -> None:
        self._areas = names.areas
        self._slot_lists: dict[str, SlotList] = {
            "name": TextSlotList.from_tuples(name_values(names), allow_template=False),
            "area": TextSlotList.from_tuples(place_values(names.areas), allow_template=False),
            "door": TextSlotList.from_tuples(door_values(names), allow_template=False),
            "floor": TextSlotList.from_tuples(place_values(names.floors), allow_template=False),
        }

    def parse(self, text: str, language: str, area_id: str = "") -> ParsedCommand | None:
        """Return the command if the whole text is a single command, otherwise None.

        `area_id` is this device's area.
        """
        if (found := self._parse(text, language, area_id)) is not None:
            return found
        others = (self._parse(o, language, area_id) for o in reworded(text.lower(), self._areas))
        return next((one for one in others if one is not None and one.entity_ids), None)

    def _parse(self, text: str, language: str, area_id: str) -> ParsedCommand | None:
        intents = _intents(language)
        if intents is None:
            return None
        said = _TIME.sub(r"\1 \2", text.strip().lower())
        if language.startswith("en"):
            said = digits_for_quantities(said)
        given: dict[str, Any] = {
            "slot_lists": self._slot_lists,
            "intent_context": {"area": area_id} if area_id else None,
            "language": intents.language,
        }
        result = recognize_best(said, intents, **given, best_slot_name="name")

        def is_greedy(one: RecognizeResult) -> bool:
            return _cuts_a_word(one, said) or self._takes_a_command(one, language, area_id)

        if result is not None and is_greedy(result):
            others = recognize_all(said, intents, **given)
            result = max(
                (one for one in others if not is_greedy(one)),
                key=lambda one: one.text_chunks_matched,  # like hassil
                default=None,
            )
        if result is None or _asks_about_the_world(result) or _means_one_of_them(result, said):
            return None
        command = _command(result, said, area_id)
        if command.intent in MEMORY_TOOLS:
            return replace(command, slots=_as_written(command.slots, text))
        if language.startswith("de") and isinstance(noted := command.slots.get("text"), str):
            # German writes nouns with a capital: "erinnere mich an die Wäsche".
            return replace(command, slots={**command.slots, "text": _as_in(text, noted)})
        if LATER not in command.slots:
            return command
        later = self.parse(str(command.slots[LATER]), language, area_id)
        return None if later is None else replace(command, later=later)

    def _takes_a_command(self, result: RecognizeResult, language: str, area_id: str) -> bool:
        """Return True if a title or a timer's name contains a part of the command, or another one:
        "set a two minute timer and a seven minute timer", "play jazz and turn on the lamp"."""
        base = language.partition("-")[0]
        if base not in LOOSE_LANGUAGES:
            return False
        known = lexicon(base)
        free = {one.name: one.text for one in result.entities_list if one.is_wildcard}
        name, title = tokens(free.get("name", "")), tokens(free.get("search_query", ""))
        if any(word[0].isdigit() or word in known.numbers or word in _LESS for word in name):
            return True
        said = {word: {one.tag for one in known.phrases.get(word, ())} for word in (*name, *title)}
        if any(_OF_TIMERS & said[word] for word in name) or any("timer" in said[w] for w in title):
            return True
        _, *others = _AND.split(free.get("search_query", ""))
        return any(self._parse(one, language, area_id) for one in others if one)


def _cuts_a_word(result: RecognizeResult, said: str) -> bool:
    # In "leche a la lista", hassil (3.12) also matches "a {name}" at the end of "la", which would
    # add "leche a l" to the list.
    texts = [entity.text.strip() for entity in result.entities_list if entity.is_wildcard]
    return any(
        text in said and not re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said) for text in texts
    )


def _asks_about_the_world(result: RecognizeResult) -> bool:
    # "Who is the prime minister", for example, matches "who is {zone}".
    state = result.entities.get("state")
    return state is not None and state.is_wildcard


def _means_one_of_them(result: RecognizeResult, said: str) -> bool:
    # "The kitchen one" is not the kitchen at one percent.
    return "brightness" in result.entities and said.endswith(" one")


def _command(result: RecognizeResult, said: str, here: str) -> ParsedCommand:
    slots = {key: entity.value for key, entity in result.entities.items()}
    name = result.entities.get("name")
    area = result.entities.get("area")
    named = name is not None and not name.is_wildcard
    colour = result.entities.get("color")
    area_id = str(slots.pop("area", ""))
    written = str(slots.pop("name", ""))
    if named and name is not None and name.metadata is not None:
        slots["domain"] = name.metadata["domain"]
    if isinstance(item := slots.get("item"), str):
        slots["item"] = as_said(item, said)
    return ParsedCommand(
        intent=result.intent.name,
        text=said,
        entity_ids=tuple(name.metadata["ids"]) if named and name and name.metadata else (),
        name=written,
        called=_with_article(name.text_clean, said) if named and name is not None else "",
        area_id=area_id,
        floor_id=str(slots.pop("floor", "")),
        place=_place_said(result),
        area_said=area is not None and bool(area.text.strip()) and area_id != "",
        response=result.response or "",
        colour=colour.text_clean if colour is not None else "",
        slots=slots,
        guessed=any(entity.is_wildcard for entity in result.entities_list),
    )


def _place_said(result: RecognizeResult) -> str:
    for kind in ("area", "floor"):
        place = result.entities.get(kind)
        if place is not None and place.text.strip():
            return place.text_clean.lower()
    return ""


def _with_article(name: str, said: str) -> str:
    before = said.partition(name.lower())[0].split()
    articles = ("the", "el", "la", "los", "las")
    return f"{before[-1]} {name.lower()}" if before and before[-1] in articles else name.lower()


@cache
def _intents(language: str) -> Intents | None:
    for code in dict.fromkeys((language, language.partition("-")[0])):
        found = home_assistant_intents.get_intents(code) if code else None
        if found is not None:
            intents, lists = our_sentences(code)
            for intent, blocks in intents.items():
                known = found["intents"].get(intent, {"data": []})
                found["intents"][intent] = {**known, "data": [*known["data"], *blocks]}
            lists = {**found["lists"], **lists}
            found["lists"] = {name: _apart(values) for name, values in lists.items()}
            return Intents.from_dict(found)
    return None


def _apart(values: dict[str, Any]) -> dict[str, Any]:
    """Return a list of numbers with a range of its own if it multiplies them.

    hassil (3.12) keeps the number words of a range for all lists with the same limits, so that
    "turn the volume down by ten" could turn it up.
    """
    limits = values.get("range", {})
    return {"range": {**limits, "to": limits["to"] - 1}} if "multiplier" in limits else values


_NUMBER = re.compile(r"(?<=\w )(?:number|número|no\.|nº) (?=\S)")
_IN = re.compile(r"(?P<what>.+) (?:in|of) (?:the )?(?P<room>\S.*)")
_MOST = 8  # maximum number of wordings


def reworded(text: str, areas: Iterable[Name]) -> list[str]:
    """Return alternative wordings of a sentence, in lower case.

    For example, "plug number two" becomes "plug two".
    """
    said = _NUMBER.sub("", text)
    others = [said] if said != text else []
    return [*others, *_by_room(said, areas)][:_MOST]


def _by_room(text: str, areas: Iterable[Name]) -> Iterator[str]:
    # "turn on the main light in the study" becomes "turn on the office main light" if "office" is
    # another name of the study.
    found = _IN.fullmatch(text)
    if found is None:
        return
    known = tuple(areas)
    rooms = {one for area in known if area.text == found["room"] for one in area.ids}
    before, article, thing = found["what"].rpartition(" the ")
    if not rooms or not article:
        return
    for area in known:
        if not rooms.isdisjoint(area.ids):
            yield f"{before} the {area.text} {thing}"


def _as_written(slots: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the slots with the sentence's capitalisation, because parsing uses lower case."""
    return {
        key: _as_in(text, value) if isinstance(value, str) else value
        for key, value in slots.items()
    }


def _as_in(text: str, value: str) -> str:
    value = value.strip(" ,;:.!?¿¡")
    at = text.lower().rfind(value.lower())
    found = value if at < 0 else text[at : at + len(value)]
    return found[:1].upper() + found[1:]


# Sentences with several commands are split at "and". Parts without a verb take it from a neighbour.


_AND = re.compile(r"(?:\s*,\s*|\s+)(?:and then|and|then|y luego|y)\s+|\s*,\s+")
_FINAL_WORDS = ("on", "off")
_BARE_INTENTS = ("HassTurnOn",)  # a name alone is parsed as "turn it on"
MAX_PARTS = 8

Parse = Callable[[str], ParsedCommand | None]


def parse_all(text: str, parse: Parse) -> list[ParsedCommand]:
    """Return all commands of a sentence in order, or an empty list if any part isn't one."""
    whole = parse(text)
    if whole is not None:
        return [whole]
    parts = [part for part in _AND.split(text.strip()) if part]
    if not 1 < len(parts) <= MAX_PARTS:
        return []
    commands: list[ParsedCommand] = []
    for part in parts:
        command = _part(part, parts[-1], commands[-1] if commands else None, parse)
        if command is None:
            return []
        commands.append(command)
    return commands


def _part(part: str, last: str, before: ParsedCommand | None, parse: Parse) -> ParsedCommand | None:
    if before is not None:
        carried = _carried(part, before)
        alone = parse(part)
        if alone is not None and not _is_bare(part, alone):
            return alone
        found = [one for candidate in carried if (one := parse(candidate)) is not None]
        found = [one for one in found if one.intent not in ANYTHING]
        if found:  # if a name is free text, the fewest words are carried
            return next((one for one in found if not one.guessed), found[-1])
        return alone if before.intent in _BARE_INTENTS else None
    command = parse(part)
    ending = last.split()[-1]
    if command is None and ending in _FINAL_WORDS:
        return parse(f"{part} {ending}")
    return command


def _carried(part: str, before: ParsedCommand) -> list[str]:
    # "the hall light" after "turn on the kitchen light" gives "turn on the hall light". A switch
    # word at the end, as in "turn the kitchen light off", is added as well.
    words = before.text.split()
    shared = [" ".join(words[:count]) for count in range(min(3, len(words) - 1), 0, -1)]
    candidates = [f"{start} {part}" for start in shared]
    if words[-1] in _FINAL_WORDS:
        candidates.append(f"{words[0]} {part} {words[-1]}")
    return candidates


def _is_bare(part: str, command: ParsedCommand) -> bool:
    return command.intent in _BARE_INTENTS and command.called.strip() == part.strip().lower()
