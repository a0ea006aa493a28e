"""A sentence is followed while it is spoken."""

import shutil

import pytest

from audio.errors import InputUnusable
from audio.recognize.protocol import Grammar
from audio.recognize.sphinx import SphinxLive
from tests.corpus.speech import say

GRAMMAR = Grammar(
    "#JSGF V1.0;\ngrammar g;\npublic <said> = turn (on | off) the (kitchen | office) (light);"
)
pytestmark = pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")


@pytest.fixture(scope="module")
def live() -> SphinxLive:
    recognizer = SphinxLive()
    recognizer.prepare(GRAMMAR)
    return recognizer


def follow(live: SphinxLive, text: str) -> tuple[str, ...]:
    pcm = say(text, "slt").tobytes()
    live.start(pcm[:32_000])
    for at in range(32_000, len(pcm), 3200):
        live.hear(pcm[at : at + 3200])
    words = live.words(len(pcm) // 2)
    live.stop()
    return words


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("turn on the kitchen light", "turn on the kitchen light"),
        ("turn off the office light", "turn off the office light"),
        ("who painted the mona lisa", ""),
    ],
)
def test_sentences(live: SphinxLive, said: str, heard: str) -> None:
    assert " ".join(follow(live, said)) == heard


def test_nothing_was_begun(live: SphinxLive) -> None:
    live.hear(bytes(3200))
    live.stop()
    assert live.words(32_000) == ()


def test_words_that_begin_too_late_are_left_out(live: SphinxLive) -> None:
    pcm = say("turn on the kitchen light", "slt").tobytes()
    live.start(pcm)
    heard = [len(live.words(before)) for before in range(0, len(pcm) // 2 + 1, 1600)]
    live.stop()
    assert heard == sorted(heard)
    assert set(heard) == {0, 1, 2, 3, 4, 5}


def test_without_a_grammar_there_are_no_words() -> None:
    recognizer = SphinxLive()
    recognizer.start(bytes(32_000))
    assert recognizer.words(16_000) == ()


def test_a_grammar_that_cannot_be_built(live: SphinxLive) -> None:
    with pytest.raises(InputUnusable):
        live.prepare(Grammar("#JSGF V1.0;\ngrammar g;\npublic <said> = qzxv;"))
    live.prepare(GRAMMAR)
    assert follow(live, "turn on the office light")[-1] == "light"
