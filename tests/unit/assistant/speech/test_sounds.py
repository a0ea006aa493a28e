"""Which short sounds are played, and that none of them is over words."""

import asyncio

import pytest

from assistant.config.sound import SoundChoice
from assistant.domain.clock import VirtualClock
from assistant.speech import output as sounds
from assistant.speech.output import Sounds, SpeechOutput
from assistant.speech.sink import AudioSink, Manner
from audio.earcons import NAMES, earcon
from audio.errors import DeviceLost
from audio.player import NullPlayer
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
        """Whether words that want to sound still wait when so much time has passed."""
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
    # A loudspeaker that has gone keeps what it was given, perhaps for ever.
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
    assert not await Stage().sounds.opening()  # it keeps what it was given
    reasons = [record.message.rpartition(": ")[2] for record in caplog.records]
    assert reasons == ["it has gone", "it came to no end in time"]
