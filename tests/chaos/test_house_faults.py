"""Home Assistant restarts, falls silent, refuses, or loses an answer: nothing is done twice."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from integrations.mcp.hub import AWAY_S
from integrations.serving import serving
from tests.chaos.daemon import Daemon, daemon, until
from tests.chaos.faults import fault
from tests.chaos.front import Front
from tests.chaos.line import CLEAR, Line, Weather, line
from tests.chaos.room import Room
from tests.chaos.served import heard, served
from tests.chaos.unharmed import until_done

pytestmark = [pytest.mark.faults, pytest.mark.timeout(240)]

AWAY = "I cannot reach Home Assistant at the moment."
UNKNOWN = "I do not know whether that worked for the shopping list."
TIMEOUT = "The house did not answer in time; look at the shopping list."
NEVER = "nothing: a call is never sent again"
BY_ITSELF = "the connection, every 5 s at the latest; it comes back by itself"
PICTURE = "the house's last picture"
ROUGH = Weather(delay_s=1.0, loss=0.05)  # two seconds there and back


@dataclass(frozen=True, slots=True)
class Stage:
    """A box that serves, its room, and the line and the front between it and the house."""

    box: Daemon
    room: Room
    line: Line
    front: Front


@asynccontextmanager
async def stage(folder: Path, **settings: str) -> AsyncIterator[Stage]:
    """All is well at first."""
    room = Room(folder / "room.wav")
    async with daemon(folder / "box", AUDIO__INPUT=room.source, **settings) as box:
        front = Front(box.house.app)
        async with serving(front, "127.0.0.1", 0) as port, line(port) as between:
            box.settings["HOME_ASSISTANT__URL"] = between.url()
            await box.start()
            await box.serves()
            yield Stage(box, room, between, front)
            assert await box.end() == 0


@fault(
    "Home Assistant dies and comes back",
    hears=f"timers and the like work; of the house: “{AWAY}”",
    retried=BY_ITSELF,
    kept=PICTURE,
)
async def test_the_house_dies_and_comes_back(tmp_path: Path, office: Path, timer: Path) -> None:
    async with stage(tmp_path) as on:
        await served(on.box, on.room, office)
        on.line.cut()
        trouble = await on.box.trouble("home_assistant")
        assert trouble.startswith(f"Home Assistant does not answer at {on.line.url()}:"), trouble
        await heard(on.box, on.room, timer)
        refused = await on.box.ask("turn off the office lights")
        assert (refused["answer"], refused["tool_calls"]) == (AWAY, [])
        await on.line.mend()
        await on.box.sound("home_assistant")
        await until_done(on.box)  # its tools are asked for again some seconds later
        await served(on.box, on.room, office)


@fault(
    "the websocket of Home Assistant is dead, all else works",
    hears="“I asked, but I cannot see whether it happened.”; the command is done",
    retried=BY_ITSELF,
    kept=PICTURE,
)
async def test_the_websocket_alone_is_dead(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        await served(on.box, on.room, office)
        on.front.has_socket = False
        on.line.cut()
        await on.line.mend()
        await on.box.trouble("home_assistant")
        assert on.front.met["no socket"]
        blind = await on.box.ask("turn off the office lights")
        assert [call["status"] for call in blind["tool_calls"]] == ["not_observed"]
        assert blind["answer"] == "I asked, but I cannot see whether it happened."
        await served(on.box, on.room, office)
        on.front.has_socket = True
        await on.box.sound("home_assistant")
        seen = await on.box.ask("turn off the office lights")
        assert [call["status"] for call in seen["tool_calls"]] == ["done"]


@fault(
    "the websocket of Home Assistant falls silent without being closed",
    hears="“I asked, but I cannot see whether it happened.”; the command is done",
    retried="found by a ping, sent every 4 s; then the connection, every 5 s at the latest",
    kept=PICTURE,
)
async def test_the_websocket_falls_silent(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        await served(on.box, on.room, office)
        on.line.fall_silent(only=b"GET /api/websocket")
        blind = await on.box.ask("turn off the office lights")
        assert [call["status"] for call in blind["tool_calls"]] == ["not_observed"]
        await on.box.trouble("home_assistant")
        await served(on.box, on.room, office)
        await on.line.mend()
        await on.box.sound("home_assistant")
        seen = await on.box.ask("turn off the office lights")
        assert [call["status"] for call in seen["tool_calls"]] == ["done"]


@fault(
    "Home Assistant refuses the token (401) while Hearth runs",
    hears=f"timers and the like work; of the house: “{AWAY}”",
    retried="the websocket and the tools, once a minute each: Home Assistant logs every attempt",
    kept=PICTURE,
)
@pytest.mark.timeout(300)
async def test_the_token_is_refused(tmp_path: Path, office: Path, timer: Path) -> None:
    async with stage(tmp_path) as on:
        await served(on.box, on.room, office)
        on.front.refuses = 401
        on.line.cut()
        await on.line.mend()
        assert await on.box.trouble("home_assistant") == (
            "Home Assistant does not accept home_assistant.token: make a new long-lived token on "
            "your profile page, under Security."
        )
        await heard(on.box, on.room, timer)
        refused = await on.box.ask("turn off the office lights")
        assert (refused["answer"], refused["tool_calls"]) == (AWAY, [])
        on.front.refuses = None
        await on.box.sound("home_assistant", within_s=90.0)
        await until_done(on.box, within_s=90.0)  # its tools have a pause of their own
        await served(on.box, on.room, office)


@fault(
    "Home Assistant answers everything with status 500",
    hears=f"timers and the like work; of the house: “{AWAY}”",
    retried=BY_ITSELF,
    kept=PICTURE,
)
async def test_it_answers_with_500(tmp_path: Path, office: Path, timer: Path) -> None:
    async with stage(tmp_path) as on:
        await served(on.box, on.room, office)
        on.front.refuses = 500
        on.line.cut()
        await on.line.mend()
        await on.box.trouble("home_assistant")
        await heard(on.box, on.room, timer)
        refused = await on.box.ask("turn off the office lights")
        assert (refused["answer"], refused["tool_calls"]) == (AWAY, [])
        on.front.refuses = None
        await on.box.sound("home_assistant")
        await until_done(on.box)  # its tools are asked for again some seconds later
        await served(on.box, on.room, office)


@fault(
    "a call is run by the house and answered with status 500",
    hears=f"“{UNKNOWN}”",
    retried=NEVER,
    kept="the call stands in the journal as `unknown`",
)
async def test_a_call_that_is_run_and_answered_with_500(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        await served(on.box, on.room, office)
        on.front.fails_calls = 500
        lost = await on.box.ask("add milk to the shopping list")
        assert on.front.met["call failed"] == on.box.added["milk"] == 1
        assert [call["status"] for call in lost["tool_calls"]] == ["unknown"]
        assert lost["answer"] == UNKNOWN
        on.front.fails_calls = None
        await served(on.box, on.room, office)


@fault(
    "the connection breaks between a call and its answer",
    hears=f"“{UNKNOWN}”",
    retried=NEVER,
    kept="the call stands in the journal as `unknown`",
)
async def test_the_answer_of_a_call_is_lost(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        await served(on.box, on.room, office)
        on.front.keeps_answers = True
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(on.box.ask("add milk to the shopping list"))
            await until(lambda: on.front.met["answer kept"] == 1)
            on.line.cut()
        lost = asking.result()
        assert on.box.added["milk"] == 1
        assert [call["status"] for call in lost["tool_calls"]] == ["unknown"]
        assert lost["answer"] == UNKNOWN
        on.front.keeps_answers = False
        await on.line.mend()
        await on.box.sound("home_assistant")
        await until_done(on.box)  # its tools are asked for again some seconds later
        await served(on.box, on.room, office)


@fault(
    "the house runs a call and never answers",
    hears=f"after 10 s: “{TIMEOUT}”",
    retried=NEVER,
    kept="the call stands in the journal as `timeout`",
)
async def test_a_call_is_never_answered(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        await served(on.box, on.room, office)
        on.front.keeps_answers = True
        late = await on.box.ask("add milk to the shopping list")
        assert on.box.added["milk"] == 1
        assert [call["status"] for call in late["tool_calls"]] == ["timeout"]
        assert late["answer"] == TIMEOUT
        on.front.keeps_answers = False
        await served(on.box, on.room, office)


@fault(
    "two seconds there and back to the house, and 5 % of the packets lost",
    hears="the answer, some seconds later; after 10 s, that nobody knows whether it was done",
    retried="lost packets, by TCP; no call",
    kept="everything",
)
async def test_a_slow_line_that_loses_packets(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        await served(on.box, on.room, office)
        on.line.weather = ROUGH
        for number in range(4):
            turn = await on.box.ask(f"add item {number} to the shopping list")
            told = [call["status"] for call in turn["tool_calls"]] or [turn["answer"]]
            assert told[0] in ("done", "not_observed", "unknown", "timeout", AWAY)
            assert on.box.added[f"item {number}"] <= 1, "it is sent once, whatever comes back"
            assert on.box.added[f"item {number}"] == 1 or told[0] != "done"
        on.line.weather = CLEAR
        assert on.line.met["lost"], "packets were lost"
        await served(on.box, on.room, office)


@fault(
    "the network comes and goes (flapping), each time for a second",
    hears=f"the answer, or “{AWAY}”, or “{UNKNOWN}”: what is true of that moment",
    retried="the connection, and what only looks; no call",
    kept="everything",
)
async def test_the_network_comes_and_goes(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        await served(on.box, on.room, office)
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(_flap(on.line, over))
            told: list[str] = []
            while on.line.met["cut"] < 5:
                turn = await on.box.ask(f"add item {len(told)} to the shopping list")
                told += [call["status"] for call in turn["tool_calls"]] or [turn["answer"]]
            over.set()
        await on.line.mend()
        assert set(told) <= {"done", "not_observed", "unknown", "failed", AWAY}, told
        assert max(on.box.added.values()) == 1, "nothing twice"
        await on.box.sound("home_assistant")
        await until_done(on.box)  # its tools are asked for again some seconds later
        await served(on.box, on.room, office)


async def _flap(between: Line, over: asyncio.Event) -> None:
    """Cut, whole, cut, whole, a second each, until it is over."""
    while not over.is_set():
        between.cut()
        await _for_a_second(over)
        await between.mend()
        await _for_a_second(over)


async def _for_a_second(over: asyncio.Event) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(over.wait(), 1.0)


@fault(
    "Home Assistant falls silent: nothing is refused, nothing comes back",
    hears="timers and the like work, the first 10 s late, others 3 s at most; of the house: "
    f"“{AWAY}”",
    retried=BY_ITSELF,
    kept=PICTURE,
)
async def test_the_house_falls_silent(tmp_path: Path, office: Path, timer: Path) -> None:
    async with stage(tmp_path) as on:
        await served(on.box, on.room, office)
        on.line.fall_silent()
        await heard(on.box, on.room, timer)
        await on.box.trouble("home_assistant")
        waited = [await _seconds(on.box.ask("set a timer for an hour")) for _ in range(3)]
        print(f"answered after {', '.join(f'{one:.1f}' for one in waited)} s")
        assert max(waited) < 2 * AWAY_S, "a house that is known to be away is not waited for"
        refused = await on.box.ask("turn off the office lights")
        assert (refused["answer"], refused["tool_calls"]) == (AWAY, [])
        await on.line.mend()
        await on.box.sound("home_assistant")
        await until_done(on.box)  # its tools are asked for again some seconds later
        await served(on.box, on.room, office)


async def _seconds(work: Awaitable[object]) -> float:
    """How long that took."""
    began = time.monotonic()
    await work
    return time.monotonic() - began
