"""A brain's turn whose events are held back until it is clear whether a reply is a new command."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from assistant.domain.brain import (
    Brain,
    BrainEvent,
    BrainFault,
    BrainTurn,
    Heard,
    NotMeant,
    Reached,
    ReplyAudio,
    ReplyText,
    Serving,
    TurnDone,
    TurnRequest,
)
from assistant.domain.tool_call import Status, ToolCall, ToolOutcome
from assistant.domain.turn_audio import TurnAudio
from assistant.tools.execution.requests import lost

if TYPE_CHECKING:
    from assistant.conversation.turn import Turn

_log = logging.getLogger(__name__)
_LEFT = "It was not run, because the turn went on without it."  # sentence for the model
MAX_HELD = 4_000  # events; the brain waits if there are more
_LOCAL = ("offline", "home-assistant")  # these report it if they understood nothing
_STREAMS = "gemini-live"  # reports when all audio has been sent
_End = BrainFault | NotMeant | TurnDone

Spawn = Callable[[Coroutine[Any, Any, bool]], asyncio.Task[bool]]


class SpeculativeTurn:
    """Wraps a BrainTurn that is already running, so that a new command is answered
    without delay."""

    def __init__(self, turn: BrainTurn, spawn: Spawn) -> None:
        self.heard: str | None = None  # the transcript so far
        self.own_ear = False  # it comes from this device's own recogniser
        self.serving = ""  # name of the serving brain
        self._turn = turn
        self._waiting: asyncio.Queue[BrainEvent | None] = asyncio.Queue(MAX_HELD)
        self._changed = asyncio.Event()  # set and replaced after every event
        self._piece = asyncio.Event()  # set and replaced when the transcript grows or ends
        self._sent = False  # the service has received all of the audio
        self._called = False  # the brain has made a call
        self._acted = False  # the brain has made a call, or a model has begun to answer
        self._ended: _End | None = None
        self._failed = False  # the first attempt failed; another waits until wanted
        self._wanted = asyncio.Event()
        self._over = False
        self._following = spawn(self._follow())

    async def events(self, *, further: bool = True) -> AsyncGenerator[BrainEvent]:
        """Yield the events that were held back so far, and then later events as they arrive.
        Closing the generator ends the turn.

        With `further`, the events of another attempt after a failed one are included.
        """
        if further:
            self._wanted.set()
        try:
            while (event := await self._waiting.get()) is not None:
                yield event
        finally:
            await self.close()

    async def answer(self, outcome: ToolOutcome) -> None:
        await self._turn.answer(outcome)

    def drop(self) -> None:
        self._following.cancel()

    async def close(self) -> None:
        """End the turn, and report its unhandled calls as not run."""
        self._following.cancel()
        await asyncio.wait([self._following])
        # A model that waits for a result would stay silent.
        while not self._waiting.empty():
            event = self._waiting.get_nowait()
            if isinstance(event, ToolCall):
                await self._turn.answer(replace(lost(event), status=Status.NOT_RUN, sentence=_LEFT))

    async def sent(self) -> None:
        """Wait until a service has received all of the audio, or until none can receive it any
        more."""
        while not (self._done or self._sent or self.serving not in ("", _STREAMS)):
            await self._changed.wait()

    async def words(self) -> None:
        """Wait until there is a transcript or it is clear that there won't be one."""
        while not (self._done or self.heard):
            await self._changed.wait()

    async def quiet(self, pause_s: float) -> None:
        """Wait until the transcript has not changed for `pause_s` seconds or is known
        to be final."""
        while not self._done:
            piece = self._piece
            try:
                async with asyncio.timeout(pause_s):
                    await piece.wait()
            except TimeoutError:
                return

    async def understood(self) -> bool:
        """Wait for the brain's response, and return True if it treats, or may treat, the reply as a
        request."""
        while not (self._acted or self._done):
            await self._changed.wait()
        if self._acted or self._failed:
            return True  # the next attempt may do better
        return isinstance(self._ended, TurnDone) and self._ended.understood

    async def commanded(self) -> bool:
        """Wait for the brain's response, and return True if the reply is a command."""
        while not (self._acted or self._done):
            await self._changed.wait()
        # A model that treats the reply as a command calls a tool. Brains on this device know only
        # commands and questions.
        if self._called or self.serving not in _LOCAL:
            return self._called
        return isinstance(self._ended, TurnDone) and self._ended.understood

    @property
    def _done(self) -> bool:
        return self._over or self._failed

    async def _follow(self) -> bool:
        try:
            async with aclosing(self._turn.events()) as events:
                async for event in events:
                    self._note(event)
                    await self._waiting.put(event)
                    if self._failed:
                        await self._wanted.wait()
        except Exception:
            # Last resort: whatever a brain raises, the process must continue.
            _log.exception("the brain failed on an answer")
        finally:
            self._over = True
            self._more()
            self._tell()
        await self._waiting.put(None)
        return True

    def _note(self, event: BrainEvent) -> None:
        match event:
            case Heard(text, own_ear=own_ear):
                self.heard, self.own_ear = text, own_ear
                self._more()
            case Serving(brain):
                self._failed = bool(self.serving)
                if self._failed:
                    self._more()
                self.serving = brain
            case Reached("upload_done"):
                self._sent = True
            case ToolCall():
                self._called = self._acted = True
            case ReplyText() | ReplyAudio():
                self._acted |= self.serving not in _LOCAL
            case BrainFault() | NotMeant() | TurnDone():
                self._ended = event
        self._tell()

    def _more(self) -> None:
        self._piece.set()
        self._piece = asyncio.Event()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class SpeculativeBrain:
    """A Brain whose first turn has already started. `brain` handles all later turns."""

    def __init__(self, turn: SpeculativeTurn, brain: Brain) -> None:
        self._turn: SpeculativeTurn | None = turn
        self._brain = brain

    @property
    def name(self) -> str:
        return self._brain.name

    def begin(self, request: TurnRequest) -> BrainTurn:
        turn, self._turn = self._turn, None
        return turn if turn is not None else self._brain.begin(request)

    def anticipate(self) -> None:
        """Do nothing, because the brain is already working."""


# Transcripts of answers.

# Seconds for a transcript to arrive after the answer has ended.
TRANSCRIPT_S = 2.5
# Seconds within which more of the transcript would arrive. A shorter wait is enough if this device
# recognises the audio too and both must agree.
PIECES_S = 1.0
PIECES_CHECKED_S = 0.4
PIECES_MOST_S = 4.0
SEND_S = 6.0  # seconds for a service to receive all of the audio


async def transcript_of(held: SpeculativeTurn | None, *, checked: bool) -> str | None:
    """Return a service's transcript of the answer, "" if it is unreliable, or None if no service
    supplied one in time.

    With `checked`, the caller compares it with this device's own transcript, so the wait is
    shorter.
    """
    if held is None:
        return None
    try:
        async with asyncio.timeout(SEND_S):
            await held.sent()
        async with asyncio.timeout(TRANSCRIPT_S):
            await held.words()
    except TimeoutError:
        _log.info("no transcript of the answer came in time")
        return "" if held.heard else None  # a partial transcript may lack the "not"
    try:
        async with asyncio.timeout(PIECES_MOST_S):
            await held.quiet(PIECES_CHECKED_S if checked else PIECES_S)
    except TimeoutError:
        return ""  # too long for a yes or no
    return None if held.own_ear else held.heard  # the device's own transcript is no second source


@dataclass(frozen=True, slots=True)
class FollowOnTurn:
    """A reply that may be a new command, and the speculative turn that handles it."""

    turn: SpeculativeTurn
    audio: TurnAudio
    turn_id: str

    @classmethod
    def begin(
        cls, before: "Turn", audio: TurnAudio, turn_id: str, brain: Brain, spawn: Spawn
    ) -> Self:
        """Start the brain on the audio of a reply. `before` is the turn that asked the question."""
        before.hear_answer(audio)
        request = TurnRequest(turn_id, before.language, "voice", None, audio, before.profile)
        return cls(SpeculativeTurn(brain.begin(request), spawn), audio, turn_id)
