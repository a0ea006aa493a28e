"""The data and actions that program interfaces can use: callers, events and `Box`."""

import asyncio
import json
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

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
    SentenceRequest,
    SnoozeRequest,
    TapRequest,
    TimerRequest,
)

if TYPE_CHECKING:
    from integrations.web.speech import SpeechLine

KEPT = 256  # events that a listener can still get after reconnecting
WAITING = 256  # unread events before a listener is disconnected
_LONGEST_NUMBER = 18  # digits of an event's number
BEAT_S = 15.0  # interval of comments that reveal a lost connection
# Kinds of events that are sent only to listeners who name them. They are frequent and soon out of
# date, so they aren't kept.
ON_REQUEST = frozenset({"house"})

Health = Literal["ok", "degraded", "dead"]
Scope = Literal[
    "speak",  # make it speak or listen: announcements, questions, conversations, timers, buttons
    "ask",  # typed turns
    "read",  # see Hearth's state, and what was said and done
    "see",  # see Hearth's state, timers and confirmations; part of `read`
    "person",  # typed turns as a person of the household; never for a token, part of `admin`
    "admin",  # everything, including answering any confirmation
]
_INCLUDED: Mapping[Scope, frozenset[Scope]] = {
    "see": frozenset({"read"}),
    "ask": frozenset({"person"}),
}
# People who are signed in with a browser, and their scopes.
Role = Literal["owner", "family", "guest"]
ROLES: Mapping[Role, frozenset[Scope]] = {
    "owner": frozenset({"admin"}),
    "family": frozenset({"see", "person", "speak"}),
    "guest": frozenset({"see", "ask"}),
}
# Fewer confirmations, an open microphone, more tools.
Loosening = Literal["mode", "mute", "profile"]


@dataclass(frozen=True, slots=True)
class Caller:
    """A program or browser that uses an interface. The journal records its name."""

    name: str  # such as "http:admin", "mqtt", "home-assistant"; never a secret
    scopes: frozenset[Scope]
    # Hash of the caller's session id; "" for a token. Not stored.
    session: str = field(default="", repr=False)
    loosens: frozenset[Loosening] = frozenset()  # restrictions that it may undo without `admin`
    # Distinguishes this token from an earlier one with the same name. It is a part of the token's
    # hash, never the secret.
    token: str = field(default="", repr=False, compare=False)

    def may(self, scope: Scope) -> bool:
        """Return True if the caller has this scope, or one that includes it."""
        return not self.scopes.isdisjoint({scope, "admin", *_INCLUDED.get(scope, ())})

    @property
    def is_person(self) -> bool:
        """True for a person of the household who is signed in with a browser."""
        return bool(self.session) and self.may("person")

    def may_loosen(self, what: Loosening) -> bool:
        """Return True if the caller may undo a restriction that a person has set."""
        return what in self.loosens or "admin" in self.scopes


NOBODY = Caller("", frozenset())  # on an open path, before the caller is known


@dataclass(frozen=True, slots=True)
class Told:
    id: str
    kind: str
    data: Mapping[str, Any]  # JSON

    def lines(self) -> bytes:
        data = json.dumps(self.data, ensure_ascii=False)
        # An unpaired surrogate, which a model's JSON may contain, must not end every listener's
        # stream.
        return f"id: {self.id}\nevent: {self.kind}\ndata: {data}\n\n".encode(errors="replace")


class EventLog:
    """The newest server-sent events (as in the HTML standard), and their listeners. Use it only
    from the event loop's thread."""

    def __init__(self) -> None:
        self._run = secrets.token_hex(4)  # makes ids of another process invalid
        self._count = 0
        self._kept: deque[Told] = deque(maxlen=KEPT)
        # The kinds of events that each listener wants; None: all except ON_REQUEST.
        self._listeners: dict[asyncio.Queue[Told | None], frozenset[str] | None] = {}

    def tell(self, kind: str, data: Mapping[str, Any]) -> None:
        if kind not in ON_REQUEST:
            self._count += 1
        event = self.now(kind, data)
        if kind not in ON_REQUEST:
            self._kept.append(event)
        for listener, kinds in list(self._listeners.items()):
            if not _is_among(kind, kinds):
                continue
            if listener.full():
                self._send_away(listener)
            else:
                listener.put_nowait(event)

    def is_wanted(self, kind: str) -> bool:
        """Return True if some listener wants events of this kind."""
        return any(_is_among(kind, kinds) for kinds in self._listeners.values())

    async def since(
        self, last_id: str | None, first: Told | None, kinds: frozenset[str] | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yield events of these kinds to one listener until it stops reading or is disconnected.
        None means all kinds except ON_REQUEST.

        The events after `last_id`, the last event that the listener received, are sent first. If
        these are not known, `first` is sent instead.
        """
        listener: asyncio.Queue[Told | None] = asyncio.Queue(WAITING)
        missed = self._after(last_id)
        self._listeners[listener] = kinds
        try:
            if missed is None and first is not None:
                yield first.lines()
            for event in missed or ():
                if _is_among(event.kind, kinds):
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
            self._listeners.pop(listener, None)

    def now(self, kind: str, data: Mapping[str, Any]) -> Told:
        """Return an event for a single listener, with the id of the newest event."""
        return Told(f"{self._run}-{self._count}", kind, data)

    def close(self) -> None:
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
        self._listeners.pop(listener, None)
        with suppress(asyncio.QueueEmpty):
            while listener.full():
                listener.get_nowait()
        listener.put_nowait(None)


def _is_among(kind: str, kinds: frozenset[str] | None) -> bool:
    return kind not in ON_REQUEST if kinds is None else kind in kinds


class NotKept(Exception):
    """A change could not be saved, or saved data could not be read."""


class NotAnnounced(Exception):
    """The announcement will not be made, although the request is valid."""


class NotPossible(Exception):
    """The request cannot be carried out. The message explains why."""


class Busy(Exception):
    """Another request is being served, or too many are waiting."""


class Unknown(Exception):
    """The requested item does not exist, or no longer exists."""


class Box(Protocol):
    """All actions and data that Hearth offers to its interfaces, as JSON.

    A method raises NotKept if its effect should survive a restart but could not be saved, or if
    saved data cannot be read. `caller` is recorded in the journal.
    """

    @property
    def events(self) -> EventLog:
        """The log of server-sent events."""

    def state(self) -> Mapping[str, Any]:
        """Return Hearth's current state."""

    def reconnect(self, caller: Caller) -> bool:
        """Connect to Home Assistant again now instead of after a pause. Returns False if that has
        to wait, because Home Assistant rejected the token."""

    async def mute(self, on: bool, caller: Caller) -> None:
        """Mute or unmute the microphone, and save the choice. Raises NotPossible if the caller may
        not unmute it now."""

    async def set_mode(self, mode: Mode, minutes: int | None, caller: Caller) -> None:
        """Set `policy.mode` for `minutes`, or permanently if `minutes` is None. Raises NotPossible
        if the caller may not loosen the mode."""

    def live(self) -> Mapping[str, Any]:
        """Return the settings that can be changed at run time, with their possible values."""

    async def set_live(self, wanted: LiveRequest, caller: Caller) -> None:
        """Change settings at run time. Raises NotPossible."""

    def listen(self, caller: Caller) -> bool:
        """Play a tone and start listening, as after the wake word. Returns False if Hearth is muted
        or busy, or has no microphone."""

    def stop(self, caller: Caller) -> None:
        """Stop speaking and ringing immediately."""

    async def announce(self, wanted: AnnounceRequest, caller: Caller) -> str:
        """Queue a text or sound to be played once nobody is talking, and return the announcement's
        id. Raises NotAnnounced or NotPossible."""

    async def question(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        """Ask the people in the room a question and wait for their answer. Cancelling this call
        cancels the question. Raises NotPossible."""

    async def converse(self, wanted: ConverseRequest, caller: Caller) -> str:
        """Queue an opening line, after which Hearth listens, and return the conversation's id.
        Raises NotPossible if the microphone is muted or missing, and NotAnnounced if too much is
        waiting to be spoken."""

    async def ask(self, wanted: AskRequest, caller: Caller) -> Mapping[str, Any]:
        """Run a typed turn and return it in the format of `hearth ask --json`. Raises Busy."""

    async def house(self, caller: Caller, language: str | None) -> Mapping[str, Any]:
        """Return the rooms and devices that Hearth may use, as the caller may use them."""

    async def tap(self, entity_id: str, wanted: TapRequest, caller: Caller) -> Mapping[str, Any]:
        """Run the turn of a tap on a device, with the rights of the caller's typed turns, and
        return it like `ask`. Raises Busy, NotPossible and Unknown."""

    async def speech(self, line: "SpeechLine") -> None:
        """Converse with the person at this browser until it is gone. A turn is cancelled then, and
        its calls are finished in the background."""

    async def timers(self) -> Sequence[Mapping[str, Any]]:
        """Return the running, paused and ringing timers."""

    async def set_timer(self, wanted: TimerRequest, caller: Caller) -> Mapping[str, Any]:
        """Set a timer. Raises NotPossible."""

    async def end_timer(self, timer_id: str, caller: Caller) -> None:
        """Cancel a timer. Raises Unknown."""

    async def snooze_timer(
        self, timer_id: str, wanted: SnoozeRequest, caller: Caller
    ) -> Mapping[str, Any]:
        """Silence a ringing timer until later, and return it. Raises Unknown and NotPossible."""

    def confirmations(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """Return the calls that are waiting for confirmation."""

    async def confirm(self, name: str, wanted: ConfirmRequest, caller: Caller) -> Mapping[str, Any]:
        """Answer a confirmation on a person's behalf, and return the outcome. Raises Unknown."""

    async def rate_device(self, entity_id: str, wanted: RateRequest, caller: Caller) -> None:
        """Rate any device that Hearth may use. Raises NotPossible if the rating would have no
        effect, and Unknown."""

    def openers(self) -> Sequence[Mapping[str, Any]]:
        """Return the openers with the owner's ratings."""

    async def rate(self, entity_id: str, wanted: RateRequest, caller: Caller) -> None:
        """Rate an opener. Raises Unknown."""

    async def sentences(self) -> Mapping[str, Any]:
        """Return the household's own sentences, and the names of its devices and rooms."""

    async def add_sentence(self, wanted: SentenceRequest, caller: Caller) -> Mapping[str, Any]:
        """Add a sentence of the household's own. Raises NotPossible."""

    async def remove_sentence(self, sentence_id: str, caller: Caller) -> None:
        """Delete one of the household's own sentences. Raises Unknown."""

    async def memories(self) -> Sequence[Mapping[str, Any]]:
        """Return the facts that people asked Hearth to remember."""

    async def correct(self, memory_id: str, wanted: CorrectRequest, caller: Caller) -> None:
        """Change the text of a fact. Raises Unknown and NotPossible."""

    async def forget_one(self, memory_id: str, caller: Caller) -> None:
        """Forget a fact. Raises Unknown."""

    async def forget(self, caller: Caller) -> int:
        """Forget all facts and return how many were forgotten."""

    async def backup(self, caller: Caller) -> bytes:
        """Return a backup file without secrets. Raises NotPossible."""

    def log(self) -> Sequence[Mapping[str, Any]]:
        """Return the newest lines of the log, newest first."""

    async def doctor(self) -> Sequence[Mapping[str, Any]]:
        """Run all checks and return their results in the format of `hearth doctor --json`."""

    async def test_gemini(self, caller: Caller) -> Mapping[str, Any]:
        """Test Gemini, which costs money, and return the report of `hearth doctor --cloud`. Raises
        Busy while another check is running."""

    async def tools(self) -> Mapping[str, Any]:
        """Return the tools in the format of `hearth tools --json`."""

    def level(self) -> Mapping[str, Any]:
        """Return the microphone level over the last second."""

    async def costs(self, days: int) -> Mapping[str, Any]:
        """Return the costs of the last `days`, including today, and the daily limit."""

    async def shares(self, days: int) -> Mapping[str, Any]:
        """Return the number of commands in the last `days`, by outcome."""

    async def faults(self, days: int) -> Sequence[Mapping[str, Any]]:
        """Return the faults of the last `days`, newest first."""

    async def turns(self, limit: int, before: str | None = None) -> Sequence[Mapping[str, Any]]:
        """Return at most `limit` turns, newest first, or only turns before the turn with the id
        `before`. Raises Unknown."""

    async def turn(self, turn_id: str) -> Mapping[str, Any]:
        """Return a turn in the format of `hearth trace --json`. Raises Unknown."""

    async def mark(self, turn_id: str, wanted: MarkRequest, caller: Caller) -> None:
        """Mark a turn as wrong or misheard, or remove the mark. Raises Unknown."""

    async def sound(self, turn_id: str) -> Path:
        """Return the WAV file with the recording of a turn. Raises Unknown if there is none."""
