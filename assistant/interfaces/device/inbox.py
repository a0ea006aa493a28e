"""What becomes of a message to our device: it is spoken, acts, is asked, or is left out."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Protocol, Self

from assistant.announcements.desk import Announcing
from assistant.domain.clock import Clock
from assistant.domain.records import AnnouncementRecord, new_id
from assistant.interfaces.device.choices import Asked, question_of
from assistant.interfaces.device.commands import CALLER, Commander, command_of, old_command_of
from assistant.interfaces.device.messages import Words, words_of
from assistant.interfaces.device.wishes import announcement_of
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant.phones import ANSWERED
from integrations.home_assistant.push import Push
from integrations.owner import OwnedTasks
from integrations.web.box import NotAnnounced, NotPossible
from integrations.web.requests import AnnounceRequest, QuestionAnswer, QuestionRequest
from integrations.web.sessions import Caller

KEEP = timedelta(minutes=10)  # a timer that nobody could hear for so long is news no more
FETCH_S = 7.0  # for a sound; Home Assistant waits 10 s for the confirmation
QUESTION = "hearth_question"  # the event that tells what came of a question

_log = logging.getLogger(__name__)


class Kept(Protocol):
    """Where what rings is kept (`assistant.announcements.queue_speaker.Announcements`)."""

    async def keep(self, record: AnnouncementRecord) -> bool:
        """On the disk when it returns. Raises StoreError."""
        ...


class QuestionBox(Protocol):
    """What questions need of the box (`integrations.web.box.Box`)."""

    async def question(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        """Ask, and wait for the answer. Raises NotPossible."""
        ...


class EventTelling(Protocol):
    """Who tells Home Assistant (`assistant.interfaces.device.events.DeviceEvents`)."""

    def fire(self, kind: str, data: Mapping[str, Any]) -> None:
        """Have an event happen there."""
        ...

    def shares_words(self) -> bool:
        """Whether what is said now may go there."""
        ...


class Inbox:
    """Takes each message in. Enter it: questions go on in the background.

    An announcement is on the disk when `take` returns, and a command holds. A question is only held
    by this process, unlike an announcement: after a restart nobody waits for its answer any more,
    so it is not asked then, and no question is asked twice.
    """

    def __init__(
        self,
        desk: Announcing,
        kept: Kept,
        asking: QuestionBox,
        commander: Commander,
        events: EventTelling,
        catalogue: Catalogue,
        clock: Clock,
        languages: Sequence[str],
    ) -> None:
        """`languages`: those that people speak here, the usual one first."""
        self._desk = desk
        self._kept = kept
        self._asking = asking
        self._commander = commander
        self._events = events
        self._catalogue = catalogue
        self._clock = clock
        self._languages = tuple(languages)
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, trace)

    async def take(self, push: Push) -> None:
        """Return when it is safe with us. Raises NotKept and StoreError: then it is not."""
        command = command_of(push)
        if command is not None:
            await self._commander.obey(command)
            return
        if old := old_command_of(push):
            await self._commander.ignore(old)
            return
        words = words_of(push, self._catalogue, self._languages[0])
        if words is None:
            return
        if words.sound:  # a timer of Home Assistant's has ended
            await self._ring(push, words)
            return
        asked = question_of(push.data, words, self._languages)
        if asked is not None:
            self._owner.start(self._until_answered(asked), "device-question")
            return
        await self._announce(push, words)

    async def _ring(self, push: Push, words: Words) -> None:
        now = self._clock.now()
        language = words.language or self._languages[0]
        options = {"language": language, "sound": words.sound, "alarm": True}
        name = push.confirm_id or new_id(now)
        await self._kept.keep(AnnouncementRecord(name, words.text, now, now + KEEP, options))

    async def _announce(self, push: Push, words: Words) -> None:
        wanted = announcement_of(push.data, words)
        if wanted is None:
            _log.info("a message of Home Assistant's has no words")
            return
        problem = await self._said(push, wanted)
        if problem and wanted.media:
            self._complain(problem)
            # What is written is said in the place of a sound that is not to be had.
            wanted = announcement_of({**push.data, "media": None}, words)
            problem = "" if wanted is None else await self._said(push, wanted)
        if problem:
            self._complain(problem)

    async def _said(self, push: Push, wanted: AnnounceRequest) -> str:
        """Why it will not be said, "" where it will. Raises NotKept."""
        try:
            async with asyncio.timeout(FETCH_S if wanted.media else None):
                await self._desk.announce(wanted, CALLER, announcement_id=push.confirm_id)
        except TimeoutError:
            return "The sound did not come in time."
        except (NotAnnounced, NotPossible) as error:
            return str(error)
        return ""

    def _complain(self, problem: str) -> None:
        self._commander.complain("announcement", problem)

    # --- questions

    async def _until_answered(self, asked: Asked) -> None:
        """Where too many wait already, this ends at once."""
        try:
            answer = await self._asking.question(asked.request, CALLER)
        except NotPossible as error:
            self._commander.complain("question", str(error))
            self._tell(asked, "not_possible")
        else:
            self._answered(asked, answer)

    def _answered(self, asked: Asked, answer: QuestionAnswer) -> None:
        if answer.result != "answered":
            self._tell(asked, answer.result, turn_id=answer.turn_id)
            return
        expected = answer.id if asked.request.answers else None
        action = expected or asked.reply  # any words are an answer
        told = {"action": action, "turn_id": answer.turn_id, **asked.told}
        if action != asked.reply:
            # The values that were asked for go to whoever asked.
            told |= {"slots": answer.slots} if answer.slots else {}
        elif answer.sentence and self._events.shares_words():
            told["reply_text"] = answer.sentence
        self._events.fire(ANSWERED, told)
        self._tell(asked, "answered", action, answer.turn_id)

    def _tell(self, asked: Asked, result: str, action: str = "", turn_id: str = "") -> None:
        told = {"result": result, "action": action, "turn_id": turn_id, **asked.told}
        self._events.fire(QUESTION, told)
