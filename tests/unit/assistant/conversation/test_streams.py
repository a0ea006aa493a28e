"""Tests of which of the loudspeaker's streams plays a turn's words."""

from tests.unit.assistant.conversation.doubles import ScriptedBrain
from tests.unit.assistant.conversation.stage import runner_with, says_hello
from tests.unit.assistant.speech.test_mouth import Streams


async def test_an_answer_and_an_announcement_have_streams_of_their_own() -> None:
    outputs = Streams()
    async with runner_with(ScriptedBrain(says_hello), player=outputs) as (runner, _):
        await runner.ask("hello")
        assert outputs.heard() == {"voice"}
        runner.announce("Dinner is ready.", "en")
        await runner.rest()
        assert outputs.heard() == {"announcements"}
