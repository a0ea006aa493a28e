"""Sentences that Home Assistant's templates lack, and the tools for Hearth's own intents.

Each `sentences/LANGUAGE.toml` contains the following, in hassil's template format:

- `intents`: additional templates for an intent, as blocks with slots and requirements.
- `states`: questions about doors, locks and sensors, grouped by topic (`_STATES`). Home
  Assistant's templates identify a door only by the exact name of a single entity.
- `parts`: texts that replace placeholders such as `{SPAN}` in the templates.
- `lists`: spoken forms and their values.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assistant.brains.offline.names import number_words
from assistant.speech.language import Unit
from assistant.speech.language.spanish import integer
from assistant.timers.recurrence import WEEKDAYS
from assistant.timers.tools import (
    ADD,
    CANCEL_TIMER,
    CHANGE_TIMER,
    LIST_TIMERS,
    PAUSE,
    RESUME,
    SET_ALARM,
    START_TIMER,
    SUBTRACT,
)
from assistant.tools.builtin.audit_tools import THAT_WAS_WRONG, WHAT_DID_YOU_DO, WHY_DID_YOU_REFUSE
from assistant.tools.builtin.protocol import CORRECT, FORGET, RECALL, REMEMBER
from assistant.tools.house.questions import EVERYTHING
from assistant.tools.undo.tools import CORRECT_LAST, UNDO

# Tool and additional arguments by intent. Home Assistant's timer intents ("Hass...") use Hearth's
# own timers.
TIMER_TOOLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "HassStartTimer": (START_TIMER, {}),
    "HassCancelTimer": (CANCEL_TIMER, {}),
    "HassCancelAllTimers": (CANCEL_TIMER, {"all": True, "kind": "timer"}),
    "HassIncreaseTimer": (CHANGE_TIMER, {"action": ADD}),
    "HassDecreaseTimer": (CHANGE_TIMER, {"action": SUBTRACT}),
    "HassPauseTimer": (CHANGE_TIMER, {"action": PAUSE}),
    "HassUnpauseTimer": (CHANGE_TIMER, {"action": RESUME}),
    "HassTimerStatus": (LIST_TIMERS, {}),
}
SET_AN_ALARM, LIST_ALARMS = "HearthSetAlarm", "HearthListAlarms"
CANCEL_ALARM, SNOOZE_ALARM = "HearthCancelAlarm", "HearthSnooze"
ALARM_TOOLS: Mapping[str, str] = {
    SET_AN_ALARM: SET_ALARM,
    LIST_ALARMS: LIST_TIMERS,
    CANCEL_ALARM: CANCEL_TIMER,
    SNOOZE_ALARM: CHANGE_TIMER,
}
MEMORY_TOOLS: Mapping[str, str] = {  # the slots are the tool's arguments
    "HearthRemember": REMEMBER,
    "HearthRecall": RECALL,
    "HearthCorrectMemory": CORRECT,
    "HearthForget": FORGET,
    "HearthForgetAll": FORGET,
}
OWN_TOOLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "HearthWhatDidYouDo": (WHAT_DID_YOU_DO, {}),
    "HearthWhyDidYouRefuse": (WHY_DID_YOU_REFUSE, {}),
    "HearthThatWasWrong": (THAT_WAS_WRONG, {}),
    "HearthMisheard": (THAT_WAS_WRONG, {"misheard": True}),
    "HearthUndo": (UNDO, {}),
    "HearthCorrect": (CORRECT_LAST, {}),
    "HearthRepeat": ("repeat", {}),
}
VALUE = "value"  # slot with the number that was said for a script
LIST_ITEMS = "HearthListItems"  # a question about a to-do list
MISSING = "HearthMissing"  # a command for something that the house lacks
IMPOSSIBLE = "HearthImpossible"  # a command for which Home Assistant has no tool
PART = "part"  # response of MISSING for a part that isn't understood
CLEAR_LIST = "HearthClearList"
REMOVE_ITEM = "HassListRemoveItem"
SMALL_TALK = frozenset({"HassNevermind", "HassRespond"})
SUN = "HearthSun"  # a question about sunrise or sunset
CALENDAR = "HearthCalendar"  # a question about appointments
WHEN = "when"  # slot with the days of a question about appointments
READING = "HearthReading"  # a question about a brightness, a volume or what is playing
PROFILE_INTENT = "HearthSwitchProfile"

TOMORROW = "tomorrow"
ALARM_DAYS: Mapping[str, list[str]] = {  # names for several days in the sentence files
    "workdays": list(WEEKDAYS[:5]),
    "daily": list(WEEKDAYS),
    "weekend": list(WEEKDAYS[5:]),
}

DEFINITE = "definite"  # response of questions about "the door", "the windows"
ROOM = "room_humidity"  # response of questions about a room's humidity
_HOUSE = {"device_class": EVERYTHING}
_SENSOR = {"domain": "binary_sensor", "state": "on"}
_BATTERY = {"domain": "binary_sensor", "device_class": "battery"}
# Topic of questions in `states`, type of answer, and slots.
_STATES: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("kind", DEFINITE, {"domain": "cover"}),  # {cover_classes:device_class} {cover_states:state}
    # "the garage", without the word "door".
    ("garage", DEFINITE, {"domain": "cover", "device_class": "garage"}),
    ("locks", DEFINITE, {"domain": "lock"}),
    ("all_closed", "all", {"state": "closed", **_HOUSE}),
    ("all_locked", "all", {"state": "locked", **_HOUSE}),
    ("any_open", "any", {"state": "open", **_HOUSE}),
    ("which_open", "which", {"state": "open", **_HOUSE}),
    ("any_unlocked", "any", {"state": "unlocked", **_HOUSE}),
    ("which_unlocked", "which", {"state": "unlocked", **_HOUSE}),
    ("smoke", "any", {"device_class": "smoke", **_SENSOR}),
    ("gas", "any", {"device_class": ["gas", "carbon_monoxide"], **_SENSOR}),
    ("leak", "any", {"device_class": "moisture", **_SENSOR}),
    ("motion", "any", {"device_class": ["motion", "occupancy", "presence", "moving"], **_SENSOR}),
    ("battery_any", "any", {"state": "low", **_BATTERY}),
    ("battery_which", "which", {"state": "low", **_BATTERY}),
    ("battery_all", "all", {"state": "normal", **_BATTERY}),
    ("humidity", ROOM, {}),
    ("humidity_here", ROOM, {}),
)
# Sentence file by language code; the library has several codes for some languages.
_FILES = {"de": "de", "en": "en", "es": "es", "fr": "fr", "pt": "pt", "pt-BR": "pt", "vi": "vi"}
_FREE = ("memory_fact", "memory_about", "profile_name")  # lists that accept any text
_HORA = Unit("hora", "horas", feminine=True)  # "la una"

Blocks = list[dict[str, Any]]


def our_sentences(code: str) -> tuple[dict[str, Blocks], dict[str, Any]]:
    """Return additional templates by intent, and additional lists, for one language code."""
    free = {name: {"wildcard": True} for name in _FREE}
    if code not in _FILES:
        return {}, free
    path = Path(__file__).parent / "sentences" / f"{_FILES[code]}.toml"
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    intents: dict[str, Blocks] = written.get("intents", {})
    parts: dict[str, str] = written.get("parts", {})
    for block in (block for blocks in intents.values() for block in blocks):
        for name, text in parts.items():
            block["sentences"] = [one.replace(f"{{{name}}}", text) for one in block["sentences"]]
    intents.setdefault("HassGetState", []).extend(_questions(written["states"]))
    lists = {name: {"values": values} for name, values in written.get("lists", {}).items()}
    times = {"de": german_times, "en": english_times, "es": spanish_times}.get(code)
    if times is not None:
        lists["alarm_time"] = {"values": [{"in": said, "out": at} for said, at in times()]}
        free["alarm_text"] = {"wildcard": True}
    return intents, lists | free


def _questions(states: Mapping[str, list[str]]) -> Iterator[dict[str, Any]]:
    for kind in ("cover_states", "lock_states"):
        door = [text.replace("{STATE}", f"{{{kind}:state}}") for text in states["door"]]
        yield {"sentences": door, "response": "one_yesno"}
    for name, response, slots in _STATES:
        block: dict[str, Any] = {"sentences": states[name], "response": response, "slots": slots}
        if name == "humidity_here":
            block["requires_context"] = {"area": {"slot": True}}
        yield block


def english_times() -> Iterator[tuple[str, str]]:
    """Yield times as people say or type them, each with its digits: "half past seven", "7:30"."""
    for hour in range(1, 13):
        named, before = number_words(hour), (hour - 2) % 12 + 1
        yield f"{named} [o'clock]", f"{hour}:00"
        yield f"half past {named}", f"{hour}:30"
        yield f"[a] quarter past {named}", f"{hour}:15"
        yield f"[a] quarter to {named}", f"{before}:45"
        for minute in range(1, 60):
            oh = "(oh|o) " if minute < 10 else ""
            yield f"{named} {oh}{number_words(minute)}", f"{hour}:{minute:02}"
        for minute in (5, 10, 20, 25):
            yield f"{number_words(minute)} [minutes] past {named}", f"{hour}:{minute:02}"
            yield f"{number_words(minute)} [minutes] to {named}", f"{before}:{60 - minute}"
    yield from (("(noon|midday)", "noon"), ("midnight", "midnight"))
    yield from _figures()


def spanish_times() -> Iterator[tuple[str, str]]:
    """Yield times as people say or type them, each with its digits: "siete y media", "7:30"."""
    for hour in range(1, 13):
        named, before = integer(hour, _HORA), (hour - 2) % 12 + 1
        yield f"{named} [en punto]", f"{hour}:00"
        yield f"{named} y cuarto", f"{hour}:15"
        yield f"{named} y media", f"{hour}:30"
        yield f"{named} menos cuarto", f"{before}:45"
        yield f"{hour} y cuarto", f"{hour}:15"
        yield f"{hour} y media", f"{hour}:30"
        yield f"{hour} menos cuarto", f"{before}:45"
        for minute in range(1, 60):
            yield f"{named} [y] {integer(minute)}", f"{hour}:{minute:02}"
            if minute <= 30:
                yield f"{named} menos {integer(minute)}", f"{before}:{60 - minute:02}"
    yield from _figures()


def german_times() -> Iterator[tuple[str, str]]:
    """Yield times as people say or type them, each with its digits: "halb acht", "7:30 Uhr"."""
    for hour in range(24):
        named, at = _german(hour), f"{hour}:"
        yield f"({named}|{hour}) Uhr", f"{hour}:00"
        for minute in range(1, 60):
            yield f"({named}|{hour}) Uhr ({_german(minute)}|{minute})", f"{at}{minute:02}"
            yield f"{hour} {minute:02} Uhr", f"{at}{minute:02}"
    for hour in range(1, 13):
        named, before = f"({_GERMAN_HOURS.get(hour, _german(hour))}|{hour})", (hour - 2) % 12 + 1
        yield named, f"{hour}:00"
        yield f"halb {named}", f"{before}:30"
        yield f"viertel nach {named}", f"{hour}:15"
        yield f"viertel {named}", f"{before}:15"
        yield f"(viertel vor|dreiviertel) {named}", f"{before}:45"
        for minute in (5, 10, 20):
            yield f"({_german(minute)}|{minute}) nach {named}", f"{hour}:{minute:02}"
            yield f"({_german(minute)}|{minute}) vor {named}", f"{before}:{60 - minute}"
        yield f"fünf vor halb {named}", f"{before}:25"
        yield f"fünf nach halb {named}", f"{before}:35"
    yield from _figures()


_GERMAN_HOURS = {1: "eins"}
_GERMAN_ONES = """null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn
vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn""".split()
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig".split()


def _german(number: int) -> str:
    """Return a number below 60 in German words."""
    if number < 20:
        return _GERMAN_ONES[number]
    tens = _GERMAN_TENS[number // 10 - 2]
    return f"{_GERMAN_ONES[number % 10]}und{tens}" if number % 10 else tens


def _figures() -> Iterator[tuple[str, str]]:
    # People type "7:30", and the parser replaces the colon with a space.
    for hour in range(24):
        yield f"{hour}", f"{hour}:00"
        for minute in range(60):
            yield f"{hour} {minute:02}", f"{hour}:{minute:02}"
