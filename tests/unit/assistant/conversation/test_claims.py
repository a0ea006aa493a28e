"""Tests of unverified claims of a model: which calls are in doubt, and what is said instead."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from assistant.conversation.record import FinishedTurn, as_json
from assistant.conversation.tool_calls import is_in_doubt, is_undone, told, undone
from assistant.domain.brain import BrainEvent, BrainFault, ReplyText, Serving, TurnDone
from assistant.domain.tool_call import (
    CALM,
    READ_ONLY,
    CallContext,
    Decision,
    Status,
    Tier,
    ToolCall,
    ToolOutcome,
)
from tests.unit.assistant.conversation.doubles import (
    Rightful,
    ScriptedBrain,
    ScriptedTurn,
    Tools,
    done,
)
from tests.unit.assistant.conversation.stage import runner_with

LOCK = ToolCall("c1", "HassTurnOn", {"name": "Front door"})
DONE = replace(done(LOCK), entities=("lock.front_door",), sentence="Done. Front door: locked.")
LATE = replace(DONE, id="late", status=Status.NOT_OBSERVED, sentence="I tried, but it shows open.")
LIGHT = replace(done(ToolCall("c2", "HassTurnOn", {"name": "Lamp"})), sentence="Done. Lamp: on.")
READ = replace(DONE, tier=Tier.READ, sentence="The answer is in the data.")
CLAIM = "The front door is locked."


@pytest.mark.parametrize(
    ("changes", "doubted", "left"),
    [
        ({}, False, False),
        ({"status": Status.NOT_OBSERVED}, True, True),
        ({"status": Status.TIMEOUT}, True, True),
        ({"status": Status.UNKNOWN}, True, True),
        ({"status": Status.UNKNOWN, "running": True}, True, True),
        ({"status": Status.UNKNOWN, "running": True, "server": "hearth"}, False, False),
        ({"status": Status.FAILED}, True, True),
        ({"status": Status.FAILED, "server": "hearth"}, False, False),
        *(
            ({"status": Status.FAILED, "server": "hearth", "name": name}, True, True)
            for name in ("do_later", "undo", "correct_last")
        ),
        ({"status": Status.FAILED, "server": "notes"}, False, True),
        ({"status": Status.FAILED, "tier": Tier.READ}, False, False),
        ({"status": Status.UNKNOWN, "tier": Tier.READ}, False, False),
        ({"status": Status.NOT_RUN}, False, True),
        ({"status": Status.NOT_RUN, "decision": Decision.DENIED}, False, True),
        ({"status": Status.NOT_RUN, "decision": Decision.NEEDS_CONFIRMATION}, False, True),
        ({"status": Status.NOT_RUN, "rule": "too_many_calls"}, False, False),
        ({"status": Status.NOT_RUN, "tier": Tier.READ}, False, False),
        ({"status": Status.NOT_RUN, "tier": Tier.READ, "server": ""}, False, True),
    ],
)
def test_which_calls_are_doubted(changes: dict[str, Any], doubted: bool, left: bool) -> None:
    outcome = replace(DONE, **changes)
    assert (is_in_doubt(outcome), is_undone(outcome)) == (doubted, left)


ASKED = replace(DONE, status=Status.NOT_RUN, decision=Decision.NEEDS_CONFIRMATION)
REFUSED = replace(DONE, status=Status.NOT_RUN, decision=Decision.DENIED)
NO_TOOL = replace(REFUSED, server="", tier=Tier.READ, name="open_up", entities=())
ELSEWHERE = replace(DONE, entities=("lock.back_door",))


@pytest.mark.parametrize(
    ("outcomes", "left"),
    [
        ([LATE, DONE], []),  # tried again, and seen
        ([DONE, LATE], [LATE]),
        ([LATE, ELSEWHERE], [LATE]),
        ([LATE, LIGHT], [LATE]),
        ([REFUSED, READ], [REFUSED]),
        ([replace(REFUSED, entities=()), DONE], []),  # the arguments were put right
        ([ASKED, DONE], []),
        ([ASKED, replace(DONE, arguments={"name": "Back door"})], [ASKED]),
        ([NO_TOOL, LIGHT], []),
        ([NO_TOOL, READ], [NO_TOOL]),
    ],
)
def test_what_is_left_undone(outcomes: list[ToolOutcome], left: list[ToolOutcome]) -> None:
    assert undone(outcomes) == left


def test_what_is_told_is_each_thing_as_it_is_now() -> None:
    assert told([LIGHT, LATE, READ, DONE]) == ["Done. Lamp: on.", "Done. Front door: locked."]
    assert told([LATE, LIGHT, LIGHT]) == ["I tried, but it shows open.", "Done. Lamp: on."]
    assert told([replace(LATE, sentence="")]) == []


class Ends(Tools):
    """Gives the calls the listed outcomes, one after the other."""

    def __init__(self, *outcomes: ToolOutcome) -> None:
        super().__init__()
        self._outcomes = list(outcomes)

    def question(self, turn_id: str, call_id: str) -> None:
        """Return no question: nobody is asked on behalf of a program."""

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        return replace(self._outcomes.pop(0), id=call.id)


def claims(*, calls: int = 1, end: BrainEvent | None = None, brain: str = "") -> ScriptedBrain:
    """Return a model that says it is done, whatever the outcome of its calls."""

    async def script(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        if brain:
            yield Serving(brain)
        yield ReplyText("Right. ")
        for number in range(calls):
            turn.answered.clear()
            yield ToolCall(f"c{number}", "HassTurnOn", {"name": "Front door"})
            await turn.answered.wait()
        yield ReplyText(CLAIM)
        yield end or TurnDone()

    return ScriptedBrain(script)


async def spoken(brain: ScriptedBrain, *outcomes: ToolOutcome) -> str:
    async with runner_with(brain, tools=Ends(*outcomes)) as (runner, closed):
        await runner.ask("Lock the front door.")
    return " ".join(closed[0][0].spoken.clauses)


@pytest.mark.parametrize("status", [Status.NOT_OBSERVED, Status.TIMEOUT, Status.UNKNOWN])
async def test_a_claim_after_an_unknown_end_is_not_spoken(status: Status) -> None:
    said = await spoken(claims(), replace(LATE, status=status))
    assert CLAIM not in said
    assert said.endswith("I tried, but it shows open.")


async def test_once_it_was_seen_after_all_that_is_told() -> None:
    said = await spoken(claims(calls=2), LATE, DONE)
    assert CLAIM not in said
    assert said.endswith("Done. Front door: locked.")
    assert "it shows open" not in said


async def test_what_was_seen_the_model_may_say() -> None:
    assert (await spoken(claims(), DONE)).endswith(CLAIM)


async def test_a_brain_of_our_own_speaks_by_our_catalogue_already() -> None:
    assert (await spoken(claims(brain="offline"), LATE)).endswith(CLAIM)


async def test_where_the_model_then_fails_what_became_of_it_is_told_first() -> None:
    fault = BrainFault("unreachable", "Gone.", retryable=False)
    said = await spoken(claims(end=fault), LATE)
    assert said.endswith(
        "I tried, but it shows open. "
        "I couldn't reach the AI service I use. Please try again in a moment."
    )


async def typed(brain: ScriptedBrain, *outcomes: ToolOutcome) -> FinishedTurn:
    playing = runner_with(brain, tools=Ends(*outcomes), limits=Rightful())
    async with playing as (runner, _):
        return await runner.ask_quietly("Lock the front door.", READ_ONLY, "http:panel")


@pytest.mark.parametrize(
    "outcome",
    [
        replace(REFUSED, sentence="A program may not do that here."),
        replace(ASKED, sentence="That needs a yes."),
        replace(NO_TOOL, sentence="There's no tool called open_up."),
        LATE,
        replace(LATE, status=Status.FAILED, sentence="That didn't work: jammed."),
    ],
)
async def test_no_program_is_returned_a_claim(outcome: ToolOutcome) -> None:
    turn = await typed(claims(), outcome)
    assert turn.record.answer == outcome.sentence
    shown = as_json(turn.record, turn.outcomes)
    assert shown["not_done"] == [
        {
            "id": "c0",
            "name": outcome.name,
            "decision": outcome.decision,
            "status": outcome.status,
            "sentence": outcome.sentence,
        }
    ]


async def test_a_program_is_given_the_models_words_where_all_was_done() -> None:
    turn = await typed(claims(), DONE)
    assert turn.record.answer == f"Right. {CLAIM}"
    assert as_json(turn.record, turn.outcomes)["not_done"] == []


async def test_what_was_done_beside_it_is_returned_too() -> None:
    refused = replace(REFUSED, sentence="A program may not do that here.")
    turn = await typed(claims(calls=2), LIGHT, refused)
    assert turn.record.answer == "Done. Lamp: on. A program may not do that here."


class Slow(Ends):
    """Calls that return when the test allows it."""

    def __init__(self, outcome: ToolOutcome) -> None:
        super().__init__(outcome)
        self.back = asyncio.Event()

    async def call(self, *given: Any, **more: Any) -> ToolOutcome:
        await self.back.wait()
        return await super().call(*given, **more)


@pytest.mark.parametrize(
    ("outcome", "said"), [(LATE, "I tried, but it shows open."), (DONE, f"{CLAIM} Good night.")]
)
async def test_what_is_claimed_while_the_call_runs_waits_for_its_end(
    outcome: ToolOutcome, said: str
) -> None:
    tools = Slow(outcome)

    async def hasty(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield LOCK
        yield ReplyText(f"{CLAIM} ")
        yield ReplyText("Good night.")
        tools.back.set()
        yield TurnDone()

    async with runner_with(ScriptedBrain(hasty), tools=tools) as (runner, closed):
        await runner.ask("Lock the front door.")
    assert " ".join(closed[0][0].spoken.clauses) == said
