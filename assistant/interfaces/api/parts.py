"""What the box is made of, as far as programs have to do with it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from assistant.announcements.desk import Announcing
from assistant.conversation.record import FinishedTurn
from assistant.conversation.rules.state import Standing
from assistant.domain.brain import ConversationOwner
from assistant.domain.outcome import Tier
from assistant.domain.policy_context import Mode
from assistant.domain.records import Mark
from assistant.domain.rights import Rights
from assistant.tools.policy.choices import Ratings, may_open, rated_rows
from integrations.home_assistant.house import House
from integrations.web.box import Unknown
from integrations.web.requests import (
    ConfirmRequest,
    ConverseRequest,
    LiveRequest,
    QuestionAnswer,
    QuestionRequest,
    TimerRequest,
)
from integrations.web.sessions import Caller

if TYPE_CHECKING:
    from assistant.conversation.hearing import Level
    from assistant.sound.devices import SoundState


# What may open the house, for people who rate it in the console or by a program.


class Openers:
    """The list of them, and their ratings."""

    def __init__(self, house: Callable[[], House], ratings: Ratings) -> None:
        self._house = house
        self._ratings = ratings

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Each with what it counts as, by its rating or without; JSON objects."""
        house = self._house()
        return rated_rows(may_open(house), house, self._ratings.tiers)

    async def rate(self, entity_id: str, tier: Tier) -> None:
        """Rate one of them. Raises Unknown and StoreError."""
        if entity_id not in {one.entity_id for one in may_open(self._house())}:
            raise Unknown("Nothing of that id may open something and waits for a rating.")
        await self._ratings.rate({entity_id: tier})


class RunningConversation(Protocol):
    """What is needed of the turn's `ConversationLoop`."""

    @property
    def standing(self) -> Standing:
        """How it stands now."""
        ...

    def observe(self, observer: Callable[[Standing], None]) -> Callable[[], None]:
        """Call it with each change; what is returned ends that."""
        ...

    def wake(self, word: str = ..., caller: str = ...) -> bool:
        """Listen as after the wake word; False where that cannot be."""
        ...

    def stop(self) -> None:
        """Silence at once."""
        ...

    async def ask_quietly(
        self, text: str, rights: Rights, caller: str, owner: ConversationOwner
    ) -> FinishedTurn:
        """One typed turn whose answer is not spoken. Raises Busy."""
        ...


class Muting(Protocol):
    """Closes and opens the microphone (`assistant.sound.mute.Mute.set`)."""

    async def __call__(self, on: bool, *, aloud: bool = False) -> None:
        """Keep it and carry it out. Raises StoreError, and NotPossible where it is to open
        `aloud` and nobody would hear."""
        ...


class Modes(Protocol):
    """Who knows the mode (`assistant.tools.policy.choices.ModeKeeper`)."""

    @property
    def current(self) -> Mode:
        """What holds now."""
        ...

    async def set(self, mode: Mode, until: datetime | None = None) -> None:
        """Switch. `until`: aware; None: for good. Raises StoreError."""
        ...

    def loosens(self, mode: Mode, until: datetime | None = None) -> bool:
        """Whether that makes for more trust at any time."""
        ...


class AsksPeople(Protocol):
    """Who asks people (`assistant.conversation.program_questions.ProgramQuestions`)."""

    async def ask(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        """Ask, and wait for the answer."""
        ...


class Talks(Protocol):
    """Who begins conversations (`assistant.conversation.program_questions.Talks`)."""

    async def begin(self, wanted: ConverseRequest, caller: Caller) -> str:
        """Begin one; its id."""
        ...


class BoxTimers(Protocol):
    """Timers and the like (`assistant.timers.desk.TimerDesk`)."""

    async def rows(self) -> Sequence[Mapping[str, Any]]:
        """All that run, stand still or ring, as JSON. Raises NotKept."""
        ...

    async def set(self, wanted: TimerRequest, caller: str) -> Mapping[str, Any]:
        """Set one. Raises NotPossible and NotKept."""
        ...

    async def end(self, timer_id: str) -> bool:
        """End one; False: there is none such. Raises NotKept."""
        ...


class LiveChanges(Protocol):
    """What may be changed while it runs (`assistant.interfaces.live_settings.LiveSettings`)."""

    def as_json(self) -> Mapping[str, Any]:
        """Each setting with its value and, where these are few, its options."""
        ...

    def widens(self, profile: str) -> bool:
        """Whether turns may do more with that profile than with the present one."""
        ...

    async def set(self, wanted: LiveRequest) -> None:
        """Change them. Raises NotPossible and StoreError."""
        ...


class Confirmations(Protocol):
    """Calls that wait for a person's yes (`assistant.interfaces.api.confirmations`)."""

    @property
    def secure(self) -> bool:
        """Whether one of them is secure: nothing may be loud meanwhile."""
        ...

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Those that wait now, as JSON."""
        ...

    async def settle(self, name: str, wanted: ConfirmRequest, caller: Caller) -> Mapping[str, Any]:
        """Answer one. Raises Unknown."""
        ...


class History(Protocol):
    """What has been (`assistant.interfaces.api.history`). Each may raise StoreError."""

    async def turns(self, limit: int, before: str | None) -> Sequence[Mapping[str, Any]]:
        """The last turns, newest first. Raises Unknown."""
        ...

    async def turn(self, turn_id: str) -> Mapping[str, Any]:
        """One of them. Raises Unknown."""
        ...

    async def mark(self, turn_id: str, mark: Mark) -> None:
        """Say of it that it was wrong or misheard. Raises Unknown."""
        ...

    async def sound(self, turn_id: str) -> Path:
        """What was said, as a WAV file. Raises Unknown."""
        ...

    async def costs(self, days: int) -> Mapping[str, Any]:
        """What so many days have cost."""
        ...

    async def shares(self, days: int) -> Mapping[str, Any]:
        """How the commands of so many days have gone."""
        ...

    async def faults(self, days: int) -> Sequence[Mapping[str, Any]]:
        """What did not work in so many days."""
        ...


class Records(Protocol):
    """What is to be remembered (`assistant.interfaces.api.records`)."""

    async def memories(self) -> Sequence[Mapping[str, Any]]:
        """What people asked to remember."""
        ...

    async def correct(self, memory_id: str, text: str) -> None:
        """Give one of them another text. Raises Unknown and NotPossible."""
        ...

    async def forget_one(self, memory_id: str) -> None:
        """Forget one of them. Raises Unknown."""
        ...

    async def forget(self) -> int:
        """Forget all of it."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """All of them."""

    conversation: RunningConversation
    mute: Muting
    modes: Modes
    announcing: Announcing
    questions: AsksPeople
    talks: Talks
    timers: BoxTimers
    live: LiveChanges
    confirmations: Confirmations
    records: Records
    openers: Openers
    history: History
    tools: Callable[[], Awaitable[Mapping[str, Any]]]
    doctor: Callable[[], Awaitable[Sequence[Mapping[str, Any]]]]
    level: "Level"
    troubles: Callable[[], Mapping[str, str]]  # what does not work now, and a sentence on it
    sound: "SoundState | None" = None  # None where no device is meant to be told of
    stuck: Callable[[], str] = str  # why only a restart helps, "" where all goes on
    mcp_turns: bool = False  # programs at /mcp may be told what people have said
