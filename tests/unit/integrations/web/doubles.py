"""A box and tokens for the tests of the HTTP interface."""

from collections.abc import Mapping, Sequence
from typing import Any

from integrations.web.box import NotAnnounced, NotKept, Unknown
from integrations.web.callers import Caller, Scope
from integrations.web.events import EventLog
from integrations.web.guard import Guard
from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    ConfirmRequest,
    ConverseRequest,
    LiveRequest,
    Mode,
    QuestionAnswer,
    QuestionRequest,
    TimerRequest,
)

TOKEN = "t0ken-of-the-test"
WITH_TOKEN = {"Authorization": f"Bearer {TOKEN}"}
PIN = "8137"


class FakeTokens:
    """The tokens of a test: the administrator's, and one for each scope, called by its name."""

    def __init__(self) -> None:
        self.known = {TOKEN: Caller("http:admin", frozenset({"admin"}))}
        scopes: tuple[Scope, ...] = ("speak", "ask", "read")
        for scope in scopes:
            self.known[f"{TOKEN}-{scope}"] = Caller(f"http:{scope}", frozenset({scope}))

    def caller(self, given: str) -> Caller | None:
        return self.known.get(given)

    def holds(self, caller: Caller) -> bool:
        return caller in self.known.values()


def with_scope(scope: str) -> dict[str, str]:
    """The headers of a program that may do only that."""
    return {"Authorization": f"Bearer {TOKEN}-{scope}"}


def patient_guard() -> Guard:
    """Lets its callers ask as often as they like."""
    return Guard(FakeTokens(), calls_at_once=10**9, wrong_at_once=10**9)


class FakeBox:
    """A box that notes what was asked of it, and answers as the document says."""

    def __init__(self) -> None:
        self.events = EventLog()
        self.asked: list[Any] = []
        self.can_listen = True
        self.full = False
        self.fails: Exception | None = None  # raised by whatever is asked next

    def state(self) -> Mapping[str, Any]:
        self._note()
        return {
            "state": "idle",
            "muted": False,
            "microphone": "ok",
            "mode": "normal",
            "asked": len(self.asked),
        }

    async def mute(self, on: bool, caller: Caller) -> None:
        self._note(("mute", on))
        if self.full:
            raise NotKept("It holds now, but not over a restart.")

    async def set_mode(self, mode: Mode, minutes: int | None, caller: Caller) -> None:
        self._note(("mode", mode, minutes))

    def live(self) -> Mapping[str, Any]:
        self._note()
        choices = ("follow_up", "sensitivity", "wake_word", "profile")
        return {
            **{name: {"value": 1.0} for name in ("volume", "speed")},
            **{name: {"value": "a", "options": ["a", "b"]} for name in choices},
        }

    async def set_live(self, wanted: LiveRequest, caller: Caller) -> None:
        self._note(wanted)

    def listen(self, caller: Caller) -> bool:
        self._note(("listen", caller.name))
        return self.can_listen

    def stop(self, caller: Caller) -> None:
        self._note("stop")

    async def announce(self, wanted: AnnounceRequest, caller: Caller) -> str:
        self._note(wanted)
        if self.full and wanted.persist:
            raise NotKept("It cannot be kept: the disk is full.")
        if self.full:
            raise NotAnnounced("Too much waits already.")
        return "20261122-1"

    async def question(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        self._note(wanted)
        return QuestionAnswer(result="answered", id="yes", sentence="yes", slots={})

    async def converse(self, wanted: ConverseRequest, caller: Caller) -> str:
        self._note(wanted)
        return "20261122-2"

    async def ask(self, wanted: AskRequest, caller: Caller) -> Mapping[str, Any]:
        self._note((wanted, caller.name))
        return {
            "turn_id": "20261122-3",
            "brain": "offline",
            "wake": None,
            "heard": wanted.text,
            "answer": "Yes.",
            "spoken": {"clauses": [], "audio_ms": 0.0},
            "tool_calls": [],
            "confirmation": None,
            "timeline": {"heard": 0.0},
            "usage": None,
            "cost_usd": 0,
            "error": None,
        }

    async def timers(self) -> Sequence[Mapping[str, Any]]:
        self._note()
        return [_TIMER]

    async def set_timer(self, wanted: TimerRequest, caller: Caller) -> Mapping[str, Any]:
        self._note(wanted)
        return {**_TIMER, "kind": wanted.kind, "name": wanted.name}

    async def end_timer(self, timer_id: str, caller: Caller) -> None:
        self._note()
        if timer_id != "t1":
            raise Unknown("There is no such timer.")
        self.asked.append(("end", timer_id))

    def confirmations(self) -> Sequence[Mapping[str, Any]]:
        self._note()
        return [
            {
                "id": "c1",
                "question": "Unlock Front Door?",
                "language": "en",
                "tier": "secure",
                "how": "pin",
                "turn_id": "20261122-3",
            }
        ]

    async def confirm(self, name: str, wanted: ConfirmRequest, caller: Caller) -> Mapping[str, Any]:
        self._note()
        if name != "c1":
            raise Unknown("Nothing waits under that id.")
        self.asked.append(("confirm", wanted.yes, caller.name))
        return {"id": name, "verdict": "yes" if wanted.pin == PIN else "no"}

    async def memories(self) -> Sequence[Mapping[str, Any]]:
        self._note()
        return [{"id": "m1", "text": "The key is here.", "created_at": "2026-11-22T10:00:00+00:00"}]

    async def forget(self, caller: Caller) -> int:
        self._note("forget")
        return 1

    async def doctor(self) -> Sequence[Mapping[str, Any]]:
        self._note()
        return [{"check": "disk", "status": "ok", "detail": "", "mend": ""}]

    async def turns(self, limit: int) -> Sequence[Mapping[str, Any]]:
        self._note(("turns", limit))
        return [_TURN]

    async def turn(self, turn_id: str) -> Mapping[str, Any]:
        self._note()
        if turn_id != _TURN["turn_id"]:
            raise Unknown("There is no such turn (any more).")
        return {**_TURN, "tool_calls": []}

    def _note(self, what: Any = None) -> None:
        if self.fails is not None:
            fails, self.fails = self.fails, None
            raise fails
        if what is not None:
            self.asked.append(what)


_TURN: Mapping[str, Any] = {
    "turn_id": "20261122-3",
    "started_at": "2026-11-22T10:00:00+00:00",
    "source": "text",
    "language": "en",
    "brain": "offline",
    "heard": "yes?",
    "answer": "Yes.",
    "cost_usd": 0.0,
    "error": None,
    "caller": "http:admin",
}
_TIMER: Mapping[str, Any] = {
    "id": "t1",
    "kind": "timer",
    "name": "pasta",
    "text": "",
    "due": "2026-11-22T10:10:00+01:00",
    "set_for_s": 600,
    "left_s": 540,
    "state": "runs",
    "repeat": None,
    "caller": "",
}
