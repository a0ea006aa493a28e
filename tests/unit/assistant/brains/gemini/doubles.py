"""Strict doubles of what the Gemini Live brain depends on."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from assistant.brains.briefing.briefer import Briefer, Briefing
from assistant.brains.gemini.brain import GeminiLiveBrain
from assistant.brains.gemini.model_chain import ModelChain
from assistant.brains.gemini.turn import GeminiLiveTurn
from assistant.domain.brain import (
    PEOPLE,
    BrainEvent,
    BrainTurn,
    ConversationOwner,
    InTalk,
    Reached,
    Spent,
    TurnRequest,
)
from assistant.domain.clock import Clock, VirtualClock
from assistant.domain.tool_call import Decision, Status, Tier, ToolCall, ToolOutcome
from assistant.domain.turn_audio import TurnAudio
from assistant.journal.store import Store
from integrations.errors import IntegrationError
from integrations.gemini.declarations import Declaration
from integrations.gemini.events import Closed, LiveEvent, OutputText, TurnComplete
from integrations.gemini.live import FunctionAnswer, LiveClient, LiveSession
from integrations.gemini.models import ModelRow, model_row
from integrations.gemini.setup import LiveSetup
from tests.fakes.small_values import FakeValues

ROW: ModelRow = model_row("gemini-3.8-live")[0]
BRIEFING = Briefing("You are Hearth.", (), (), ("en",), "", "")


@dataclass(frozen=True, slots=True)
class Sent:
    """One message that the brain has to send, and the events that the service then emits."""

    kind: str  # "start", "sound", "end", "text", "context", "answer", "update"
    content: Any = None  # None: any
    then: tuple[LiveEvent, ...] = ()
    fails: IntegrationError | None = None
    hangs: bool = False


class ScriptedSession(LiveSession):
    """A connection that accepts the messages of its script and no others."""

    def __init__(self, script: Sequence[Sent], handle: str | None = None) -> None:
        self.handle = handle
        self.closed_for_good = asyncio.Event()
        self.may_close = asyncio.Event()  # until it is set, a close never returns
        self.may_close.set()
        self.setup: LiveSetup | None = None
        self.failures: list[str] = []
        self.updates: list[str | None] = []  # instructions
        self._script = list(script)
        self._sound = b""
        self._on_event: Callable[[LiveEvent], None] | None = None

    def open(self, setup: LiveSetup, on_event: Callable[[LiveEvent], None]) -> None:
        self.setup = setup
        self._on_event = on_event

    def emit(self, *events: LiveEvent) -> None:
        """Emit events as the service does."""
        assert self._on_event is not None
        for event in events:
            self._on_event(event)

    async def begin_activity(self) -> None:
        await self._take("start", None)

    async def send_audio(self, pcm: bytes) -> None:
        if len(pcm) > 3_200:
            self.failures.append(f"a piece of {len(pcm)} bytes")
        self._sound += pcm
        whole = self._script[0].content if self._script else b""
        if self._script and self._script[0].kind == "sound" and len(self._sound) < len(whole):
            return
        sound, self._sound = self._sound, b""
        await self._take("sound", sound)

    async def end_activity(self) -> None:
        await self._take("end", None)

    async def send_text(self, text: str, *, complete: bool = True) -> None:
        await self._take("text" if complete else "context", text)

    async def answer(self, answers: Sequence[FunctionAnswer]) -> None:
        await self._take("answer", [(one.id, one.name, one.response["status"]) for one in answers])

    async def update(
        self,
        *,
        instruction: str | None = None,
        declarations: Sequence[Declaration] | None = None,
    ) -> None:
        self.updates.append(instruction)
        await self._take("update", (instruction, declarations))

    async def close(self) -> None:
        await self.may_close.wait()
        if not self.closed_for_good.is_set():
            self.closed_for_good.set()
            self.emit(Closed(None))

    def break_off(self, error: IntegrationError) -> None:
        """End the connection from the other side."""
        self.closed_for_good.set()
        self.emit(Closed(error))

    def assert_consumed(self) -> None:
        assert self.failures == []
        assert self._script == [], "the brain did not send these"

    async def _take(self, kind: str, content: object) -> None:
        if self.closed_for_good.is_set():
            self.failures.append(f"{kind} after the end")
        step = self._script.pop(0) if self._script else None
        if step is None or step.kind != kind or step.content not in (None, content):
            self.failures.append(f"{kind} {content!r:.200} came, expected was {step!r:.200}")
            raise AssertionError(self.failures[-1])
        if step.fails is not None:
            raise step.fails
        if step.hangs:
            await asyncio.Event().wait()
        for event in step.then:
            asyncio.get_running_loop().call_soon(self.emit, event)


Opening = ScriptedSession | IntegrationError | None  # None: it never comes


class ScriptedClient(LiveClient):
    """Opens the given sessions one after the other, and fails if one more is wanted."""

    def __init__(self, *openings: Opening) -> None:
        self.setups: list[LiveSetup] = []
        self.sessions: list[ScriptedSession] = []
        self.gate: asyncio.Event | None = None  # connects wait for it
        self._openings = list(openings)

    async def load(self) -> None:
        pass

    async def connect(
        self, setup: LiveSetup, on_event: Callable[[LiveEvent], None], timeout_s: float = 5.0
    ) -> ScriptedSession:
        self.setups.append(setup)
        assert self._openings, "a connect that nobody expects"
        assert all(one.closed_for_good.is_set() for one in self.sessions), "the old one is open"
        opening = self._openings.pop(0)
        if self.gate is not None:
            await self.gate.wait()
        if opening is None:
            await asyncio.Event().wait()
        if isinstance(opening, IntegrationError):
            raise opening
        assert opening is not None
        opening.open(setup, on_event)
        self.sessions.append(opening)
        return opening

    def assert_consumed(self) -> None:
        for session in self.sessions:
            session.assert_consumed()
        assert self._openings == [], "these sessions were not opened"


def chain_of(*rows: ModelRow, clock: Clock) -> ModelChain:
    return ModelChain(rows, cast(Store, FakeValues()), clock, "v1beta")


class ScriptedBriefer(Briefer):
    """Gives the briefings in order, and the last one forever."""

    def __init__(self, *briefings: Briefing) -> None:
        self.profiles: list[str] = []
        self.owners: list[ConversationOwner] = []
        self._briefings = list(briefings) or [BRIEFING]

    async def brief(
        self, profile: str = "", said: str = "", owner: ConversationOwner = PEOPLE
    ) -> Briefing:
        self.profiles.append(profile)
        self.owners.append(owner)
        return self._briefings.pop(0) if len(self._briefings) > 1 else self._briefings[0]


def outcome_of(id: str, name: str = "HassTurnOn", **changes: Any) -> ToolOutcome:
    """Return the outcome of a successful call, with some fields changed."""
    values: dict[str, Any] = {
        "id": id,
        "server": "home_assistant",
        "name": name,
        "arguments": {},
        "decision": Decision.ALLOWED,
        "tier": Tier.COMFORT,
        "status": Status.DONE,
        "observed": (),
        "ms": 1.0,
        "sentence": "Kitchen Light: on",
    }
    return ToolOutcome(**{**values, **changes})


# --- The brain between strict doubles, on a virtual clock.

SOUND = bytes(range(256)) * 25  # 0.2 s: two pieces
YES = (OutputText("Yes.", with_sound=True), TurnComplete())


def spoken(sound: bytes = SOUND, finished: bool = True, **changes: Any) -> TurnRequest:
    """Return a spoken turn whose sentence is over or goes on."""
    audio = TurnAudio()
    audio.append(sound)
    if finished:
        audio.finish()
    values: dict[str, Any] = {"turn_id": "t", "text": None, "audio": audio, **changes}
    return TurnRequest(language="en", source="voice", **values)


def typed(text: str = "turn on the lamp", **changes: Any) -> TurnRequest:
    values: dict[str, Any] = {"turn_id": "t", **changes}
    return TurnRequest(language="en", source="text", text=text, audio=None, **values)


def sentence(*then: Any, sound: bytes = SOUND) -> list[Sent]:
    """Return the messages of one spoken sentence, and the events that follow it."""
    return [Sent("start"), Sent("sound", sound), Sent("end", then=then)]


def without_estimates(events: Iterable[BrainEvent]) -> list[BrainEvent]:
    return [one for one in events if not (isinstance(one, Spent) and one.usage.estimated)]


class Stage:
    """A brain, its doubles, and methods that play turns on it."""

    def __init__(
        self, openings: tuple[Opening, ...], briefer: ScriptedBriefer | None, **options: Any
    ) -> None:
        self.clock = VirtualClock()
        self.client = ScriptedClient(*openings)
        self.briefer = briefer or ScriptedBriefer()
        models = chain_of(options.pop("row", ROW), clock=self.clock)
        self.brain = GeminiLiveBrain(self.client, self.briefer, models, self.clock, **options)

    async def play(self, request: TurnRequest, seconds: float = 60.0) -> list[BrainEvent]:
        """Return the turn's events without milestones, the conversation id and estimated costs.
        Every call succeeds."""
        return without_estimates(
            event
            for event in await self.follow(self.brain.begin(request), seconds)
            if not isinstance(event, Reached | InTalk)
        )

    async def follow(self, turn: BrainTurn, seconds: float = 60.0) -> list[BrainEvent]:
        """Return all events of a turn, which has to end within `seconds`."""
        events: list[BrainEvent] = []

        async def gather() -> None:
            async for event in turn.events():
                events.append(event)
                if isinstance(event, ToolCall):
                    await turn.answer(outcome_of(event.id, event.name))

        end = self.clock.monotonic() + seconds
        async with asyncio.TaskGroup() as group:
            task = group.create_task(gather())
            while not task.done() and self.clock.monotonic() < end:
                await self.clock.run(0.1)
            assert task.done(), f"the turn goes on for ever: {events}"
        return events

    async def until(self, turn: GeminiLiveTurn, kind: type[BrainEvent]) -> Any:
        """Open the turn and return its first event of that kind; the turn stays open."""
        events = turn.events()
        async for event in events:
            if isinstance(event, kind):
                return events, event
        raise AssertionError(f"no {kind.__name__} came")


@asynccontextmanager
async def stage(
    *openings: Opening, briefer: ScriptedBriefer | None = None, **options: Any
) -> AsyncIterator[Stage]:
    """Yield a brain whose client opens exactly `openings`; at the end all must have been used."""
    tasks = len(asyncio.all_tasks())
    made = Stage(openings, briefer, **options)
    async with made.brain:
        yield made
    made.client.assert_consumed()
    assert all(one.closed_for_good.is_set() for one in made.client.sessions), "a socket is open"
    assert len(asyncio.all_tasks()) == tasks, "a task is left"
    assert made.clock.sleepers == 0


def session(*script: Sent, handle: str | None = None) -> ScriptedSession:
    """Return a connection that accepts exactly these messages."""
    return ScriptedSession(script, handle)
