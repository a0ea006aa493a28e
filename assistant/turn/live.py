"""One turn while it happens: the brain thinks, tools run, clauses go to the mouth."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from assistant.brains.audio import TurnAudio
from assistant.brains.protocol import (
    Brain,
    BrainFault,
    BrainTurn,
    Heard,
    Interrupted,
    ReplyText,
    TurnDone,
    TurnRequest,
    Usage,
)
from assistant.speech.clauses import ClauseCutter
from assistant.speech.mouth import Mouth, Spoken
from assistant.tools.call import ToolCall
from assistant.tools.outcome import ToolOutcome
from assistant.turn.events import (
    BrainFailed,
    BrainFinished,
    Event,
    OpenTurn,
    PlaybackEnded,
    PlaybackStarted,
)
from assistant.turn.timeline import Timeline
from audio.errors import AudioError

_log = logging.getLogger(__name__)
_CLAUSES_AHEAD = 64  # the brain waits when the voice is this far behind
# Real seconds, once the sentence is over, without a word from a brain for which no call runs. The
# slowest recogniser needs about 10 s for the longest sentence.
BRAIN_SILENCE_S = 30.0
_QUESTION_MARKS = ("?", "？", "؟")


_ToolRun = Coroutine[Any, Any, ToolOutcome | Exception]


class ToolRunner(Protocol):
    """The one path that every brain's every call takes."""

    async def call(
        self, call: ToolCall, turn_id: str, heard: str | None, language: str
    ) -> ToolOutcome:
        """Judge, run, verify and journal one call.

        Never raises for what the call itself does; raises when it cannot be journalled.
        """
        ...


@dataclass(frozen=True, slots=True)
class Performers:
    """Who does the work of a turn."""

    brain: Brain
    tools: ToolRunner
    mouth: Mouth


class LiveTurn:
    """Runs one turn and gathers what there is to tell about it."""

    def __init__(
        self,
        opening: OpenTurn,
        turn_id: str,
        started_at: datetime,
        language: str,
        timeline: Timeline,
        performers: Performers,
        audio: TurnAudio | None,
        dispatch: Callable[[Event], None],
        spawn: Callable[[_ToolRun], asyncio.Task[ToolOutcome | Exception]],
    ) -> None:
        self.opening = opening
        self.turn_id = turn_id
        self.started_at = started_at
        self.language = language
        self.timeline = timeline
        self.audio = audio
        self.heard: str | None = opening.text
        self.answer = ""
        self.outcomes: list[ToolOutcome] = []
        self.spoken = Spoken((), 0.0)
        self.usage: Usage | None = None
        self.error: tuple[str, str] | None = None  # kind and sentence
        self._performers = performers
        self._dispatch = dispatch
        self._spawn = spawn
        self._cutter = ClauseCutter()
        self._to_say: asyncio.Queue[str | None] = asyncio.Queue()  # bounded by `_room`
        self._room = asyncio.Semaphore(_CLAUSES_AHEAD)
        self._patience: asyncio.Timeout | None = None  # with the brain, while it is at work
        self._listened = opening.source == "text"  # the sentence is over
        self._calls = 0  # under way

    async def run(self) -> None:
        """The whole turn, until the last sample was played. Cancel it to interrupt it."""
        request = TurnRequest(
            self.turn_id,
            self.language,
            "text" if self.opening.source == "text" else "voice",
            self.opening.text,
            self.audio,
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(self._speak())
            group.create_task(self._think(self._performers.brain.begin(request)))

    def end_listening(self, speech_end_ms: float | None, at_ms: float) -> None:
        """The sentence is over; both moments are on the conversation's clock."""
        if speech_end_ms is not None:
            self.timeline.mark("speech_end", speech_end_ms)
        self.timeline.mark("end_of_turn", at_ms)
        if self.audio is not None:
            self.audio.finish()
        self._listened = True
        self._wait_for_the_brain()

    def say(self, sentence: str) -> None:
        """Add a sentence of our own to the answer."""
        self.answer = f"{self.answer} {sentence}".strip()
        self._queue_clauses([*self._cutter.flush(), sentence])

    def finish_speech(self) -> None:
        """Nothing more will be said."""
        self._queue_clauses(self._cutter.flush())
        self._to_say.put_nowait(None)

    async def _think(self, brain_turn: BrainTurn) -> None:
        number, brain = self.opening.turn, self._performers.brain.name
        asks = False
        try:
            async with asyncio.timeout(None) as self._patience, asyncio.TaskGroup() as calls:
                fault = await self._follow(brain_turn, calls)
            asks = self.answer.rstrip().endswith(_QUESTION_MARKS)
        except TimeoutError:
            _log.error("the brain %s gave no answer for %g s", brain, BRAIN_SILENCE_S)
            fault = BrainFault("timeout", "The answer took too long.", retryable=True)
        except Exception:
            # The edge towards other people's code: whatever it raises, the person gets a sentence.
            _log.exception("the brain %s or a tool broke", brain)
            fault = BrainFault("broken", "The answer could not be worked out.", retryable=False)
        finally:
            self._patience = None
        if fault is not None:
            self._dispatch(BrainFailed(number, fault.kind, fault.message))
        else:
            self._dispatch(BrainFinished(number, asks))

    async def _follow(self, brain_turn: BrainTurn, calls: asyncio.TaskGroup) -> BrainFault | None:
        """Take the brain's events to their end."""
        fault = None
        self._wait_for_the_brain()
        async for event in brain_turn.events():
            self._wait_for_nothing()
            match event:
                case BrainFault():
                    fault = event
                case ToolCall():
                    self.timeline.mark("first_tool_call")
                    self._calls += 1
                    calls.create_task(self._call(brain_turn, event))
                case _:
                    await self._take(event)
            self._wait_for_the_brain()
        self._wait_for_nothing()
        return fault

    def _wait_for_the_brain(self) -> None:
        if self._patience is not None and self._listened and not self._calls:
            self._patience.reschedule(asyncio.get_running_loop().time() + BRAIN_SILENCE_S)

    def _wait_for_nothing(self) -> None:
        if self._patience is not None:
            self._patience.reschedule(None)

    async def _take(self, event: object) -> None:
        match event:
            case Heard(text, language):
                self.heard = text
                self.language = language or self.language
                self.timeline.mark("heard")
            case ReplyText(delta):
                self.timeline.mark("first_reply_text")
                self.answer += delta
                for clause in self._cutter.push(delta):
                    await self._room.acquire()
                    self._to_say.put_nowait(clause)
            case Interrupted():
                self._performers.mouth.stop()
            case TurnDone(usage):
                self.usage = usage

    async def _call(self, brain_turn: BrainTurn, call: ToolCall) -> None:
        # A call that has started runs to its end and is journalled, even if the turn is cut off.
        running = self._spawn(self._run_tool(call))
        outcome = await asyncio.shield(running)
        if isinstance(outcome, Exception):
            raise outcome
        self.outcomes.append(outcome)
        self.timeline.mark("last_tool_result")
        await brain_turn.answer(outcome)
        self._calls -= 1
        self._wait_for_the_brain()

    async def _run_tool(self, call: ToolCall) -> ToolOutcome | Exception:
        try:
            return await self._performers.tools.call(call, self.turn_id, self.heard, self.language)
        except Exception as error:
            # Given to the turn: raised here it would end everything, the turn may be long over.
            return error

    async def _speak(self) -> None:
        try:
            async with self._performers.mouth.answer(self._first_audio) as answer:
                try:
                    while (clause := await self._to_say.get()) is not None:
                        self._room.release()
                        await answer.say(clause, self.language)
                    await answer.finish()
                finally:
                    self.spoken = answer.spoken
            if not answer.stopped:
                self.timeline.mark("answer_done")
        except AudioError as error:
            _log.error("the answer could not be played: %s", error)
            self.error = ("no_sound", str(error))
        self._dispatch(PlaybackEnded(self.opening.turn))

    def _first_audio(self) -> None:
        self.timeline.mark("first_audio_out")
        self._dispatch(PlaybackStarted(self.opening.turn))

    def _queue_clauses(self, clauses: list[str]) -> None:
        for clause in clauses:
            self._to_say.put_nowait(clause)
