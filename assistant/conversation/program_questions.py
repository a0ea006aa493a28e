"""Questions that programs ask people in the room, one at a time. People's own commands take
precedence."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from assistant.confirmation.forms import AnswerKind, Forms
from assistant.conversation.expected_answers import (
    BadSchema,
    BadTemplate,
    Fit,
    Templates,
    check_schema,
)
from assistant.conversation.request_queue import RequestQueue, done_within
from assistant.conversation.rules.events import Ended, ForAnswer, ForTalk, Weighed, Withdrawn
from assistant.conversation.rules.state import Standing
from assistant.conversation.stop_words import is_stop_word
from assistant.domain.clock import Clock
from assistant.domain.events import EventBus
from assistant.domain.records import new_id
from assistant.speech.catalogue import Catalogue
from assistant.speech.sink import Manner
from audio.device_status import MicrophoneStatus
from integrations.owner import OwnedTasks
from integrations.web.box import Busy, Caller, NotAnnounced, NotPossible
from integrations.web.requests import (
    ConverseRequest,
    QuestionAnswer,
    QuestionRequest,
    SpokenRequest,
)

if TYPE_CHECKING:
    from assistant.conversation.loop import ConversationLoop


_log = logging.getLogger(__name__)

EXPIRE_S = 60.0  # seconds that a question waits to be asked, by default

TRIES = 2  # a question is asked again if a person's own command interrupted it

PREANNOUNCE = "announce"

_PLAIN = {AnswerKind.YES: "yes", AnswerKind.ALWAYS: "yes", AnswerKind.NO: "no"}

_DEAF = (MicrophoneStatus.MISSING, MicrophoneStatus.ELSEWHERE, MicrophoneStatus.CLOSED)


@dataclass(frozen=True, slots=True)
class QuestionHouse:
    """The settings that all questions share."""

    catalogue: Catalogue
    language_of: Callable[[str], str]  # detects a text's language
    names: Sequence[str] = ()  # wake words, which may precede an answer
    languages: Sequence[str] = ("en",)  # the configured languages
    keeps_words: Callable[[], bool] = lambda: True  # False while text isn't stored for guests


# Maps an answer to values, given the question, sentence, schema and language. Returns None if the
# model fails or the sentence gives no values.
MapAnswer = Callable[[str, str, Mapping[str, Any], str], Awaitable[dict[str, Any] | None]]

_NOTE = (
    "(For your information: a program of this home had just asked the person something. What they "
    "said then was meant for it and not for you. Do not act on it and do not mention it.)"
)


class Inquiry:
    """A program's question. A new instance is created for each turn that asks it.

    The reply is compared with the expected answers first, and then with the schema. If neither is
    given, any reply except a request for silence counts as an answer.
    """

    def __init__(
        self,
        question: str,
        again: str,
        language: str,
        templates: Templates | None,
        schema: Mapping[str, Any] | None,
        map_answer: MapAnswer | None,
        is_stop: Callable[[str], bool],
    ) -> None:
        """`again` is the wording for repeating the question. `is_stop` recognises requests for
        silence."""
        self.ended: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        self.fit: Fit | None = None  # the expected answer that matched
        self.values: dict[str, Any] = {}  # from the slots or the schema
        self.sentence: str | None = None  # the reply that was the answer
        self.again = again
        self._question = question
        self._language = language
        self._templates = templates
        self._schema = schema
        self._map_answer = map_answer
        self._is_stop = is_stop

    @property
    def note(self) -> str:
        """A note for a model that has also heard the answer."""
        return _NOTE  # without the program's text, because the next turn is the person's own

    async def weigh(self, heard: Sequence[str]) -> Weighed:
        """Judge an answer by the last transcript in `heard`."""
        words = heard[-1]
        if self._templates is not None and (fit := self._templates.find(words)) is not None:
            self.fit, self.values = fit, dict(fit.slots)
            return self._fits(words)
        if self._is_stop(words):
            return Weighed(fits=False, again=False)
        if self._schema is not None:
            return await self._mapped(words, self._schema)
        if self._templates is None:
            return self._fits(words)
        return Weighed(fits=False, is_command_like=self._templates.is_command_like(words))

    def end(self, ended: Ended) -> None:
        if not self.ended.done():
            self.ended.set_result(ended)

    async def _mapped(self, words: str, schema: Mapping[str, Any]) -> Weighed:
        if self._map_answer is None:
            return Weighed(fits=False, again=False)  # asking again would not help
        values = await self._map_answer(self._question, words, schema, self._language)
        if values is None:
            return Weighed(fits=False)
        self.values = values
        return self._fits(words)

    def _fits(self, words: str) -> Weighed:
        self.sentence = words
        return Weighed(fits=True)


class ProgramQuestions:
    """Asks questions for programs. Keep its context open while the process is running."""

    def __init__(
        self,
        speaker: "ConversationLoop",
        queue: RequestQueue,
        house: QuestionHouse,
        bus: EventBus,
        clock: Clock,
        map_answer: MapAnswer | None = None,
    ) -> None:
        """`queue` is shared with all other requests from programs. `map_answer` is None if no model
        is available to turn free-form answers into values."""
        self._speaker = speaker
        self._queue = queue
        self._house = house
        self._bus = bus
        self._clock = clock
        self._map_answer = map_answer
        self._forms = Forms(house.languages, house.names)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._queue.close()

    async def ask(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        """Ask the question and return its result. To withdraw the question, cancel this coroutine.

        If the reply was a command, it is carried out and the result is "unclear". If the question
        could not be asked in time, the result is "busy". Text that must not be stored is left out
        of the result.

        Raises NotPossible if the microphone is muted or missing at the start, if nobody can have
        heard the question, and for an invalid template or schema.
        """
        question_id = new_id(self._clock.now())
        language = wanted.language or self._house.language_of(wanted.question)
        make = self._maker(wanted, language)
        self._need_ears()
        asked: tuple[Ended, Inquiry] | None = None
        try:
            asked = await self._in_queue(wanted, caller, language, make)
        except Busy as busy:
            _log.info("a question from %s was not asked: %s", caller.name, busy)
        answer = QuestionAnswer(result="busy") if asked is None else self._told(wanted, *asked)
        if not self._house.keeps_words():
            answer = answer.model_copy(update={"sentence": None, "slots": {}})
        self._bus.publish(
            "question",
            answer.turn_id,
            {"question": wanted.question, "sentence": answer.sentence or ""},
            id=question_id,
            caller=caller.name,
            result=answer.result,
            answer=answer.id,
        )
        return answer

    async def _in_queue(
        self,
        wanted: QuestionRequest,
        caller: Caller,
        language: str,
        make: Callable[[], Inquiry],
    ) -> tuple[Ended, Inquiry]:
        seconds = wanted.expire_s or EXPIRE_S
        until_s = self._clock.monotonic() + seconds
        last: tuple[Ended, Inquiry] | None = None
        async with self._queue.place(seconds, wanted.priority):
            for _ in range(TRIES):
                inquiry = make()
                then = ForAnswer(caller.name, wanted.timeout_s * 1000, inquiry)
                put = self._put(wanted, language, then)
                try:
                    if not await done_within(self._clock, until_s - self._clock.monotonic(), put):
                        break
                    last = await asyncio.shield(inquiry.ended), inquiry
                finally:
                    if not inquiry.ended.done():  # the program has gone
                        self._speaker.dispatch(Withdrawn(then))
                if last[0].how != "cut":
                    return last
        if last is None:
            raise Busy("Somebody is talking with the assistant.")
        return last

    async def _put(self, wanted: QuestionRequest, language: str, then: ForAnswer) -> None:
        if not await self._speaker.programs.put(wanted.question, language, manner_of(wanted), then):
            raise Busy("The assistant is shutting down.")

    def _told(self, wanted: QuestionRequest, ended: Ended, inquiry: Inquiry) -> QuestionAnswer:
        turn_id = ended.turn_id
        match ended.how:
            case "answered":
                return QuestionAnswer(
                    result="answered",
                    id=self._name_of(wanted, inquiry),
                    sentence=inquiry.sentence,
                    slots=inquiry.values,
                    turn_id=turn_id,
                )
            case "unclear" | "command":
                return QuestionAnswer(result="unclear", sentence=ended.heard, turn_id=turn_id)
            case "unheard" if why_deaf(self._speaker.standing) is None:
                raise NotPossible("Nobody can hear the question: there is no loudspeaker.")
            case _:
                return QuestionAnswer(result="no_answer", turn_id=turn_id)

    def _name_of(self, wanted: QuestionRequest, inquiry: Inquiry) -> str | None:
        if wanted.answers:
            return inquiry.fit.id if inquiry.fit is not None else None
        return _PLAIN.get(self._forms.read(inquiry.sentence or ""))

    def _maker(self, wanted: QuestionRequest, language: str) -> Callable[[], Inquiry]:
        house, templates = self._house, None
        try:
            if wanted.answers:
                templates = Templates(wanted.answers, language, wanted.question, house.names)
            if wanted.answer_schema is not None:
                check_schema(wanted.answer_schema)
        except (BadTemplate, BadSchema) as error:
            raise NotPossible(str(error)) from None
        line = house.catalogue.line("asking.again", language, question=wanted.question)
        # If the catalogue lacks this language, repeat just the question.
        again = line.text if line.language == language else wanted.question
        stops = partial(is_stop_word, languages=tuple(dict.fromkeys((language, *house.languages))))
        return partial(
            Inquiry,
            wanted.question,
            again,
            language,
            templates,
            wanted.answer_schema,
            self._map_answer,
            stops,
        )

    def _need_ears(self) -> None:
        if (why := why_deaf(self._speaker.standing)) is not None:
            raise NotPossible(why)


def why_deaf(standing: Standing) -> str | None:
    """Return the reason why Hearth cannot hear anybody, or None if it can."""
    if standing.muted:
        return "The microphone is muted: unmute it first."
    if standing.microphone in _DEAF:
        return "There is no microphone to hear an answer with: plug one in."
    return None


def manner_of(wanted: SpokenRequest) -> Manner:
    return Manner(PREANNOUNCE if wanted.preannounce else "", wanted.volume)


# Talks: a program says an opening line, and the person answers.


class Talks:
    """Starts conversations for programs with an opening line.

    Keep its context open while the process is running. Exiting the context drops conversations that
    have not started.
    """

    def __init__(
        self,
        speaker: "ConversationLoop",
        queue: RequestQueue,
        language_of: Callable[[str], str],
        clock: Clock,
    ) -> None:
        """`queue` is shared with all other requests from programs. `language_of` detects the
        language of a text if the request doesn't name one."""
        self._speaker = speaker
        self._queue = queue
        self._language_of = language_of
        self._clock = clock
        self._tasks = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._tasks.__aexit__(kind, error, trace)

    async def begin(self, wanted: ConverseRequest, caller: Caller) -> str:
        """Say an opening line once nobody is talking, and then listen for a reply, which starts an
        ordinary turn.

        Return the id of the conversation immediately. Raises NotPossible while the microphone is
        muted or missing, and NotAnnounced if too many requests are waiting.
        """
        if (why := why_deaf(self._speaker.standing)) is not None:
            raise NotPossible(why)
        if self._queue.full:
            raise NotAnnounced("Too many questions and announcements are already waiting.")
        name = new_id(self._clock.now())
        self._tasks.start(self._talk(wanted, caller), f"talk {name}")
        return name

    async def _talk(self, wanted: ConverseRequest, caller: Caller) -> None:
        seconds = wanted.expire_s or EXPIRE_S
        until_s = self._clock.monotonic() + seconds
        language = wanted.language or self._language_of(wanted.text)
        then = ForTalk(caller.name, wanted.instruction)
        try:
            async with self._queue.place(seconds, wanted.priority):
                put = self._speaker.programs.put(wanted.text, language, manner_of(wanted), then)
                if not await done_within(self._clock, until_s - self._clock.monotonic(), put):
                    raise Busy("The request expired while somebody was talking with the assistant.")
                await self._speaker.rest()
        except Busy as busy:
            _log.warning("a conversation for %s was not started: %s", caller.name, busy)
