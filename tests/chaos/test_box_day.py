"""Tests of 24 simulated hours: typed turns, timers, announcements, and a failing service.

The clock leaps.
"""

import asyncio
import gc
import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from assistant.domain.events import BusEvent
from assistant.domain.tool_call import Status
from integrations.web.box import Caller
from integrations.web.requests import AnnounceRequest
from tests.chaos.faults import fault
from tests.chaos.judged import judged
from tests.chaos.odd import LONG
from tests.pipeline.gemini_rig import LIVE, OFFLINE, ONCE, Scene, outcomes
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn, OnceRequest
from tests.simulators.script import Call, Close, Done, Drop, GoAway, Hear, Say, Step
from tests.unit.integrations.mcp.rogues import memory

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900 if LONG else 240)]

HOURS = 24
AWAKE = range(6, 23)
HOUR_S = 3_600.0
PER_HOUR = 24 if LONG else 6  # turns while people are awake
ON, OFF = "intent__HassTurnOn", "intent__HassTurnOff"
# Sentences, and the model's calls for them;
SAID: dict[str, Call | None] = {
    "turn on the office lights": Call(ON, {"area": "Office", "domain": ["light"]}),
    "turn off the office lights": Call(OFF, {"area": "Office", "domain": ["light"]}),
    "turn on the kitchen lights": Call(ON, {"area": "Kitchen", "domain": ["light"]}),
    "turn off the kitchen lights": Call(OFF, {"area": "Kitchen", "domain": ["light"]}),
    "set a timer for 5 minutes": Call("start_timer", {"minutes": 5}),
    "what time is it": Call("GetDateTime"),
    "is the front door locked": Call("GetLiveContext", {"name": "Front door"}),
    "unlock the front door": Call(OFF, {"name": "Front door"}),
    "how tall is the moon": None,
}
ALARM = "wake me at half past seven"
WAKES: list[Step] = [Call("set_alarm", {"time": "07:30"}), Say("I will wake you."), Done()]
SLACK_MB = 16.0  # caches, arenas of malloc
MB_PER_TURN = 0.25
PROGRAM = Caller("http:washing", frozenset({"speak"}))


class Household:
    """A model that answers, and breaks at one turn in twelve, each time at another point."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.broke: Counter[str] = Counter()

    def live(self, turn: HeardTurn) -> Sequence[Step]:
        """Answer one turn of a Live session."""
        said = turn.text or "turn on the office lights"
        if said == ALARM:
            return WAKES
        call = next((SAID[one] for one in SAID if one in said), None)
        steps: list[Step] = [Hear(said)] if turn.kind == "audio" else []
        steps += [call] if call is not None else []
        steps += [Say("That is done."), Done()]
        if self._chance.random() < 1 / 12:
            broken = self._chance.choice(
                (Drop(), Close(1011, "Internal error encountered."), GoAway(0.5))
            )
            self.broke[type(broken).__name__] += 1
            at = self._chance.randrange(len(steps))
            steps = [*steps[:at], broken, *(steps[at:] if isinstance(broken, GoAway) else ())]
        return steps

    def once(self, request: OnceRequest) -> Sequence[Step]:
        """Answer one plain request."""
        del request
        return [Say("I can hear you."), Done()]


@fault(
    ("24 hours of a household's conversations, with a service that fails in one of twelve turns"),
    hears="an answer to each typed sentence; each announcement once; each timer and the alarm ring",
    retried="an interrupted turn with the next brain, if none of its calls has started",
    kept="all turns in the journal; no call runs twice, no timer rings twice; memory, open "
    "files and tasks don't grow",
)
async def test_a_day_of_talk(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    chance = Random(5)
    home = Household(chance)
    service = GeminiSimulator(respond=home.live, respond_once=home.once, check=False, keep_turns=20)
    caplog.set_level(logging.WARNING)
    async with judged(
        tmp_path,
        service,
        resident=True,
        journal={"transcript_hours": 48},  # all that was said is there to be judged
        limits={"comfort_per_minute": 1_000, "daily_cost_usd": 1_000.0},
    ) as on:
        on.repeats = True
        assert on.app.daemon is not None
        rung = _rung(on)
        assert outcomes(await on.ask(ALARM)) == [Status.DONE]
        first = asyncio.all_tasks()
        held = files = so_far = 0
        for hour in range(HOURS):
            await _live_an_hour(on, chance, awake=(hour + 12) % HOURS in AWAKE)
            if hour == 3:
                gc.collect()
                held, files, so_far = memory(), _open_files(), len(on.turns)
        gc.collect()
        grown = (memory() - held) / 1e6
        later = asyncio.all_tasks()
        turns = on.turns
        await _all_rung(on, rung)
        print(
            Counter(turn.record.brain for turn in turns),
            Counter(turn.record.error.kind for turn in turns if turn.record.error),
            dict(home.broke),
            f"{len(on.announced)} announced, {len(rung)} rung, {grown:.1f} MB in "
            f"{len(turns) - so_far} turns, {len(first)}, {len(later)} tasks",
        )
        await _sound_day(on, turns=len(turns))
        assert len(later) <= len(first) + 6, later - first
        assert _open_files() <= files + 6
        most = SLACK_MB + MB_PER_TURN * (len(turns) - so_far)
        assert grown < most, f"{grown:.0f} MB more after a day, of {most:.0f}"
    broke = [one for one in caplog.records if one.exc_info and one.levelno >= logging.ERROR]
    assert not broke, broke[0].getMessage()


def _rung(on: Scene) -> Counter[str]:
    """Return the ids of what has rung, counted from now on."""
    rung = Counter[str]()

    def note(one: BusEvent) -> None:
        if one.kind == "timer" and one.data["what"] == "rings":
            rung[one.data["id"]] += 1

    on.app.home.bus.follow(note)
    return rung


async def _all_rung(on: Scene, rung: Counter[str]) -> None:
    """Check that each timer that was set has rung once, and was spoken."""
    on.clock.leap(HOUR_S)  # over what was set last
    done = Counter(
        outcome.name
        for turn in on.turns
        for outcome in turn.outcomes
        if outcome.status is Status.DONE
    )
    assert done["start_timer"]
    assert done["set_alarm"] == 1
    wanted = done["start_timer"] + done["set_alarm"]

    def said() -> str:
        return " ".join(str(record.answer) for record in on.announced)

    await on.come_to(
        lambda: (
            len(rung) >= wanted and said().count("Your timer for 5 minutes") >= done["start_timer"]
        )
    )
    assert len(rung) == wanted
    assert max(rung.values()) == 1, "one has rung for a second time"
    assert "Your alarm was due at 07:30." in said() or "This is your alarm." in said()


def _open_files() -> int:
    """Return the number of this process's open files, including sockets."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def _live_an_hour(on: Scene, chance: Random, *, awake: bool) -> None:
    """Play an hour of turns at odd moments, and in one hour of three an announcement."""
    assert on.app.daemon is not None
    talks = PER_HOUR if awake else 0
    moments = sorted(chance.uniform(0.0, HOUR_S) for _ in range(talks))
    now = 0.0
    for moment in moments:
        on.clock.leap(moment - now)
        now = moment
        await asyncio.sleep(0.01)  # anything that waited for it goes on
        await on.ask(chance.choice([*SAID]))
    if awake and chance.random() < 0.33:
        number = len(on.announced)
        text = f"Message {on.clock.now():%H %M} {number}."
        name = await on.app.daemon.desk.announce(AnnounceRequest(text=text), PROGRAM)
        async with asyncio.timeout(20.0):
            assert await on.app.daemon.desk.over(name), "it was said"
    on.clock.leap(HOUR_S - now)
    await asyncio.sleep(0.05)


async def _sound_day(on: Scene, turns: int) -> None:
    """Check that every turn got an answer, nothing secure was done, and nothing is left open."""
    assert turns >= PER_HOUR * len(AWAKE)
    assert on.app.home.demo is not None
    assert on.app.home.demo.states["lock.front_door"] == "locked"
    for turn in on.turns:
        assert turn.record.clauses or turn.record.sound, turn.record
    kinds = {turn.record.brain for turn in on.turns}
    assert LIVE in kinds
    assert kinds <= {LIVE, ONCE, OFFLINE}
    said = Counter(record.answer for record in on.announced)
    assert said
    twice = [text for text, times in said.items() if str(text).startswith("Message") and times > 1]
    assert not twice, twice
