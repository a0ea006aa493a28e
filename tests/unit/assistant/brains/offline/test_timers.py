"""Tests of sentences about timers, which lead to Hearth's own tools."""

from typing import Any

import pytest

from assistant.brains.offline import OfflineBrain
from assistant.domain.brain import TurnRequest
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import Status, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.timers.book import TimerBook
from assistant.timers.later import FrozenCalls, LaterTool
from assistant.timers.telling import TimerTelling
from assistant.timers.tools import AlarmTool, TimerTools
from assistant.tools.catalog.arguments import fit
from assistant.tools.catalog.menu import Menu, build_menu
from assistant.tools.execution.toolbox import Toolbox
from integrations.mcp.servers import McpTool, home_assistant_server
from tests.corpus.house import corpus_house
from tests.corpus.runs import Turn, run
from tests.unit.assistant.timers.conftest import Shelf, an_almanac


class NoTools(Toolbox):
    """Tools that are never called."""

    def __init__(self) -> None:
        pass

    current_menu = Menu()

    async def explain(self, *_: Any) -> None:
        raise AssertionError

    async def call(self, *_: Any) -> ToolOutcome:
        raise AssertionError

    def restrict(self, *_: Any) -> None:
        raise AssertionError

    def release(self, *_: Any) -> None:
        raise AssertionError

    def taint(self, *_: Any) -> None:
        raise AssertionError

    def is_tainted(self, *_: Any) -> bool:
        raise AssertionError

    @property
    def asks_aloud(self) -> bool:
        raise AssertionError


CLOCK = VirtualClock()
SHELF = Shelf()
BOOK = TimerBook(SHELF, CLOCK, an_almanac(SHELF))
TELLING = TimerTelling(lambda: True, Catalogue(), CLOCK, an_almanac(SHELF))
CALLS = FrozenCalls(NoTools(), lambda: True, str, Catalogue())
TOOLS = (
    *TimerTools(BOOK, TELLING).tools(),
    AlarmTool(BOOK, TELLING).tool(),
    LaterTool(BOOK, CALLS, TELLING).tool(),
)
SCHEMAS = {tool.name: tool.schema for tool in TOOLS}


class NoRecognizer:
    """A recogniser that is never used."""

    languages = ("en",)

    def transcribe(self, pcm: bytes) -> str:
        raise AssertionError


async def menu() -> Menu:
    """Return our tools and tools of Home Assistant, one of which is hidden by ours."""
    schema = {"type": "object", "properties": {"minutes": {}, "conversation_command": {}}}
    switch = {"type": "object", "properties": {"name": {}, "area": {}, "domain": {}}}
    home = [
        McpTool("home_assistant", f"intent__{name}", "", "", given, False)
        for name, given in (
            ("HassStartTimer", schema),
            ("HassTurnOn", switch),
            ("HassTurnOff", switch),
        )
    ]
    server = home_assistant_server("http://127.0.0.1:1", "")
    return build_menu(home, {"home_assistant": server}, TOOLS)


async def read(text: str, language: str, **outcome: Any) -> Turn:
    brain = OfflineBrain(corpus_house, menu, NoRecognizer(), Catalogue(), CLOCK, area="Kitchen")
    return await run(brain, TurnRequest("t", language, "text", text, None), **outcome)


START, CHANGE, CANCEL, LIST = "start_timer", "change_timer", "cancel_timer", "list_timers"
SET = "set_alarm"
SAID: list[tuple[str, str, str, dict[str, Any]]] = [
    ("en", "set a timer for five minutes", START, {"minutes": 5}),
    ("en", "start a 90 second timer", START, {"seconds": 90}),
    ("en", "set a timer for an hour and a half", START, {"hours": 1, "minutes": 30}),
    ("en", "set a timer for an hour", START, {"hours": 1}),
    ("en", "set a pasta timer for ten minutes", START, {"minutes": 10, "name": "pasta"}),
    ("en", "set a ten minute pasta timer", START, {"minutes": 10, "name": "pasta"}),
    ("en", "set a timer for ten minutes for the eggs", START, {"minutes": 10, "name": "the eggs"}),
    (
        "en",
        "start a timer called bread for one hour and five minutes",
        START,
        {"hours": 1, "minutes": 5, "name": "bread"},
    ),
    ("en", "how much time is left on my timer", LIST, {}),
    ("en", "what timers are running", LIST, {}),
    ("en", "how long is left on the pasta timer", LIST, {"name": "pasta"}),
    ("en", "cancel the timer", CANCEL, {}),
    ("en", "stop the timer", CANCEL, {}),
    ("en", "cancel the kitchen timer", CANCEL, {"name": "kitchen"}),
    ("en", "cancel the five minute timer", CANCEL, {"start_minutes": 5}),
    ("en", "cancel all timers", CANCEL, {"all": True, "kind": "timer"}),
    ("en", "add two minutes to the timer", CHANGE, {"action": "add", "minutes": 2}),
    (
        "en",
        "take one minute off the pasta timer",
        CHANGE,
        {"action": "subtract", "minutes": 1, "name": "pasta"},
    ),
    ("en", "pause the timer", CHANGE, {"action": "pause"}),
    ("en", "resume the timer", CHANGE, {"action": "resume"}),
    ("es", "pon un temporizador de cinco minutos", START, {"minutes": 5}),
    ("es", "pon un temporizador de hora y media", START, {"hours": 1, "minutes": 30}),
    (
        "es",
        "pon un temporizador de diez minutos para la pasta",
        START,
        {"minutes": 10, "name": "la pasta"},
    ),
    ("es", "cuánto queda del temporizador", LIST, {}),
    ("es", "qué temporizadores hay", LIST, {}),
    ("es", "cancela el temporizador de la pasta", CANCEL, {"name": "la pasta"}),
    ("es", "cancela todos los temporizadores", CANCEL, {"all": True, "kind": "timer"}),
    ("es", "añade dos minutos al temporizador", CHANGE, {"action": "add", "minutes": 2}),
    ("es", "quita un minuto al temporizador", CHANGE, {"action": "subtract", "minutes": 1}),
    ("es", "para el temporizador", CHANGE, {"action": "pause"}),
    ("es", "reanuda el temporizador", CHANGE, {"action": "resume"}),
]


@pytest.mark.parametrize(("language", "text", "tool", "arguments"), SAID)
async def test_which_tool_and_what_it_is_told(
    language: str, text: str, tool: str, arguments: dict[str, Any]
) -> None:
    turn = await read(text, language, sentence="So it is.")
    assert [(call.name, call.arguments) for call in turn.calls] == [(tool, arguments)]
    assert fit(SCHEMAS[tool], arguments).problem == ""
    assert turn.answer == "So it is."  # what the tool says


WEEKDAYS = ["mon", "tue", "wed", "thu", "fri"]
EVERY_DAY = [*WEEKDAYS, "sat", "sun"]
ALARM, REMINDER = {"kind": "alarm"}, {"kind": "reminder"}
ANA = {"text": "call ana"}
# It is noon: a time that names no half of the day is the nearer one.
ALARMS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("en", "set an alarm for seven", SET, {**ALARM, "time": "19:00"}),
    ("en", "set an alarm for 7:30", SET, {**ALARM, "time": "19:30"}),
    ("en", "set an alarm for 19:30", SET, {**ALARM, "time": "19:30"}),
    ("en", "set an alarm for twelve thirty", SET, {**ALARM, "time": "12:30"}),
    ("en", "wake me at seven", SET, {**ALARM, "time": "07:00"}),
    ("en", "wake me at seven on weekdays", SET, {**ALARM, "time": "07:00", "days": WEEKDAYS}),
    (
        "en",
        "wake me up at half past six tomorrow",
        SET,
        {**ALARM, "time": "06:30", "dates": ["tomorrow"]},
    ),
    (
        "en",
        "set an alarm for quarter to eight every day",
        SET,
        {**ALARM, "time": "07:45", "days": EVERY_DAY},
    ),
    ("en", "wake me on mondays at six fifteen", SET, {**ALARM, "time": "06:15", "days": ["mon"]}),
    ("en", "remind me at six to call Ana", SET, {**REMINDER, "time": "18:00", **ANA}),
    (
        "en",
        "remind me to call Ana at six in the morning",
        SET,
        {**REMINDER, "time": "06:00", **ANA},
    ),
    ("en", "remind me in ten minutes to call Ana", SET, {**REMINDER, "minutes": 10, **ANA}),
    ("en", "remind me to call Ana in half an hour", SET, {**REMINDER, "minutes": 30, **ANA}),
    ("en", "what alarms are set", LIST, ALARM),
    ("en", "what did I tell you to do later", LIST, {"kind": "command"}),
    ("en", "cancel the alarm", CANCEL, ALARM),
    ("en", "cancel my seven o'clock alarm", CANCEL, {**ALARM, "at": "07:00"}),
    ("en", "cancel all alarms", CANCEL, {**ALARM, "all": True}),
    ("en", "cancel the reminder to call Ana", CANCEL, {**REMINDER, "name": "call ana"}),
    ("en", "snooze", CHANGE, {"action": "snooze"}),
    ("en", "five more minutes", CHANGE, {"action": "snooze", "minutes": 5}),
    ("es", "pon una alarma a las siete", SET, {**ALARM, "time": "19:00"}),
    (
        "es",
        "pon una alarma a las siete y media de la mañana",
        SET,
        {**ALARM, "time": "07:30"},
    ),
    (
        "es",
        "despiértame a las siete entre semana",
        SET,
        {**ALARM, "time": "07:00", "days": WEEKDAYS},
    ),
    (
        "es",
        "despiértame mañana a las ocho menos cuarto",
        SET,
        {**ALARM, "time": "07:45", "dates": ["tomorrow"]},
    ),
    (
        "es",
        "recuérdame a las seis que llame a Ana",
        SET,
        {**REMINDER, "time": "18:00", "text": "llame a ana"},
    ),
    (
        "es",
        "recuérdame llamar a Ana dentro de diez minutos",
        SET,
        {**REMINDER, "minutes": 10, "text": "llamar a ana"},
    ),
    ("es", "qué alarmas hay", LIST, ALARM),
    ("es", "qué te dije que hicieras luego", LIST, {"kind": "command"}),
    ("es", "cancela la alarma de las siete", CANCEL, {**ALARM, "at": "07:00"}),
    ("es", "cinco minutos más", CHANGE, {"action": "snooze", "minutes": 5}),
]


@pytest.mark.parametrize(("language", "text", "tool", "arguments"), ALARMS)
async def test_alarms_and_reminders(
    language: str, text: str, tool: str, arguments: dict[str, Any]
) -> None:
    turn = await read(text, language, sentence="So it is.")
    assert [(call.name, call.arguments) for call in turn.calls] == [(tool, arguments)]
    assert fit(SCHEMAS[tool], arguments).problem == ""
    assert turn.answer == "So it is."


@pytest.mark.parametrize(
    ("language", "text", "length", "tool", "arguments", "what"),
    [
        (
            "en",
            "turn off the lights in five minutes",
            {"minutes": 5},
            "intent__HassTurnOff",
            {"area": "Kitchen", "domain": ["light"]},
            "turn off the lights",
        ),
        (
            "en",
            "in ten minutes unlock the front door",  # the tool refuses it
            {"minutes": 10},
            "intent__HassTurnOff",
            {"name": "Front Door", "domain": ["lock"]},
            "unlock the front door",
        ),
    ],
)
async def test_a_command_with_a_time_is_given_to_whoever_keeps_it(
    language: str, text: str, length: Any, tool: str, arguments: Any, what: str
) -> None:
    turn = await read(text, language, sentence="So it is.")
    given = {"tool": tool, "arguments": arguments, "what": what, **length}
    assert [(call.name, call.arguments) for call in turn.calls] == [("do_later", given)]
    assert fit(SCHEMAS["do_later"], given).problem == ""
    assert turn.answer == "So it is."


@pytest.mark.parametrize(
    ("language", "text", "answer"),
    [
        (
            "en",
            "make me a sandwich in five minutes",
            "I didn't understand that.",
        ),
        (
            "es",
            "haz la cena en cinco minutos",
            "No lo he entendido.",
        ),
    ],
)
async def test_what_is_not_understood_is_not_kept(language: str, text: str, answer: str) -> None:
    turn = await read(text, language)
    assert turn.calls == []
    assert turn.answer.startswith(answer)


async def test_a_failure_is_told_in_the_tools_words() -> None:
    said = "Which timer do you mean? Here's what I have: pasta timer: one minute left."
    turn = await read("cancel the timer", "en", status=Status.FAILED, sentence=said)
    assert turn.answer == said
