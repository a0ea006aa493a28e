"""A whole Hearth with the simulated Gemini, and the invariants that hold whatever happens."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import google.genai.live  # noqa: F401  # seconds on a busy machine: not in a connect's time

from assistant.app.build import App, open_app
from assistant.config.schema import Settings
from assistant.conversation.record import FinishedTurn
from assistant.conversation.rules.events import Prompter
from assistant.domain.clock import SystemClock
from assistant.domain.records import TurnRecord
from assistant.domain.tool_call import Status, Tier
from assistant.journal.store import Store
from audio.frames import Frame, Framer
from audio.player import NullPlayer, Player
from audio.sound_files import WavSource, read_wav
from integrations.errors import IntegrationError
from integrations.mcp.servers import CallLost, McpResult
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn
from tests.simulators.script import Call, Done, Say, Step
from tests.simulators.threads import in_thread

LIVE, ONCE, OFFLINE = "gemini-live", "gemini-once", "offline"
OFFICE = {"area": "Office", "domain": ["light"]}  # two lights, both off at first
KITCHEN = {"area": "Kitchen", "domain": ["light"]}  # one, off at first
TURN_ON = "intent__HassTurnOn"
ASKED, SAID = "turn on the office lights", "The office lights are on."
SERVED: list[Step] = [Call(TURN_ON, OFFICE, answer={"status": "done"}), Say(SAID), Done()]
OFFICE_ON = (
    "Done. The office light is on at one hundred percent; the desk lamp is on."  # our words for it
)
_HURRY_S, _HURRIED_S = 0.25, 0.002  # so much time passes on a hurried clock in so much real time
_TURN_S = 60.0  # in which any turn here is over, on a busy machine, too


class LeapingClock(SystemClock):
    """The machine's time, plus the leaps that a test makes."""

    def __init__(self) -> None:
        self._ahead_s = 0.0
        self._leapt = asyncio.Event()

    def monotonic(self) -> float:
        return super().monotonic() + self._ahead_s

    def since_boot(self) -> float:
        return super().since_boot() + self._ahead_s

    def now(self) -> datetime:
        return super().now() + timedelta(seconds=self._ahead_s)

    async def sleep(self, seconds: float) -> None:
        """Sleep; a leap past the end ends the sleep."""
        end = self.monotonic() + seconds
        while (left := end - self.monotonic()) > 0:
            leapt = self._leapt
            try:
                async with asyncio.timeout(left):
                    await leapt.wait()
            except TimeoutError:
                return

    def leap(self, seconds: float) -> None:
        """Advance the time by `seconds` at once."""
        self._ahead_s += seconds
        self._leapt.set()
        self._leapt = asyncio.Event()

    @asynccontextmanager
    async def hurrying(self) -> AsyncIterator[None]:
        """Let some hundred seconds pass per second while the block runs."""
        async with asyncio.TaskGroup() as group:
            hurry = group.create_task(self._hurry())
            try:
                yield
            finally:
                hurry.cancel()

    async def _hurry(self) -> None:
        while True:
            await asyncio.sleep(_HURRIED_S)
            self.leap(_HURRY_S)


class Room:
    """A microphone into which the test speaks at any time, read as fast as possible."""

    pulled = False

    def __init__(self) -> None:
        self._said: asyncio.Queue[bytes | None] = asyncio.Queue()

    def play(self, path: Path) -> None:
        """Speak a recording."""
        self._said.put_nowait(read_wav(path))

    def leave(self) -> None:
        """End the source: nobody speaks any more."""
        self._said.put_nowait(None)

    async def frames(self) -> AsyncGenerator[Frame, None]:
        """Yield what is spoken, as it comes."""
        framer = Framer()
        while (pcm := await self._said.get()) is not None:
            for frame in framer.push(pcm):
                yield frame


class Speaker(NullPlayer):
    """A loudspeaker that plays in real time and reports its first sound."""

    def __init__(self) -> None:
        super().__init__(paced=True)
        self.heard = asyncio.Event()

    async def play(self, pcm: bytes, rate: int) -> None:
        await super().play(pcm, rate)
        self.heard.set()


@dataclass(frozen=True, slots=True)
class Hold:
    """Calls that are held before they reach the house."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)  # the first is there
    go_on: asyncio.Event = field(default_factory=asyncio.Event)  # set it to let them in


@dataclass
class Scene:
    """One Hearth, one simulated service, one house, and all turns so far."""

    app: App
    service: GeminiSimulator
    clock: LeapingClock
    player: Player
    finished: list[FinishedTurn] = field(default_factory=list)
    reached: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  # a real house
    spoken: int = 0  # sentences that somebody said aloud
    lost_calls: int = 0  # that went under with their connection, so nobody could answer them
    repeats: bool = False  # the same call may reach the house more than once
    private: bool = False  # guests are here: some turns keep no words
    _news: asyncio.Event = field(default_factory=asyncio.Event)  # a turn is over

    def keep(self, turn: FinishedTurn) -> None:
        """Add a finished turn."""
        self.finished.append(turn)
        self._news.set()

    @property
    def turns(self) -> list[FinishedTurn]:
        """Return the turns that somebody asked for."""
        return [one for one in self.finished if one.record.source != "announcement"]

    @property
    def announced(self) -> list[TurnRecord]:
        """Return the announcements."""
        return [one.record for one in self.finished if one.record.source == "announcement"]

    @property
    def house_calls(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the changes that the house was asked for."""
        demo, menu = self.app.home.demo, self.app.home.tools.current_menu
        return [
            (name, arguments)
            for name, arguments in (demo.calls if demo is not None else self.reached)
            if (entry := menu.find(name)) is None or entry.tier is not Tier.READ
        ]

    async def ask(self, text: str) -> FinishedTurn:
        """Run one typed turn to its end."""
        async with asyncio.timeout(_TURN_S):
            await self.app.runner.ask(text)
        return self.turns[-1]

    async def hear(self, clip: Path) -> FinishedTurn:
        """Run one spoken turn to its end."""
        before = len(self.turns)
        self.spoken += 1
        async with asyncio.timeout(_TURN_S):
            await self.app.runner.listen(WavSource(clip, realtime=False), turns=1)
        assert len(self.turns) == before + 1, "nobody was heard"
        return self.turns[-1]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds` is true, checked at each message of the service."""
        await asyncio.to_thread(self.service.wait_until, holds)

    async def come_to(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds` is true, checked at each finished turn."""
        async with asyncio.timeout(_TURN_S):
            while not holds():
                self._news.clear()
                await self._news.wait()

    async def falling_silent(self) -> None:
        """Let time pass until the session of the newest turn has been given up."""
        await self.until(lambda: bool(self.service.turns))
        newest = self.service.connections[-1]
        async with self.clock.hurrying():
            await self.until(lambda: not newest.open)

    @asynccontextmanager
    async def holding_the_house(self, only: str = "") -> AsyncIterator[Hold]:
        """Hold every call to the house, or to tools of that name, until the test releases it."""
        hub, hold, call = self.app.home.hub, Hold(), self.app.home.hub.call

        async def held(server: str, name: str, *given: Any, **named: Any) -> McpResult:
            if only in name:
                hold.reached.set()
                await hold.go_on.wait()
            return await call(server, name, *given, **named)

        with patch.object(hub, "call", held):
            try:
                yield hold
            finally:
                hold.go_on.set()


@asynccontextmanager
async def scene(
    folder: Path,
    service: GeminiSimulator,
    *,
    hears: bool = False,
    resident: bool = False,
    player: Player | None = None,
    prompter: Prompter | None = None,
    **sections: dict[str, Any],
) -> AsyncIterator[Scene]:
    """Keep everything open while the block runs, then check the invariants.

    `hears`: turns are spoken. `resident`: as in a process that stays. `prompter`: the person at the
    keyboard. `sections`: overrides of the settings.
    """
    before, clock = asyncio.all_tasks(), LeapingClock()
    player = player or NullPlayer(paced=False)
    with in_thread(service), patch("assistant.app.conversation.SystemClock", lambda: clock):
        settings = gemini_settings(service, folder, **sections)
        opened = open_app(settings, player, hears=hears, resident=resident, prompter=prompter)
        async with opened as app:
            on = Scene(app, service, clock, player)
            app.log.on_turn(on.keep)
            with _noting(on):
                yield on
        left = asyncio.all_tasks() - before
        assert not left, f"tasks are left: {left}"
        await on.until(lambda: service.open_sockets == 0)
        assert_every_call_is_settled(on)
        await assert_sound(on, settings)
    assert service.stray_bytes == 0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ear")]


@contextmanager
def _noting(on: Scene) -> Iterator[None]:
    """Record the calls that may have reached the house, which a real house does not report."""
    call = on.app.home.hub.call

    async def noted(server: str, name: str, arguments: dict[str, Any], *rest: Any) -> McpResult:
        try:
            result = await call(server, name, arguments, *rest)
        except IntegrationError as error:
            if isinstance(error, CallLost):
                on.reached.append((name, arguments))
            raise
        on.reached.append((name, arguments))
        return result

    with patch.object(on.app.home.hub, "call", noted):
        yield


def gemini_settings(service: GeminiSimulator, folder: Path, **sections: dict[str, Any]) -> Settings:
    """Return settings with the embedded house and all brains, first the simulated service."""
    given: dict[str, dict[str, Any]] = {
        "assistant": {"data": str(folder / "data")},
        "privacy": {"accept_cloud": True},
        "home_assistant": {"url": "demo"},
        "brain": {"order": [LIVE, ONCE, OFFLINE]},
        "voice": {"engine": "espeak"},
        **sections,
        "gemini": {**service.settings, **sections.get("gemini", {})},
    }
    return Settings.model_validate(given)


async def assert_sound(on: Scene, settings: Settings) -> None:
    """Check the invariants of every turn; the app is closed by now."""
    did = Counter((name, json.dumps(given, sort_keys=True)) for name, given in on.house_calls)
    twice = [what for what, times in did.items() if times > 1]
    assert on.repeats or not twice, f"done twice: {did}"
    async with Store(settings.database, on.clock) as store:
        for turn in on.finished:
            record = turn.record
            assert_somebody_was_told(record)
            kept = await store.turn(record.turn_id)
            assert kept is not None, f"turn {record.turn_id} is not in the journal"
            assert (kept.brain, kept.error) == (record.brain, record.error)
            assert kept.clauses == record.clauses or (on.private and kept.clauses == ())
            calls = await store.calls(record.turn_id)
            assert all(call.status is not None for call in calls), f"without an end: {calls}"


def assert_somebody_was_told(record: TurnRecord) -> None:
    """Check that the person got a sentence or a tone, or has gone on to another sentence."""
    kind = record.error.kind if record.error else None
    if kind == "interrupted":
        return
    if kind == "not_meant":
        assert (record.sound, record.clauses) == ("unmeant", ())
        return
    if record.sound == "done":
        assert kind is None
        return
    # A program's: it gets the error, and nothing sounds.
    if record.source == "text" and record.caller:
        assert record.answer or kind
        return
    assert record.clauses, f"nothing was said in the turn {record}"


def assert_every_call_is_settled(on: Scene) -> None:
    """Check that each call was answered, cancelled, or lost together with its connection."""
    calls = [call for turn in on.service.turns for call in turn.calls]
    assert sum(call.status == "open" for call in calls) == on.lost_calls, calls


def settled(turn: HeardTurn) -> list[str]:
    """Return the results of a turn's calls at the service."""
    return [call.status for call in turn.calls]


def outcomes(turn: FinishedTurn) -> list[Status]:
    """Return the results of a turn's calls in the house."""
    return [outcome.status for outcome in turn.outcomes]


def said(turn: FinishedTurn) -> str:
    """Return all clauses that were spoken."""
    return " ".join(turn.record.clauses)


def ended(turn: FinishedTurn) -> tuple[str | None, str | None]:
    """Return the brain that served a turn, and the kind of its error."""
    error = turn.record.error
    return turn.record.brain, error.kind if error else None
