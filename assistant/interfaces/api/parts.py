"""Ratings, confirmations, turn history, recordings and memory for the HTTP interface."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.announcements.service import AnnouncementService
from assistant.config.masked_log import LogLine
from assistant.conversation.confirmation_dialog import ConfirmationDialog
from assistant.conversation.loop import ConversationLoop
from assistant.conversation.program_questions import ProgramQuestions, Talks
from assistant.domain.clock import Clock
from assistant.domain.events import EventBus
from assistant.domain.records import Mark, TurnRecord
from assistant.domain.tool_call import Settlement, Tier
from assistant.interfaces.api.house import HousePage
from assistant.interfaces.live_settings import LiveSettings
from assistant.journal.reports import first_midnight
from assistant.journal.trace import faults_during, turn_and_calls_json, turn_json
from assistant.memory.own_sentences import NoSentence, OwnSentence, OwnSentences
from assistant.memory.service import MemoryService, NoFact
from assistant.sound.mute import Mute
from assistant.sound.recordings import FOLDER, listed, path_of
from assistant.timers.book import ProgramTimers
from assistant.tools.policy.choices import ModeKeeper
from assistant.tools.policy.ratings import Rating, Ratings, may_open, rated_rows
from integrations.home_assistant.house import House
from integrations.web.box import Caller, NotPossible, Unknown
from integrations.web.requests import ConfirmRequest, SentenceRequest

if TYPE_CHECKING:
    from assistant.interfaces.api.speech import BrowserSpeech
    from assistant.journal.store import Store
    from assistant.sound.devices import SoundState

_GONE = "No confirmation has that id (any more); see GET /v1/confirmations."
ANSWER_S = 60.0  # seconds; as long as at a keyboard
_NOT_YOURS = "Only an administrator, or the person who gave the command, can answer this."
_MOST = 1000  # audit rows read for one turn
_NO_TURN = "There is no such turn (any more); see GET /v1/turns."
_NO_SOUND = "That turn has no recording (any more)."
_NO_FACT = "There is no such fact (any more); see GET /v1/memory."
# A recording may be incomplete if the folder changed within this time.
_SETTLES_S = 2.0


class Openers:
    """Entities that could open the house, and the owner's ratings of them."""

    def __init__(self, house: Callable[[], House], ratings: Ratings) -> None:
        self._house = house
        self._ratings = ratings

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return each entity as a JSON object. `tier` is None if the owner hasn't rated it."""
        house = self._house()
        return rated_rows(may_open(house), house, self._ratings.given)

    async def rate(self, entity_id: str, rating: Rating) -> None:
        """Rate an entity. Raises Unknown if it is not in `rows`, and StoreError if the rating can't
        be saved."""
        if entity_id not in {one.entity_id for one in may_open(self._house())}:
            raise Unknown("No entity that could open something has that id; see GET /v1/openers.")
        await self._ratings.rate({entity_id: rating})


class Confirmations:
    """The pending confirmations: at most one of each conversation. An administrator can answer them
    instead of a person in the room. A person who gave the command in a browser can answer there."""

    def __init__(
        self, asked: Callable[[], Iterable[ConfirmationDialog | None]], bus: EventBus
    ) -> None:
        """`asked` returns the newest confirmation of each conversation, the box's first."""
        self._asked = asked
        self._bus = bus

    @property
    def secure(self) -> bool:
        return any(dialog.question.tier is Tier.SECURE for dialog in self._waiting())

    def rows(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return [
            {
                "id": dialog.question.id,
                "question": dialog.question.text,
                "language": dialog.question.language,
                "tier": str(dialog.question.tier),
                "how": dialog.question.how,
                "turn_id": dialog.question.turn_id,
                "may_answer": _may_answer(dialog, caller),
            }
            for dialog in self._waiting()
        ]

    async def settle(self, name: str, wanted: ConfirmRequest, caller: Caller) -> dict[str, Any]:
        """Answer the pending confirmation, whose id is `name`. If the question requires a PIN, a
        yes must include it, and a wrong PIN counts as a no. Raises Unknown if no confirmation with
        this id is pending, and NotPossible if it is somebody else's."""
        dialog = next((one for one in self._waiting() if one.question.id == name), None)
        if dialog is None:
            raise Unknown(_GONE)
        if not _may_answer(dialog, caller):
            raise NotPossible(_NOT_YOURS)
        settlement = await _settlement(dialog, wanted, caller)
        if dialog.settled:  # it was settled while the PIN was checked
            raise Unknown(_GONE)
        self._bus.publish("command", caller=caller.name, what="confirm")
        dialog.settle(settlement)
        return {"id": name, "verdict": settlement.verdict}

    def prompter(self, caller: Caller) -> "OnPage":
        """Return the prompter for what this person types in the console."""
        return OnPage(caller.session, lambda: next(iter(self._asked()), None))

    def _waiting(self) -> Sequence[ConfirmationDialog]:
        return [one for one in self._asked() if one is not None and not one.settled]


@dataclass(frozen=True, slots=True)
class OnPage:
    """Waits while the console asks for confirmation."""

    session: str  # of the browser in which the person gave the command
    asked: Callable[[], ConfirmationDialog | None]  # the newest one of that conversation

    async def ask(self, question: str, *, hidden: bool) -> None:
        """Wait at most ANSWER_S until the pending confirmation is settled."""
        if (dialog := self.asked()) is not None and not dialog.settled:
            await asyncio.wait({dialog.settlement}, timeout=ANSWER_S)


def _may_answer(dialog: ConfirmationDialog, caller: Caller) -> bool:
    page = dialog.prompter
    own = isinstance(page, OnPage) and page.session == caller.session
    return caller.may("admin") or (own and caller.is_person)


async def _settlement(
    dialog: ConfirmationDialog, wanted: ConfirmRequest, caller: Caller
) -> Settlement:
    if not wanted.yes:
        return Settlement("no")
    if dialog.question.how == "pin":
        return await dialog.enter_pin(wanted.pin, caller.name)
    return Settlement("yes", caller.name)


class TurnSounds:
    """Index of the turn recordings, which rereads the folder after a change. Blocking."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = -1  # the folder's modification time in ns
        self._paths: Mapping[str, Path] = {}

    def paths(self) -> Mapping[str, Path]:
        """Return the path of each turn's WAV file, by turn id."""
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
    """Turns, costs, faults and turn recordings."""

    def __init__(
        self,
        store: "Store",
        sounds: TurnSounds,
        private: Callable[[], bool],
        cap_usd: float,
        clock: Clock,
    ) -> None:
        """`private` returns True in guest mode, which hides all recordings. `cap_usd` is the daily
        cost limit."""
        self._store = store
        self._sounds = sounds
        self._private = private
        self._cap_usd = cap_usd
        self._clock = clock

    async def turns(self, limit: int, before: str | None) -> Sequence[dict[str, Any]]:
        """Return at most `limit` turns, newest first, without their tool calls. If `before` is a
        turn's id, only earlier turns are returned. Raises Unknown if there is no such turn."""
        if before is not None:
            await self._known(before)
        found = await self._store.turns(limit, before)
        sounds = await self._kept_sounds()
        return [{**turn_json(one), "has_sound": one.turn_id in sounds} for one in found]

    async def turn(self, turn_id: str) -> dict[str, Any]:
        """Return a turn with its tool calls. Raises Unknown if it doesn't exist."""
        record = await self._known(turn_id)
        calls = await self._store.calls(turn_id)
        audited = await self._store.audited(turn_id=turn_id, limit=_MOST)
        faults = faults_during(record, await self._store.reports.faults(record.started_at))
        sounds = await self._kept_sounds()
        told = turn_and_calls_json(record, calls, audited, faults)
        return {**told, "has_sound": turn_id in sounds}

    async def sound(self, turn_id: str) -> Path:
        """Return the path of a turn's WAV file. Raises Unknown if there is no recording."""
        path = (await self._kept_sounds()).get(turn_id)
        if path is None:
            raise Unknown(_NO_SOUND)
        return path

    async def mark(self, turn_id: str, mark: Mark) -> None:
        """Mark a turn as wrong or misheard, or remove the mark with "". Raises Unknown if the turn
        doesn't exist."""
        if not await self._store.reports.mark(turn_id, mark):
            raise Unknown(_NO_TURN)

    async def costs(self, days: int) -> dict[str, Any]:
        """Return the costs of the last `days` days (including today) by day, brain and model."""
        rows = await self._store.reports.costs(self._since(days))
        today = self._clock.now().date()
        return {
            "days": [{**asdict(row), "day": row.day.isoformat()} for row in rows],
            "today_usd": sum(row.cost_usd for row in rows if row.day == today),
            "cap_usd": self._cap_usd,
        }

    async def shares(self, days: int) -> dict[str, Any]:
        """Count the commands of the last `days` days by result."""
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
        return first_midnight(days, self._clock.now())


class Records:
    """Remembered facts. In guest mode they can't be read."""

    def __init__(self, store: "Store", private: Callable[[], bool], clock: Clock) -> None:
        self._store = store
        self._memory = MemoryService(store.memory, clock, private)

    async def memories(self) -> Sequence[dict[str, Any]]:
        return await self._memory.rows()

    async def forget(self) -> int:
        return await self._memory.forget_all()

    async def forget_one(self, memory_id: str) -> None:
        """Erase a fact. Raises Unknown if it doesn't exist."""
        if not await self._memory.forget(memory_id):
            raise Unknown(_NO_FACT)

    async def correct(self, memory_id: str, text: str) -> None:
        """Replace a fact's text. Raises Unknown if the fact doesn't exist, and NotPossible if the
        new text can't be remembered."""
        try:
            found = await self._memory.correct(memory_id, text)
        except NoFact as error:
            raise NotPossible(str(error)) from None
        if not found:
            raise Unknown(_NO_FACT)


class Sentences:
    """The household's own sentences."""

    def __init__(self, own: OwnSentences, house: Callable[[], House]) -> None:
        self._own = own
        self._house = house

    async def rows(self) -> Mapping[str, Any]:
        """Return all of them, and the names that one of them can stand for. Raises StoreError."""
        await self._own.load()
        house = self._house()
        names = {one.name for one in house.exposed()}
        names |= {one.name for one in house.areas.values()}
        names |= {one.name for one in house.floors.values()}
        return {"sentences": [_sentence(one) for one in self._own.all], "names": sorted(names)}

    async def add(self, wanted: SentenceRequest) -> Mapping[str, Any]:
        """Add a sentence and return it. Raises NotPossible and StoreError."""
        try:
            return _sentence(await self._own.add(wanted.said, wanted.means, wanted.kind))
        except NoSentence as error:
            raise NotPossible(str(error)) from None

    async def remove(self, sentence_id: str) -> None:
        """Delete a sentence. Raises Unknown and StoreError."""
        if not await self._own.remove(sentence_id):
            raise Unknown("There is no such sentence (any more); see GET /v1/sentences.")


def _sentence(one: OwnSentence) -> dict[str, Any]:
    return {"id": one.id, **asdict(one)}


@dataclass(frozen=True, slots=True)
class Parts:
    """The daemon's components that `Box` uses."""

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
    house: HousePage
    sentences: Sentences
    history: History
    speech: "BrowserSpeech"
    tools: Callable[[], Awaitable[Mapping[str, Any]]]
    doctor: Callable[[], Awaitable[Sequence[Mapping[str, Any]]]]
    test_gemini: Callable[[], Awaitable[Mapping[str, Any]]]  # costs money
    troubles: Callable[[], Mapping[str, str]]  # sentences on current problems, by part
    sound: "SoundState | None" = None  # None to leave sound devices out of the state
    stuck: Callable[[], str] = str  # reason to restart Hearth, or ""
    backup: Callable[[], Awaitable[bytes]] | None = None  # a backup file without secrets
    log: Callable[[], Sequence[LogLine]] = tuple  # the newest lines, newest first
    mcp_turns: bool = False  # programs at /mcp can read people's turns
    home: Callable[[], str] = lambda: "connected"  # a value of StateReply.home
    reconnect: Callable[[], bool] = lambda: False  # False if it has to wait
