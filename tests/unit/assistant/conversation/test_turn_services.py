"""Tests of turns that begin before anything can serve them."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from assistant.conversation.rules.events import WakeRising
from assistant.conversation.rules.state import State
from assistant.conversation.turn_services import ConversationClock, Timeline, TurnServices
from assistant.domain.brain import BrainEvent, ReplyText, TurnDone
from assistant.domain.clock import VirtualClock
from assistant.domain.events import Deferred
from assistant.domain.tool_call import ToolCall
from assistant.speech.identify import Languages, identify
from tests.unit.assistant.conversation.doubles import (
    Frames,
    Manners,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    Tools,
)
from tests.unit.assistant.conversation.stage import COMMAND, rounds, runner_with, says_hello


async def _calls(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
    yield ToolCall("c1", "HassTurnOn", {})
    await turn.answered.wait()
    yield ReplyText("Here I am.")
    yield TurnDone()


async def test_a_turn_waits_for_its_brain_and_its_profile() -> None:
    services, brain = Deferred[TurnServices](), ScriptedBrain(_calls)
    tools, profiles = Tools(), Manners()
    async with runner_with(brain, deferred=services) as (runner, closed):
        runner.use_profile("kitchen")
        asked = asyncio.ensure_future(runner.ask("hello"))
        await rounds()
        assert runner.state is State.THINKING
        assert not brain.turns
        services.set(TurnServices(brain, tools, profiles=profiles))
        await asked
    (turn, _) = closed[0]
    assert turn.answer == "Here I am."
    assert profiles.begun == [(turn.turn_id, "kitchen")]
    assert brain.turns[0].request.text == "hello"
    assert tools.calls == [ToolCall("c1", "HassTurnOn", {})]


async def test_a_profile_begins_once() -> None:
    services, brain, profiles = Deferred[TurnServices](), ScriptedBrain(_calls), Manners()
    async with runner_with(brain, deferred=services) as (runner, closed):
        services.set(TurnServices(brain, Tools(), profiles=profiles))
        await runner.ask("hello")
    assert profiles.begun == [(closed[0][0].turn_id, "")]


async def test_a_turn_that_is_cut_off_waits_no_more() -> None:
    services, brain, tools = Deferred[TurnServices](), ScriptedBrain(), Tools()
    async with runner_with(brain, deferred=services) as (runner, closed):
        asked = asyncio.ensure_future(runner.ask("hello"))
        await rounds()
        runner.stop()
        await asked
        services.set(TurnServices(brain, tools))
        await rounds()
    assert [turn.cut for turn, _ in closed] == ["stop"]
    assert not brain.turns
    assert not tools.left  # nothing was begun there


async def test_what_is_anticipated_early_is_told_to_the_brain_that_comes() -> None:
    services, brain = Deferred[TurnServices](), ScriptedBrain()
    async with runner_with(brain, deferred=services) as (runner, _):
        runner.dispatch(WakeRising(800))
        services.set(TurnServices(brain, Tools()))
        assert brain.anticipated == 1
        runner.dispatch(WakeRising(900))
        assert brain.anticipated == 2


def test_it_is_set_once() -> None:
    deferred = Deferred[str]()
    assert deferred.value is None
    with pytest.raises(LookupError):
        deferred.get()
    used: list[str] = []
    deferred.when_set(used.append)
    deferred.set("here")
    deferred.when_set(used.append)
    assert [deferred.get(), *used] == ["here", "here", "here"]
    with pytest.raises(ValueError, match="already set"):
        deferred.set("again")
    assert Deferred.of(7).get() == 7


# Turns that begin with a profile.


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


# The conversation's clock: sound is measured in samples, waiting in real time.


def test_while_listening_real_time_does_not_count() -> None:
    clock = VirtualClock()
    conversation = ConversationClock(clock)
    conversation.listen()
    conversation.heard(500.0)
    clock.advance(7.0)
    assert conversation.now_ms == 500.0


def test_from_the_end_of_the_sentence_real_time_counts() -> None:
    clock = VirtualClock()
    conversation = ConversationClock(clock)
    conversation.listen()
    conversation.heard(2_000.0)
    conversation.stand()
    clock.advance(0.25)
    assert conversation.now_ms == 2_250.0
    conversation.heard(9_000.0)  # a microphone goes on meanwhile
    assert conversation.now_ms == 2_250.0


def test_listening_again_goes_on_from_there() -> None:
    clock = VirtualClock()
    conversation = ConversationClock(clock)
    conversation.listen()
    conversation.heard(2_000.0)
    conversation.stand()
    clock.advance(1.0)
    conversation.listen()
    assert conversation.now_ms == 3_000.0
    conversation.heard(2_020.0)
    assert conversation.now_ms == 3_020.0
    assert conversation.at(2_010.0) == 3_010.0


def test_without_sound_it_begins_at_zero_and_runs() -> None:
    clock = VirtualClock()
    conversation = ConversationClock(clock)
    assert conversation.now_ms == 0.0
    clock.advance(0.5)
    assert conversation.now_ms == 500.0


def test_moments_keep_their_first_time_and_the_last_result() -> None:
    clock = VirtualClock()
    timeline = Timeline(ConversationClock(clock))
    for _ in range(2):
        clock.advance(0.1)
        timeline.mark("first_tool_call")
        timeline.mark("last_tool_result")
    timeline.mark("wake", 12.34)
    assert timeline.as_dict() == {
        "wake": 12.3,
        "first_tool_call": 100.0,
        "last_tool_result": 200.0,
    }
    assert list(timeline.as_dict()) == ["wake", "first_tool_call", "last_tool_result"]
