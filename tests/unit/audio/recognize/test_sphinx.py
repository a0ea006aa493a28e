"""pocketsphinx by grammar and freely, on speech from flite."""

import math
import shutil

import pytest

from audio.errors import InputUnusable, TookTooLong
from audio.recognize.protocol import (
    DigitRecognizer,
    Grammar,
    GrammarRecognizer,
    PunctualRecognizer,
)
from audio.recognize.sphinx import SphinxLive, SphinxRecognizer
from tests.corpus.speech import say

pytestmark = pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")

JSGF = "#JSGF V1.0; grammar g; public <s> = turn (on | off) the (kitchen | zorblax) [light];"
GRAMMAR = Grammar(JSGF, {"zorblax": ("Z AO R B L AE K S",)})
ROOM = bytes(2 * 4_800)  # 300 ms


@pytest.fixture(scope="module")
def recognizer() -> SphinxRecognizer:
    recognizer = SphinxRecognizer()
    recognizer.prepare(GRAMMAR)
    return recognizer


def sound(text: str) -> bytes:
    return ROOM + say(text, "rms").tobytes() + ROOM


@pytest.mark.parametrize(
    "text", ["turn on the kitchen light", "turn off the kitchen light", "turn on the zorblax"]
)
def test_hears_what_the_grammar_knows(recognizer: SphinxRecognizer, text: str) -> None:
    decoding = recognizer.decode(sound(text))
    assert decoding.text == text
    assert all(word.start < word.end for word in decoding.words)
    assert -4.0 < min(word.fit for word in decoding.words) <= 0.5


def test_other_speech_fits_worse(recognizer: SphinxRecognizer) -> None:
    right = recognizer.decode(sound("turn on the kitchen light")).words
    wrong = recognizer.decode(sound("my brother is coming over")).words
    if wrong:
        assert min(word.fit for word in wrong) < min(word.fit for word in right) - 1.0


def test_free_decoding_knows_other_words(recognizer: SphinxRecognizer) -> None:
    heard = recognizer.decode_freely(sound("is it going to rain tomorrow"))
    assert "rain tomorrow" in heard.text
    assert recognizer.transcribe(sound("is it going to rain tomorrow")) == heard.text


def test_the_same_sound_gives_the_same_result(recognizer: SphinxRecognizer) -> None:
    first = recognizer.decode(sound("turn on the zorblax"))
    recognizer.decode(sound("turn off the kitchen light"))
    again = recognizer.decode(sound("turn on the zorblax"))
    assert again.text == first.text
    assert [word.fit for word in again.words] == pytest.approx(
        [word.fit for word in first.words], abs=0.1
    )


@pytest.mark.parametrize("pcm", [b"", bytes(32_000)])
def test_silence_gives_nothing(recognizer: SphinxRecognizer, pcm: bytes) -> None:
    assert recognizer.decode(pcm).words == ()
    assert recognizer.transcribe(pcm) == ""


def test_a_grammar_can_be_replaced_and_a_bad_one_says_so() -> None:
    recognizer = SphinxRecognizer()
    assert recognizer.decode(sound("turn on the kitchen light")).words == ()
    recognizer.prepare(GRAMMAR)
    recognizer.prepare(Grammar("#JSGF V1.0; grammar g; public <s> = open the garage door;"))
    assert recognizer.decode(sound("open the garage door")).text == "open the garage door"
    with pytest.raises(InputUnusable):
        recognizer.prepare(Grammar("#JSGF V1.0; grammar g; public <s> = qwertzuiop;"))


def test_knows_which_words_it_lacks(recognizer: SphinxRecognizer) -> None:
    assert recognizer.unknown(["kitchen", "snorbit", "snorbit"]) == ["snorbit"]
    assert recognizer.phones("kitchen") == ("K", "IH", "CH", "AH", "N")
    assert recognizer.phones("snorbit") == ()
    assert isinstance(recognizer, GrammarRecognizer)


@pytest.mark.parametrize(
    "text",
    ["four seven two nine", "one, two, three, four", "oh, eight, oh, six", "nine five five one"],
)
def test_digits_are_heard_spoken_in_one_go_or_with_pauses(
    recognizer: SphinxRecognizer, text: str
) -> None:
    assert recognizer.spell(sound(text)) == text.replace(",", "")


@pytest.mark.parametrize(
    "text", ["my brother is coming over", "is it going to rain tomorrow", "turn on the lamp please"]
)
def test_other_speech_is_no_digits(recognizer: SphinxRecognizer, text: str) -> None:
    assert recognizer.spell(sound(text)) == ""


@pytest.mark.parametrize("pcm", [b"", bytes(32_000)])
def test_silence_is_no_digits(recognizer: SphinxRecognizer, pcm: bytes) -> None:
    assert recognizer.spell(pcm) == ""


def test_digits_disturb_neither_commands_nor_free_decoding() -> None:
    alone, both = SphinxRecognizer(), SphinxRecognizer()
    for recognizer in (alone, both):
        recognizer.prepare(GRAMMAR)
    both.spell(sound("four seven two nine"))
    both.spell(sound("my brother is coming over"))
    for text in ("turn off the kitchen light", "turn on the zorblax", "is it going to rain"):
        for first, second in (
            (alone.decode(sound(text)), both.decode(sound(text))),
            (alone.decode_freely(sound(text)), both.decode_freely(sound(text))),
        ):
            assert [(w.text, w.start, w.end) for w in second.words] == [
                (w.text, w.start, w.end) for w in first.words
            ]
            fits = [word.fit for word in first.words]
            assert [word.fit for word in second.words] == pytest.approx(fits, abs=0.1)
    assert both.spell(sound("four seven two nine")) == "four seven two nine"
    both.prepare(Grammar("#JSGF V1.0; grammar g; public <s> = open the garage door;"))
    assert both.decode(sound("open the garage door")).text == "open the garage door"


@pytest.mark.parametrize("in_time", [True, False])
def test_a_secret_is_not_kept(in_time: bool) -> None:
    clock = _Clock(0.0)
    recognizer = SphinxRecognizer(clock)
    pcm = sound("four seven two nine")
    recognizer.spell(ROOM)
    if in_time:
        recognizer.spell(pcm)
    else:
        clock.step_s = 0.1
        # The level has been measured when recognising the digits takes too long.
        recognizer.finish_within(0.1 * (len(pcm) // 3200 + 3))
        with pytest.raises(TookTooLong):
            recognizer.spell(pcm)
    for value in vars(recognizer).values():
        assert value != pcm
        assert not isinstance(value, tuple) or pcm not in value
    assert isinstance(recognizer, DigitRecognizer)


class _Clock:
    """A clock that advances by one step at each reading."""

    def __init__(self, step_s: float) -> None:
        self.step_s = step_s
        self._now = 0.0

    def __call__(self) -> float:
        self._now += self.step_s
        return self._now


@pytest.mark.parametrize("what", ["decode", "decode_freely", "transcribe", "spell"])
def test_what_takes_too_long_is_given_up_and_the_next_sound_is_heard_as_ever(what: str) -> None:
    clock = _Clock(0.0)
    recognizer = SphinxRecognizer(clock)
    recognizer.prepare(GRAMMAR)
    recognizer.decode_freely(ROOM)
    clock.step_s = 0.1
    recognizer.finish_within(2.0)
    pcm = sound("turn on the kitchen light")
    with pytest.raises(TookTooLong):
        getattr(recognizer, what)(pcm)
    recognizer.finish_within(math.inf)
    assert recognizer.decode(pcm).text == "turn on the kitchen light"
    assert isinstance(recognizer, PunctualRecognizer)


# Recognition of a sentence while it is spoken.


LIVE_GRAMMAR = Grammar(
    "#JSGF V1.0;\ngrammar g;\npublic <said> = turn (on | off) the (kitchen | office) (light);"
)


@pytest.fixture(scope="module")
def live() -> SphinxLive:
    recognizer = SphinxLive()
    recognizer.prepare(LIVE_GRAMMAR)
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
    live.prepare(LIVE_GRAMMAR)
    assert follow(live, "turn on the office light")[-1] == "light"
