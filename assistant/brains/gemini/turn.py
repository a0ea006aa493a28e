"""One turn with Gemini Live: the sentence goes up while events come down."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

from assistant.brains.briefing import STAY_SILENT, Exchange
from assistant.brains.gemini.habits import LiveHabits
from assistant.brains.gemini.keeper import Keeper
from assistant.brains.gemini.keepers import Keepers
from assistant.brains.gemini.link import Link
from assistant.brains.gemini.patience import within
from assistant.brains.gemini.ports import Briefer
from assistant.brains.gemini.reading import Item, Reading
from assistant.brains.gemini.responses import not_run_response, silent_response
from assistant.brains.gemini.upload import Upload
from assistant.domain.brain import BrainEvent, InTalk, Searched, Spent, TurnRequest, Usage
from assistant.domain.call import ToolCall
from assistant.domain.clock import Clock
from assistant.domain.outcome import ToolOutcome
from integrations.gemini.events import FunctionCall, FunctionCalls, OutputAudio, TokensUsed
from integrations.gemini.models import ModelRow, cost_usd
from integrations.owner import OwnedTasks

_log = logging.getLogger(__name__)
_MAX_WAITING = 4_000  # items that nobody has taken yet; beyond, sound is dropped (minutes of it)


@dataclass(frozen=True, slots=True)
class Means:
    """What every turn of the brain works with."""

    keepers: Keepers
    keeper: Keeper  # of the conversation that the turn belongs to
    briefer: Briefer
    row: ModelRow
    native_voice: bool
    tasks: OwnedTasks
    clock: Clock
    habits: LiveHabits


class GeminiLiveTurn:
    """A BrainTurn. It has the session from its first event to its last."""

    def __init__(
        self, request: TurnRequest, means: Means, as_text: bool, on_empty: Callable[[str], None]
    ) -> None:
        """`on_empty` is given the turn's id when it ended without an answer."""
        self._request = request
        self._means = means
        self._on_empty = on_empty
        self._reading = Reading(means.native_voice, means.habits)
        self._inbox: deque[Item] = deque()  # bounded where it is filled
        self._arrived = asyncio.Event()  # the inbox is not empty
        # One object for the whole turn: the keeper knows the turn by it.
        self._listener = self._post
        self._upload = Upload(
            request, as_text, means.keeper, means.briefer, means.row, self._listener
        )
        self._left = False
        self._talk: InTalk | None = None  # as it was told

    async def events(self) -> AsyncGenerator[BrainEvent]:
        """Events in order; closing it cancels the turn."""
        uploading = self._means.tasks.start(self._upload.run(), "gemini-live upload")
        try:
            while not self._reading.over:
                happened = await self._next()
                if self._reading.over:
                    # Before the last words are taken, which may be long in speaking.
                    await self._leave(uploading)
                for event in self._in_talk(happened):
                    yield event
        finally:
            await self._leave(uploading)

    def _in_talk(self, happened: list[BrainEvent]) -> list[BrainEvent]:
        """The same, with the talk told in front of the first call, and of others once it is
        another one. By then the turn has its session."""
        keeper = self._means.keeper
        keeper.searched |= any(isinstance(event, Searched) for event in happened)
        talk = InTalk(keeper.talk, keeper.searched)
        if talk == self._talk or not any(isinstance(event, ToolCall) for event in happened):
            return happened
        self._talk = talk
        return [talk, *happened]

    async def answer(self, outcome: ToolOutcome) -> None:
        """Give a result to the session that asked for it, if it is still there."""
        if self._upload.link is not None:
            await self._upload.link.answer(outcome)

    async def _next(self) -> list[BrainEvent]:
        clock, reading = self._means.clock, self._reading
        try:
            item = await self._item(reading.patience_s(clock.monotonic()))
        except TimeoutError:
            happened = reading.overdue(clock.monotonic())
        else:
            happened = reading.take(item, clock.monotonic())
        if reading.over:
            # The costs come before the end, because nothing comes after it.
            happened[-1:-1] = self._spent()
        return happened

    async def _item(self, patience_s: float | None) -> Item:
        if not self._inbox:
            self._arrived.clear()
            try:
                await within(self._means.clock, patience_s, self._arrived.wait())
            except TimeoutError:
                if not self._inbox:  # else it came in the very moment that the time was up
                    raise
        return self._inbox.popleft()

    def _post(self, item: Item) -> None:
        if isinstance(item, OutputAudio):
            if len(self._inbox) >= _MAX_WAITING:
                _log.warning("sound of Gemini's answer is dropped: nobody takes it")
                return
            if not self._means.native_voice:
                item = OutputAudio(b"", item.rate)  # that there is sound is all that counts
        self._inbox.append(item)
        self._arrived.set()

    def _spent(self) -> list[BrainEvent]:
        used = (*self._means.keeper.meter.take(), *self._means.keepers.take_owed())
        if not used:
            return []
        usage = sum((_usage(one) for one in used), Usage(0, 0))
        row = self._means.row
        return [Spent(usage, sum(cost_usd(row, one) for one in used), row.name)]

    async def _leave(self, uploading: asyncio.Task[None]) -> None:
        if self._left:
            return
        self._left = True
        uploading.cancel()
        try:
            await asyncio.wait([uploading])
        finally:
            self._part()  # also where we are cancelled meanwhile: nobody leaves the session for us

    def _part(self) -> None:
        """Give the session back, and keep what the next one has to know."""
        reading, keeper, link = self._reading, self._means.keeper, self._upload.link
        calls = self._not_given()
        if calls and link is not None and not (link.closed or reading.lost):
            self._means.tasks.start(self._decline(link, calls), "gemini-live refusal")
        keeper.leave(self._listener, usable=not reading.lost)
        if reading.empty:
            self._on_empty(self._request.turn_id)
        heard = (self._request.text or reading.heard or self._request.heard or "").strip()
        answer = reading.answer.strip()
        if reading.meant and answer:
            keeper.remember(Exchange(heard, answer, turn_id=self._request.turn_id))

    def _not_given(self) -> list[FunctionCall]:
        """Calls that came and that nobody runs: unanswered they would hold up the next turn."""
        batches = [self._reading.dismissed]
        batches += [item.calls for item in self._inbox if isinstance(item, FunctionCalls)]
        return [call for batch in batches for call in batch]

    async def _decline(self, link: Link, calls: Sequence[FunctionCall]) -> None:
        silent = [call for call in calls if call.name == STAY_SILENT]
        await link.refuse([call for call in calls if call not in silent], not_run_response())
        await link.refuse(silent, silent_response())


def _usage(used: TokensUsed) -> Usage:
    return Usage(used.input_tokens, used.output_tokens, dict(used.by_modality))
