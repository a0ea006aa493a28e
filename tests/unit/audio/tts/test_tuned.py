"""A voice with its loudness, its memory and its pace."""

import logging
from collections.abc import Iterator

import numpy as np
import pytest

from audio.errors import InputUnusable
from audio.tts import Chunk
from audio.tts.tuned import Leveller, PhraseCache, TunedVoice

RATE = 16_000


class Clock:
    """Time that passes only where it is told to. Seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class WorkingVoice:
    """A second of sound for each word, one chunk a word, in `cost_s`; fails at "broken"."""

    rate = RATE

    def __init__(self, clock: Clock, cost_s: float = 0.1, name: str = "piper:x-medium") -> None:
        self.name = name
        self.said: list[str] = []
        self.closed = 0
        self._clock = clock
        self._cost_s = cost_s

    def speak(self, text: str) -> Iterator[Chunk]:
        self.said.append(text)
        try:
            for word in text.split():
                if word == "broken":
                    raise InputUnusable("The voice failed.")
                self._clock.now += self._cost_s
                tone = np.sin(np.arange(RATE) * 0.3) * 1000
                yield Chunk(tone.astype(np.int16).tobytes(), (RATE,))
        finally:
            self.closed += 1


class Rig:
    def __init__(self, cost_s: float = 0.1, name: str = "piper:x-medium") -> None:
        self.clock = Clock()
        self.inner = WorkingVoice(self.clock, cost_s, name)
        self.cache = PhraseCache()
        self.speed = 1.0
        self.voice = TunedVoice(
            self.inner, Leveller(), self.cache, speed=lambda: self.speed, clock=self.clock
        )


def test_a_phrase_that_was_said_costs_nothing() -> None:
    rig = Rig()
    first = list(rig.voice.speak("Done."))
    assert list(rig.voice.speak("Done.")) == first
    assert rig.inner.said == ["Done."]
    assert rig.clock.now == pytest.approx(0.1)
    assert (rig.voice.name, rig.voice.rate) == ("piper:x-medium", RATE)


def test_words_keep_their_ends_and_sound_its_length() -> None:
    chunks = list(Rig().voice.speak("One two"))
    assert [chunk.ends for chunk in chunks] == [(RATE,), (RATE,)]
    assert [len(chunk.pcm) for chunk in chunks] == [2 * RATE, 2 * RATE]
    assert np.abs(np.frombuffer(chunks[0].pcm, np.int16)).max() > 4000, "it was levelled"


def test_another_speed_is_made_anew() -> None:
    rig = Rig()
    for speed in (1.0, 1.5, 1.0, 1.5):
        rig.speed = speed
        list(rig.voice.speak("Done."))
    assert len(rig.inner.said) == 2


def test_a_phrase_during_which_the_speed_changed_is_not_kept() -> None:
    rig = Rig()
    for _ in rig.voice.speak("Done."):
        rig.speed = 1.5
    list(rig.voice.speak("Done."))
    assert len(rig.inner.said) == 2


def test_what_was_cancelled_is_not_kept() -> None:
    rig = Rig()
    sound = rig.voice.speak("One two")
    next(sound)
    sound.close()  # type: ignore[attr-defined]
    assert rig.inner.closed == 1, "the work was stopped with it"
    assert len(list(rig.voice.speak("One two"))) == 2
    assert rig.inner.said == ["One two"] * 2
    assert rig.voice.factor is not None


def test_what_failed_is_not_kept() -> None:
    rig = Rig()
    for _ in range(2):
        with pytest.raises(InputUnusable):
            list(rig.voice.speak("One broken"))
    assert rig.inner.said == ["One broken"] * 2
    assert rig.cache.bytes == 0
    assert rig.voice.factor is None, "half a clause is no measure"


def test_the_pace_is_of_the_work_alone() -> None:
    rig = Rig(cost_s=0.2)
    for _ in rig.voice.speak("One two three"):
        rig.clock.now += 5.0  # the player takes its time
    assert rig.voice.factor == pytest.approx(0.2)
    list(rig.voice.speak("One two three"))  # from memory
    assert rig.voice.factor == pytest.approx(0.2)
    assert rig.voice.complaint == ""


def test_a_slow_voice_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    rig = Rig(cost_s=0.8, name="piper:en_US-lessac-medium")
    for text in ("One.", "Two.", "Three."):
        list(rig.voice.speak(text))
    assert [record.message for record in caplog.records] == [rig.voice.complaint]
    assert "en_US-lessac-medium takes 0.80 s" in rig.voice.complaint
    assert "en_US-lessac-low" in rig.voice.complaint
