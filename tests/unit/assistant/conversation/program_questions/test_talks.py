"""A program begins a talk: its line, the tone, and whoever goes on."""

import asyncio
import logging

import pytest

from assistant.conversation.program_questions import EXPIRE_S
from assistant.conversation.program_turns import WAITING
from assistant.conversation.rules.machine import State
from integrations.web.box import NotAnnounced, NotPossible
from integrations.web.requests import ConverseRequest
from tests.unit.assistant.conversation.asking_stage import means
from tests.unit.assistant.conversation.doubles import ScriptedBrain
from tests.unit.assistant.conversation.program_questions.stage import (
    GARDEN,
    ONCE,
    Room,
    listens,
    question,
    stage,
    waked,
)
from tests.unit.assistant.conversation.stage import rounds


def line(text: str = "The washing is done.", **wanted: object) -> ConverseRequest:
    return ConverseRequest.model_validate({"text": text, "preannounce": False, **wanted})


async def test_the_person_goes_on() -> None:
    brain = ScriptedBrain(listens)
    async with stage(brain, ONCE, means(None)) as room:
        source = Room(room.runner)
        listening = asyncio.create_task(room.runner.listen(source))
        await source.asks.wait()
        name = await room.talks.begin(line(instruction="Offer to start the dryer."), GARDEN)
        await listening
    assert name
    said, answered = room.turns
    assert said.spoken.clauses == ("The washing is done.",)
    assert (answered.opening.source, answered.opening.caller) == ("follow_up", "http:garden")
    assert "Offer to start the dryer." in brain.turns[0].request.note


async def test_muted_it_is_not_begun() -> None:
    async with stage(ScriptedBrain(), {}, means(None)) as room:
        room.runner.mute(True)
        with pytest.raises(NotPossible, match="muted"):
            await room.talks.begin(line(), GARDEN)


async def test_a_talk_and_a_question_wait_for_each_other() -> None:
    async with stage(ScriptedBrain(), {}, means(None)) as room:
        source = Room(room.runner)
        listening = asyncio.create_task(room.runner.listen(source))
        await source.asks.wait()
        await room.talks.begin(line(), GARDEN)
        await rounds()
        answer = await room.questions.ask(question(timeout_s=1), GARDEN)
        await listening
    assert answer.result == "no_answer"
    assert [turn.answer for turn in room.turns] == [
        "The washing is done.",
        "Shall I close the blinds?",
    ]


async def test_too_many_are_told_so_and_what_waits_too_long_is_left() -> None:
    async with stage(ScriptedBrain(listens), {}, means(None)) as room:
        waked(room.runner)
        for _ in range(WAITING + 1):
            await room.talks.begin(line(), GARDEN)
            await rounds()
        with pytest.raises(NotAnnounced, match="Too much waits"):
            await room.talks.begin(line(), GARDEN)
        await room.clock.run(EXPIRE_S + 1)
        assert room.runner.state is State.WAKING
        room.runner.stop()
        await room.runner.rest()
        await rounds()
        assert len(room.turns) == 1


async def test_what_is_left_is_logged_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with stage(ScriptedBrain(listens), {}, means(None)) as room:
        waked(room.runner)
        await room.talks.begin(line(expire_s=2), GARDEN)
        await room.clock.run(2.1)
        room.runner.stop()
        await room.runner.rest()
    assert "a talk of http:garden was not begun" in caplog.text
    assert "washing" not in caplog.text
