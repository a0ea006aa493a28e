"""A box and tokens for the tests of the HTTP interface."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from integrations.web.box import Caller, EventLog, NotAnnounced, NotKept, Scope, Unknown
from integrations.web.guard import Guard, Sessions, SignedIn
from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    ConfirmRequest,
    ConverseRequest,
    CorrectRequest,
    LinkRequest,
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
from integrations.web.speech import SpeechLine

TOKEN = "t0ken-of-the-test"
WITH_TOKEN = {"Authorization": f"Bearer {TOKEN}"}
PIN = "813794260538"  # long enough that no time, port or thread in a log contains it by chance


class FakeTokens:
    """Tokens of a test: the administrator's, and one for each scope, named after it."""

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
    """Return the headers of a program that has only that scope."""
    return {"Authorization": f"Bearer {TOKEN}-{scope}"}


CODE = "c0de-of-a-link"


class FakeSessions(Sessions):
    """Sessions of a test's tokens, with ids that can be guessed, and one link."""

    def __init__(self, tokens: FakeTokens) -> None:
        self.tokens = tokens
        self.codes = {CODE}
        self.open: dict[str, Caller] = {}
        self._begun = 0

    async def begin(self, token: str, instead_of: str = "") -> SignedIn | None:
        caller = self.tokens.caller(token)
        return None if caller is None else self._begin(caller, instead_of)

    async def redeem(self, code: str, instead_of: str = "") -> SignedIn | None:
        if code not in self.codes:
            return None
        self.codes.remove(code)
        return self._begin(self.tokens.known[TOKEN], instead_of)

    def caller(self, session: str) -> Caller | None:
        return self.open.get(session)

    def holds(self, caller: Caller) -> bool:
        return caller.session in self.open

    async def end(self, session: str) -> None:
        self.open.pop(session, None)

    async def make_link(self, wanted: LinkRequest) -> Mapping[str, Any]:
        return {"code": CODE, "expires": "2026-11-22T12:10:00+00:00"}

    def rows(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        expires = "2026-12-22T12:00:00+00:00"
        row = {"role": "family", "name": "Ana", "begun": None, "expires": expires, "own": False}
        return [{"id": name, **row} for name in self.open]

    async def end_one(self, name: str) -> None:
        if name != "s1":
            raise Unknown("There is no such session.")

    def _begin(self, caller: Caller, instead_of: str) -> SignedIn:
        self.open.pop(instead_of, None)
        self._begun += 1
        name = f"session-{self._begun}"
        self.open[name] = replace(caller, session=name)
        return SignedIn(name, self.open[name])


def patient_guard() -> Guard:
    """Make a guard without a limit for requests."""
    tokens = FakeTokens()
    sessions = FakeSessions(tokens)
    return Guard(tokens, calls_at_once=10**9, wrong_at_once=10**9, sessions=sessions)


class FakeBox:
    """A box that records its calls, and answers as the document says."""

    def __init__(self) -> None:
        self.events = EventLog()
        self.asked: list[Any] = []
        self.can_listen = True
        self.can_reconnect = True
        self.full = False
        self.recording: Path | None = Path(__file__)  # of its only turn
        self.fails: Exception | None = None  # raised by the next call
        self.lines: list[SpeechLine] = []  # browsers that speak now

    def state(self) -> Mapping[str, Any]:
        self._note()
        return {
            "state": "idle",
            "muted": False,
            "microphone": "ok",
            "mode": "normal",
            "asked": len(self.asked),
        }

    def reconnect(self, caller: Caller) -> bool:
        self._note("reconnect")
        return self.can_reconnect

    async def mute(self, on: bool, caller: Caller) -> None:
        self._note(("mute", on))
        if self.full:
            raise NotKept("Applied, but not saved: the disk is full.")

    async def set_mode(self, mode: Mode, minutes: int | None, caller: Caller) -> None:
        self._note(("mode", mode, minutes))

    def live(self) -> Mapping[str, Any]:
        self._note()
        choices = ("follow_up", "sensitivity", "wake_word", "profile")
        return {
            **{name: {"value": 1.0} for name in ("volume", "speed")},
            **{name: {"value": "a", "options": ["a", "b"]} for name in choices},
            "quiet_hours": {"value": "off"},
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

    async def speech(self, line: SpeechLine) -> None:
        """Send back what the browser sends, until it has left."""
        self.lines.append(line)
        line.tell("ready")
        try:
            while True:
                given = await line.incoming.get()
                if isinstance(given, bytes):
                    line.play(given, 16_000)
                else:
                    line.tell("got", command=given.type, answer=given.answer)
        finally:
            self.lines.remove(line)

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
            "not_done": [],
            "confirmation": None,
            "timeline": {"heard": 0.0},
            "usage": None,
            "cost_usd": 0,
            "error": None,
        }

    async def house(self, caller: Caller, language: str | None) -> Mapping[str, Any]:
        self._note(("house", language))
        rooms = [{"name": "Hall", "things": [_THING]}]
        return {
            "language": language or "en",
            "notice": "",
            "floors": [{"name": None, "rooms": rooms}],
            "hidden": 1,
        }

    async def tap(self, entity_id: str, wanted: TapRequest, caller: Caller) -> Mapping[str, Any]:
        if entity_id != _THING["id"]:
            raise Unknown("There is no such device.")
        return await self.ask(AskRequest(text=f"turn {wanted.action} the light"), caller)

    async def rate_device(self, entity_id: str, wanted: RateRequest, caller: Caller) -> None:
        self._note()
        if entity_id != _THING["id"]:
            raise Unknown("There is no such device.")
        self.asked.append(("rate", entity_id, wanted.tier, caller.name))

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

    async def snooze_timer(
        self, timer_id: str, wanted: SnoozeRequest, caller: Caller
    ) -> Mapping[str, Any]:
        self._note(wanted)
        if timer_id != "t1":
            raise Unknown("There is no such timer.")
        return {**_TIMER, "left_s": wanted.minutes * 60}

    def confirmations(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        self._note()
        return [
            {
                "id": "c1",
                "question": "Unlock the front door?",
                "language": "en",
                "tier": "secure",
                "how": "pin",
                "turn_id": "20261122-3",
                "may_answer": True,
            }
        ]

    async def confirm(self, name: str, wanted: ConfirmRequest, caller: Caller) -> Mapping[str, Any]:
        self._note()
        if name != "c1":
            raise Unknown("Nothing waits under that id.")
        self.asked.append(("confirm", wanted.yes, caller.name))
        return {"id": name, "verdict": "yes" if wanted.pin == PIN else "no"}

    def openers(self) -> Sequence[Mapping[str, Any]]:
        self._note()
        return [_OPENER]

    async def rate(self, entity_id: str, wanted: RateRequest, caller: Caller) -> None:
        self._note()
        if entity_id != "switch.gate":
            raise Unknown("There is no such thing.")
        self.asked.append(("rate", entity_id, wanted.tier, caller.name))

    async def backup(self, caller: Caller) -> bytes:
        self._note()
        return b"PK"

    def log(self) -> Sequence[Mapping[str, Any]]:
        self._note()
        return [
            {"at": "2026-11-22T14:05:00+01:00", "level": "INFO", "source": "hearth", "text": "x"}
        ]

    async def sentences(self) -> Mapping[str, Any]:
        self._note()
        return {"sentences": [_SENTENCE], "names": ["Ceiling light"]}

    async def add_sentence(self, wanted: SentenceRequest, caller: Caller) -> Mapping[str, Any]:
        self._note(wanted)
        return {"id": "o1", "said": wanted.said, "means": wanted.means, "kind": wanted.kind}

    async def remove_sentence(self, sentence_id: str, caller: Caller) -> None:
        self._note()
        if sentence_id != "o1":
            raise Unknown("There is no such sentence.")
        self.asked.append(("unsaid", sentence_id))

    async def memories(self) -> Sequence[Mapping[str, Any]]:
        self._note()
        return [_FACT]

    async def correct(self, memory_id: str, wanted: CorrectRequest, caller: Caller) -> None:
        self._note()
        if memory_id != "m1":
            raise Unknown("There is no such fact.")
        self.asked.append(("correct", memory_id, wanted.text, caller.name))

    async def forget_one(self, memory_id: str, caller: Caller) -> None:
        self._note()
        if memory_id != "m1":
            raise Unknown("There is no such fact.")
        self.asked.append(("forget", memory_id, caller.name))

    async def forget(self, caller: Caller) -> int:
        self._note("forget")
        return 1

    async def doctor(self) -> Sequence[Mapping[str, Any]]:
        self._note()
        return [{"check": "disk", "status": "ok", "detail": "", "mend": ""}]

    async def test_gemini(self, caller: Caller) -> Mapping[str, Any]:
        self._note("test_gemini")
        names = ("version", "day", "machine", "model", "once_model", "api_version")
        flags = dict.fromkeys(("google", "live", "cost_estimated"), True)
        numbers = {"seconds": 20.0, "cost_usd": 0.03, "figures": {"setup_ms": 800}}
        check = {"check": "key", "status": "ok", "detail": "", "mend": "", "ms": None}
        return {**dict.fromkeys(names, ""), **flags, **numbers, "checks": [check]}

    async def tools(self) -> Mapping[str, Any]:
        self._note()
        return {"servers": [{"name": "home_assistant", "ok": True, "reason": None}], "tools": []}

    def level(self) -> Mapping[str, Any]:
        self._note()
        quiet = {"rms_db": -51.2, "peak_db": -40.0, "noise_floor_db": -60.0}
        return {**quiet, "clipped": 0, "at_ms": 20.0}

    async def costs(self, days: int) -> Mapping[str, Any]:
        self._note(("costs", days))
        return {"days": [_COST], "today_usd": 0.01, "cap_usd": 1.0}

    async def shares(self, days: int) -> Mapping[str, Any]:
        self._note(("shares", days))
        names = ("turns", "right", "corrected", "refused", "misheard", "failed")
        return dict.fromkeys(names, 0)

    async def faults(self, days: int) -> Sequence[Mapping[str, Any]]:
        self._note(("faults", days))
        return [_FAULT]

    async def turns(self, limit: int, before: str | None = None) -> Sequence[Mapping[str, Any]]:
        self._note(("turns", limit, before))
        if before not in (None, _TURN["turn_id"]):
            raise Unknown("There is no such turn (any more).")
        return [_TURN]

    async def mark(self, turn_id: str, wanted: MarkRequest, caller: Caller) -> None:
        self._note()
        if turn_id != _TURN["turn_id"]:
            raise Unknown("There is no such turn (any more).")
        self.asked.append(("mark", turn_id, wanted.mark, caller.name))

    async def sound(self, turn_id: str) -> Path:
        self._note()
        if turn_id != _TURN["turn_id"] or self.recording is None:
            raise Unknown("That turn has no recording (any more).")
        return self.recording

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


_THING: Mapping[str, Any] = {
    "id": "light.hall",
    "name": "Hall light",
    "kind": "light",
    "device_class": None,
    "state": "off",
    "says": "off",
    "changed": "2026-11-22T10:00:00+00:00",
    "examples": ["turn on the hall light"],
    "tap": {"action": "on", "how": "free"},
    "treatment": {"how": "free", "why": "", "rule": "comfort"},
}
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
    "has_sound": True,
}
_OPENER: Mapping[str, Any] = {
    "entity_id": "switch.gate",
    "name": "Front gate",
    "tier": None,
    "unrated": "secure",
    "seen_opening": ["lock.front"],
}
_FACT: Mapping[str, Any] = {
    "id": "m1",
    "text": "The key is here.",
    "who": "",
    "about": "",
    "sensitive": False,
    "created_at": "2026-11-22T10:00:00+00:00",
}
_COST: Mapping[str, Any] = {
    "day": "2026-11-22",
    "brain": "gemini-live",
    "model": "gemini-3.8-live",
    "turns": 3,
    "cost_usd": 0.01,
    "input_tokens": 900,
    "output_tokens": 90,
}
_FAULT: Mapping[str, Any] = {
    "what": "microphone",
    "problem": "It is not there.",
    "began_at": "2026-11-22T10:00:00+00:00",
    "ended_at": None,
    "settled": False,
}
_SENTENCE = {"id": "o1", "said": "movie time", "means": "close the blinds", "kind": "sentence"}
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
