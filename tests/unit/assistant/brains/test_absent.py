"""A rung that cannot be there says why, and the ladder goes on."""

from dataclasses import replace

import pytest

from assistant.brains.absent import AbsentBrain
from assistant.brains.budget import Budget
from assistant.brains.ladder import Ladder
from assistant.brains.protocol import (
    Brain,
    BrainFault,
    ReplyText,
    Serving,
    TurnDone,
    TurnRequest,
)
from assistant.clock import VirtualClock
from assistant.speech.catalogue import Catalogue
from assistant.tools.call import ToolCall
from tests.unit.assistant.brains.scripted import (
    House,
    ScriptedBrain,
    Spendings,
    Step,
    outcome_of,
    play,
)

REQUEST = TurnRequest("t", "en", "text", "hello", None)
MESSAGE = "privacy.accept_cloud is false."


def absent(name: str) -> AbsentBrain:
    return AbsentBrain(name, "sign_in", MESSAGE, "ladder.no_consent", Catalogue())


@pytest.mark.parametrize(("language", "word"), [("en", "privacy"), ("es", "privacidad")])
async def test_it_fails_at_once_in_the_language_of_the_turn(language: str, word: str) -> None:
    brain = absent("gemini-live")
    brain.anticipate()
    turn = brain.begin(replace(REQUEST, language=language))
    await turn.answer(outcome_of(ToolCall("1", "light", {})))
    (fault,) = [event async for event in turn.events()]
    assert isinstance(fault, BrainFault)
    assert (fault.kind, fault.message, fault.retryable) == ("sign_in", MESSAGE, False)
    assert word in (fault.spoken or "")


async def test_it_is_said_once(budget: Budget, clock: VirtualClock) -> None:
    hello: list[Step] = [ReplyText("Hello."), TurnDone()]
    local = ScriptedBrain("offline", hello, hello)
    rungs: list[Brain] = [absent("gemini-live"), absent("gemini-once"), local]
    house = House()
    ladder = Ladder(rungs, house, budget, Catalogue(), clock)
    line = Catalogue().say("ladder.no_consent", "en")
    assert await play(ladder.begin(REQUEST), house) == [
        Serving("gemini-live"),
        Serving("gemini-once"),
        Serving("offline"),
        ReplyText(f"{line} "),
        ReplyText("Hello."),
        TurnDone(),
    ]
    assert await play(ladder.begin(REQUEST), house) == [
        Serving("offline"),
        ReplyText("Hello."),
        TurnDone(),
    ]
    local.assert_consumed()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def budget(clock: VirtualClock) -> Budget:
    return Budget(1.0, Spendings(), clock)
