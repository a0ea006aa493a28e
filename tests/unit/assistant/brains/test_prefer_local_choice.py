"""Tests of the rule of who acts on a sentence, as a table with times in seconds."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from assistant.brains.fallback import FallbackBrain
from assistant.brains.home_assistant import DryRun
from assistant.brains.prefer_local import (
    HOLD_S,
    QUIET_S,
    SETTLE_S,
    LocalChoice,
    PreferLocalBrain,
    Side,
)
from assistant.domain.brain import BrainEvent, Heard, Reached, Spent, TurnRequest, Usage
from assistant.speech.catalogue import Catalogue
from integrations.home_assistant.assist import Recognized
from integrations.owner import OwnedTasks
from tests.unit.assistant.brains.scripted import (
    DONE,
    LIVE,
    OFFLINE,
    REQUEST,
    Stage,
    Step,
    fault,
    play,
    said,
    served,
)

# What happens, in order: (when, what, ...), then who acts at the last moment given.
BusEvent = tuple[float, str] | tuple[float, str, str]
SENTENCE = "activate party mode"


def played(steps: list[BusEvent], until: float) -> tuple[Side, float]:
    """Return who acts in the end and since when, looking at the choice whenever it is due."""
    choice, now = LocalChoice(), 0.0
    side = Side.OPEN

    def wait(end: float) -> float | None:
        """Let time pass to `end`, look at each moment that is due, and return when it was
        decided."""
        while (due := choice.due()) is not None and due <= end:
            if choice.side(due) is not Side.OPEN:
                return due
            assert choice.due() != due, "the same moment is due for ever"
        return None

    for step in steps:
        at, what = step[:2]
        if (decided := wait(at)) is not None:
            return choice.side(decided), decided
        now = at
        text = step[2] if len(step) > 2 else SENTENCE
        match what:
            case "over":
                choice.over(now)
            case "heard":
                choice.heard(text, now)
            case "match":
                choice.tried(text, True, now)
            case "none":
                choice.tried(text, False, now)
            case "made":
                choice.made(now)
        side = choice.side(now)
        if side is not Side.OPEN:
            return side, now
    decided = wait(until)
    return (choice.side(until), until) if decided is None else (choice.side(decided), decided)


TABLE: dict[str, tuple[list[BusEvent], Side, float]] = {
    "a match, and the model is silent": (
        [(0, "over"), (0.3, "heard"), (0.31, "match")],
        Side.HOME,
        0.3 + QUIET_S,
    ),
    "half a sentence that matches by itself, and then the rest": (
        [
            (0, "over"),
            (0.1, "heard", "turn on the lights"),
            (0.11, "match", "turn on the lights"),
            (0.3, "heard", "turn on the lights in the kitchen"),
        ],
        Side.OPEN,
        9.0,
    ),
    "a match while its call is held": (
        [(0, "over"), (0.3, "heard"), (0.301, "made"), (0.31, "match")],
        Side.HOME,
        0.3 + SETTLE_S,
    ),
    "a match before the person has ended is no sentence yet": (
        [(0, "heard"), (0.01, "match")],
        Side.OPEN,
        9.0,
    ),
    "nor when the person has ended: its last words may be on their way": (
        [(0, "heard"), (0.01, "match"), (2.0, "over")],
        Side.OPEN,
        9.0,
    ),
    "they came, and the whole is another sentence": (
        [
            (0, "heard"),
            (0.01, "match"),
            (2.0, "over"),
            (2.3, "heard", "more"),
            (2.31, "none", "more"),
        ],
        Side.OPEN,
        9.0,
    ),
    "it is one when the model acts": (
        [(0, "heard"), (0.01, "match"), (2.0, "over"), (2.6, "made")],
        Side.HOME,
        2.6,
    ),
    "half a sentence is not acted on": (
        [(0, "over"), (0.3, "heard", "turn on"), (0.31, "match", "turn on"), (0.34, "heard")],
        Side.OPEN,
        9.0,
    ),
    "the verdict on half a sentence is not that on the whole": (
        [(0, "over"), (0.3, "heard", "turn on"), (0.34, "heard"), (0.35, "match", "turn on")],
        Side.OPEN,
        9.0,
    ),
    "no match lets a held call go": (
        [(0, "over"), (0.3, "heard"), (0.4, "none"), (0.5, "made")],
        Side.MODEL,
        0.5,
    ),
    "no match while a call is held": (
        [(0, "over"), (0.3, "heard"), (0.301, "made"), (0.31, "none")],
        Side.MODEL,
        0.3 + SETTLE_S,
    ),
    "a slow verdict holds a call for 100 ms from the transcript": (
        [(0, "over"), (0.3, "heard"), (0.32, "made")],
        Side.MODEL,
        0.3 + HOLD_S,
    ),
    "a call long after a transcript without a verdict is not held": (
        [(0, "over"), (0.3, "heard"), (0.7, "made")],
        Side.MODEL,
        0.7,
    ),
    "a match that comes too late is dropped": (
        [(0, "over"), (0.3, "heard"), (0.45, "match"), (0.5, "made")],
        Side.MODEL,
        0.5,
    ),
    "without a transcript a call is held for 100 ms": (
        [(0, "over"), (0.3, "made")],
        Side.MODEL,
        0.3 + HOLD_S,
    ),
    "a transcript after the call does not hold it for longer": (
        [(0, "over"), (0.3, "made"), (0.39, "heard"), (0.395, "match")],
        Side.MODEL,
        0.3 + HOLD_S,
    ),
    "a transcript soon after the call is in time": (
        [(0, "over"), (0.3, "made"), (0.32, "heard"), (0.33, "match")],
        Side.HOME,
        0.32 + SETTLE_S,
    ),
    "what the model does shows that the person has ended": (
        [(0.3, "heard"), (0.31, "match"), (0.4, "made")],
        Side.HOME,
        0.4,
    ),
    "nothing was said and nothing is done": ([(0, "over")], Side.OPEN, 9.0),
}


@pytest.mark.parametrize(("steps", "side", "at"), TABLE.values(), ids=TABLE.keys())
def test_who_acts(steps: list[BusEvent], side: Side, at: float) -> None:
    acted, since = played(steps, 9.0)
    assert acted is side
    assert since == pytest.approx(at)


def test_a_decision_is_never_taken_back() -> None:
    choice = LocalChoice()
    choice.made(0.0)
    assert choice.side(HOLD_S) is Side.MODEL
    choice.heard(SENTENCE, HOLD_S)
    choice.tried(SENTENCE, True, HOLD_S)
    assert choice.side(1.0) is Side.MODEL
    assert choice.due() is None


# --- The home's sentences within the chain: what one side has begun, no other brain begins.
SPOKEN = replace(REQUEST, source="voice", text=None)
TYPED = replace(REQUEST, text=SENTENCE)
BROKEN: list[Step] = [
    Reached("upload_done"),
    Heard(SENTENCE, "en"),
    Spent(Usage(9, 1), 0.25),
    fault(retryable=True),
]


class Engine:
    """An engine that knows one sentence."""

    async def recognize(self, texts: Sequence[str], language: str) -> Recognized | None:
        return Recognized(SENTENCE, "trigger") if SENTENCE in texts else None


@asynccontextmanager
async def ladder(stage: Stage, *, allowed: bool = True) -> AsyncIterator[FallbackBrain]:
    """Yield Gemini with the home in front of it, then the device's own brain."""
    async with OwnedTasks() as tasks:
        brain = PreferLocalBrain(
            stage.live,
            DryRun(Engine().recognize),
            lambda match, heard: allowed,
            "sentences",
            Catalogue(),
            stage.clock,
            tasks,
        )
        yield stage.of(brain, stage.offline)  # type: ignore[arg-type]


async def run(stage: Stage, rungs: FallbackBrain, request: TurnRequest) -> list[BrainEvent]:
    turn = asyncio.ensure_future(play(rungs.begin(request), stage.house))
    await stage.clock.run(10.0)
    return await turn


async def test_a_model_that_fails_is_nothing_to_a_sentence_that_has_begun() -> None:
    stage = Stage()
    stage.live.add(BROKEN)
    async with ladder(stage) as rungs:
        events = await run(stage, rungs, SPOKEN)
    assert served(events) == [LIVE, "home-assistant"]
    assert [deed.call.name for deed in stage.house.deeds] == ["conversation.process"]
    assert said(events)
    assert stage.budget.known_usd == 0.25
    stage.assert_consumed()


async def test_before_it_has_begun_the_next_brain_is_asked() -> None:
    stage = Stage()
    stage.live.add(BROKEN, BROKEN)
    stage.offline.add(DONE)
    async with ladder(stage, allowed=False) as rungs:
        events = await run(stage, rungs, SPOKEN)
    assert served(events) == [LIVE, LIVE, OFFLINE]
    assert not stage.house.deeds
    stage.assert_consumed()


async def test_a_typed_sentence_asks_no_model_at_all() -> None:
    stage = Stage()
    stage.live.add(DONE)
    async with ladder(stage) as rungs:
        events = await run(stage, rungs, TYPED)
    assert served(events) == [LIVE, "home-assistant"]
    assert len(stage.house.deeds) == 1
    assert "Fine." not in said(events)
