"""Sentences about timers lead to Hearth's own tools."""

from typing import Any

import pytest

from assistant.brains.offline import OfflineBrain
from assistant.brains.protocol import TurnRequest
from assistant.clock import VirtualClock
from assistant.speech.catalogue import Catalogue
from assistant.timers.book import TimerBook
from assistant.tools.arguments import fit
from assistant.tools.builtin.timers import TimerTools
from assistant.tools.menu import Menu, build_menu
from assistant.tools.outcome import Status
from integrations.mcp.servers import McpTool, home_assistant_server
from tests.corpus.house import corpus_house
from tests.corpus.runs import Turn, run
from tests.unit.assistant.timers.conftest import Shelf

CLOCK = VirtualClock()
TOOLS = TimerTools(TimerBook(Shelf(), CLOCK), lambda: True, Catalogue(), CLOCK).tools()
SCHEMAS = {tool.name: tool.schema for tool in TOOLS}


class NoRecognizer:
    """Nothing is said aloud here."""

    languages = ("en",)

    def transcribe(self, pcm: bytes) -> str:
        raise AssertionError


async def menu() -> Menu:
    """Ours, and that of Home Assistant, which is hidden for it."""
    schema = {"type": "object", "properties": {"minutes": {}, "conversation_command": {}}}
    home = McpTool("home_assistant", "intent__HassStartTimer", "", "", schema, False)
    server = home_assistant_server("http://127.0.0.1:1", "")
    return build_menu((home,), {"home_assistant": server}, TOOLS)


async def read(text: str, language: str, **outcome: Any) -> Turn:
    brain = OfflineBrain(corpus_house, menu, NoRecognizer(), Catalogue(), CLOCK, area="Kitchen")
    return await run(brain, TurnRequest("t", language, "text", text, None), **outcome)


START, CHANGE, CANCEL, LIST = "start_timer", "change_timer", "cancel_timer", "list_timers"
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
    ("en", "cancel all timers", CANCEL, {"all": True}),
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
    ("es", "cancela todos los temporizadores", CANCEL, {"all": True}),
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


@pytest.mark.parametrize(
    ("language", "text", "answer"),
    [
        ("en", "turn off the lamp in five minutes", "A timer of mine can only ring"),
        ("en", "in ten minutes unlock the front door", "A timer of mine can only ring"),
        ("es", "apaga la luz de la cocina en cinco minutos", "Mis temporizadores solo suenan"),
    ],
)
async def test_nothing_is_left_to_do_itself_later(language: str, text: str, answer: str) -> None:
    turn = await read(text, language)
    assert turn.calls == []
    assert turn.answer.startswith(answer)


async def test_a_failure_is_told_in_the_tools_words() -> None:
    said = "Which timer? There are: pasta timer: one minute left."
    turn = await read("cancel the timer", "en", status=Status.FAILED, sentence=said)
    assert turn.answer == said
