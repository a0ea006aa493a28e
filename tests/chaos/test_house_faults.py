"""Tests of a Home Assistant that restarts, falls silent, refuses, or loses an answer."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from integrations.mcp.hub import AWAY_S
from integrations.serving import serving
from tests.chaos.daemon import Daemon, listener, statuses, until
from tests.chaos.faults import fault
from tests.chaos.front import Front
from tests.chaos.line import CLEAR, ROUGH, Line, line
from tests.chaos.served import heard, served
from tests.chaos.unharmed import until_done

pytestmark = [pytest.mark.faults, pytest.mark.timeout(240)]

AWAY = "I can't reach Home Assistant right now. Please try again in a moment."
STILL = "I tried, but the office light is still on"
BLIND = "I tried, but I can't tell whether it worked."
UNKNOWN = "I don't know whether that worked for the shopping list."
TIMEOUT = "Home Assistant took too long to answer. Please check the shopping list."
NEVER = "nothing; a call is never sent again"
BY_ITSELF = "the connection at least every 5 s, until it succeeds"
PICTURE = "the last known states of the house"
# Seconds that these may take; some ten of them are for a busy machine.
BACK_S = 20.0  # until it is connected again: a pause of 5 s at most, and the connecting
NOTICED_S = 20.0  # a connection that is dead without a word: a ping every 4 s, and 5 s to answer it
SIGNED_IN_S = 75.0  # until it is connected again where the token was refused: a pause of a minute
FIRST_S = 20.0  # the answer to the first sentence before a house that has just fallen silent
LATER_S = 2 * AWAY_S  # the answers to the next ones
CALL_S = 20.0  # the answer where a call, which has 10 s, is never answered
ONE_TRY = 4  # requests: one for the tools, and three that ask for the reason


@dataclass(frozen=True, slots=True)
class Stage:
    """A box that serves, and the connection and the proxy between it and the house."""

    box: Daemon
    line: Line
    front: Front

    async def connected_anew(self) -> None:
        """Break all connections, and accept new ones at once."""
        self.line.cut()
        await self.line.mend()

    async def alone(self, timer: Path) -> None:
        """Check without the house that the box works, and tells the truth about the house."""
        await heard(self.box, timer)
        await self.refuses()

    async def refuses(self) -> None:
        """Check that a command of the house is not done, and that this is said."""
        refused = await self.box.ask("turn off the office lights")
        assert (refused["answer"], refused["tool_calls"]) == (AWAY, [])

    async def adds_milk(self, becomes: str, told: str) -> None:
        """Check that a call reaches the house, has that result, and that it is reported."""
        turn = await self.box.ask("add milk to the shopping list")
        assert self.box.added["milk"] == 1
        assert (statuses(turn), turn["answer"]) == ([becomes], told)

    async def adds(self, item: str) -> str:
        """Return a call's result or its sentence; it is true of what reached the house."""
        turn = await self.box.ask(f"add {item} to the shopping list")
        [told] = statuses(turn) or [turn["answer"]]
        assert self.box.added[item] <= 1, "it is sent once, whatever comes back"
        if told == "done":
            assert self.box.added[item] == 1
        elif told in ("failed", AWAY):
            assert self.box.added[item] == 0
        return told

    async def blind(self, office: Path) -> None:
        """Check that commands are done, and that the missing confirmation is said."""
        turn = await self.box.ask("turn off the office lights")
        assert (statuses(turn), turn["answer"]) == (["not_observed"], BLIND)
        await served(self.box, office)

    async def sees(self) -> None:
        """Check that the house is back, and that the next command is observed to be done."""
        await self.box.sound("home_assistant", BACK_S)
        assert statuses(await self.box.ask("turn off the office lights")) == ["done"]

    async def back(self, within_s: float = BACK_S) -> None:
        """Return once the house is there again; its tools are requested some seconds later."""
        await self.box.sound("home_assistant", within_s)
        await until_done(self.box)


@asynccontextmanager
async def stage(folder: Path, office: Path) -> AsyncIterator[Stage]:
    """Yield a stage that does spoken commands at first, and also when the block ends."""
    async with listener(folder) as box:
        front = Front(box.house.app)
        async with serving(front, "127.0.0.1", 0) as port, line(port) as between:
            box.settings["HOME_ASSISTANT__URL"] = between.url()
            await box.up()
            await served(box, office)
            yield Stage(box, between, front)
            await served(box, office)
            assert await box.end() == 0


@fault(
    "Home Assistant stops and returns",
    hears=f"timers and other local commands work; commands for the house get “{AWAY}”",
    retried=BY_ITSELF,
    kept=PICTURE,
)
async def test_the_house_dies_and_comes_back(tmp_path: Path, office: Path, timer: Path) -> None:
    async with stage(tmp_path, office) as on:
        on.line.cut()
        trouble = await on.box.trouble("home_assistant")
        assert trouble.startswith(f"Home Assistant does not answer at {on.line.url()}:"), trouble
        await on.alone(timer)
        await on.line.mend()
        await on.back()


@fault(
    "Home Assistant's websocket fails, while everything else works",
    hears=f"“{BLIND}”; the command works",
    retried=BY_ITSELF,
    kept=PICTURE,
)
async def test_the_websocket_alone_is_dead(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path, office) as on:
        on.front.has_socket = False
        await on.connected_anew()
        await on.box.trouble("home_assistant")
        assert on.front.met["no socket"]
        await on.blind(office)
        on.front.has_socket = True
        await on.sees()


@fault(
    "Home Assistant's websocket stops responding without being closed",
    hears=f"at first “{STILL} …”, then “{BLIND}”; the command works",
    retried="after a ping without a reply (within 10 s), the connection at least every 5 s",
    kept=PICTURE,
)
async def test_the_websocket_falls_silent(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path, office) as on:
        on.line.fall_silent(only=b"GET /api/websocket")
        first = await on.box.ask("turn off the office lights")
        assert statuses(first) == ["not_observed"]
        assert first["answer"].startswith(STILL), first
        await on.box.trouble("home_assistant", NOTICED_S)
        await on.blind(office)
        await on.line.mend()
        await on.sees()


@fault(
    "Home Assistant rejects the token (401) while Hearth is running",
    hears=f"timers and other local commands work; commands for the house get “{AWAY}”",
    retried=(
        "the websocket and the tools, once a minute because Home Assistant logs every attempt"
    ),
    kept=PICTURE,
)
@pytest.mark.timeout(300)
async def test_the_token_is_refused(tmp_path: Path, office: Path, timer: Path) -> None:
    async with stage(tmp_path, office) as on:
        on.front.refuses = 401
        await on.connected_anew()
        assert await on.box.trouble("home_assistant") == (
            "Home Assistant rejected home_assistant.token: create a new long-lived token on "
            "your profile page, under Security."
        )
        before = on.front.met["refused"]
        await on.alone(timer)
        print(f"{before} were refused, then {on.front.met['refused'] - before} more")
        assert on.front.met["refused"] - before <= ONE_TRY, "each turn asks again"
        on.front.refuses = None
        await on.back(within_s=SIGNED_IN_S)


@fault(
    "Home Assistant responds to everything with status 500",
    hears=f"timers and other local commands work; commands for the house get “{AWAY}”",
    retried=BY_ITSELF,
    kept=PICTURE,
)
async def test_it_answers_with_500(tmp_path: Path, office: Path, timer: Path) -> None:
    async with stage(tmp_path, office) as on:
        on.front.refuses = 500
        await on.connected_anew()
        await on.box.trouble("home_assistant")
        await on.alone(timer)
        on.front.refuses = None
        await on.back()


@fault(
    "the house runs a call and responds with status 500",
    hears=f"“{UNKNOWN}”",
    retried=NEVER,
    kept="the call, with the status `unknown` in the journal",
)
async def test_a_call_that_is_run_and_answered_with_500(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path, office) as on:
        on.front.fails_calls = 500
        await on.adds_milk("unknown", UNKNOWN)
        assert on.front.met["call failed"] == 1
        on.front.fails_calls = None


@fault(
    "the connection breaks between a call and its response",
    hears=f"“{UNKNOWN}”",
    retried=NEVER,
    kept="the call, with the status `unknown` in the journal",
)
async def test_the_answer_of_a_call_is_lost(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path, office) as on:
        on.front.keeps_answers = True
        async with asyncio.TaskGroup() as group:
            group.create_task(on.adds_milk("unknown", UNKNOWN))
            await until(lambda: on.front.met["answer kept"] == 1)
            on.line.cut()
        on.front.keeps_answers = False
        await on.line.mend()
        await on.back()


@fault(
    "the house runs a call and never responds",
    hears=f"after 10 s: “{TIMEOUT}”",
    retried=NEVER,
    kept="the call, with the status `timeout` in the journal",
)
async def test_a_call_is_never_answered(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path, office) as on:
        on.front.keeps_answers = True
        took = await _seconds(on.adds_milk("timeout", TIMEOUT))
        assert 10.0 <= took < CALL_S, f"it was told after {took:.0f} s"
        on.front.keeps_answers = False


@fault(
    "a round trip of two seconds to the house with 5 % packet loss",
    hears=(
        "the answer, some seconds later; after 10 s, Hearth says that it can't tell if the "
        "command worked"
    ),
    retried="lost packets by TCP, but no call",
    kept="everything",
)
async def test_a_slow_line_that_loses_packets(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path, office) as on:
        on.line.weather = ROUGH
        told = {await on.adds(f"item {number}") for number in range(4)}
        assert told <= {"done", "not_observed", "unknown", "timeout", AWAY}, told
        on.line.weather = CLEAR
        assert on.line.met["lost"], "packets were lost"


@fault(
    "the network fails and returns every second",
    hears=f"the answer, or “{AWAY}”, or “{UNKNOWN}”, as is true at that time",
    retried="the connection and read-only requests, but no call",
    kept="everything",
)
async def test_the_network_comes_and_goes(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path, office) as on:
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(_flap(on.line, over))
            told: list[str] = []
            while on.line.met["cut"] < 5:
                told.append(await on.adds(f"item {len(told)}"))
                await asyncio.sleep(0.25)  # who asks more often is told to slow down
            over.set()
        await on.line.mend()
        assert set(told) <= {"done", "not_observed", "unknown", "failed", AWAY}, told
        assert on.box.added, "nothing came through"
        await on.back()


async def _flap(between: Line, over: asyncio.Event) -> None:
    """Cut and restore it for a second each, until `over` is set."""
    while not over.is_set():
        between.cut()
        await _for_a_second(over)
        await between.mend()
        await _for_a_second(over)


async def _for_a_second(over: asyncio.Event) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(over.wait(), 1.0)


@fault(
    "Home Assistant accepts connections but doesn't respond",
    hears=(
        "timers and other local commands work, the first 10 s late, others up to 6 s; commands "
        f"for the house get “{AWAY}”"
    ),
    retried=BY_ITSELF,
    kept=PICTURE,
)
async def test_the_house_falls_silent(tmp_path: Path, office: Path, timer: Path) -> None:
    async with stage(tmp_path, office) as on:
        on.line.fall_silent()
        first = await heard(on.box, timer)
        assert int(first["latency_ms"]) < 1_000 * FIRST_S
        await on.box.trouble("home_assistant", NOTICED_S)
        waited = [await _seconds(on.box.ask("set a timer for an hour")) for _ in range(3)]
        later = ", ".join(f"{one:.1f}" for one in waited)
        print(f"answered after {first['latency_ms']} ms, then after {later} s")
        assert max(waited) < LATER_S, "a house that is known to be away is not waited for"
        await on.refuses()
        await on.line.mend()
        await on.back()


async def _seconds(work: Awaitable[object]) -> float:
    """Return its duration."""
    began = time.monotonic()
    await work
    return time.monotonic() - began
