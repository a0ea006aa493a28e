"""Parts of the box that programs reach: what is stored, rated, recorded or waits for a person."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.announcements.service import AnnouncementService
from assistant.conversation.confirmation_dialog import ConfirmationDialog
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.program_questions import ProgramQuestions, Talks
from assistant.domain.clock import Clock
from assistant.domain.events import EventBus
from assistant.domain.records import Mark, TurnRecord
from assistant.domain.tool_call import Settlement, Tier
from assistant.interfaces.live_settings import LiveSettings
from assistant.journal.reports import first_midnight
from assistant.journal.trace import turn_and_calls_json, turn_json
from assistant.memory.service import MemoryService, NoFact
from assistant.sound.mute import Mute
from assistant.sound.recordings import FOLDER, listed, path_of
from assistant.timers.book import ProgramTimers
from assistant.tools.policy.choices import ModeKeeper, Ratings, may_open, rated_rows
from integrations.home_assistant.house import House
from integrations.web.box import Caller, NotPossible, Unknown
from integrations.web.requests import ConfirmRequest

if TYPE_CHECKING:
    from assistant.journal.store import Store
    from assistant.sound.devices import SoundState

_GONE = "Nothing waits under that id (any more); see GET /v1/confirmations."
_MOST = 1000  # rows of one turn
_NO_TURN = "There is no such turn (any more); see GET /v1/turns."
_NO_SOUND = "No sound of that turn is kept (any more)."
_NO_FACT = "There is no such fact (any more); see GET /v1/memory."
# A folder that changed this lately may hold a recording that is still being written.
_SETTLES_S = 2.0


class Openers:
    """Things that may open the house, for people who rate them in the console or by a program."""

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


class Confirmations:
    """Confirmations that wait for a person, and an administrator's answer in their place.

    One may be pending in a box. Whoever answers first settles it, the person or this.
    """

    def __init__(self, pending: Callable[[], ConfirmationDialog | None], bus: EventBus) -> None:
        """`pending`: the question under way, if there is one."""
        self._pending = pending
        self._bus = bus

    @property
    def secure(self) -> bool:
        dialog = self._waiting()
        return dialog is not None and dialog.question.tier is Tier.SECURE

    def rows(self) -> Sequence[Mapping[str, Any]]:
        dialog = self._waiting()
        if dialog is None:
            return []
        question = dialog.question
        return [
            {
                "id": question.id,
                "question": question.text,
                "language": question.language,
                "tier": str(question.tier),
                "how": question.how,
                "turn_id": question.turn_id,
            }
        ]

    async def settle(self, name: str, wanted: ConfirmRequest, caller: Caller) -> dict[str, Any]:
        """Answer the one of that id. The call then runs, or never does, and the room is told.

        Where a PIN is asked for, a yes needs it here too; a wrong one counts as an attempt and is
        a no. Raises Unknown.
        """
        dialog = self._waiting()
        if dialog is None or dialog.question.id != name:
            raise Unknown(_GONE)
        settlement = await _settlement(dialog, wanted, caller)
        if dialog.settled:  # while the PIN was looked at
            raise Unknown(_GONE)
        self._bus.publish("command", caller=caller.name, what="confirm")
        dialog.settle(settlement)
        return {"id": name, "verdict": settlement.verdict}

    def _waiting(self) -> ConfirmationDialog | None:
        dialog = self._pending()
        return None if dialog is None or dialog.settled else dialog


async def _settlement(
    dialog: ConfirmationDialog, wanted: ConfirmRequest, caller: Caller
) -> Settlement:
    if not wanted.yes:
        return Settlement("no")
    if dialog.question.how == "pin":
        return await dialog.enter_pin(wanted.pin, caller.name)
    return Settlement("yes", caller.name)


class TurnSounds:
    """Looks into the folder of recordings, and again only where it has changed. Blocking."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = -1  # when the folder had last changed, ns
        self._paths: Mapping[str, Path] = {}

    def paths(self) -> Mapping[str, Path]:
        """The WAV file of each turn that has one, by the turn's id."""
        try:
            changed = (self._folder / FOLDER).stat().st_mtime_ns
        except OSError:
            return {}
        if changed != self._seen:
            self._paths = {
                one.turn_id: path_of(self._folder, one)
                for one in listed(self._folder)
                if one.kind == "turn" and one.turn_id
            }
            lately = time.time_ns() - changed < _SETTLES_S * 1e9
            self._seen = -1 if lately else changed
        return self._paths


class History:
    """Reads the journal and the recordings. What guests say is in neither."""

    def __init__(
        self,
        store: "Store",
        sounds: TurnSounds,
        private: Callable[[], bool],
        cap_usd: float,
        clock: Clock,
    ) -> None:
        """`private`: guests are there, and hear no recordings of the house; `cap_usd`: what a day
        may cost."""
        self._store = store
        self._sounds = sounds
        self._private = private
        self._cap_usd = cap_usd
        self._clock = clock

    async def turns(self, limit: int, before: str | None) -> Sequence[dict[str, Any]]:
        """The last turns, newest first, without their calls. Raises Unknown where there is no turn
        `before`."""
        if before is not None:
            await self._known(before)
        found = await self._store.turns(limit, before)
        sounds = await self._kept_sounds()
        return [{**turn_json(one), "has_sound": one.turn_id in sounds} for one in found]

    async def turn(self, turn_id: str) -> dict[str, Any]:
        """Return one turn with its calls. Raises Unknown."""
        record = await self._known(turn_id)
        calls = await self._store.calls(turn_id)
        audited = await self._store.audited(turn_id=turn_id, limit=_MOST)
        sounds = await self._kept_sounds()
        return {**turn_and_calls_json(record, calls, audited), "has_sound": turn_id in sounds}

    async def sound(self, turn_id: str) -> Path:
        """Return the WAV file of a turn. Raises Unknown."""
        path = (await self._kept_sounds()).get(turn_id)
        if path is None:
            raise Unknown(_NO_SOUND)
        return path

    async def mark(self, turn_id: str, mark: Mark) -> None:
        """Say of a turn that it was wrong or misheard; "" takes it back. Raises Unknown."""
        if not await self._store.reports.mark(turn_id, mark):
            raise Unknown(_NO_TURN)

    async def costs(self, days: int) -> dict[str, Any]:
        """By day, brain and model; today is the first of so many days."""
        rows = await self._store.reports.costs(self._since(days))
        today = self._clock.now().date()
        return {
            "days": [{**asdict(row), "day": row.day.isoformat()} for row in rows],
            "today_usd": sum(row.cost_usd for row in rows if row.day == today),
            "cap_usd": self._cap_usd,
        }

    async def shares(self, days: int) -> dict[str, Any]:
        """Count the commands that went right, were corrected, refused, misheard or failed."""
        return asdict(await self._store.reports.shares(self._since(days)))

    async def faults(self, days: int) -> Sequence[dict[str, Any]]:
        rows = await self._store.reports.faults(self._since(days))
        return [
            {
                **asdict(row),
                "began_at": row.began_at.isoformat(),
                "ended_at": None if row.ended_at is None else row.ended_at.isoformat(),
            }
            for row in rows
        ]

    async def _known(self, turn_id: str) -> TurnRecord:
        record = await self._store.turn(turn_id)
        if record is None:
            raise Unknown(_NO_TURN)
        return record

    async def _kept_sounds(self) -> Mapping[str, Path]:
        return {} if self._private() else await asyncio.to_thread(self._sounds.paths)

    def _since(self, days: int) -> datetime:
        """Return the midnight with which so many days begin, today among them."""
        return first_midnight(days, self._clock.now())


class Records:
    """Reads the store. Of guests nothing is told while they are there."""

    def __init__(self, store: "Store", private: Callable[[], bool], clock: Clock) -> None:
        """`private`: nothing that was remembered may be told now."""
        self._store = store
        self._memory = MemoryService(store.memory, clock, private)

    async def memories(self) -> Sequence[dict[str, Any]]:
        """List what people asked to remember, oldest first."""
        return await self._memory.rows()

    async def forget(self) -> int:
        """Forget all of it; return how many there were."""
        return await self._memory.forget_all()

    async def forget_one(self, memory_id: str) -> None:
        """Forget one fact. Raises Unknown."""
        if not await self._memory.forget(memory_id):
            raise Unknown(_NO_FACT)

    async def correct(self, memory_id: str, text: str) -> None:
        """Give a fact another text. Raises Unknown, and NotPossible where that is no fact."""
        try:
            found = await self._memory.correct(memory_id, text)
        except NoFact as error:
            raise NotPossible(str(error)) from None
        if not found:
            raise Unknown(_NO_FACT)


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of a process that stays, as far as programs reach them."""

    conversation: ConversationLoop
    mute: Mute
    modes: ModeKeeper
    announcing: AnnouncementService
    questions: ProgramQuestions
    talks: Talks
    timers: ProgramTimers
    live: LiveSettings
    confirmations: Confirmations
    records: Records
    openers: Openers
    history: History
    tools: Callable[[], Awaitable[Mapping[str, Any]]]
    doctor: Callable[[], Awaitable[Sequence[Mapping[str, Any]]]]
    troubles: Callable[[], Mapping[str, str]]  # what does not work now, and a sentence on it
    sound: "SoundState | None" = None  # None where no device is meant to be told of
    stuck: Callable[[], str] = str  # why only a restart helps, "" where all goes on
    mcp_turns: bool = False  # programs at /mcp may be told what people have said
