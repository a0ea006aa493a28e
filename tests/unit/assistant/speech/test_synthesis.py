"""Tests of voices that fail: the voice that speaks then, and the reports."""

import logging

import pytest

from assistant.speech.output import SpeechOutput
from assistant.speech.synthesis import WARM_PHRASE
from audio.errors import AudioError, InputUnusable
from tests.unit.assistant.speech.test_mouth import FakeVoice, Recorder, Voices, pcm


async def test_a_voice_that_fails_is_replaced_for_the_rest(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    voices, spare = Voices(), Voices("spare", breaks_at="")
    mouth = SpeechOutput(voices, Recorder(), fallback=spare)
    for _ in range(2):  # the next answer tries the voice again
        async with mouth.answer() as answer:
            for clause in ("fine", "this is broken now", "after"):
                answer.say(clause, "en")
            spoken = await answer.finish()
        assert spoken.clauses == ("fine", "this is broken now", "after")
        assert spoken.audio_ms == pytest.approx(100 + 200 + 400 + 100)
    assert voices.made["en"].said == ["fine", "this is broken now"] * 2
    assert spare.made["en"].said == ["this is broken now", "after"] * 2
    assert len(caplog.records) == 1
    mouth.close()


async def test_a_voice_that_cannot_be_made_is_replaced_for_good(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    tries: list[str] = []

    def none(language: str) -> FakeVoice:
        tries.append(language)
        raise InputUnusable("There is no voice.")

    spare = Voices("spare")
    mouth = SpeechOutput(none, Recorder(), fallback=spare)
    for _ in range(2):
        await mouth.speak("hello", "en")
    await mouth.warm(["en"])
    assert spare.made["en"].said == ["hello", "hello", WARM_PHRASE]
    assert tries == ["en"], "a broken file is not loaded again for each answer"
    assert [record.message for record in caplog.records] == [
        "There is no voice. Until then, the fallback voice is used."
    ]
    mouth.close()


async def test_each_language_is_told_once_that_another_voice_speaks_it() -> None:
    voices, told = Voices(), list[str]()
    mouth = SpeechOutput(voices, Recorder(), fallback=Voices("spare", breaks_at=""))
    await mouth.speak("broken", "en")
    mouth.on_fallback(told.append)
    assert told == ["en"], "it may have happened before anybody could be told"
    await mouth.speak("fine", "es")
    for _ in range(2):
        await mouth.speak("broken", "en")
        await mouth.speak("broken", "es")
    assert told == ["en", "es"]
    mouth.close()


async def test_where_no_voice_works_nobody_is_told_of_another() -> None:
    told = list[str]()
    mouth = SpeechOutput(Voices(), Recorder(), fallback=Voices("spare"))
    mouth.on_fallback(told.append)
    with pytest.raises(AudioError, match="spare:en failed"):
        await mouth.speak("broken", "en")
    with pytest.raises(AudioError, match="spare:es failed"):
        await SpeechOutput(Voices(breaks_at="1"), Recorder(), fallback=Voices("spare", "1")).warm(
            ["es"]
        )
    assert told == []
    mouth.close()


async def test_when_the_fallback_fails_the_caller_is_told() -> None:
    player = Recorder()
    mouth = SpeechOutput(Voices(), player, fallback=Voices("spare"))

    async def turn() -> None:
        async with mouth.answer() as answer:
            answer.say("one", "en")
            answer.say("broken", "en")
            for _ in range(1000):  # the voice never blocks, although its output is no longer read
                answer.say("two", "en")

    with pytest.raises(AudioError, match="spare:en failed"):
        await turn()
    assert len(player.sound) == len(pcm(100))  # the audio made so far was played
    mouth.close()
