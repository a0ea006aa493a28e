"""Tests of commands to timers, and of their results."""

import json
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import Tier
from assistant.speech.catalogue import Catalogue
from assistant.timers.book import LONGEST_NAME, MOST, TimerBook
from assistant.timers.telling import TimerTelling
from assistant.timers.tools import TimerTools
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult
from assistant.tools.catalog.arguments import fit
from assistant.tools.catalog.menu import build_menu
from integrations.mcp.servers import McpTool, home_assistant_server
from tests.unit.assistant.timers.conftest import Shelf, an_almanac

HOME_TOOLS = (
    "HassStartTimer HassCancelTimer HassCancelAllTimers HassIncreaseTimer HassDecreaseTimer "
    "HassPauseTimer HassUnpauseTimer HassTimerStatus"
).split()


class Kitchen:
    """The four tools over one store."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.shelf = Shelf()
        self.rings = True
        book = TimerBook(self.shelf, self.clock, an_almanac(self.shelf))
        telling = TimerTelling(lambda: self.rings, Catalogue(), self.clock, an_almanac(self.shelf))
        tools = TimerTools(book, telling).tools()
        self.tools: dict[str, BuiltIn] = {tool.name: tool for tool in tools}
        self.last = BuiltInResult("")
        self.program = ""  # the program that asks, or ""
        self.recalls = False  # True if it may see what people have said

    async def say(self, tool_name: str, language: str = "en", /, **arguments: Any) -> str:
        """Return the sentence of one call."""
        tool = self.tools[tool_name]
        fitted = fit(tool.schema, arguments)
        assert not fitted.problem, fitted.problem
        program, recalls = self.program, self.recalls or not self.program
        request = BuiltInRequest(
            "t-1", "t", None, language, bool(program), recalls=recalls, caller=program
        )
        self.last = await tool.run(fitted.arguments, request)
        return self.last.sentence

    async def left(self) -> list[tuple[str, int, str]]:
        await self.say("list_timers")
        return [(row["name"], row["left_s"], row["state"]) for row in json.loads(self.last.data)]


@pytest.fixture
def kitchen() -> Kitchen:
    return Kitchen()


async def three(kitchen: Kitchen) -> None:
    await kitchen.say("start_timer", minutes=10, name="pasta")
    await kitchen.say("start_timer", minutes=5)
    await kitchen.say("start_timer", "es", hours=1, minutes=30, name="huevos")


@pytest.mark.parametrize(
    ("language", "arguments", "sentence", "row"),
    [
        ("en", {"minutes": 5}, "Timer set for 5 minutes.", ("", 300)),
        (
            "en",
            {"hours": 1, "seconds": 1, "name": " the\npasta "},
            "Pasta timer set for one hour and one second.",
            ("pasta", 3601),
        ),
        ("es", {"seconds": 90}, "He puesto un temporizador de un minuto y 30 segundos.", ("", 90)),
        (
            "es",
            {"minutes": 3, "name": "el té"},
            "He puesto el temporizador de té: 3 minutos.",
            ("té", 180),
        ),
        (
            "en",
            {"minutes": "5", "name": "パン"},
            "パン timer set for 5 minutes.",
            ("パン", 300),
        ),
        ("en", {"seconds": 1, "name": "x" * 99}, None, ("x" * LONGEST_NAME, 1)),
    ],
)
async def test_start(
    kitchen: Kitchen, language: str, arguments: Any, sentence: str | None, row: tuple[str, int]
) -> None:
    told = await kitchen.say("start_timer", language, **arguments)
    assert sentence is None or told == sentence
    assert await kitchen.left() == [(*row, "runs")]
    (timer,) = kitchen.shelf.rows.values()
    assert (timer.duration_s, timer.language) == (row[1], language)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "For how long?"),
        ({"minutes": 0}, "For how long?"),
        ({"name": "pasta"}, "For how long?"),
        ({"hours": 721}, "That's too long for a timer. Timers can run for up to thirty days."),
    ],
)
async def test_what_cannot_be_started(kitchen: Kitchen, arguments: Any, sentence: str) -> None:
    assert await kitchen.say("start_timer", **arguments) == sentence
    assert kitchen.last.failed
    assert kitchen.shelf.rows == {}


async def test_not_without_end(kitchen: Kitchen) -> None:
    for _ in range(MOST):
        await kitchen.say("start_timer", minutes=1)
    told = await kitchen.say("start_timer", minutes=1)
    assert (told, len(kitchen.shelf.rows)) == (
        "You already have too many timers. Cancel one first.",
        MOST,
    )


@pytest.mark.parametrize("key", ["conversation_command", "command", "at"])
def test_a_timer_takes_no_command_for_later(kitchen: Kitchen, key: str) -> None:
    schema = kitchen.tools["start_timer"].schema
    assert fit(schema, {"minutes": 5, key: "unlock the front door"}).problem


async def test_where_nobody_would_ring_it_is_said(kitchen: Kitchen) -> None:
    kitchen.rings = False
    told = await kitchen.say("start_timer", minutes=5)
    silent = " It won't ring until you start hearth run."
    assert told == f"Timer set for 5 minutes.{silent}"
    assert (await kitchen.say("list_timers")).endswith(silent)


async def test_the_list(kitchen: Kitchen) -> None:
    assert await kitchen.say("list_timers") == "There are no timers running."
    await three(kitchen)
    kitchen.clock.advance(30)
    await kitchen.say("change_timer", action="pause", name="pasta")
    kitchen.clock.advance(271)
    assert await kitchen.say("list_timers") == (
        "The timer for 5 minutes is ringing. "
        "The pasta timer is paused with 9 minutes and 30 seconds left. "
        "One hour and 25 minutes left on the huevos timer."
    )
    assert await kitchen.left() == [
        ("", 0, "rings"),
        ("pasta", 570, "paused"),
        ("huevos", 5099, "runs"),
    ]
    told = await kitchen.say("list_timers", "es", name="pasta")
    assert (
        told == "El temporizador de pasta está en pausa, con 9 minutos y 30 segundos por delante."
    )
    assert (
        "I can't find that timer. Here's what I have: the timer for 5 minutes"
        in await kitchen.say("list_timers", name="rice")
    )


@pytest.mark.parametrize(
    ("arguments", "sentence", "left_s"),
    [
        ({"action": "add", "minutes": 2}, "12 minutes left on the pasta timer.", 720),
        (
            {"action": "subtract", "seconds": 30},
            "9 minutes and 30 seconds left on the pasta timer.",
            570,
        ),
        ({"action": "subtract", "minutes": 10}, "10 minutes left on the pasta timer.", 600),
        ({"action": "add"}, "For how long?", 600),
        (
            {"action": "add", "hours": 720},
            "That's too long for a timer. Timers can run for up to thirty days.",
            600,
        ),
        ({"action": "add", "hours": 1, "name": "Pasta"}, None, 4200),
        ({"action": "add", "hours": 1, "name": "rice"}, None, 600),
        ({"action": "add", "hours": 1, "start_minutes": 10}, None, 4200),
        ({"action": "add", "hours": 1, "start_minutes": 11}, None, 600),
    ],
)
async def test_more_time_or_less(
    kitchen: Kitchen, arguments: Any, sentence: str | None, left_s: int
) -> None:
    await kitchen.say("start_timer", minutes=10, name="pasta")
    told = await kitchen.say("change_timer", **arguments)
    assert sentence is None or told == sentence
    assert kitchen.last.failed is (left_s == 600)
    assert await kitchen.left() == [("pasta", left_s, "runs")]


async def test_pause_and_resume(kitchen: Kitchen) -> None:
    await kitchen.say("start_timer", minutes=10, name="pasta")
    kitchen.clock.advance(60)
    told = await kitchen.say("change_timer", action="pause")
    assert told == "The pasta timer is paused with 9 minutes left."
    kitchen.clock.advance(10_000)
    told = await kitchen.say("change_timer", action="add", minutes=1)
    assert told == "The pasta timer is paused with 10 minutes left."
    assert (
        await kitchen.say("change_timer", action="resume") == "10 minutes left on the pasta timer."
    )
    kitchen.clock.advance(60)
    assert await kitchen.left() == [("pasta", 540, "runs")]


async def test_five_more_minutes_from_now_for_what_rings(kitchen: Kitchen) -> None:
    await three(kitchen)
    kitchen.clock.advance(320)
    told = await kitchen.say("change_timer", action="add", minutes=5)
    assert told == "5 minutes left on the timer for 5 minutes."


@pytest.mark.parametrize(
    ("arguments", "sentence", "ended"),
    [
        ({"name": "pasta"}, "Cancelled the pasta timer.", 1),
        ({"start_minutes": 5}, "Cancelled the timer for 5 minutes.", 1),
        ({"start_hours": 1, "start_minutes": 30}, "Cancelled the huevos timer.", 1),
        ({"all": True}, "Cancelled three timers.", 3),
        (
            {},
            "Which timer do you mean? Here's what I have: "
            "timer for 5 minutes; pasta timer; huevos timer.",
            0,
        ),
    ],
)
async def test_cancel(kitchen: Kitchen, arguments: Any, sentence: str, ended: int) -> None:
    await three(kitchen)
    assert await kitchen.say("cancel_timer", **arguments) == sentence
    assert len(kitchen.shelf.rows) == 3 - ended
    assert set(kitchen.shelf.ended.values()) <= {"cancelled"}


async def test_of_two_with_one_name_the_id_tells(kitchen: Kitchen) -> None:
    await kitchen.say("start_timer", minutes=10, name="pasta")
    await kitchen.say("start_timer", minutes=5, name="Pasta sauce")
    await kitchen.say("start_timer", minutes=5, name="pasta")
    told = await kitchen.say("cancel_timer", name="pasta")
    assert told.startswith(
        "Which timer do you mean? Here's what I have: 5 minutes left on the pasta timer; 10"
    )
    assert set(kitchen.last.valid_options) < set(kitchen.shelf.rows)
    await kitchen.say("cancel_timer", name=kitchen.last.valid_options[0])
    assert await kitchen.left() == [("Pasta sauce", 300, "runs"), ("pasta", 600, "runs")]


@pytest.mark.parametrize(
    ("name", "arguments"), [("cancel_timer", {}), ("change_timer", {"action": "pause"})]
)
async def test_stop_means_what_rings(kitchen: Kitchen, name: str, arguments: Any) -> None:
    await three(kitchen)
    kitchen.clock.advance(320)
    assert await kitchen.say(name, **arguments) == "Stopped the timer for 5 minutes."
    assert list(kitchen.shelf.ended.values()) == ["acknowledged"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("cancel_timer", {}),
        ("cancel_timer", {"all": True}),
        ("change_timer", {"action": "add", "minutes": 1}),
    ],
)
async def test_without_any(kitchen: Kitchen, name: str, arguments: Any) -> None:
    assert await kitchen.say(name, **arguments) == "There are no timers running."
    assert kitchen.last.failed


async def test_a_store_that_fails(kitchen: Kitchen) -> None:
    kitchen.shelf.broken = True
    told = await kitchen.say("start_timer", minutes=1)
    assert "can't read or save" in told
    assert kitchen.last.failed


def test_on_the_menu(kitchen: Kitchen) -> None:
    listed = [
        McpTool("home_assistant", f"intent__{name}", "", "", {"type": "object"}, False)
        for name in HOME_TOOLS
    ]
    server = home_assistant_server("http://127.0.0.1:1", "")
    menu = build_menu(listed, {"home_assistant": server}, tuple(kitchen.tools.values()))
    assert [entry.declaration.name for entry in menu.offered()] == list(kitchen.tools)
    assert all("Hearth does this itself" in entry.why_hidden for entry in menu.entries[4:])
    assert [tool.tier for tool in kitchen.tools.values()] == [
        Tier.COMFORT,
        Tier.READ,
        Tier.COMFORT,
        Tier.COMFORT,
    ]
    assert all(tool.guests and not tool.open_world for tool in kitchen.tools.values())


async def test_a_program_knows_no_names_of_others_unless_it_may_read(kitchen: Kitchen) -> None:
    await kitchen.say("start_timer", minutes=10, name="pasta")
    kitchen.program = "mcp:agent"
    await kitchen.say("start_timer", minutes=5, name="eggs")
    told = await kitchen.say("list_timers")
    assert "pasta" not in f"{told} {kitchen.last.data}"
    assert "eggs" in told
    assert [row["name"] for row in json.loads(kitchen.last.data)] == ["eggs", ""]
    for tool, arguments in (
        ("list_timers", {"name": "tea"}),
        ("cancel_timer", {"name": "tea"}),
        ("cancel_timer", {"kind": "timer"}),
        ("change_timer", {"action": "pause", "name": "pasta"}),
        ("change_timer", {"action": "subtract", "hours": 1, "name": "pasta"}),
        ("cancel_timer", {"name": "pasta"}),
    ):
        told = await kitchen.say(tool, **arguments)
        assert "pasta" not in f"{told} {kitchen.last.data} {kitchen.last.valid_options}", tool
    assert [timer.name for timer in await kitchen.shelf.timers()] == ["eggs"]


async def test_a_program_that_may_read_knows_the_names(kitchen: Kitchen) -> None:
    await kitchen.say("start_timer", minutes=10, name="pasta")
    kitchen.program, kitchen.recalls = "mcp:agent", True
    assert "pasta" in await kitchen.say("list_timers")
