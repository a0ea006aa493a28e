"""Tests of speaking: order, pace, silence, and voices that fail."""

import asyncio
import threading
from collections.abc import Iterator
from typing import get_args

import numpy as np
import pytest

from assistant.domain.clock import VirtualClock
from assistant.speech.output import SpeechOutput
from assistant.speech.sink import PLAIN
from assistant.speech.synthesis import WARM_PHRASE
from audio.errors import DeviceLost, InputUnusable
from audio.player import NullPlayer, OneOutput, Player, StreamName
from audio.tts import Chunk
from tests.unit.audio.speaker_stage import rigged

RATE = 1000  # Hz


def pcm(ms: int, level: int = 1000) -> bytes:
    return np.full(ms, level, np.int16).tobytes()


class FakeVoice:
    """Makes 100 ms of sound per word, one piece a word; it fails at the word in `breaks_at`."""

    rate = RATE

    def __init__(self, language: str, name: str, breaks_at: str) -> None:
        self._breaks_at = breaks_at
        self.name = f"{name}:{language}"
        self.said: list[str] = []
        self.threads: set[int] = set()
        self.open = 0  # iterators not yet closed
        self.begun = threading.Event()
        self.gate = threading.Event()  # cleared to hold the voice back
        self.gate.set()

    def speak(self, text: str) -> Iterator[Chunk]:
        self.said.append(text)
        self.begun.set()
        self.open += 1
        try:
            for word in text.split():
                self.threads.add(threading.get_ident())
                assert self.gate.wait(10)
                if word == self._breaks_at:
                    raise InputUnusable(f"The voice {self.name} failed.")
                yield Chunk(pcm(100))
        finally:
            self.open -= 1


class Recorder(NullPlayer):
    """A player that records its input."""

    def __init__(self, clock: VirtualClock | None = None, lost_after: int = 1000) -> None:
        super().__init__(paced=clock is not None, clock=clock)
        self.sound = bytearray()
        self.stops = 0
        self._left = lost_after

    async def play(self, pcm: bytes, rate: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise DeviceLost("The loudspeaker has gone.")
        await super().play(pcm, rate)
        self.sound += pcm

    def stop(self) -> None:
        self.stops += 1
        super().stop()


class Voices:
    """A factory of one fake voice per language."""

    def __init__(self, name: str = "fake", breaks_at: str = "broken") -> None:
        self.made: dict[str, FakeVoice] = {}
        self._name = name
        self._breaks_at = breaks_at

    def __call__(self, language: str) -> FakeVoice:
        assert language not in self.made
        self.made[language] = FakeVoice(language, self._name, self._breaks_at)
        return self.made[language]


async def settle(mouth: SpeechOutput, clock: VirtualClock, seconds: float = 0.0) -> None:
    """Let the worker thread finish its work while virtual time passes in small steps."""
    loop = asyncio.get_running_loop()
    for _ in range(max(1, round(seconds / 0.05))):
        for _ in range(20):  # one piece each
            await loop.run_in_executor(mouth._synthesis._worker, int)
        await clock.run(0.05)


async def test_an_answer_is_spoken_in_order_and_ends_with_its_sound() -> None:
    voices, player = Voices(), Recorder()
    mouth = SpeechOutput(voices, player)
    marks: list[float] = []
    async with mouth.answer(lambda: marks.append(player.played_ms)) as answer:
        answer.say("**One** 5 W", "en")
        answer.say("🔒", "en")  # nothing to say
        answer.say("dos y 5 W", "es")
        spoken = await answer.finish()
    assert spoken.clauses == ("One five watts", "dos y cinco vatios")
    assert spoken.audio_ms == pytest.approx(700)
    assert answer.spoken == spoken
    assert not answer.stopped
    assert voices.made["en"].said == ["One five watts"]
    assert voices.made["es"].said == ["dos y cinco vatios"]
    threads = voices.made["en"].threads | voices.made["es"].threads
    assert len(threads) == 1
    assert threading.get_ident() not in threads
    assert marks == [pytest.approx(100)]
    mouth.close()


async def test_a_voice_is_made_once_and_can_be_made_before() -> None:
    voices, player = Voices(), Recorder()
    mouth = SpeechOutput(voices, player)
    await mouth.warm(["en", "es"])
    assert sorted(voices.made) == ["en", "es"]
    assert player.played_ms == 0
    assert [voice.said.pop() for voice in voices.made.values()] == [WARM_PHRASE] * 2
    assert all(voice.open == 0 for voice in voices.made.values())
    for _ in range(2):
        assert (await mouth.speak("One two. Three.", "en")).clauses == ("One two.", "Three.")
    assert voices.made["en"].said == ["One two.", "Three."] * 2
    mouth.close()


async def test_finish_returns_at_the_end_of_playback_and_sound_is_made_ahead() -> None:
    clock = VirtualClock()
    voices, player = Voices(), Recorder(clock)
    mouth = SpeechOutput(voices, player)
    async with mouth.answer() as answer:
        answer.say("one two three four five", "en")
        answer.say("six seven eight nine ten", "en")
        finished = asyncio.create_task(answer.finish())
        await settle(mouth, clock, 0.3)
        assert len(voices.made["en"].said) == 2  # while the first is still playing
        await settle(mouth, clock, 0.6)
        assert not finished.done()
        await settle(mouth, clock, 0.3)
        assert finished.done()
    assert answer.spoken.audio_ms == pytest.approx(1000)
    mouth.close()


async def test_stop_is_silence_at_once_and_tells_what_was_begun() -> None:
    clock = VirtualClock()
    voices, player = Voices(), Recorder(clock)
    mouth = SpeechOutput(voices, player)
    async with mouth.answer() as answer:
        for clause in ("one two three", "four five six", "seven eight nine"):
            answer.say(clause, "en")
        await settle(mouth, clock, 0.4)
        before = player.played_ms
        mouth.stop()
        spoken = await answer.finish()
        answer.say("ten", "en")
    await settle(mouth, clock, 2.0)
    assert spoken.clauses == ("one two three", "four five six")
    assert spoken.audio_ms == pytest.approx(before) == player.played_ms
    assert answer.stopped
    assert "ten" not in voices.made["en"].said
    assert voices.made["en"].open == 0
    again = asyncio.create_task(mouth.speak("eleven", "en"))
    await settle(mouth, clock, 0.4)
    assert (await again).clauses == ("eleven",)
    mouth.close()


async def test_cancelling_the_turn_stops_the_sound() -> None:
    clock = VirtualClock()
    player = Recorder(clock)
    mouth = SpeechOutput(Voices(), player)
    turn = asyncio.create_task(mouth.speak("one two three four five", "en"))
    await settle(mouth, clock, 0.2)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    at = player.played_ms
    await settle(mouth, clock, 1.0)
    assert player.played_ms == at < 500
    mouth.close()


async def test_an_error_in_the_block_comes_out_bare() -> None:
    mouth = SpeechOutput(Voices(), Recorder())

    async def turn() -> None:
        async with mouth.answer() as answer:
            answer.say("one", "en")
            raise KeyError

    with pytest.raises(KeyError):
        await turn()
    assert (await mouth.speak("two", "en")).clauses == ("two",)
    mouth.close()


async def test_an_answer_waits_until_the_one_before_is_cleared_away() -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(Voices(), Recorder(clock))
    first = asyncio.create_task(mouth.speak("one two three", "en"))
    await settle(mouth, clock, 0.2)
    mouth.stop()
    first.cancel()
    second = asyncio.create_task(mouth.speak("four", "en"))
    await settle(mouth, clock, 0.2)
    assert (await second).clauses == ("four",)
    assert first.cancelled()
    mouth.close()


async def test_a_lost_loudspeaker_is_told() -> None:
    mouth = SpeechOutput(Voices(), Recorder(lost_after=2))
    with pytest.raises(DeviceLost):
        await mouth.speak("one two three four", "en")
    mouth.close()


async def test_volume_acts_on_words_and_sounds() -> None:
    player = Recorder()
    mouth = SpeechOutput(Voices(), player, volume=0.5)
    await mouth.speak("one", "en")
    assert set(np.frombuffer(bytes(player.sound), np.int16)) == {500}
    mouth.volume = 0.25
    player.sound.clear()
    await mouth.sound("wake")
    quiet = np.abs(np.frombuffer(bytes(player.sound), np.int16)).max()
    assert quiet == pytest.approx(0.25 * 32767 * 10 ** (-12 / 20), rel=0.01)
    mouth.close()


async def test_a_short_sound_before_the_answer_is_not_counted_as_its_audio() -> None:
    clock = VirtualClock()
    player = Recorder(clock)
    mouth = SpeechOutput(Voices(), player)
    await mouth.sound("wake")
    speaking = asyncio.create_task(mouth.speak("one two", "en"))
    await settle(mouth, clock, 0.6)
    assert (await speaking).audio_ms == pytest.approx(200)
    mouth.close()


class Streams:
    """A loudspeaker with a recorder for each stream."""

    def __init__(self) -> None:
        self.recorders: dict[StreamName, Recorder] = {
            name: Recorder() for name in get_args(StreamName)
        }
        self.ducks: list[bool] = []

    def stream(self, name: StreamName) -> Player:
        return self.recorders[name]

    def duck(self, on: bool) -> None:
        self.ducks.append(on)

    async def close(self) -> None:
        raise AssertionError("the outputs are not the mouth's to close")

    def heard(self) -> set[StreamName]:
        """Return the streams that have played something since the last call."""
        heard = {name for name, recorder in self.recorders.items() if recorder.sound}
        for recorder in self.recorders.values():
            recorder.sound.clear()
        return heard

    def stopped(self) -> set[StreamName]:
        """Return the streams that have been silenced since the last call."""
        stopped = {name for name, recorder in self.recorders.items() if recorder.stops}
        for recorder in self.recorders.values():
            recorder.stops = 0
        return stopped


async def test_everything_has_a_stream_of_its_own() -> None:
    outputs = Streams()
    mouth = SpeechOutput(Voices(), outputs, volume=0.5)
    await mouth.speak("one", "en")
    assert outputs.heard() == {"voice"}
    async with mouth.answer(announced=PLAIN) as answer:
        answer.say("two", "en")
    assert answer.spoken.audio_ms == pytest.approx(100)
    assert outputs.heard() == {"announcements"}
    await mouth.sound("wake")
    assert outputs.heard() == {"sounds"}
    mouth.volume = 0.25
    await mouth.ring("timer")
    ringing = np.frombuffer(bytes(outputs.recorders["ringing"].sound), np.int16)
    assert np.abs(ringing).max() == pytest.approx(0.25 * 32767 * 10 ** (-9 / 20), rel=0.01)
    assert outputs.heard() == {"ringing"}
    outputs.stopped()
    mouth.hush()
    assert outputs.stopped() == {"ringing"}
    mouth.stop()
    assert outputs.stopped() == {"voice", "announcements", "sounds"}
    mouth.close()
    assert outputs.stopped() == {"voice", "announcements", "sounds", "ringing"}


async def test_words_are_ducked_by_the_outputs() -> None:
    outputs = Streams()
    mouth = SpeechOutput(Voices(), outputs)
    mouth.duck(True)
    mouth.duck(False)
    assert outputs.ducks == [True, False]
    mouth.close()
    alone = SpeechOutput(Voices(), OneOutput(Recorder()))
    alone.duck(True)  # a file cannot mix two streams
    alone.close()


async def test_closing_while_a_piece_is_being_made() -> None:
    voices = Voices()
    mouth = SpeechOutput(voices, Recorder())
    await mouth.warm(["en"])
    voice = voices.made["en"]
    voice.begun.clear()
    voice.gate.clear()
    async with mouth.answer() as answer:
        answer.say("one two", "en")
        assert await asyncio.to_thread(voice.begun.wait, 10)
        mouth.close()
        assert (await answer.finish()).clauses == ()
        voice.gate.set()


async def test_it_knows_whether_it_can_be_heard() -> None:
    async with rigged() as rig:
        mouth = SpeechOutput(Voices(), rig.speaker)
        await mouth.audible()
        rig.trouble = InputUnusable("There is no loudspeaker.")
        with pytest.raises(InputUnusable):
            await mouth.sound("wake")
        assert mouth.drops == 1
        waiting = asyncio.create_task(mouth.audible())
        await rig.pass_time(1.0)
        assert not waiting.done()
        rig.trouble = None
        await rig.pass_time(5.0)
        assert waiting.done()
        mouth.close()
    alone = SpeechOutput(Voices(), OneOutput(Recorder()))
    await alone.audible()  # a file is always available
    assert alone.drops == 0
    alone.close()
