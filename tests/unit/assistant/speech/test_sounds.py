"""Tests of which short sounds are played, and that none sounds over words."""

import asyncio
import math
from collections.abc import AsyncIterator, Iterator
from typing import get_args

import numpy as np
import pytest

from assistant.config.sound import SoundChoice
from assistant.domain.clock import VirtualClock
from assistant.speech import output as sounds
from assistant.speech.output import Sounds, SpeechOutput
from assistant.speech.sink import PLAIN, AudioSink, Manner
from audio.earcons import NAMES, earcon
from audio.errors import DeviceLost
from audio.player import NullPlayer, OneOutput, Outputs, Player, StreamName
from audio.tts import Chunk
from tests.unit.assistant.speech.test_mouth import Streams, Voices


def length_ms(name: str) -> float:
    pcm, rate = earcon(name)
    return len(pcm) / 2 / rate * 1000


def as_it_is(manner: Manner) -> float:
    return 1.0


class Stage:
    """Two streams on one virtual clock."""

    def __init__(self, off: frozenset[str] = frozenset()) -> None:
        self.clock = VirtualClock()
        self.player = NullPlayer(paced=True, clock=self.clock)
        words = AudioSink(NullPlayer(paced=True, clock=self.clock), as_it_is)
        self.sounds = Sounds(AudioSink(self.player, as_it_is), words, off)

    async def waits(self, seconds: float) -> bool:
        """Return whether words still wait after this time."""
        waiting = asyncio.create_task(self.sounds.make_way())
        await self.clock.run(seconds)
        await self.clock.settle()
        done = waiting.done()
        await self.clock.run(1.0)
        await waiting
        return not done


@pytest.mark.parametrize("name", [name for name in NAMES if name != "thinking"])
async def test_words_wait_for_the_end_of_a_sound(name: str) -> None:
    stage = Stage()
    await stage.sounds.play(name)
    assert await stage.waits(length_ms(name) / 1000 - 0.02)
    assert stage.player.played_ms == pytest.approx(length_ms(name))


async def test_the_soft_sound_ends_when_words_begin() -> None:
    stage = Stage()
    await stage.sounds.play("thinking")
    await stage.clock.run(0.05)
    assert not await stage.waits(0.0)
    assert stage.player.played_ms == pytest.approx(50)


async def test_the_soft_sound_ends_when_another_begins() -> None:
    stage = Stage()
    await stage.sounds.play("thinking")
    await stage.clock.run(0.05)
    await stage.sounds.play("done")
    await stage.clock.run(1.0)
    assert stage.player.played_ms == pytest.approx(50 + length_ms("done"))


async def test_words_wait_for_nothing_where_nothing_sounds() -> None:
    stage = Stage()
    assert not await stage.waits(0.0)
    await stage.sounds.play("wake")
    await stage.clock.run(1.0)
    assert not await stage.waits(0.0)


async def test_words_wait_no_longer_than_a_sound_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    # A loudspeaker that is gone keeps its input, perhaps forever.
    monkeypatch.setattr(sounds, "LONGEST_S", 0.01)
    stage = Stage()
    await stage.sounds.play("wake")
    async with asyncio.timeout(10):
        await stage.sounds.make_way()
    assert stage.player.played_ms == 0


async def test_in_a_file_all_comes_one_after_the_other() -> None:
    output = AudioSink(NullPlayer(paced=True, clock=VirtualClock()), as_it_is)
    one = Sounds(output, output)
    await one.play("thinking")
    async with asyncio.timeout(10):
        await one.make_way()
    await one.play("done")
    assert output.accepted_ms == pytest.approx(length_ms("thinking") + length_ms("done"))


@pytest.mark.parametrize("name", NAMES)
async def test_each_can_be_off(name: str) -> None:
    key = "muted" if name in ("mute", "unmute") else name
    off = SoundChoice.model_validate({key: False, **({"end": True} if key != "end" else {})}).off
    assert off == ({"mute", "unmute"} if key == "muted" else {name})
    outputs = Streams()
    mouth = SpeechOutput(Voices(), outputs, off=off)
    for each in NAMES:
        await mouth.sound(each)
        assert mouth.has_sound(each) is (each not in off)
        assert outputs.heard() == (set() if each in off else {"sounds"})
        await mouth.ring(each)
        assert outputs.heard() == (set() if each in off else {"ringing"})
    mouth.close()


def test_by_default_all_are_on_but_the_end_of_listening() -> None:
    assert SoundChoice().off == {"end"}


def test_every_key_is_a_sound() -> None:
    everything = dict.fromkeys(SoundChoice.model_fields, False)
    assert SoundChoice.model_validate(everything).off == set(NAMES)


async def test_the_tone_of_an_opening_is_heard_to_its_end_whatever_is_off() -> None:
    stage = Stage(off=frozenset(NAMES))
    telling = asyncio.create_task(stage.sounds.opening())
    await stage.clock.run(length_ms("open") / 1000 - 0.02)
    await stage.clock.settle()
    assert not telling.done()
    await stage.clock.run(0.05)
    assert await telling
    assert stage.player.played_ms == pytest.approx(length_ms("open"))


async def test_one_that_nobody_can_hear_is_told_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Gone(NullPlayer):
        async def play(self, pcm: bytes, rate: int) -> None:
            raise DeviceLost("it has gone")

    output = AudioSink(Gone(paced=False), as_it_is)
    assert not await Sounds(output, output).opening()
    monkeypatch.setattr(sounds, "OPENING_S", 0.01)
    assert not await Stage().sounds.opening()  # the loudspeaker keeps its audio
    reasons = [record.message.rpartition(": ")[2] for record in caplog.records]
    assert reasons == ["it has gone", "it did not end in time"]


# Volume of words and tones: their own, an announcement's, and that of quiet hours.


RATE = 1_000  # Hz
FULL = 10_000  # amplitude of every sample of the voice
PIECE = 200  # samples in each piece given to the player


class Steady:
    """A voice of constant loudness that gives the player one piece per word."""

    name = "steady"
    rate = RATE

    def speak(self, text: str) -> Iterator[Chunk]:
        for _ in text.split():
            yield Chunk(np.full(PIECE, FULL, np.int16).tobytes())


class Pieces(NullPlayer):
    """Records the peak of every piece."""

    def __init__(self) -> None:
        super().__init__(paced=False)
        self.peaks: list[int] = []

    async def play(self, pcm: bytes, rate: int) -> None:
        await super().play(pcm, rate)
        self.peaks.append(int(np.abs(np.frombuffer(pcm, np.int16)).max()))


class Players:
    """A loudspeaker with a player for each stream."""

    def __init__(self) -> None:
        self.players: dict[StreamName, Pieces] = {name: Pieces() for name in get_args(StreamName)}

    def stream(self, name: StreamName) -> Player:
        return self.players[name]

    def duck(self, on: bool) -> None:
        raise AssertionError("nobody talks over it")

    async def close(self) -> None:
        raise AssertionError("the outputs are not the mouth's to close")


class Speaking:
    """A speech output, its sound, and the limit of the hour."""

    def __init__(self, outputs: Outputs | Player, volume: float = 0.8) -> None:
        self.mouth = SpeechOutput(lambda language: Steady(), outputs, volume)
        self.asked = 0
        self.limits: list[float] = [math.inf]  # one for each request; the last one stays
        self.mouth.limit(self.limit)

    def limit(self) -> float:
        self.asked += 1
        return self.limits.pop(0) if len(self.limits) > 1 else self.limits[0]

    async def say(self, text: str, announced: Manner | None = None) -> None:
        async with self.mouth.answer(announced=announced) as answer:
            answer.say(text, "en")
            await answer.finish()


@pytest.fixture
def streams() -> Players:
    return Players()


@pytest.fixture
async def stage(streams: Players) -> AsyncIterator[Speaking]:
    stage = Speaking(streams)
    yield stage
    stage.mouth.close()


@pytest.mark.parametrize(
    ("manner", "limit", "heard"),
    [
        (PLAIN, math.inf, 0.8),
        (Manner(volume=0.5), math.inf, 0.5),
        (Manner(volume=1.0), math.inf, 1.0),
        (Manner(volume=0.0), math.inf, 0.0),
        (PLAIN, 0.3, 0.3),
        (Manner(volume=1.0), 0.3, 0.3),
        (Manner(volume=0.1), 0.3, 0.1),
        (PLAIN, 0.0, 0.0),
        (Manner(alarm=True), 0.3, 0.8),
        (Manner(volume=1.0, alarm=True), 0.3, 1.0),
    ],
)
async def test_an_announcement_has_its_own_volume_and_the_hour_its_limit(
    stage: Speaking, streams: Players, manner: Manner, limit: float, heard: float
) -> None:
    stage.limits = [limit]
    await stage.say("one two", manner)
    assert streams.players["announcements"].peaks == [pytest.approx(heard * FULL)] * 2
    assert streams.players["voice"].peaks == []


async def test_after_it_everything_is_as_loud_as_before(stage: Speaking, streams: Players) -> None:
    await stage.say("one", Manner(volume=0.2))
    await stage.say("two", PLAIN)
    await stage.say("three")
    assert streams.players["announcements"].peaks == [0.2 * FULL, 0.8 * FULL]
    assert streams.players["voice"].peaks == [0.8 * FULL]


async def test_after_one_that_was_stopped_too(stage: Speaking, streams: Players) -> None:
    async with stage.mouth.answer(announced=Manner(volume=0.2, alarm=True)) as answer:
        answer.say("one", "en")
        while not streams.players["announcements"].peaks:
            await asyncio.to_thread(int)  # the voice runs in a thread
        stage.mouth.stop()
    stage.limits = [0.5]
    await stage.say("two", PLAIN)
    assert streams.players["announcements"].peaks == [0.2 * FULL, 0.5 * FULL]


async def test_a_volume_that_is_changed_meanwhile_is_not_the_announcements(
    stage: Speaking, streams: Players
) -> None:
    async with stage.mouth.answer(announced=Manner(volume=0.2)) as answer:
        stage.mouth.volume = 0.6
        answer.say("one", "en")
        await answer.finish()
    await stage.say("two", PLAIN)
    assert streams.players["announcements"].peaks == [0.2 * FULL, 0.6 * FULL]


async def test_an_hour_that_begins_or_ends_in_the_middle_of_an_answer_counts_at_once(
    stage: Speaking, streams: Players
) -> None:
    stage.limits = [math.inf, math.inf, 0.3, 0.3, math.inf]
    await stage.say("one two three four five")
    assert streams.players["voice"].peaks == [
        pytest.approx(volume * FULL) for volume in (0.8, 0.8, 0.3, 0.3, 0.8)
    ]
    assert stage.asked == 5, "with each piece"


async def test_tones_are_capped_and_what_rings_is_not(stage: Speaking, streams: Players) -> None:
    stage.limits = [0.1]
    await stage.mouth.sound("wake")
    await stage.mouth.ring("timer")
    wake, timer = (
        int(np.abs(np.frombuffer(earcon(name)[0], np.int16)).max()) for name in ("wake", "timer")
    )
    assert streams.players["sounds"].peaks == [pytest.approx(0.1 * wake, abs=1)]
    assert streams.players["ringing"].peaks == [pytest.approx(0.8 * timer, abs=1)]


async def test_what_rings_is_as_loud_as_ever_where_one_player_takes_all() -> None:
    player = Pieces()
    stage = Speaking(OneOutput(player))
    stage.limits = [0.1]
    await stage.mouth.ring("timer")
    await stage.say("one", PLAIN)
    timer = int(np.abs(np.frombuffer(earcon("timer")[0], np.int16)).max())
    assert player.peaks == [pytest.approx(0.8 * timer, abs=1), pytest.approx(0.1 * FULL)]
    stage.mouth.close()


async def test_a_tone_after_an_announcement_is_as_loud_as_before_on_that_player_too() -> None:
    player = Pieces()
    stage = Speaking(OneOutput(player))
    await stage.say("one", Manner(volume=0.2, alarm=True))
    await stage.mouth.sound("wake")
    wake = int(np.abs(np.frombuffer(earcon("wake")[0], np.int16)).max())
    assert player.peaks == [pytest.approx(0.2 * FULL), pytest.approx(0.8 * wake, abs=1)]
    stage.mouth.close()


async def test_without_a_limit_only_the_volume_counts(streams: Players) -> None:
    mouth = SpeechOutput(lambda language: Steady(), streams, 0.8)
    await mouth.speak("one", "en")
    assert streams.players["voice"].peaks == [0.8 * FULL]
    mouth.close()


@pytest.mark.parametrize(("volume", "peak"), [(1.5, 15_000), (2.0, 20_000)])
async def test_it_can_be_louder_than_its_own_loudness(
    streams: Players, volume: float, peak: int
) -> None:
    stage = Speaking(streams, volume)
    await stage.say("one")
    assert streams.players["voice"].peaks == [peak]
    stage.mouth.close()


async def test_what_would_be_too_loud_is_bent_and_not_cut_off(streams: Players) -> None:
    stage = Speaking(streams, 5.0)  # louder than full scale
    await stage.say("one")
    assert 0.9 * 32_767 < streams.players["voice"].peaks[0] < 32_767
    stage.mouth.close()


@pytest.mark.parametrize(
    ("volume", "limit", "heard"),
    [(1.0, math.inf, 1.0), (0.1, math.inf, 0.25), (0.0, math.inf, 0.25), (1.0, 0.0, 0.25)],
)
async def test_no_volume_makes_an_opening_silent(
    streams: Players, volume: float, limit: float, heard: float
) -> None:
    stage = Speaking(streams, volume)
    stage.limits = [limit]
    assert await stage.mouth.tell_opening()
    await stage.mouth.sound("open")
    peak = int(np.abs(np.frombuffer(earcon("open")[0], np.int16)).max())
    assert streams.players["sounds"].peaks == [pytest.approx(heard * peak, abs=2)] * 2
    await stage.mouth.sound("wake")
    wake = int(np.abs(np.frombuffer(earcon("wake")[0], np.int16)).max())
    assert streams.players["sounds"].peaks[2] == pytest.approx(min(volume, limit) * wake, abs=2)
    stage.mouth.close()


async def test_an_opening_that_is_cut_off_does_not_count_as_heard() -> None:
    mouth = SpeechOutput(lambda language: Steady(), NullPlayer(paced=True))
    telling = asyncio.create_task(mouth.tell_opening())
    await asyncio.sleep(0.02)
    mouth.stop()
    assert await telling is False
    assert await mouth.tell_opening()
    mouth.close()
