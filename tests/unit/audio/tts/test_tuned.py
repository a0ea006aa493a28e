"""A voice with its loudness, its cache and its speed."""

import logging
from collections.abc import Iterator

import numpy as np
import pytest

from audio.errors import InputUnusable
from audio.tts import Chunk
from audio.tts.tuned import Leveller, Phrase, PhraseCache, TunedVoice

RATE = 16_000


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class WorkingVoice:
    """A voice with one chunk of one second for each word, made in `cost_s`; fails at "broken"."""

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
    list(rig.voice.speak("One two three"))  # from the cache
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


# Cached phrases: which, and for how long.


def phrase(text: str, speed: float = 1.0, speaker: str = "", voice: str = "v") -> Phrase:
    return Phrase(voice, speaker, speed, text)


def sound(size: int) -> tuple[Chunk, ...]:
    return (Chunk(bytes(size // 2), (1,)), Chunk(bytes(size - size // 2)))


def test_a_phrase_comes_back_whole() -> None:
    cache = PhraseCache()
    cache.put(phrase("Done."), sound(100))
    assert cache.get(phrase("Done.")) == sound(100)
    assert cache.bytes == 100


@pytest.mark.parametrize(
    "other",
    [
        phrase("Done"),
        phrase("Done.", speed=1.1),
        phrase("Done.", speaker="1"),
        phrase("Done.", voice="w"),
    ],
)
def test_another_voice_speaker_speed_or_text_is_another_phrase(other: Phrase) -> None:
    cache = PhraseCache()
    cache.put(phrase("Done."), sound(100))
    assert cache.get(other) is None


def test_what_was_used_longest_ago_goes() -> None:
    cache = PhraseCache(most_bytes=300)
    for text in "abc":
        cache.put(phrase(text), sound(100))
    assert cache.get(phrase("a"))
    cache.put(phrase("d"), sound(150))
    kept = [text for text in "abcd" if cache.get(phrase(text))]
    assert kept == ["a", "d"]
    assert cache.bytes == 250


@pytest.mark.parametrize(("text", "size"), [("too long for it", 100), ("big", 301), ("silent", 0)])
def test_what_is_too_long_too_big_or_nothing_is_not_kept(text: str, size: int) -> None:
    cache = PhraseCache(most_bytes=300, longest=10)
    cache.put(phrase("a"), sound(100))
    cache.put(phrase(text), sound(size) if size else ())
    assert cache.get(phrase(text)) is None
    assert cache.get(phrase("a"))
    assert cache.bytes == 100


def test_a_phrase_counts_once() -> None:
    cache = PhraseCache(most_bytes=300)
    for size in (100, 200, 150):
        cache.put(phrase("a"), sound(size))
    assert cache.bytes == 150
