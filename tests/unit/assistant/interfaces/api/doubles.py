"""The parts of a box for tests: each does what the test sets and nothing else."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from assistant.conversation.hearing import Level
from assistant.conversation.record import FinishedTurn
from assistant.domain.brain import Brain, ConversationOwner
from assistant.domain.clock import VirtualClock
from assistant.domain.records import Mark, StoreError, TurnRecord
from assistant.domain.tool_call import Mode, Rights
from assistant.interfaces.api.parts import Openers, Parts, Sentences
from assistant.memory.own_sentences import OwnSentences
from assistant.tools.policy.ratings import Ratings
from integrations.home_assistant.house import House
from integrations.web.box import Caller, NotPossible, Unknown
from integrations.web.requests import (
    AnnounceRequest,
    ConfirmRequest,
    ConverseRequest,
    LiveRequest,
    QuestionAnswer,
    QuestionRequest,
    TimerRequest,
)
from tests.fakes.small_values import FakeValues
from tests.fakes.status import FakeConversation

PROGRAM = Caller("http:washing", frozenset({"speak"}))
OWNER = Caller("http:admin", frozenset({"admin"}))


class TalkingConversation(FakeConversation):
    """A conversation that can be woken, stopped and asked."""

    def __init__(self) -> None:
        super().__init__()
        self.hearing = SimpleNamespace(level=Level())
        self.can_wake = True
        self.woken: list[str] = []
        self.stopped = 0
        self.asked: list[tuple[str, Rights, str]] = []
        self.owners: list[ConversationOwner] = []

    def wake(self, word: str = "button", caller: str = "") -> bool:
        self.woken.append(caller)
        return self.can_wake

    def stop(self) -> None:
        self.stopped += 1

    async def ask_quietly(
        self,
        text: str,
        rights: Rights,
        caller: str,
        owner: ConversationOwner,
        brain: Brain | None = None,
    ) -> FinishedTurn:
        self.asked.append((text, rights, caller))
        self.owners.append(owner)
        record = TurnRecord("t1", VirtualClock().now(), "text", "en", answer="It is noon.")
        return FinishedTurn(replace(record, heard=text, caller=caller), ())


class FakeModes:
    """Modes that are stored on a disk that may be full."""

    def __init__(self) -> None:
        self.current = Mode.NORMAL
        self.until: datetime | None = None
        self.full = False

    def loosens(self, mode: Mode, until: datetime | None = None) -> bool:
        return mode.strictness < self.current.strictness

    async def set(self, mode: Mode, until: datetime | None = None) -> None:
        self.current, self.until = mode, until
        if self.full:
            raise StoreError("the disk is full")


class FakeDesk:
    """Records announcements."""

    def __init__(self) -> None:
        self.taken: list[tuple[AnnounceRequest, Caller]] = []

    async def announce(
        self, wanted: AnnounceRequest, caller: Caller, *, announcement_id: str = ""
    ) -> str:
        assert announcement_id == ""  # a request has none
        self.taken.append((wanted, caller))
        return f"a{len(self.taken)}"


class FakeLive:
    """Settings that know the volume, and a profile that may do more than the present one."""

    def __init__(self) -> None:
        self.volume = 1.0
        self.profile = "kids"
        self.languages = ("en", "es")

    def widens(self, profile: str) -> bool:
        return profile != "kids"

    def as_json(self) -> Mapping[str, Any]:
        return {"volume": {"value": self.volume}}

    async def set(self, wanted: LiveRequest) -> None:
        if wanted.profile is not None:
            self.profile = wanted.profile
            return
        if wanted.volume is None:
            raise NotPossible("There is the volume, and nothing else.")
        self.volume = wanted.volume


class FakeTimers:
    def __init__(self) -> None:
        self.row: dict[str, Any] | None = {"id": "t", "name": "tea"}
        self.wanted: list[tuple[TimerRequest, str]] = []

    async def rows(self) -> Sequence[Mapping[str, Any]]:
        return [self.row] if self.row is not None else []

    async def set(self, wanted: TimerRequest, caller: str) -> Mapping[str, Any]:
        self.wanted.append((wanted, caller))
        return {"id": "new"}

    async def end(self, timer_id: str) -> bool:
        found = self.row is not None and self.row["id"] == timer_id
        self.row = None if found else self.row
        return found

    async def snooze(self, timer_id: str, seconds: float) -> Mapping[str, Any] | None:
        known = self.row is not None and self.row["id"] == timer_id
        return {**(self.row or {}), "left_s": seconds} if known else None


class FakeSpeech:
    """Records who asks and who begins conversations."""

    def __init__(self) -> None:
        self.asked: list[tuple[QuestionRequest | ConverseRequest, Caller]] = []

    async def ask(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        self.asked.append((wanted, caller))
        return QuestionAnswer(result="answered", id="yes", sentence="yes please")

    async def begin(self, wanted: ConverseRequest, caller: Caller) -> str:
        self.asked.append((wanted, caller))
        return "talk-1"


class FakeConfirmations:
    """Confirmations, none of which is waiting."""

    secure = False

    def rows(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return []

    async def settle(self, name: str, wanted: ConfirmRequest, caller: Caller) -> Mapping[str, Any]:
        raise Unknown(name)

    def prompter(self, caller: Caller) -> None:
        return None


class FakeRecords:
    """Memories on a disk that may fail."""

    def __init__(self) -> None:
        self.broken = False
        self.corrected: list[tuple[str, str]] = []

    async def memories(self) -> Sequence[Mapping[str, Any]]:
        self._look()
        return []

    async def correct(self, memory_id: str, text: str) -> None:
        self._look()
        self.corrected.append((memory_id, text))

    async def forget_one(self, memory_id: str) -> None:
        self._look()
        if memory_id != "m1":
            raise Unknown(memory_id)

    async def forget(self) -> int:
        self._look()
        return 3

    def _look(self) -> None:
        if self.broken:
            raise StoreError("the disk is gone")


class FakeHistory:
    """A journal that may fail."""

    def __init__(self) -> None:
        self.broken = False
        self.marked: list[tuple[str, str]] = []

    async def turns(self, limit: int, before: str | None) -> Sequence[Mapping[str, Any]]:
        self._look()
        return [{"turn_id": f"{before or 't'}{number}"} for number in range(limit)]

    async def turn(self, turn_id: str) -> Mapping[str, Any]:
        self._look()
        return {"turn_id": turn_id}

    async def mark(self, turn_id: str, mark: Mark) -> None:
        self._look()
        self.marked.append((turn_id, mark))

    async def sound(self, turn_id: str) -> Path:
        return Path(f"{turn_id}.wav")

    async def costs(self, days: int) -> Mapping[str, Any]:
        self._look()
        return {"days": [days]}

    async def shares(self, days: int) -> Mapping[str, Any]:
        self._look()
        return {"turns": days}

    async def faults(self, days: int) -> Sequence[Mapping[str, Any]]:
        self._look()
        return [{"what": days}]

    def _look(self) -> None:
        if self.broken:
            raise StoreError("the disk is gone")


Mutes = Callable[..., Coroutine[Any, Any, None]]


async def nobody_mutes(on: bool, *, aloud: bool = False) -> None:
    raise StoreError("the disk is full")


async def offered() -> Mapping[str, Any]:
    return {"servers": [], "tools": []}


async def examined() -> Sequence[Mapping[str, Any]]:
    return [{"check": "clock", "status": "ok", "detail": "right", "mend": ""}]


def parts(mute: Mutes = nobody_mutes, **changes: Any) -> Parts:
    """Return all parts, with `changes` in place of the defaults."""
    speech = FakeSpeech()
    made: dict[str, Any] = {
        "conversation": TalkingConversation(),
        "mute": SimpleNamespace(set=mute),
        "modes": FakeModes(),
        "announcing": FakeDesk(),
        "questions": speech,
        "talks": speech,
        "timers": FakeTimers(),
        "live": FakeLive(),
        "confirmations": FakeConfirmations(),
        "records": FakeRecords(),
        "openers": Openers(lambda: House(), Ratings(FakeValues())),
        "house": None,
        "sentences": Sentences(OwnSentences(FakeValues()), lambda: House()),
        "history": FakeHistory(),
        "speech": None,  # tests/pipeline/test_browser_speech.py has a whole process
        "tools": offered,
        "doctor": examined,
        "test_gemini": offered,
        "troubles": dict,
    }
    return Parts(**{**made, **changes})
