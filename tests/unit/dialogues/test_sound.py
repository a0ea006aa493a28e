"""Tests of the positions of words in a recording, and of the words in a part of it."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.dialogues.script import read
from tests.dialogues.sound import Place, Recording, cut, noise, record

RATE = 16_000
PLACE = Place("turn on the light", RATE, 3 * RATE, True)  # half a second each
OTHER = Place("who is there", 4 * RATE, 5 * RATE, False)


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        (0, 4 * RATE, "turn on the light"),
        (RATE, 3 * RATE, "turn on the light"),
        (RATE + 200, 3 * RATE - 200, "turn on the light"),  # softly begun and ended
        (RATE + RATE // 4, 4 * RATE, "on the light"),
        (0, 2 * RATE, "turn on"),
        (0, RATE, ""),
    ],
)
def test_of_what_is_cut_whole_words_are_left(start: int, end: int, words: str) -> None:
    assert cut(PLACE, start, end) == words


def test_others_are_heard_too() -> None:
    recording = Recording(b"", (PLACE, OTHER))
    assert recording.words_in(0, 6 * RATE) == ["turn on the light"]
    assert recording.words_in(0, 6 * RATE, wanted_only=False) == [PLACE.words, OTHER.words]
    assert recording.words_in(0, 2 * RATE) == ["turn on"]


@pytest.mark.parametrize("kind", ["white", "pink", "hum"])
def test_noise_is_as_loud_as_told(kind: str) -> None:
    added = noise(f"{kind} 20", RATE, 1_000.0, 1) - noise("", RATE, 1_000.0, 1)
    assert np.sqrt(np.mean(added**2)) == pytest.approx(100.0, rel=0.01)


def test_no_noise_of_an_unknown_kind() -> None:
    with pytest.raises(ValueError, match="violet"):
        noise("violet 10", RATE, 1.0, 1)


@pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")
def test_a_recording_has_every_utterance_at_its_place() -> None:
    day = {one.name: one for one in read("en")}
    dialogue = day["front door, yes"]
    [recording] = record(dialogue, 0)
    sound = np.abs(np.frombuffer(recording.pcm, np.int16).astype(np.int32))
    assert [place.words for place in recording.places] == ["unlock the front door", "yes please"]
    for place in recording.places:
        assert sound[place.start : place.end].max() > 3_000
    first, second = recording.places
    assert sound[first.end + 800 : second.start - 800].max() < 300
    assert record(dialogue, 0)[0] == recording, "the same each time"
    loud = replace(dialogue, room="white 0")
    assert record(loud, 0)[0].pcm != recording.pcm
