"""Text to intents, with hassil and Home Assistant's own sentence templates.

The templates are home-assistant-intents (OHF-Voice, CC BY 4.0), hassil is Apache-2.0.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import home_assistant_intents
from hassil import recognize_all, recognize_best
from hassil.intents import Intents, SlotList, TextSlotList
from hassil.recognize import RecognizeResult

from assistant.brains.offline.alarm_sentences import LISTS as ALARM_LISTS
from assistant.brains.offline.alarm_sentences import SENTENCES as ALARM_SENTENCES
from assistant.brains.offline.lock_sentences import SENTENCES as LOCK_SENTENCES
from assistant.brains.offline.memory_sentences import LISTS as MEMORY_LISTS
from assistant.brains.offline.memory_sentences import SENTENCES as MEMORY_SENTENCES
from assistant.brains.offline.memory_sentences import TOOLS as MEMORY_TOOLS
from assistant.brains.offline.memory_sentences import as_written
from assistant.brains.offline.names import Names, door_values, name_values, place_values
from assistant.brains.offline.numbers import digits_for_quantities
from assistant.brains.offline.own import OWN_SENTENCES
from assistant.brains.offline.profile_sentences import LISTS as PROFILE_LISTS
from assistant.brains.offline.profile_sentences import SENTENCES as PROFILE_SENTENCES
from assistant.brains.offline.reword import reworded
from assistant.brains.offline.state_sentences import LISTS as STATE_LISTS
from assistant.brains.offline.state_sentences import SENTENCES as STATE_SENTENCES
from assistant.brains.offline.timer_sentences import SENTENCES as TIMER_SENTENCES
from assistant.brains.offline.undoing import SENTENCES as UNDO_SENTENCES
from assistant.tools.house.intents import LATER
from assistant.tools.policy.corrections import as_said

_TIME = re.compile(r"\b(\d{1,2}):(\d{2})\b")  # as it is typed

# Ours, where people say less than the templates ask for; merged into the language's templates.
_LIGHT = {"domain": "light"}
_MORE_SENTENCES: Mapping[str, Mapping[str, list[dict[str, Any]]]] = {
    "en": {
        "HassTurnOn": [
            {
                "sentences": ["<turn> on [<the>] {area}", "<turn> [<the>] {area} on"],
                "slots": _LIGHT,
            },
            {
                "sentences": ["<turn> on <all> [<the>] <light>", "<turn> <all> [<the>] <light> on"],
                "slots": _LIGHT,
            },
        ],
        "HassTurnOff": [
            {
                "sentences": ["<turn> off [<the>] {area}", "<turn> [<the>] {area} off"],
                "slots": _LIGHT,
            },
        ],
        "HassLightSet": [
            {
                "sentences": [
                    "(dim|brighten) [<the>] {name} to {brightness}[([ ]%)| percent]",
                ],
                "requires_context": {"domain": "light"},
            },
            {
                "sentences": ["set [<the>] {name} to (full|maximum) brightness"],
                "requires_context": {"domain": "light"},
                "slots": {"brightness": 100},
            },
            {
                "sentences": [
                    "(set|dim|brighten) [<the>] {area} <light> to {brightness}[([ ]%)| percent]",
                    "<set> [<the>] {area} <light> [to] {color}",
                ],
                "slots": _LIGHT,
            },
        ],
        "HassClimateSetTemperature": [
            {
                "sentences": [
                    "<numeric_value_set> [<the>] {area} to {temperature}(([ ]°)|( degree[s]))",
                    "<numeric_value_set> [<the>] {area} <temp> to {temperature}",
                    "make [<the>] {area} {temperature} degree[s]",
                ]
            },
            {
                "sentences": [
                    "turn [<the>] {name} (up|down) to {temperature}[([ ]°)|( degree[s])]",
                ],
                "requires_context": {"domain": "climate"},
            },
        ],
        "HassSetVolume": [
            {
                "sentences": [
                    "set [the] volume (of|on) [<the>] {name} "
                    "to {volume:volume_level}[([ ]%)| percent]",
                ],
                "requires_context": {"domain": "media_player"},
            },
        ],
        "HassMediaPause": [
            {
                "sentences": ["stop [<the>] {name}"],
                "requires_context": {"domain": "media_player"},
            },
            {"sentences": ["stop [the] music in [<the>] {area}"]},
        ],
        "HassVacuumReturnToBase": [
            {
                "sentences": ["send [<the>] {name} (home|[back] to (its|the) (dock|base))"],
                "requires_context": {"domain": "vacuum"},
            },
        ],
        "HassGetWeather": [
            {
                "sentences": [
                    "<what_is> [the] weather [like] today",
                    "<what_is> today's weather [forecast]",
                    "(will it|is it going to) rain today",
                ],
                "slots": {"when": "today"},
            },
            {
                "sentences": [
                    "<what_is> [the] weather [like] tomorrow",
                    "what will [the] weather be [like] tomorrow",
                    "<what_is> tomorrow's weather [forecast]",
                    "(will it|is it going to) rain tomorrow",
                ],
                "slots": {"when": "tomorrow"},
            },
            {
                "sentences": [
                    "<what_is> [the] weather [like] (this week|[in|over] the next [few] days)",
                    "what will [the] weather be [like] (this week|[in|over] the next [few] days)",
                    "<what_is> [the] weather forecast [for (this|the) week]",
                ],
                "slots": {"when": "week"},
            },
        ],
        "HassGetState": [
            {
                "sentences": ["<what_is> [<the>] {name}"],
                "requires_context": {"domain": "sensor"},
                "response": "one",
            },
        ],
    },
    "es": {
        "HassClimateSetTemperature": [
            {
                "sentences": [
                    "<establece_sube_baja> [el|la] {area} a {temperature}(([ ]°)|( grados))",
                ]
            },
        ],
        "HassListAddItem": [
            {
                # Theirs have an article only in front of the word "lista".
                "sentences": [
                    "<añadir> {shopping_list_item:item} (a|en) (mi|el|la|los|las) {name}"
                ],
                "requires_context": {"domain": "todo"},
                "response": "item_added",
            },
        ],
        "HassGetWeather": [
            {
                "sentences": ["(va a llover|lloverá) hoy"],
                "slots": {"when": "today"},
            },
            {
                "sentences": [
                    "qué tiempo (hará|va a hacer) mañana",
                    "cómo (estará|va a estar) el tiempo mañana",
                    "(va a llover|lloverá) mañana",
                ],
                "slots": {"when": "tomorrow"},
            },
            {
                "sentences": [
                    "qué tiempo (hará|va a hacer) (esta semana|[en] los próximos días)",
                    "cuál es la previsión del tiempo [(de|para) (esta|la) semana]",
                ],
                "slots": {"when": "week"},
            },
        ],
        "HassGetState": [
            {
                "sentences": [
                    "está {lock_states:state} [el|la] {name}",
                ],
                "requires_context": {"domain": "lock"},
                "response": "one_yesno",
            },
            {
                "sentences": ["está bloquead(o|a) [el|la] {name}"],
                "requires_context": {"domain": "lock"},
                "slots": {"state": "locked"},
                "response": "one_yesno",
            },
            {
                "sentences": ["está {cover_states:state} [el|la] {name}"],
                "requires_context": {"domain": "cover"},
                "response": "one_yesno",
            },
            {
                "sentences": ["está {on_off_states:state} [el|la] {name}"],
                "requires_context": {"domain": ["fan", "light", "switch"]},
                "response": "one_yesno",
            },
        ],
    },
}


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """One complete thing that was asked for."""

    intent: str  # "HassTurnOn"
    text: str  # the words that asked for it
    slots: Mapping[str, Any] = field(default_factory=dict)  # values, and domain or device_class
    entity_ids: tuple[str, ...] = ()  # what its name may mean; several: the name is not unique
    name: str = ""  # the name as Home Assistant writes it, "" where none was said
    called: str = ""  # the name as the person said it, with their article: "the kitchen light"
    area_id: str = ""
    place: str = ""  # the area or floor as the person said it
    floor_id: str = ""
    area_said: bool = False  # False: the area is where the assistant stands
    response: str = ""  # which kind of answer the template expects: "one_yesno", "how_many"
    colour: str = ""  # as the person said it; the slot has Home Assistant's English word
    later: "ParsedCommand | None" = None  # what is to be done when the time is over


def languages() -> frozenset[str]:
    """Codes that there are templates for."""
    return frozenset(home_assistant_intents.get_languages())


class Parser:
    """Parses sentences about one picture of the house's names."""

    def __init__(self, names: Names) -> None:
        self._areas = names.areas
        self._slot_lists: dict[str, SlotList] = {
            "name": TextSlotList.from_tuples(name_values(names), allow_template=False),
            "area": TextSlotList.from_tuples(place_values(names.areas), allow_template=False),
            "door": TextSlotList.from_tuples(door_values(names), allow_template=False),
            "floor": TextSlotList.from_tuples(place_values(names.floors), allow_template=False),
        }

    def parse(self, text: str, language: str, area_id: str = "") -> ParsedCommand | None:
        """The one command that the whole text is, or None. `area_id`: where the assistant is."""
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
        if result is not None and _cuts_a_word(result, said):
            others = recognize_all(said, intents, **given)
            result = max(
                (one for one in others if not _cuts_a_word(one, said)),
                key=lambda one: one.text_chunks_matched,  # as it prefers too
                default=None,
            )
        if result is None or _asks_about_the_world(result):
            return None
        command = _command(result, said, area_id)
        if command.intent in MEMORY_TOOLS:
            return replace(command, slots=as_written(command.slots, text))
        if LATER not in command.slots:
            return command
        later = self.parse(str(command.slots[LATER]), language, area_id)
        return None if later is None else replace(command, later=later)


def _cuts_a_word(result: RecognizeResult, said: str) -> bool:
    """Does an open list end within a word? hassil (3.12) finds "a {name}" in "leche a la lista" at
    the end of "la" too, and would put "leche a l" on the list."""
    texts = [entity.text.strip() for entity in result.entities_list if entity.is_wildcard]
    return any(
        text in said and not re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said) for text in texts
    )


def _asks_about_the_world(result: RecognizeResult) -> bool:
    """Does it fit only an open list? "Who is the prime minister" fits "who is {zone}"."""
    state = result.entities.get("state")
    return state is not None and state.is_wildcard


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
    )


def _place_said(result: RecognizeResult) -> str:
    for kind in ("area", "floor"):
        place = result.entities.get(kind)
        if place is not None and place.text.strip():
            return place.text_clean.lower()
    return ""


def _with_article(name: str, said: str) -> str:
    """The name with the article that stands in front of it in the text."""
    before = said.partition(name.lower())[0].split()
    articles = ("the", "el", "la", "los", "las")
    return f"{before[-1]} {name.lower()}" if before and before[-1] in articles else name.lower()


@cache
def _intents(language: str) -> Intents | None:
    """Compiled templates of "es-MX", else of "es"; None where there are none."""
    for code in dict.fromkeys((language, language.partition("-")[0])):
        found = home_assistant_intents.get_intents(code) if code else None
        if found is not None:
            for ours in (_MORE_SENTENCES, LOCK_SENTENCES, STATE_SENTENCES, TIMER_SENTENCES):
                for intent, more in ours.get(code, {}).items():
                    found["intents"][intent]["data"] = [*found["intents"][intent]["data"], *more]
            for own in (OWN_SENTENCES, UNDO_SENTENCES):
                for intent, sentences in own.get(code, {}).items():
                    found["intents"][intent] = {"data": [{"sentences": list(sentences)}]}
            for whole in (ALARM_SENTENCES, MEMORY_SENTENCES, PROFILE_SENTENCES):
                for intent, blocks in whole.get(code, {}).items():
                    found["intents"][intent] = {"data": blocks}
            lists = {
                **STATE_LISTS.get(code, {}),
                **ALARM_LISTS.get(code, {}),
                **MEMORY_LISTS,
                **PROFILE_LISTS,
            }
            found["lists"] = {**found["lists"], **lists}
            return Intents.from_dict(found)
    return None
