"""Tests of questions that wait for people, each other or a microphone, or are never asked."""

import asyncio
import logging
from dataclasses import replace
from typing import Any

import pytest

from assistant.conversation.program_questions import EXPIRE_S
from assistant.conversation.request_queue import WAITING
from assistant.conversation.rules.events import WakeHeard
from assistant.conversation.rules.machine import State
from assistant.domain.brain import Heard
from audio.errors import DeviceLost
from audio.player import NullPlayer
from integrations.web.box import NotAnnounced, NotPossible
from integrations.web.requests import ConverseRequest
from tests.unit.assistant.conversation.asking_stage import means, replies
from tests.unit.assistant.conversation.doubles import ScriptedBrain
from tests.unit.assistant.conversation.program_questions.stage import (
    ASKED_MS,
    GARDEN,
    ONCE,
    Room,
    listens,
    question,
    spoken,
    stage,
    waked,
)
from tests.unit.assistant.conversation.stage import COMMAND, rounds, says_hello

# A program begins a conversation: its line, the tone, and the person's answer.


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
        with pytest.raises(
            NotAnnounced, match="Too many questions and announcements are already waiting"
        ):
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
    assert "a conversation for http:garden was not started" in caplog.text
    assert "washing" not in caplog.text


class TestPersonsFirst:
    async def test_a_wake_word_in_the_middle_of_the_question_comes_first(self) -> None:
        """The person's turn comes first, then the question is asked again."""
        wake = WakeHeard("okay_nabu", 0.9, ASKED_MS, ASKED_MS)
        command = {key + 1_000: events for key, events in COMMAND.items() if key > 1_000}
        brain = ScriptedBrain(says_hello, replies(Heard("yes")))
        async with stage(brain, {**command, **spoken(9_000)}, means(None)) as room:
            room.runner.observe(
                lambda standing: cuts() if standing.state is State.SPEAKING else None
            )
            cut = False

            def cuts() -> None:
                nonlocal cut
                if not cut:
                    cut = True
                    asyncio.get_running_loop().call_soon(room.runner.dispatch, wake)

            answer = await room.ask()
        assert answer.id == "yes"
        sources = [turn.opening.source for turn in room.turns]
        assert sources == ["announcement", "voice", "announcement"]
        assert len(room.data) == 1

    async def test_while_they_talk_it_waits(self) -> None:
        async with stage(ScriptedBrain(listens), COMMAND, means(None)) as room:
            waked(room.runner)
            asking = asyncio.create_task(room.questions.ask(question(), GARDEN))
            await rounds()
            assert room.runner.state is State.WAKING
            await room.runner.listen(Room(room.runner, 4.0))
            answer = await asking
        assert answer.result == "no_answer"  # because the source has ended
        assert [turn.opening.source for turn in room.turns] == ["voice", "announcement"]

    async def test_what_expires_meanwhile_is_not_asked(self) -> None:
        async with stage(ScriptedBrain(listens), {}, means(None)) as room:
            waked(room.runner)
            asking = asyncio.create_task(room.questions.ask(question(expire_s=5), GARDEN))
            await room.clock.run(4.9)
            assert not asking.done()
            await room.clock.run(0.2)
            answer = await asking
            room.runner.stop()
            await room.runner.rest()
        assert answer.result == "busy"
        assert [turn.opening.source for turn in room.turns] == ["voice"]
        assert room.data[0]["result"] == "busy"


class TestQueue:
    async def test_two_wait_in_order_and_the_important_first(self) -> None:
        brain = ScriptedBrain(listens)
        async with stage(brain, {}, means(None)) as room:
            waked(room.runner)
            asked = [
                asyncio.create_task(
                    room.questions.ask(question(question=text, priority=priority), GARDEN)
                )
                for text, priority in (("One?", "low"), ("Two?", "low"), ("Three?", "high"))
            ]
            await rounds()
            room.runner.stop()
            await room.runner.listen(Room(room.runner, 0.4))
            answers = await asyncio.gather(*asked)
        assert [answer.result for answer in answers] == ["no_answer"] * 3
        said = [turn.answer for turn in room.turns[1:]]
        assert said == ["One?", "Three?", "Two?"]  # the first was called before the others came

    async def test_too_many_are_told_so(self) -> None:
        async with stage(ScriptedBrain(listens), {}, means(None)) as room:
            waked(room.runner)
            ask = [
                asyncio.create_task(room.questions.ask(question(), GARDEN))
                for _ in range(WAITING + 2)
            ]
            await rounds()
            assert [task.done() for task in ask] == [False] * (WAITING + 1) + [True]
            assert ask[-1].result().result == "busy"
            await room.clock.run(EXPIRE_S + 1)
            assert {(await task).result for task in ask} == {"busy"}
            room.runner.stop()

    async def test_whoever_goes_takes_their_question_back(self) -> None:
        async with stage(ScriptedBrain(), {}, means(None)) as room:
            source = Room(room.runner, 20.0)
            listening = asyncio.create_task(room.runner.listen(source))
            await source.asks.wait()
            asking = asyncio.create_task(room.questions.ask(question(), GARDEN))
            await room.runner.until(lambda: room.runner.state is State.CONFIRMING)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert room.runner.state is State.IDLE
            await listening
        [(_, closing)] = room.closed
        assert closing.error == "withdrawn"

    async def test_and_one_that_waits_is_never_asked(self) -> None:
        async with stage(ScriptedBrain(listens), {}, means(None)) as room:
            waked(room.runner)
            asking = asyncio.create_task(room.questions.ask(question(), GARDEN))
            await rounds()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            room.runner.stop()
            await room.runner.rest()
        assert len(room.turns) == 1


class TestNotPossible:
    async def test_muted(self) -> None:
        async with stage(ScriptedBrain(), {}, means(None)) as room:
            room.runner.mute(True)
            with pytest.raises(NotPossible, match="The microphone is muted"):
                await room.questions.ask(question(), GARDEN)
        assert room.closed == []

    async def test_muted_while_it_is_asked_is_no_answer(self) -> None:
        async with stage(ScriptedBrain(), {}, means(None)) as room:
            source = Room(room.runner, 20.0)
            listening = asyncio.create_task(room.runner.listen(source))
            await source.asks.wait()
            asking = asyncio.create_task(room.questions.ask(question(), GARDEN))
            await room.runner.until(lambda: room.runner.state is State.CONFIRMING)
            room.runner.mute(True)
            assert (await asking).result == "no_answer"
            await listening

    @pytest.mark.parametrize(
        ("wanted", "told"),
        [
            ({"answers": [{"id": "a", "sentences": ["(yes"]}]}, "Sentence 1 of answer 1"),
            (
                {"answers": [{"id": "a", "sentences": ["<yes>"]}]},
                "refers to a rule in <>, but there are no rules",
            ),
            ({"schema": {"type": "string"}}, "An answer's schema must describe an object"),
        ],
    )
    async def test_what_nobody_could_answer(self, wanted: dict[str, Any], told: str) -> None:
        async with stage(ScriptedBrain(), {}, means(None)) as room:
            with pytest.raises(NotPossible, match=told):
                await room.questions.ask(question(**wanted), GARDEN)

    async def test_without_a_loudspeaker_nothing_opens(self) -> None:
        class Mute(NullPlayer):
            async def play(self, pcm: bytes, rate: int) -> None:
                raise DeviceLost("there is no loudspeaker")

        player = Mute(paced=False)
        async with stage(ScriptedBrain(), {}, means(None), player=player) as room:
            states = set[State]()
            room.runner.observe(lambda standing: states.add(standing.state))
            with pytest.raises(NotPossible, match="there is no loudspeaker"):
                await room.ask()
        assert State.CONFIRMING not in states

    async def test_a_tone_alone_that_fails_opens_nothing(self) -> None:
        class Breaks(NullPlayer):
            async def play(self, pcm: bytes, rate: int) -> None:
                if rate == 22_050:  # a tone of ours
                    raise DeviceLost("it has gone")
                await super().play(pcm, rate)

        player = Breaks(paced=False)
        async with stage(ScriptedBrain(), {}, means(None), player=player) as room:
            with pytest.raises(NotPossible):
                await room.ask()
        assert [turn.answer for turn in room.turns] == ["Shall I close the blinds?"]


async def test_everything_ends_and_nobody_waits_on() -> None:
    async with stage(ScriptedBrain(), {}, means(None)) as room:
        source = Room(room.runner, 20.0)
        listening = asyncio.create_task(room.runner.listen(source))
        await source.asks.wait()
        first = asyncio.create_task(room.questions.ask(question(), GARDEN))
        await room.runner.until(lambda: room.runner.state is State.CONFIRMING)
        second = asyncio.create_task(room.questions.ask(question(), GARDEN))
        await rounds()
        listening.cancel()
        await asyncio.wait([listening])
    assert (await second).result == "busy"
    assert (await first).result == "no_answer"
    assert replace(room.closed[0][1]).error == "interrupted"
