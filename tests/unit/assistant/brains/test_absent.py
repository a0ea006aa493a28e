"""A rung that cannot be there says why, and the ladder goes on."""

import pytest

from assistant.brains.fallback import FallbackBrain
from assistant.brains.slots import AbsentBrain, Budget
from assistant.domain.brain import (
    Brain,
    BrainFault,
    Preface,
    ReplyText,
    Serving,
    TurnDone,
    TurnRequest,
)
from assistant.domain.call import ToolCall
from assistant.domain.clock import VirtualClock
from assistant.speech.catalogue import Catalogue
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
    return AbsentBrain(name, "no_consent", MESSAGE)


async def test_it_fails_at_once() -> None:
    brain = absent("gemini-live")
    brain.anticipate()
    turn = brain.begin(REQUEST)
    await turn.answer(outcome_of(ToolCall("1", "light", {})))
    fault = BrainFault("no_consent", MESSAGE, retryable=False)
    assert [event async for event in turn.events()] == [fault]


async def test_it_is_said_once(budget: Budget, clock: VirtualClock) -> None:
    hello: list[Step] = [ReplyText("Hello."), TurnDone()]
    local = ScriptedBrain("offline", hello, hello)
    rungs: list[Brain] = [absent("gemini-live"), absent("gemini-once"), local]
    house = House()
    ladder = FallbackBrain(rungs, house.toolbox, budget, Catalogue(), clock)
    line = Catalogue().say("ladder.away_no_consent", "en")
    assert await play(ladder.begin(REQUEST), house) == [
        Serving("gemini-live"),
        Serving("gemini-once"),
        Serving("offline"),
        Preface(alone=True),
        ReplyText(f"{line} ", language="en"),
        ReplyText("Hello."),
        TurnDone(),
    ]
    assert await play(ladder.begin(REQUEST), house) == [
        Serving("offline"),
        ReplyText("Hello."),
        TurnDone(),
    ]
    local.assert_consumed()


async def test_in_every_turn_it_says_the_same(budget: Budget, clock: VirtualClock) -> None:
    ladder = FallbackBrain([absent("gemini-live")], House().toolbox, budget, Catalogue(), clock)
    for _ in range(2):
        fault = (await play(ladder.begin(REQUEST), House()))[-1]
        assert fault == BrainFault("no_consent", MESSAGE, retryable=False)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def budget(clock: VirtualClock) -> Budget:
    return Budget(1.0, Spendings(), clock)
