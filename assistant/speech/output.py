"""Speaks answers clause by clause, one answer at a time."""

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

_OURS: tuple[StreamName, ...] = ("voice", "announcements", "sounds")  # what `stop` silences
_ALARM = Manner(alarm=True)


class SpeechOutput:
    """The one place where Hearth speaks. Made once per process, it gives one answer at a time.

        mouth = SpeechOutput(voices, outputs, volume=0.8)
        async with mouth.answer(on_first_audio=mark) as answer:
            answer.say("The **kitchen** light is on.", "en")
            spoken = await answer.finish()  # returns at the measured end of playback

    `voices` gives the voice for a language, called once for each, in the worker thread. A voice
    that fails is replaced by `fallback`'s for the rest of the answer. The outputs are the caller's
    to close; one player alone takes all streams, one after the other. All methods belong to the
    event loop's thread.
    """

    def __init__(
        self,
        voices: Voices,
        outputs: Outputs | Player,
        volume: float = 1.0,
        fallback: Voices = EspeakVoice,
        off: Collection[str] = (),
    ) -> None:
        """`volume`: 0 to 1, of words and short sounds alike; `off`: sounds that are not played."""
        self._synthesis = Synthesis(voices, fallback)
        self._volume = volume
        self._loudest: Callable[[], float] = lambda: math.inf
        self._outputs = as_outputs(outputs)
        self._streams = self._sinks()
        self._sounds = Sounds(self._streams["sounds"], self._streams["voice"], off)
        self._answer: Answer | None = None
        self._free = asyncio.Lock()

    @property
    def volume(self) -> float:
        """0 to 1; it can be changed at any time and acts on what is handed to the player next."""
        return self._volume

    @volume.setter
    def volume(self, volume: float) -> None:
        self._volume = volume

    def limit(self, loudest: Callable[[], float]) -> None:
        """No volume passes what this gives, but of alarms; it is asked with each piece of sound
        that is handed to the player."""
        self._loudest = loudest

    @property
    def limited(self) -> bool:
        """True if no volume may pass a limit now, as in quiet hours."""
        return self._loudest() < math.inf

    @asynccontextmanager
    async def answer(
        self,
        on_first_audio: Callable[[], None] | None = None,
        announced: Manner | None = None,
    ) -> AsyncIterator[Answer]:
        """Open the answer of a turn. Leaving the block waits for the end of playback.

        `announced`: nobody asked for it; it goes to the stream of announcements, as loud as that
        says. Its tone is not this method's.
        Waits for an answer before it, which may just have been interrupted, to be cleared away.
        An error or a cancellation inside the block stops the sound and goes on outwards as it is.
        Raises AudioError, from `finish` or at the end of the block, when it could not be spoken.
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
                    except Exception as error:  # raised below: the group would wrap it
                        failure = error
                    finally:
                        answer.stop()
            finally:
                self._answer = None
        if failure is not None:
            raise failure

    async def speak(self, text: str, language: str | Callable[[str], str]) -> SpokenAnswer:
        """Say a whole text and return when it has been played. Raises AudioError.

        `language`: of all of it, or asked for each clause.
        """
        cutter = ClauseCutter()
        async with self.answer() as answer:
            for clause in [*cutter.push(text), *cutter.flush()]:
                await answer.room()
                answer.say(clause, language(clause) if callable(language) else language)
            return await answer.finish()

    async def sound(self, name: str) -> None:
        """Queue one of the sounds of `audio.earcons`; it is not waited for. Raises AudioError."""
        await self._sounds.play(name)

    async def tell_opening(self) -> bool:
        """Play the tone before a microphone that a program opens, to its end; nothing silences it.

        False: nobody can have heard it, for there is no loudspeaker.
        """
        drops = self.drops
        return await self._sounds.opening() and self.drops == drops

    async def sounded(self) -> None:
        """Return when such sounds, as far as any are queued, have been played."""
        await self._sounds.ended()

    def has_sound(self, name: str) -> bool:
        """Tell whether such a sound is wanted: one that is off is played nowhere."""
        return self._sounds.is_on(name)

    async def ring(self, name: str) -> None:
        """Queue such a sound as what rings until somebody hears it, for `hush` to end."""
        if self._sounds.is_on(name):
            await self._streams["ringing"].play(*earcon(name), _ALARM)

    def hush(self) -> None:
        """Silence what rings at once; an answer goes on."""
        self._streams["ringing"].stop()

    def stop(self) -> None:
        """Silence at once: the present answer is over, and so is any short sound."""
        if self._answer is not None:
            self._answer.stop()
        for name in _OURS:
            self._streams[name].stop()

    def duck(self, on: bool) -> None:
        """Make words much quieter for now, or as loud as before; what is said goes on."""
        self._outputs.duck(on)

    def use(self, voices: Voices | None) -> None:
        """Speak with these voices from the next clause on; None: with those that it was made
        with."""
        self._synthesis.use(voices)

    def on_fallback(self, tell: Callable[[str], None]) -> None:
        """Have `tell` called with each language, once, whose own voice another one replaces."""
        self._synthesis.on_fallback(tell)

    def synthesize(self, text: str, language: str) -> AsyncGenerator[tuple[Chunk, int]]:
        """The sound of a clause for whoever plays it elsewhere, in pieces, each with its rate in
        Hz. Raises AudioError."""
        return self._synthesis.sound(text, language)

    def _sinks(self) -> dict[StreamName, AudioSink]:
        """One for each stream; streams of one player have one together."""
        sinks: dict[int, AudioSink] = {}
        streams: dict[StreamName, AudioSink] = {}
        for name in get_args(StreamName):
            player = self._outputs.stream(name)
            streams[name] = sinks.setdefault(id(player), AudioSink(player, self._loudness))
        return streams

    def _loudness(self, manner: Manner) -> float:
        """Loudness of something said in that manner is now, 0 to 1."""
        volume = self._volume if manner.volume is None else manner.volume
        allowed = volume if manner.alarm else min(volume, self._loudest())
        return max(allowed, manner.floor)

    @property
    def drops(self) -> int:
        """Count of times that sound was dropped because there was no loudspeaker."""
        return self._outputs.drops if isinstance(self._outputs, Speaker) else 0

    async def audible(self) -> None:
        """Return once there is a loudspeaker, as far as is known."""
        if isinstance(self._outputs, Speaker):
            await self._outputs.presence.there()

    async def warm(self, languages: Sequence[str]) -> None:
        """Make these voices now, so that the first answer does not wait. Raises AudioError."""
        for language in languages:
            speakable("1 °C", language)  # its patterns are compiled once, in some 20 ms
            await self._synthesis.warm(language)

    def close(self) -> None:
        """Stop, and give up the worker thread."""
        self.stop()
        self.hush()
        self._synthesis.close()


OPEN = "open"  # the microphone opens
SOFT = "thinking"  # it tells that nothing is to be heard: whatever sounds ends it
OPENING_S = 5.0  # of real time for the tone of an opening: a speaker may have to wake first
LONGEST_S = 1.5  # of real time that words wait for a sound; a device that is gone ends none
_log = logging.getLogger(__name__)


class Sounds:
    """Plays the sounds of `audio.earcons` in one stream. One that is off is played nowhere."""

    def __init__(self, sink: AudioSink, words: AudioSink, off: Collection[str] = ()) -> None:
        """`words`: where answers go; where that is the same player, all wait for each other."""
        self._sink = sink
        self._apart = words is not sink
        self._off = frozenset(off)
        self._newest = ""
        self._free = asyncio.Lock()  # one sound is handed over after the other

    def is_on(self, name: str) -> bool:
        """Tell whether it is wanted."""
        return name not in self._off

    async def play(self, name: str) -> None:
        """Queue it; it is not waited for. Raises AudioError."""
        if self.is_on(name):
            await self._queue(name)

    async def opening(self) -> bool:
        """Play the tone of a microphone that a program opens: nothing turns it off, and no volume
        makes it silent. Whether it has sounded to its end."""
        try:
            async with asyncio.timeout(OPENING_S):
                await self._queue(OPEN)
                await self._sink.drain()
        except (AudioError, TimeoutError) as error:
            why = str(error) or "it came to no end in time"
            _log.warning("the microphone stays closed, for its tone did not sound: %s", why)
            return False
        return True

    async def _queue(self, name: str) -> None:
        async with self._free:
            self._end_soft()
            self._newest = name
            await self._sink.play(*earcon(name), OPENING if name == OPEN else PLAIN)

    async def make_way(self) -> None:
        """Words are about to sound: the soft sound ends, any other is heard out."""
        self._end_soft()
        await self.ended()

    async def ended(self) -> None:
        """Return when what was queued has been played, in LONGEST_S at the latest."""
        if not self._apart:
            return  # it is played before whatever is given next
        try:
            async with asyncio.timeout(LONGEST_S), self._free:
                if self._sounds:
                    await self._sink.drain()
        except TimeoutError:
            pass  # the device keeps it; the words need not wait for that

    @property
    def _sounds(self) -> bool:
        return self._sink.played_ms < self._sink.accepted_ms

    def _end_soft(self) -> None:
        if self._apart and self._newest == SOFT and self._sounds:
            self._sink.stop()
