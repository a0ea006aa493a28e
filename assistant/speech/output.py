"""Speech output: speaks answers clause by clause, one answer at a time."""

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import get_args

from assistant.speech.answer import Answer, SpokenAnswer
from assistant.speech.clauses import ClauseCutter
from assistant.speech.sink import OPENING, PLAIN, AudioSink, Manner
from assistant.speech.speakable import speakable
from assistant.speech.synthesis import Synthesis, Voices
from audio.earcons import earcon
from audio.errors import AudioError
from audio.player import Outputs, Player, StreamName, as_outputs
from audio.speaker import Speaker
from audio.tts import Chunk
from audio.tts.espeak import EspeakVoice

_OURS: tuple[StreamName, ...] = ("voice", "announcements", "sounds")  # silenced by `stop`
_ALARM = Manner(alarm=True)


class SpeechOutput:
    """Speaks one answer at a time, and plays earcons and ringing.

    A process uses one instance for everything that it says aloud. `volume`, from 0 to 2, applies to
    speech and earcons. `off` contains the names of earcons that are turned off.
    """

    def __init__(
        self,
        voices: Voices | Synthesis,
        outputs: Outputs | Player,
        volume: float = 1.0,
        fallback: Voices = EspeakVoice,
        off: Collection[str] = (),
    ) -> None:
        self._shares = isinstance(voices, Synthesis)  # another output owns it
        self._synthesis = voices if isinstance(voices, Synthesis) else Synthesis(voices, fallback)
        self._volume = volume
        self._loudest: Callable[[], float] = lambda: math.inf
        self._outputs = as_outputs(outputs)
        self._streams = self._sinks()
        self._sounds = Sounds(self._streams["sounds"], self._streams["voice"], off)
        self._answer: Answer | None = None
        self._free = asyncio.Lock()
        self._stops = 0

    @property
    def volume(self) -> float:
        """Volume from 0 to 2. A change applies to audio passed to the player from then on."""
        return self._volume

    @volume.setter
    def volume(self, volume: float) -> None:
        self._volume = volume

    def limit(self, loudest: Callable[[], float]) -> None:
        """Set a maximum volume for speech and earcons, except for alarms and sounds with a `floor`.

        `loudest` is called whenever audio is passed to the player.
        """
        self._loudest = loudest

    @property
    def limited(self) -> bool:
        return self._loudest() < math.inf

    @asynccontextmanager
    async def answer(
        self,
        on_first_audio: Callable[[], None] | None = None,
        announced: Manner | None = None,
    ) -> AsyncIterator[Answer]:
        """Start an answer when the previous one has ended.

        Leaving the block waits until the answer has been played. An announcement is played on its
        own stream with the loudness of `announced`; the caller plays its tone. An error or
        cancellation inside the block stops the audio and is passed on unchanged. Raises AudioError
        if the answer could not be spoken.
        """
        failure: Exception | None = None
        async with self._free:
            self._synthesis.renew()
            sink = self._streams["announcements" if announced is not None else "voice"]
            self._answer = answer = Answer(
                self._synthesis,
                sink,
                on_first_audio,
                self._sounds.make_way,
                announced or PLAIN,
            )
            try:
                async with asyncio.TaskGroup() as group:
                    answer.start(group)
                    try:
                        yield answer
                        await answer.finish()
                    except Exception as error:  # raised below, because the task group would wrap it
                        failure = error
                    finally:
                        answer.stop()
            finally:
                self._answer = None
        if failure is not None:
            raise failure

    async def speak(self, text: str, language: str | Callable[[str], str]) -> SpokenAnswer:
        """Speak a text and return when it has been played. Raises AudioError.

        `language` is the text's language, or a function that returns each clause's language.
        """
        cutter = ClauseCutter()
        async with self.answer() as answer:
            for clause in [*cutter.push(text), *cutter.flush()]:
                await answer.room()
                answer.say(clause, language(clause) if callable(language) else language)
            return await answer.finish()

    async def sound(self, name: str) -> None:
        """Queue an earcon of `audio.earcons` by name without waiting for it. Raises AudioError."""
        await self._sounds.play(name)

    async def tell_opening(self) -> bool:
        """Play the tone that warns that the microphone is opening, and wait for it to end.

        Returns False if it failed, if `stop` cut it off, or if audio was dropped because there is
        no loudspeaker.
        """
        before = self.drops, self._stops
        return await self._sounds.opening() and (self.drops, self._stops) == before

    async def sounded(self) -> None:
        """Wait until the queued earcons have been played, for at most LONGEST_S seconds."""
        await self._sounds.ended()

    def has_sound(self, name: str) -> bool:
        return self._sounds.is_on(name)

    async def ring(self, name: str) -> None:
        """Queue an earcon on the ringing stream, which `hush` silences."""
        if self._sounds.is_on(name):
            await self._streams["ringing"].play(*earcon(name), _ALARM)

    def hush(self) -> None:
        """Silence the ringing immediately. An answer that is being spoken continues."""
        self._streams["ringing"].stop()

    def stop(self) -> None:
        """Silence the current answer or announcement and all earcons except the ringing."""
        self._stops += 1
        if self._answer is not None:
            self._answer.stop()
        for name in _OURS:
            self._streams[name].stop()

    def duck(self, on: bool) -> None:
        """Make speech much quieter if `on` is True. Otherwise, restore its volume."""
        self._outputs.duck(on)

    def use(self, voices: Voices | None) -> None:
        """Use other voices from the next clause on. None restores the original ones."""
        self._synthesis.use(voices)

    def on_fallback(self, tell: Callable[[str], None]) -> None:
        """Register a function that is called once for each language that the fallback voice takes
        over."""
        self._synthesis.on_fallback(tell)

    def synthesize(self, text: str, language: str) -> AsyncGenerator[tuple[Chunk, int]]:
        """Yield a clause's audio in chunks, each with its rate in Hz, for playback elsewhere.

        Raises AudioError.
        """
        return self._synthesis.sound(text, language)

    def beside(self, outputs: Outputs | Player, off: Collection[str] = ()) -> "SpeechOutput":
        """Return an output with the same voices that plays elsewhere. It must not outlive this
        one."""
        return SpeechOutput(self._synthesis, outputs, off=off)

    def _sinks(self) -> dict[StreamName, AudioSink]:
        sinks: dict[int, AudioSink] = {}
        streams: dict[StreamName, AudioSink] = {}
        for name in get_args(StreamName):
            player = self._outputs.stream(name)
            streams[name] = sinks.setdefault(id(player), AudioSink(player, self._loudness))
        return streams

    def _loudness(self, manner: Manner) -> float:
        volume = self._volume if manner.volume is None else manner.volume
        allowed = volume if manner.alarm else min(volume, self._loudest())
        return max(allowed, manner.floor)

    @property
    def drops(self) -> int:
        """Number of times that audio was dropped because there was no loudspeaker."""
        return self._outputs.drops if isinstance(self._outputs, Speaker) else 0

    async def audible(self) -> None:
        """Wait until a loudspeaker is available, as far as that can be detected."""
        if isinstance(self._outputs, Speaker):
            await self._outputs.presence.there()

    async def warm(self, languages: Sequence[str]) -> None:
        """Load the voices of these languages now, so that the first answer isn't delayed.

        Raises AudioError.
        """
        for language in languages:
            speakable("1 °C", language)  # compiles the patterns, which takes about 20 ms
            await self._synthesis.warm(language)

    def close(self) -> None:
        """Silence everything and release the worker thread."""
        self.stop()
        self.hush()
        if not self._shares:
            self._synthesis.close()


OPEN = "open"  # the microphone opens
SOFT = "thinking"  # tells the user to wait; any other earcon ends it
OPENING_S = 5.0  # wall-clock time; long, because a loudspeaker may have to wake up
LONGEST_S = 1.5  # wall-clock time that speech waits; on a missing device, an earcon never ends
_log = logging.getLogger(__name__)


class Sounds:
    """Plays the earcons of `audio.earcons` on one stream, except those that are turned off.

    If `words`, the sink for answers, is the same as `sink`, earcons and speech share one queue.
    """

    def __init__(self, sink: AudioSink, words: AudioSink, off: Collection[str] = ()) -> None:
        self._sink = sink
        self._apart = words is not sink
        self._off = frozenset(off)
        self._newest = ""
        self._free = asyncio.Lock()  # earcons are passed to the player one at a time

    def is_on(self, name: str) -> bool:
        return name not in self._off

    async def play(self, name: str) -> None:
        """Queue an earcon without waiting for it. Raises AudioError."""
        if self.is_on(name):
            await self._queue(name)

    async def opening(self) -> bool:
        """Play the tone that warns that the microphone is opening, and wait for it to end.

        It can't be turned off. Returns False if it fails or takes longer than OPENING_S seconds.
        """
        try:
            async with asyncio.timeout(OPENING_S):
                await self._queue(OPEN)
                await self._sink.drain()
        except (AudioError, TimeoutError) as error:
            why = str(error) or "it did not end in time"
            _log.warning(
                "the microphone stays closed because its tone could not be played: %s", why
            )
            return False
        return True

    async def _queue(self, name: str) -> None:
        async with self._free:
            self._end_soft()
            self._newest = name
            await self._sink.play(*earcon(name), OPENING if name == OPEN else PLAIN)

    async def make_way(self) -> None:
        """End the thinking earcon and wait for any other to end, because speech is
        about to start."""
        self._end_soft()
        await self.ended()

    async def ended(self) -> None:
        """Wait until the queued earcons have been played, for at most LONGEST_S seconds."""
        if not self._apart:
            return  # the shared queue plays it before the next audio
        try:
            async with asyncio.timeout(LONGEST_S), self._free:
                if self._sounds:
                    await self._sink.drain()
        except TimeoutError:
            pass  # the device is stuck; don't delay speech

    @property
    def _sounds(self) -> bool:
        return self._sink.played_ms < self._sink.accepted_ms

    def _end_soft(self) -> None:
        if self._apart and self._newest == SOFT and self._sounds:
            self._sink.stop()
