"""Hears one source of sound, frame by frame, and tells the turn machine what is in it."""

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from assistant.conversation.audio_front_end import EarEvent
from assistant.conversation.effect_runner import EffectRunner
from assistant.conversation.events import (
    Ringing,
    SourceBack,
    SourceEnded,
    SpeechHeld,
    SpeechStarted,
    Tick,
    WakeHeard,
    WakeRising,
)
from assistant.conversation.hearing import Hearing
from assistant.conversation.state import MicrophoneState, State
from assistant.conversation.timeline import ConversationClock
from audio.frames import SAMPLES_PER_MS, Frame, FrameSource

if TYPE_CHECKING:
    from assistant.conversation.runner import Runner


class Listening:
    """One source after the other; each counts its time from its own first sample."""

    def __init__(
        self,
        conversation: "Runner",
        hands: EffectRunner,
        hearing: Hearing,
        clock: ConversationClock,
    ) -> None:
        self.heard_ms = 0.0  # how far the source has come; the machine is told when it matters
        self.judged = asyncio.Event()  # the ear has taken a first frame
        self._conversation = conversation
        self._hands = hands
        self._hearing = hearing
        self._clock = clock
        self._deaf_after: int | None = None  # turns, after which no wake word counts

    async def listen(self, source: FrameSource, turns: int | None = None) -> None:
        """Hear `source` until it ends, or until `turns` turns are closed and nothing is asked.

        With `turns`, a wake word after so many is not taken: what follows answers our question.
        Raises what the source raises (see FrameSource), and RuntimeError where there is no ear.
        """
        conversation, hands = self._conversation, self._hands
        await self._hearing.restart()
        self._clock.begin()
        hands.in_a_room = not source.pulled
        self.heard_ms = 0.0
        before, end_ms = hands.closed, 0.0
        self._deaf_after = None if turns is None else hands.opened + turns
        async with aclosing(source.frames()) as frames:
            async for frame in frames:
                is_open = conversation.machine.microphone is MicrophoneState.OPEN
                if not is_open and not conversation.lost:
                    conversation.dispatch(SourceBack(frame.start / SAMPLES_PER_MS))
                await self._hear(frame)
                end_ms = frame.end / SAMPLES_PER_MS
                if source.pulled:
                    await self._keep_pace()
                if turns is not None and hands.closed - before >= turns and conversation.resting:
                    break
        conversation.dispatch(SourceEnded(end_ms))

    async def _hear(self, frame: Frame) -> None:
        conversation, at_ms = self._conversation, frame.end / SAMPLES_PER_MS
        if (rings := conversation.rings()) is not conversation.machine.ringing:
            self._hearing.distract("ringing", rings)
            conversation.dispatch(Ringing(rings))
        events = [] if conversation.machine.muted else await self._take_in(frame)
        self._clock.heard(at_ms)
        for event in events:
            if not self._too_late(event):
                conversation.dispatch(event)
                self._note(event)
        self.heard_ms = at_ms
        self.judged.set()
        if conversation.machine.tells_time:  # else nobody needs to know, fifty times a second
            conversation.dispatch(Tick(at_ms))

    async def _take_in(self, frame: Frame) -> list[EarEvent]:
        turn = self._hands.turn
        if turn is not None and turn.audio is not None:
            turn.audio.append(frame.pcm)  # nothing is kept once the sentence is over
        return await self._hearing.hear(frame)

    async def _keep_pace(self) -> None:
        """A source that can wait is not ahead of anybody who listens to it."""
        if self._hands.turn is not None and self._hands.turn.audio is not None:
            await self._hands.turn.audio.taken()
        await self._conversation.until(lambda: self._conversation.machine.wants_sound)

    def _too_late(self, event: EarEvent) -> bool:
        waking = isinstance(event, WakeHeard | WakeRising)
        return waking and self._deaf_after is not None and self._hands.opened >= self._deaf_after

    def _note(self, event: EarEvent) -> None:
        turn = self._hands.turn
        if self._conversation.machine.state is not State.LISTENING or turn is None:
            return
        if isinstance(event, SpeechStarted):
            turn.timeline.mark("speech_start", self._clock.at(event.at_ms))
        elif isinstance(event, SpeechHeld) and turn.opening.source == "barge_in":
            turn.timeline.mark("speech_start", self._clock.at(event.began_ms))
