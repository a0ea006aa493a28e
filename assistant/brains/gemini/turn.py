"""A Gemini Live turn, which sends the sentence and receives events at the same time."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from assistant.brains.briefing.briefer import STAY_SILENT, Briefer
from assistant.brains.briefing.prompt import Exchange
from assistant.brains.gemini.calls import not_run_response, silent_response
from assistant.brains.gemini.connection import LiveConnection, LiveServices
from assistant.brains.gemini.event_reader import EventReader, Item
from assistant.brains.gemini.lifecycle import within
from assistant.brains.gemini.session_manager import LiveSessionManager
from assistant.brains.gemini.usage import spent
from assistant.domain.brain import BrainEvent, InTalk, Reached, Searched, TurnRequest
from assistant.domain.tool_call import Status, Tier, ToolCall, ToolOutcome
from assistant.domain.turn_audio import TurnAudio
from integrations.errors import IntegrationError
from integrations.gemini.events import Closed, FunctionCall, FunctionCalls, OutputAudio, TokensUsed
from integrations.gemini.models import ModelRow

_log = logging.getLogger(__name__)
PIECE_BYTES = 3_200  # 100 ms; Google recommends chunks of 20 to 100 ms for Live


class Upload:
    """Prepares the session, sends one sentence and posts what happens.

    With `as_text`, it sends the transcript from an earlier attempt instead of the audio.
    """

    def __init__(
        self,
        request: TurnRequest,
        as_text: bool,
        session: LiveSessionManager,
        briefer: Briefer,
        post: Callable[[Item], None],
    ) -> None:
        self.link: LiveConnection | None = None
        self._request = request
        self._text = request.heard if as_text else request.text
        self._session = session
        self._briefer = briefer
        self._post = post

    async def run(self) -> None:
        """Send the sentence. Errors are posted as Closed. Cancel it to stop early."""
        try:
            await self._run()
        except IntegrationError as error:
            self._post(Closed(error))
        except Exception:
            # Whatever fails here must not affect the next turn.
            _log.exception("a sentence could not be sent to Gemini")
            self._post(Closed(IntegrationError("The sentence could not be sent to Gemini.")))

    async def _run(self) -> None:
        request = self._request
        briefing = await self._briefer.brief(request.profile, self._text or "", request.owner)
        if self._text is None:
            briefing = replace(briefing, note=request.note)
        link = self.link = await self._session.acquire(briefing, self._post)
        self._post(Reached("connected"))
        await link.settle()
        if self._text is not None:
            with self._session.history.notes() as notes:
                told = (notes, self._request.note, self._text)
                await link.ask("\n".join(part for part in told if part))
        else:
            assert self._request.audio is not None  # a spoken turn has audio
            await self._tell_notes(link)
            await self._speak(link, self._request.audio)
        self._post(Reached("upload_done"))

    async def _tell_notes(self, link: LiveConnection) -> None:
        # If the model accepts no text along with speech, the turn's note is in the instruction, and
        # the others are sent with the next typed turn.
        if link.setup.row.client_content:
            with self._session.history.notes() as notes:
                told = "\n".join(part for part in (notes, self._request.note) if part)
                if told:
                    await link.tell(told)

    async def _speak(self, link: LiveConnection, audio: TurnAudio) -> None:
        begun = False
        async with aclosing(audio.stream()) as sounds:
            async for sound in sounds:
                for start in range(0, len(sound), PIECE_BYTES):
                    if not begun:
                        await link.begin_activity()
                    await link.send_audio(sound[start : start + PIECE_BYTES])
                    if not begun:
                        self._post(Reached("first_upload"))
                    begun = True
        if not begun:
            raise IntegrationError("The turn ended without any sound.")
        await link.end_activity()


_MAX_WAITING = 4_000  # unread items, several minutes of audio; beyond this, audio is dropped


@dataclass(frozen=True, slots=True)
class TurnMeans:
    """Dependencies shared by all turns of the brain."""

    services: LiveServices
    take_owed: Callable[[], Sequence[TokensUsed]]  # costs of dropped conversations
    native_voice: bool


class GeminiLiveTurn:
    """A Gemini Live turn.

    `on_empty` is called with the turn's id if it ends without an answer.
    """

    def __init__(
        self,
        request: TurnRequest,
        session: LiveSessionManager,
        means: TurnMeans,
        as_text: bool,
        on_empty: Callable[[str], None],
    ) -> None:
        self._request = request
        self._session = session
        self._means = means
        self._clock = means.services.clock
        self._tasks = means.services.tasks
        self._on_empty = on_empty
        self._reading = EventReader(means.native_voice, means.services.timeouts)
        self._inbox: deque[Item] = deque()  # its size is limited in `_post`
        self._arrived = asyncio.Event()  # set while the inbox is not empty
        # The session manager identifies the turn by this object.
        self._listener = self._post
        briefer = means.services.briefer
        self._upload = Upload(request, as_text, session, briefer, self._listener)
        self._left = False
        self._talk: InTalk | None = None  # as last reported

    async def events(self) -> AsyncGenerator[BrainEvent]:
        uploading = self._tasks.start(self._upload.run(), "gemini-live upload")
        try:
            while not self._reading.over:
                happened = await self._next()
                if self._reading.over:
                    # Leave before yielding the last text, because speaking it can take long.
                    await self._leave(uploading)
                for event in self._in_talk(happened):
                    yield event
        finally:
            await self._leave(uploading)

    def _in_talk(self, happened: list[BrainEvent]) -> list[BrainEvent]:
        if any(isinstance(event, Searched) for event in happened):
            self._session.note_search()
        talk = InTalk(self._session.talk, self._session.searched)
        if talk == self._talk or not any(isinstance(event, ToolCall) for event in happened):
            return happened
        # The turn has acquired its session before its first call.
        self._talk = talk
        return [talk, *happened]

    async def answer(self, outcome: ToolOutcome) -> None:
        self._reading.acted |= outcome.status is Status.DONE and outcome.tier is not Tier.READ
        if self._upload.link is not None:
            await self._upload.link.answer(outcome)

    async def _next(self) -> list[BrainEvent]:
        clock, reading = self._clock, self._reading
        try:
            item = await self._item(reading.patience_s(clock.monotonic()))
        except TimeoutError:
            self._session.meter.give_up()
            happened = reading.overdue(clock.monotonic())
        else:
            happened = reading.take(item, clock.monotonic())
        if reading.over:
            used = (*self._session.meter.take(), *self._means.take_owed())
            if used:  # insert the costs before the final event
                happened.insert(-1, spent(self._row, *used))
        return happened

    @property
    def _row(self) -> ModelRow:
        # The costs of a turn without a session are those of dropped conversations.
        link = self._upload.link
        return self._means.services.models.row if link is None else link.setup.row

    async def _item(self, patience_s: float | None) -> Item:
        if not self._inbox:
            self._arrived.clear()
            try:
                await within(self._clock, patience_s, self._arrived.wait())
            except TimeoutError:
                if not self._inbox:  # otherwise an item arrived at the last moment
                    raise
        return self._inbox.popleft()

    def _post(self, item: Item) -> None:
        if isinstance(item, OutputAudio):
            if len(self._inbox) >= _MAX_WAITING:
                _log.warning("audio of Gemini's answer is dropped because nothing plays it")
                return
            if not self._means.native_voice:
                # Only the audio's length matters.
                item = OutputAudio(b"", item.rate, len(item.pcm) / 2 / item.rate * 1000)
        self._inbox.append(item)
        self._arrived.set()

    async def _leave(self, uploading: asyncio.Task[None]) -> None:
        if self._left:
            return
        self._left = True
        uploading.cancel()
        try:
            await asyncio.wait([uploading])
        finally:
            self._part()  # even if cancelled, because nothing else releases the session

    def _part(self) -> None:
        reading, link = self._reading, self._upload.link
        calls = self._not_given()
        if calls and link is not None and not (link.closed or reading.lost):
            self._tasks.start(self._decline(link, calls), "gemini-live refusal")
        self._session.leave(self._listener, not reading.lost, reading.rejected)
        if reading.empty:
            self._on_empty(self._request.turn_id)
        heard = (self._request.text or reading.heard or self._request.heard or "").strip()
        answer = reading.answer.strip()
        if reading.meant and answer:
            self._session.history.remember(Exchange(heard, answer, turn_id=self._request.turn_id))

    def _not_given(self) -> list[FunctionCall]:
        # These calls won't be executed, but must be answered, because open calls would block the
        # next turn.
        batches = [self._reading.dismissed]
        batches += [item.calls for item in self._inbox if isinstance(item, FunctionCalls)]
        return [call for batch in batches for call in batch]

    async def _decline(self, link: LiveConnection, calls: Sequence[FunctionCall]) -> None:
        silent = [call for call in calls if call.name == STAY_SILENT]
        await link.refuse([call for call in calls if call not in silent], not_run_response())
        await link.refuse(silent, silent_response())
