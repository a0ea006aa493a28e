"""Turns that begin with a profile."""

from assistant.speech.identify import Languages, identify
from tests.unit.assistant.conversation.doubles import Frames, Manners, ScriptedBrain, ScriptedEar
from tests.unit.assistant.conversation.stage import COMMAND, runner_with, says_hello

LANGUAGES = Languages(("en", "es"), lambda text, expected: identify(text, ("en", "es"), expected))


async def test_a_turn_begins_with_its_wake_words_profile_else_with_the_chosen_one() -> None:
    brain, manners = ScriptedBrain(says_hello, says_hello), Manners()
    async with runner_with(
        brain,
        ScriptedEar(COMMAND),
        profiles={"okay_nabu": "kids"},
        manners=manners,
    ) as (runner, _):
        await runner.listen(Frames(6.0), turns=1)
        runner.use_profile("night")
        await runner.ask("hello")
    assert manners.begun == [("turn-0", "kids"), ("turn-1", "night")]
    assert [turn.request.profile for turn in brain.turns] == ["kids", "night"]


async def test_its_language_is_assumed_until_the_words_tell_another() -> None:
    for language, assumed in (("es", "es"), ("", "en")):
        manners = Manners(language)
        own = ScriptedBrain(says_hello)
        async with runner_with(own, languages=LANGUAGES, manners=manners) as (runner, closed):
            await runner.ask("123")
        assert own.turns[0].request.language == assumed
        assert closed[0][0].language == "en", "the answer was English"
