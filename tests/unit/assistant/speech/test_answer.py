"""Tests of an answer in the brain's own voice, in both voices, and of one that starts again."""

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest

from assistant.domain.clock import VirtualClock
from assistant.speech.answer import LINES_WAITING, PIECES_WAITING, Answer, SpokenAnswer
from assistant.speech.output import SpeechOutput
from audio.errors import DeviceLost
from audio.tts import Chunk
from tests.unit.assistant.speech.test_mouth import RATE, Recorder, Voices, pcm, settle

NATIVE = 24_000  # Hz


def native(ms: int, level: int = 2000) -> bytes:
    return np.full(NATIVE * ms // 1000, level, np.int16).tobytes()


async def test_both_voices_sound_in_the_order_in_which_they_came() -> None:
    voices, player = Voices(), Recorder()
    mouth = SpeechOutput(voices, player)
    async with mouth.answer() as answer:
        answer.say("one", "en")
        answer.sound(native(50), NATIVE)
        answer.transcript(" Two. ")
        answer.say("three", "en")
        spoken = await answer.finish()
    assert bytes(player.sound) == pcm(100) + native(50) + pcm(100)
    assert spoken.clauses == ("one", "Two.", "three")
    assert spoken.audio_ms == pytest.approx(250)
    assert voices.made["en"].said == ["one", "three"]
    mouth.close()


async def test_its_first_sound_is_told_and_the_volume_applies() -> None:
    player = Recorder()
    mouth = SpeechOutput(Voices(), player, volume=0.5)
    marks: list[float] = []
    async with mouth.answer(lambda: marks.append(player.played_ms)) as answer:
        answer.transcript("Hello.")
        answer.sound(native(500), NATIVE)
    # The start of the first piece; the words before it do not count.
    assert marks == [pytest.approx(200)]
    assert set(np.frombuffer(bytes(player.sound), np.int16)) == {1000}
    mouth.close()


async def test_words_without_sound_are_only_listed() -> None:
    voices, player = Voices(), Recorder()
    mouth = SpeechOutput(voices, player)
    async with mouth.answer() as answer:
        answer.transcript("Hello.")
        answer.transcript("  ")
        spoken = await answer.finish()
    assert spoken.clauses == ("Hello.",)
    assert spoken.audio_ms == 0.0
    assert voices.made == {}
    mouth.close()


@pytest.mark.parametrize(
    ("stop_after_s", "heard"),
    [(0.25, ("One.",)), (0.75, ("One.", "Two.")), (1.45, ("One.", "Two.", "Three."))],
)
async def test_after_a_stop_only_what_was_played_was_heard(
    stop_after_s: float, heard: tuple[str, ...]
) -> None:
    clock = VirtualClock()
    player = Recorder(clock)
    mouth = SpeechOutput(Voices(), player)
    async with mouth.answer() as answer:
        for clause in ("One.", "Two.", "Three."):  # each is complete once its sound has arrived
            answer.sound(native(500), NATIVE)
            answer.transcript(clause)
        await settle(mouth, clock, stop_after_s)
        mouth.stop()
        before = player.played_ms
        spoken = await answer.finish()
    assert spoken.clauses == heard
    assert spoken.audio_ms == pytest.approx(before) == player.played_ms
    mouth.close()


async def test_a_giver_that_is_far_ahead_waits() -> None:
    clock = VirtualClock()
    player = Recorder(clock)
    mouth = SpeechOutput(Voices(), player)
    async with mouth.answer() as answer:

        async def give() -> None:
            for _ in range(2 * LINES_WAITING):
                await answer.room()
                answer.sound(native(20), NATIVE)

        giving = asyncio.create_task(give())
        await settle(mouth, clock)
        assert not giving.done()
        assert answer._lines.qsize() == LINES_WAITING
        assert answer._pieces.qsize() == PIECES_WAITING
        mouth.stop()
        await giving  # it has been released, and its remaining output is ignored
    assert player.played_ms < 1000
    mouth.close()


async def test_what_has_not_begun_is_withdrawn_and_what_sounds_ends_its_clause() -> None:
    clock = VirtualClock()
    player = Recorder(clock)
    mouth = SpeechOutput(Voices(), player)
    long = "one " * 25  # 2.5 s; the player takes only 2 s in advance
    async with mouth.answer() as answer:
        answer.say(long, "en")
        answer.say("two two", "en")
        answer.sound(native(300), NATIVE)
        answer.say("three", "en")
        await settle(mouth, clock, 0.2)
        answer.withdraw()
        answer.say("four", "en")
        finished = asyncio.create_task(answer.finish())
        await settle(mouth, clock, 4.0)
        spoken = await finished
    assert spoken.clauses == (long.strip(), "four")
    assert spoken.audio_ms == pytest.approx(2_600)
    assert len(player.sound) == 2 * RATE * 2600 // 1000
    mouth.close()


async def test_the_brains_own_voice_is_withdrawn_too() -> None:
    clock = VirtualClock()
    player = Recorder(clock)
    mouth = SpeechOutput(Voices(), player)
    async with mouth.answer() as answer:
        for _ in range(30):  # 6 s, of which the player takes 2 s
            answer.sound(native(200), NATIVE)
        answer.transcript("A long story.")
        await settle(mouth, clock, 0.2)
        answer.withdraw()
        answer.say("sorry", "en")
        finished = asyncio.create_task(answer.finish())
        await settle(mouth, clock, 4.0)
        spoken = await finished
    assert spoken.clauses == ("sorry",)
    assert spoken.audio_ms < 3_000
    mouth.close()


async def test_a_clause_in_the_making_is_given_up_and_those_behind_it_are_not_begun() -> None:
    voices, spare, player = Voices(), Voices("spare"), Recorder()
    mouth = SpeechOutput(voices, player, fallback=spare)
    await mouth.warm(["en"])
    voice = voices.made["en"]
    voice.said.clear()
    voice.begun.clear()
    voice.gate.clear()
    async with mouth.answer() as answer:
        answer.say("one two broken", "en")  # the voice would fail if it synthesised all of it
        answer.say("three", "en")
        assert await asyncio.to_thread(voice.begun.wait, 10)
        answer.withdraw()
        voice.gate.set()
        answer.say("four", "en")
        spoken = await answer.finish()
    assert spoken.clauses == ("four",)
    assert bytes(player.sound) == pcm(100)
    assert voice.said == ["one two broken", "four"]
    assert spare.made == {}
    mouth.close()


# The heard part of an answer, to the word, for every point of interruption.


def brain_says(ms: int) -> bytes:
    return np.full(NATIVE * ms // 1000, 2000, np.int16).tobytes()


class TellingVoice:
    """Makes 100 ms per word and as much silence after it, and reports where words end."""

    name = "telling"
    rate = RATE

    def speak(self, text: str) -> Iterator[Chunk]:
        for _ in text.split():
            yield Chunk(pcm(100) + pcm(100, 0), (100,))


class EndlessVoice:
    """A voice that never reaches the end of a clause."""

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
        answer.say("One two.", "en")
        answer.say("Three four five.", "en")
        await settle(mouth, clock, stop_after_s)
        assert answer.spoken.heard == heard  # also while it is being spoken
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
        answer.say("One two.", "en")
        finishing = asyncio.create_task(answer.finish())
        await settle(mouth, clock, 0.35)
        mouth.stop()
        spoken = await finishing
    assert (spoken.clauses, spoken.heard) == (("One two.",), None)
    mouth.close()


async def test_a_voice_that_does_not_is_estimated() -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(Voices(), Recorder(clock))  # 100 ms per word
    async with mouth.answer() as answer:
        answer.say("aaaa bbbb cccc dddd.", "en")
        answer.say("eeee ffff.", "en")
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
        answer.say("Washing machines never end.", "en")
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
        answer.sound(brain_says(300), NATIVE)
        answer.sound(brain_says(200), NATIVE)
        answer.transcript("aaaa bbbb.")
        answer.sound(brain_says(500), NATIVE)
        answer.transcript("cccc dddd.")
        answer.say("Ours too now.", "en")
        await settle(mouth, clock, stop_after_s)
        mouth.stop()
        spoken = await answer.finish()
    assert spoken.heard == heard
    mouth.close()


async def test_a_transcript_before_its_sound_or_two_after_it_are_as_good() -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(Voices(), Recorder(clock))
    async with mouth.answer() as answer:
        answer.transcript("aa")
        answer.transcript("bb")
        answer.sound(brain_says(400), NATIVE)
        answer.transcript("cc")  # this closes the clauses
        answer.sound(brain_says(400), NATIVE)
        answer.transcript("dd")
        answer.transcript("ee")
        await settle(mouth, clock, 0.65)
        mouth.stop()
        spoken = await answer.finish()
    assert spoken.heard == "aa bb cc dd"
    mouth.close()


async def test_a_tone_between_clauses_is_no_word() -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(lambda _: TellingVoice(), Recorder(clock))
    async with mouth.answer() as answer:
        answer.sound(brain_says(500), NATIVE)
        answer.say("One two.", "en")
        await settle(mouth, clock, 0.65)
        mouth.stop()
        spoken = await answer.finish()
    assert spoken.heard == "One"
    mouth.close()


async def _say(mouth: SpeechOutput, clause: str, answers: list[Answer]) -> None:
    async with mouth.answer() as answer:
        answers.append(answer)
        answer.say(clause, "en")


async def test_what_is_cut_off_by_a_lost_loudspeaker_tells_it_too() -> None:
    clock = VirtualClock()
    mouth = SpeechOutput(lambda _: TellingVoice(), Recorder(clock, lost_after=1))
    answers: list[Answer] = []
    with pytest.raises(DeviceLost):
        await _say(mouth, "One two three.", answers)
    assert answers[0].spoken.heard == ""  # the player had taken one word, but none had sounded
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
