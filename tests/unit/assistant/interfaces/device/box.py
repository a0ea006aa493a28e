"""A box that does what messages ask of it, and nothing else; and who says things."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assistant.domain.events import EventBus, Happening
from assistant.domain.records import AnnouncementRecord
from assistant.interfaces.api.box import Box
from integrations.web.box import Caller
from integrations.web.requests import (
    AnnounceRequest,
    LiveRequest,
    QuestionAnswer,
    QuestionRequest,
)

Json = dict[str, Any]


class Pressed(Box):
    """Notes what is pressed. `trouble`: raised by the next thing that is asked for."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.can_listen = True
        self.trouble: Exception | None = None
        self.asked: list[QuestionRequest] = []
        self.answers: asyncio.Queue[QuestionAnswer | Exception] = asyncio.Queue()

    async def mute(self, on: bool, caller: Caller) -> None:
        assert caller.may("speak")
        self._note("muted" if on else "unmuted")

    async def set_mode(self, mode: str, minutes: int | None, caller: Caller) -> None:
        assert caller.may("speak")
        self._note((mode, minutes))

    async def set_live(self, wanted: LiveRequest, caller: Caller) -> None:
        assert caller.may("speak")
        self._note(wanted.model_dump(exclude_none=True))

    def listen(self, caller: Caller) -> bool:
        assert caller.may("speak")
        self._note(f"listens for {caller.name}")
        return self.can_listen

    def stop(self, caller: Caller) -> None:
        assert caller.may("speak")
        self._note("stopped")

    async def question(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        assert caller.may("speak")
        self.asked.append(wanted)
        answer = await self.answers.get()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _note(self, what: Any) -> None:
        self.done.append(what)
        trouble, self.trouble = self.trouble, None
        if trouble is not None:
            raise trouble


class Says:
    """Takes what is to be said, and keeps what rings."""

    def __init__(self) -> None:
        self.wanted: list[tuple[AnnounceRequest, str]] = []
        self.rung: list[AnnouncementRecord] = []
        self.trouble: Exception | None = None  # raised by the next one
        self.hangs = False

    async def announce(
        self, wanted: AnnounceRequest, caller: Caller, *, announcement_id: str = ""
    ) -> str:
        assert caller.may("speak")
        if self.hangs:
            self.hangs = False
            await asyncio.Event().wait()
        trouble, self.trouble = self.trouble, None
        if trouble is not None:
            raise trouble
        self.wanted.append((wanted, announcement_id))
        return announcement_id

    async def keep(self, record: AnnouncementRecord) -> bool:
        self.rung.append(record)
        return True


class Fired:
    """Notes what Home Assistant would be told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Json]] = []
        self.words = False

    def fire(self, kind: str, data: Mapping[str, Any]) -> None:
        self.events.append((kind, dict(data)))

    def shares_words(self) -> bool:
        return self.words


@dataclass
class Heard:
    """What happened, for a look."""

    happenings: EventBus = field(default_factory=EventBus)
    all: list[Happening] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.happenings.follow(self.all.append)

    @property
    def faults(self) -> list[tuple[str, str]]:
        return [(one.data["what"], one.data["problem"]) for one in self.all if one.kind == "fault"]
