"""Phrases that are kept: which, and for how long."""

import pytest

from audio.tts import Chunk
from audio.tts.tuned import Phrase, PhraseCache


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
