"""What was heard of an answer, word by word, wherever it was cut off."""

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest

from assistant.domain.clock import VirtualClock
from assistant.speech.answer import Answer, SpokenAnswer
from assistant.speech.output import SpeechOutput
from audio.errors import DeviceLost
from audio.tts import Chunk
from tests.unit.assistant.speech.test_mouth import RATE, Recorder, Voices, pcm, settle

NATIVE = 24_000  # Hz


def native(ms: int) -> bytes:
    return np.full(NATIVE * ms // 1000, 2000, np.int16).tobytes()


class TellingVoice:
    """100 ms for each word and as much silence after it; it tells where words end."""

    name = "telling"
    rate = RATE

    def speak(self, text: str) -> Iterator[Chunk]:
        for _ in text.split():
            yield Chunk(pcm(100) + pcm(100, 0), (100,))


class EndlessVoice:
    """It never comes to the end of a clause."""

    name = "endless"
    rate = RATE

    def speak(self, text: str) -> Iterator[Chunk]:
        while True:
            yield Chunk(pcm(500))


@pytest.mark.parametrize(
    ("stop_after_s", "heard"),
    [
        (0.05, ""),
        (0.10, "One"),
        (0.25, "One"),
        (0.35, "One two."),
        (0.45, "One two."),
        (0.55, "One two. Three"),
        (0.95, "One two. Three four five."),
    ],
)
async def test_a_voice_that_tells_its_words_is_cut_to_the_word(
    stop_after_s: float, heard: str
) -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(lambda _: TellingVoice(), Recorder(clock))
    async with mouth.answer() as answer:
        await answer.say("One two.", "en")
        await answer.say("Three four five.", "en")
        await settle(mouth, clock, stop_after_s)
        assert answer.spoken.heard == heard  # while it is being said, too
        mouth.stop()
        spoken = await answer.finish()
    assert spoken.heard == heard
    assert spoken.clauses == ("One two.", "Three four five.")[: 1 + (stop_after_s > 0.41)]
    mouth.close()


async def test_what_was_said_to_its_end_was_heard_whole() -> None:
    mouth = SpeechOutput(lambda _: TellingVoice(), Recorder())
    spoken = await mouth.speak("One two. Three.", "en")
    assert (spoken.clauses, spoken.heard) == (("One two.", "Three."), None)
    mouth.close()


async def test_a_stop_in_the_silence_behind_the_last_word_cuts_nothing() -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(lambda _: TellingVoice(), Recorder(clock))
    async with mouth.answer() as answer:
        await answer.say("One two.", "en")
        finishing = asyncio.create_task(answer.finish())
        await settle(mouth, clock, 0.35)
        mouth.stop()
        spoken = await finishing
    assert (spoken.clauses, spoken.heard) == (("One two.",), None)
    mouth.close()


async def test_a_voice_that_does_not_is_estimated() -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(Voices(), Recorder(clock))  # 100 ms a word
    async with mouth.answer() as answer:
        await answer.say("aaaa bbbb cccc dddd.", "en")
        await answer.say("eeee ffff.", "en")
        await settle(mouth, clock, 0.25)
        assert answer.spoken.heard == "aaaa bbbb"
        await settle(mouth, clock, 0.30)
        mouth.stop()
        spoken = await answer.finish()
    assert spoken.heard == "aaaa bbbb cccc dddd. eeee"
    mouth.close()


async def test_a_clause_that_is_still_being_made_is_estimated_by_the_usual_pace() -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(lambda _: EndlessVoice(), Recorder(clock))
    async with mouth.answer() as answer:
        await answer.say("Washing machines never end.", "en")
        await settle(mouth, clock, 1.2)
        mouth.stop()
        spoken = await answer.finish()
    assert spoken.heard == "Washing machines"  # 17 letters at 62 ms
    mouth.close()


@pytest.mark.parametrize(
    ("stop_after_s", "heard"),
    [
        (0.20, ""),
        (0.30, "aaaa"),
        (0.55, "aaaa bbbb."),
        (0.80, "aaaa bbbb. cccc"),
        (1.10, "aaaa bbbb. cccc dddd."),
        (1.25, "aaaa bbbb. cccc dddd. Ours too"),
    ],
)
async def test_the_brains_own_voice_is_estimated_by_its_transcript(
    stop_after_s: float, heard: str
) -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(Voices(), Recorder(clock))
    async with mouth.answer() as answer:
        await answer.sound(native(300), NATIVE)
        await answer.sound(native(200), NATIVE)
        await answer.transcript("aaaa bbbb.")
        await answer.sound(native(500), NATIVE)
        await answer.transcript("cccc dddd.")
        await answer.say("Ours too now.", "en")
        await settle(mouth, clock, stop_after_s)
        mouth.stop()
        spoken = await answer.finish()
    assert spoken.heard == heard
    mouth.close()


async def test_a_transcript_before_its_sound_or_two_after_it_are_as_good() -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(Voices(), Recorder(clock))
    async with mouth.answer() as answer:
        await answer.transcript("aa")
        await answer.transcript("bb")
        await answer.sound(native(400), NATIVE)
        await answer.transcript("cc")  # closes them
        await answer.sound(native(400), NATIVE)
        await answer.transcript("dd")
        await answer.transcript("ee")
        await settle(mouth, clock, 0.65)
        mouth.stop()
        spoken = await answer.finish()
    assert spoken.heard == "aa bb cc dd"
    mouth.close()


async def test_a_tone_between_clauses_is_no_word() -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(lambda _: TellingVoice(), Recorder(clock))
    async with mouth.answer() as answer:
        await answer.sound(native(500), NATIVE)
        await answer.say("One two.", "en")
        await settle(mouth, clock, 0.65)
        mouth.stop()
        spoken = await answer.finish()
    assert spoken.heard == "One"
    mouth.close()


async def _say(mouth: SpeechOutput, clause: str, answers: list[Answer]) -> None:
    async with mouth.answer() as answer:
        answers.append(answer)
        await answer.say(clause, "en")


async def test_what_is_cut_off_by_a_lost_loudspeaker_tells_it_too() -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(lambda _: TellingVoice(), Recorder(clock, lost_after=1))
    answers: list[Answer] = []
    with pytest.raises(DeviceLost):
        await _say(mouth, "One two three.", answers)
    assert answers[0].spoken.heard == ""  # the player had one word of it, and none had sounded
    mouth.close()


@pytest.mark.parametrize(
    ("first", "second", "heard"),
    [
        (None, None, None),
        (None, "c", "a b. c"),
        ("a", None, "a c d."),
        ("a", "", "a"),
        ("", "", ""),
    ],
)
def test_two_stretches_are_one(first: str | None, second: str | None, heard: str | None) -> None:
    both = SpokenAnswer(("a b.",), 1.0, first) + SpokenAnswer(("c d.",), 2.0, second)
    assert both == SpokenAnswer(("a b.", "c d."), 3.0, heard)
