"""The box as interfaces for programs use it: who asks, what happens, what can be asked."""

import asyncio
import json
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    ConfirmRequest,
    ConverseRequest,
    CorrectRequest,
    LiveRequest,
    MarkRequest,
    Mode,
    QuestionAnswer,
    QuestionRequest,
    RateRequest,
    TimerRequest,
)

KEPT = 256  # events that a listener who was away can still get
WAITING = 256  # events for a listener who does not read; beyond that it is sent away
_LONGEST_NUMBER = 18  # digits of an event's number
BEAT_S = 15.0  # a comment this often, so that a connection that is gone is noticed

Health = Literal["ok", "degraded", "dead"]
Scope = Literal[
    "speak",  # make it speak or listen: announcements, questions, conversations, timers, buttons
    "ask",  # typed turns
    "read",  # how it stands, what was said and done
    "admin",  # all of it, and what nobody else may: answer a confirmation
]
Loosening = Literal["mode", "mute", "profile"]  # more trust, an open microphone, more tools


@dataclass(frozen=True, slots=True)
class Caller:
    """A program, as the journal names it."""

    name: str  # such as "http:admin", "mqtt", "home-assistant"; never a secret
    scopes: frozenset[Scope]
    # The session it was let in by, as a hash of its id; "": by a token. Not written down.
    session: str = field(default="", repr=False)
    loosens: frozenset[Loosening] = frozenset()  # what the owner lets it do beside `admin`
    # Tells this token from an earlier one of the same name: a part of its hash, never the secret.
    token: str = field(default="", repr=False, compare=False)

    def may(self, scope: Scope) -> bool:
        """Tell whether it may do what needs this scope."""
        return scope in self.scopes or "admin" in self.scopes

    def may_loosen(self, what: Loosening) -> bool:
        """Tell whether it may take back what a person has made stricter."""
        return what in self.loosens or "admin" in self.scopes


NOBODY = Caller("", frozenset())  # an open path: the caller is not known yet


@dataclass(frozen=True, slots=True)
class Told:
    id: str
    kind: str
    data: Mapping[str, Any]  # JSON

    def lines(self) -> bytes:
        data = json.dumps(self.data, ensure_ascii=False)
        # Half a character, as JSON of a model's may hold, must not end the stream of everybody.
        return f"id: {self.id}\nevent: {self.kind}\ndata: {data}\n\n".encode(errors="replace")


class EventLog:
    """The newest server-sent events (HTML standard, section of that name), and their listeners.

    Belongs to the event loop's thread.
    """

    def __init__(self) -> None:
        self._run = secrets.token_hex(4)  # ids of another process are none of ours
        self._count = 0
        self._kept: deque[Told] = deque(maxlen=KEPT)
        self._listeners: set[asyncio.Queue[Told | None]] = set()

    def tell(self, kind: str, data: Mapping[str, Any]) -> None:
        self._count += 1
        event = Told(f"{self._run}-{self._count}", kind, data)
        self._kept.append(event)
        for listener in list(self._listeners):
            if listener.full():
                self._send_away(listener)
            else:
                listener.put_nowait(event)

    async def since(self, last_id: str | None, first: Told | None) -> AsyncGenerator[bytes, None]:
        """Yield what goes to one listener, for ever or until it does not read.

        `last_id`: what it heard last, and what came after that is told first. Where that is not
        known any more, it gets `first` instead: how everything stands.
        """
        listener: asyncio.Queue[Told | None] = asyncio.Queue(WAITING)
        missed = self._after(last_id)
        self._listeners.add(listener)
        try:
            if missed is None and first is not None:
                yield first.lines()
            for event in missed or ():
                yield event.lines()
            while True:
                try:
                    async with asyncio.timeout(BEAT_S):
                        told = await listener.get()
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if told is None:
                    return
                yield told.lines()
        finally:
            self._listeners.discard(listener)

    def now(self, kind: str, data: Mapping[str, Any]) -> Told:
        """An event for one listener alone: it stands where the newest one stands."""
        return Told(f"{self._run}-{self._count}", kind, data)

    def close(self) -> None:
        """Send everyone away: nothing more will be told."""
        for listener in list(self._listeners):
            self._send_away(listener)

    def _after(self, last_id: str | None) -> list[Told] | None:
        run, _, number = (last_id or "").partition("-")
        if run != self._run or not number.isdecimal() or len(number) > _LONGEST_NUMBER:
            return None
        missing = self._count - int(number)
        if not 0 <= missing <= len(self._kept):
            return None
        return list(self._kept)[len(self._kept) - missing :]

    def _send_away(self, listener: asyncio.Queue[Told | None]) -> None:
        self._listeners.discard(listener)
        with suppress(asyncio.QueueEmpty):
            while listener.full():
                listener.get_nowait()
        listener.put_nowait(None)


class NotKept(Exception):
    """The disk did not take it: it does not hold over a restart."""


class NotAnnounced(Exception):
    """It will not be said, for a reason that is no fault of the request."""


class NotPossible(Exception):
    """It cannot be done as asked; one sentence that names the mend."""


class Busy(Exception):
    """Not now: somebody else is being served, or too much waits."""


class Unknown(Exception):
    """There is no such thing (any more)."""


class Box(Protocol):
    """Each may raise NotKept where something is to hold over a restart. JSON in, JSON out. The
    caller is named in what is told of it."""

    @property
    def events(self) -> EventLog:
        """Log of what happens."""

    def state(self) -> Mapping[str, Any]:
        """State of everything."""

    async def mute(self, on: bool, caller: Caller) -> None:
        """Listen to nothing, or listen again; on the disk when this returns. Raises NotPossible
        where one without `admin` would open it and no tone can be heard."""

    async def set_mode(self, mode: Mode, minutes: int | None, caller: Caller) -> None:
        """Switch `policy.mode`, for so long or for good."""

    def live(self) -> Mapping[str, Any]:
        """Settings that can be changed while it runs, with their options."""

    async def set_live(self, wanted: LiveRequest, caller: Caller) -> None:
        """Change settings while it runs. Raises NotPossible."""

    def listen(self, caller: Caller) -> bool:
        """Listen as after the wake word, with a tone. False: it cannot, being muted, busy or
        without microphone."""

    def stop(self, caller: Caller) -> None:
        """Silence at once."""

    async def announce(self, wanted: AnnounceRequest, caller: Caller) -> str:
        """Say it once the conversation rests. Gives its id; where it is to outlive a restart, it is
        on the disk by then. Raises NotAnnounced and NotPossible: then it is not said."""

    async def question(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        """Ask whoever is in the room, and wait for the answer. Cancelled where nobody takes it any
        more. Raises NotPossible."""

    async def converse(self, wanted: ConverseRequest, caller: Caller) -> str:
        """Say an opening line and listen. Gives its id. Raises NotPossible while nobody can be
        heard, NotAnnounced where too much waits."""

    async def ask(self, wanted: AskRequest, caller: Caller) -> Mapping[str, Any]:
        """One typed turn, as `hearth ask --json` gives it. Raises Busy."""

    async def timers(self) -> Sequence[Mapping[str, Any]]:
        """Timers that run, stand still or ring."""

    async def set_timer(self, wanted: TimerRequest, caller: Caller) -> Mapping[str, Any]:
        """Set one. Raises NotPossible."""

    async def end_timer(self, timer_id: str, caller: Caller) -> None:
        """End one. Raises Unknown."""

    def confirmations(self) -> Sequence[Mapping[str, Any]]:
        """Calls that wait for a person's yes."""

    async def confirm(self, name: str, wanted: ConfirmRequest, caller: Caller) -> Mapping[str, Any]:
        """Answer one in a person's place. Raises Unknown."""

    def openers(self) -> Sequence[Mapping[str, Any]]:
        """Things that may open the house as far as nobody knows, and how their owner rated them."""

    async def rate(self, entity_id: str, wanted: RateRequest, caller: Caller) -> None:
        """Rate one of them. Raises Unknown."""

    async def memories(self) -> Sequence[Mapping[str, Any]]:
        """Facts that people asked to remember."""

    async def correct(self, memory_id: str, wanted: CorrectRequest, caller: Caller) -> None:
        """Give one of them another text. Raises Unknown and NotPossible."""

    async def forget_one(self, memory_id: str, caller: Caller) -> None:
        """Forget one of them. Raises Unknown."""

    async def forget(self, caller: Caller) -> int:
        """Forget all of it; how many there were."""

    async def doctor(self) -> Sequence[Mapping[str, Any]]:
        """As `hearth doctor --json`."""

    async def tools(self) -> Mapping[str, Any]:
        """As `hearth tools --json`."""

    def level(self) -> Mapping[str, Any]:
        """Loudness at the microphone."""

    async def costs(self, days: int) -> Mapping[str, Any]:
        """Costs of so many days, today among them, with what a day may cost."""

    async def shares(self, days: int) -> Mapping[str, Any]:
        """Shares of the commands of so many days, by how they have gone."""

    async def faults(self, days: int) -> Sequence[Mapping[str, Any]]:
        """Faults of so many days, the newest first."""

    async def turns(self, limit: int, before: str | None = None) -> Sequence[Mapping[str, Any]]:
        """The last turns, newest first; `before`: those before that one. Raises Unknown."""

    async def turn(self, turn_id: str) -> Mapping[str, Any]:
        """One turn, as `hearth trace --json` gives it. Raises Unknown."""

    async def mark(self, turn_id: str, wanted: MarkRequest, caller: Caller) -> None:
        """Say that it was wrong or misheard, or take that back. Raises Unknown."""

    async def sound(self, turn_id: str) -> Path:
        """The WAV file of what was said, where it is kept. Raises Unknown."""
