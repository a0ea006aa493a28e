"""Tests that Hearth's own lines are in the turn's language, with a voice of that language."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from assistant.domain.brain import BrainEvent, BrainFault, Heard, ReplyText, TurnDone
from assistant.domain.tool_call import (
    CALM,
    CallContext,
    Decision,
    Status,
    Tier,
    ToolCall,
    ToolOutcome,
)
from assistant.speech.catalogue import Catalogue
from assistant.speech.identify import Languages, identify
from assistant.speech.speakable import speakable
from tests.unit.assistant.conversation.asking_stage import (
    ANSWER,
    UNLOCK,
    GatedTools,
    means,
    replies,
)
from tests.unit.assistant.conversation.doubles import (
    Frames,
    Script,
    ScriptedBrain,
    ScriptedEar,
    ScriptedTurn,
    Tools,
    done,
)
from tests.unit.assistant.conversation.stage import runner_with
from tests.unit.assistant.speech.test_identify import Voices

ALL = Catalogue()
# Configured languages, the person's language, and the language of our own lines.
SPOKEN = pytest.mark.parametrize(
    ("codes", "code", "own"),
    [
        (("en", "es"), "es", "es"),
        (("en", "es-MX"), "es-MX", "es-MX"),
        (("en", "pt"), "pt", "pt"),
        (("pt-BR",), "pt-BR", "pt-BR"),
        (("de", "en"), "de", "de"),
        (("de", "fr"), "fr", "fr"),
        (("vi",), "vi", "vi"),
        (("it",), "it", "en"),  # there is no file, and the voice must not read English as Italian
        (("it", "en"), "it", "en"),
    ],
)


def configured(codes: tuple[str, ...]) -> Languages:
    return Languages(codes, lambda text, expected: identify(text, codes, expected))


class Shut(Tools):
    """Refuses every call, in the language that it is given."""

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        return replace(
            done(call),
            decision=Decision.DENIED,
            tier=Tier.SECURE,
            status=Status.NOT_RUN,
            sentence=ALL.say("policy.note", language),
        )


@SPOKEN
async def test_a_fault(codes: tuple[str, ...], code: str, own: str) -> None:
    async def fails(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Heard("...", code)
        yield BrainFault("unreachable", "It is away.", retryable=False)

    assert await said(fails, codes) == [line("fault.unreachable", own)]


@SPOKEN
async def test_a_turn_that_broke_off_after_a_deed(
    codes: tuple[str, ...], code: str, own: str
) -> None:
    deed = ALL.say("undo.done_it", code)
    spoken = f"{deed} {ALL.say('ladder.then_lost', code)}"

    async def breaks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Heard("...", code)
        yield BrainFault("unreachable", "It is away.", retryable=False, spoken=spoken)

    assert await said(breaks, codes) == [(own, speakable(spoken, own))]


@SPOKEN
async def test_a_refusal(codes: tuple[str, ...], code: str, own: str) -> None:
    async def calls(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Heard("...", code)
        yield UNLOCK
        await turn.answered.wait()
        yield TurnDone()

    assert await said(calls, codes, Shut()) == [line("policy.note", own)]


class Old(Tools):
    """Tools of a house to which the connection is lost."""

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        return replace(done(call), stale=True, sentence=ALL.say("policy.note", language))


@SPOKEN
async def test_what_is_not_of_now_is_said_once_before_the_answer(
    codes: tuple[str, ...], code: str, own: str
) -> None:
    async def looks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Heard("...", code)
        for number in ("1", "2"):
            turn.answered.clear()
            yield replace(UNLOCK, id=number)
            await turn.answered.wait()
        yield ReplyText("OK.")
        yield TurnDone()

    lines = await said(looks, codes, Old())
    assert lines[0] == line("policy.note", own)
    assert [text for _, text in lines].count(line("policy.note", own)[1]) == 1
    assert lines[-1][1] == "OK."


@SPOKEN
async def test_a_line_in_front_of_an_answer(codes: tuple[str, ...], code: str, own: str) -> None:
    async def answers(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Heard("...", code)
        yield ReplyText(f"{ALL.say('ladder.back', code)} ", language=own)
        yield ReplyText("OK.")
        yield TurnDone()

    assert await said(answers, codes) == [line("ladder.back", own), (code, "OK.")]


@SPOKEN
async def test_a_question_and_what_came_of_it(codes: tuple[str, ...], code: str, own: str) -> None:
    voices = Voices()

    async def unlocks(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        assert turn.request.audio is not None
        await turn.request.audio.complete()
        yield Heard("...", code)
        yield UNLOCK
        await turn.answered.wait()
        yield TurnDone()

    brain = ScriptedBrain(unlocks, replies(Heard("mm", code)))
    async with runner_with(
        brain,
        ScriptedEar(ANSWER),
        GatedTools(),
        languages=configured(codes),
        voices=voices,
        asking=means(None),
    ) as (runner, _):
        await runner.listen(Frames(30.0), turns=1)
    assert [language for language, _ in voices.said] == [own, own]


async def said(
    script: Script, codes: tuple[str, ...], tools: Tools | None = None
) -> list[tuple[str, str]]:
    """Return what the voices got in one typed turn, each text with its language."""
    voices = Voices()
    brain, languages = ScriptedBrain(script), configured(codes)
    async with runner_with(brain, tools=tools, languages=languages, voices=voices) as (runner, _):
        await runner.ask("...")
    return voices.said


def line(key: str, own: str) -> tuple[str, str]:
    """Return a line of the catalogue as a voice gets it."""
    return own, speakable(ALL.say(key, own), own)
