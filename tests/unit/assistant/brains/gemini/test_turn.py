"""Tests of single turns of the Gemini Live brain, between strict doubles."""

import asyncio
from dataclasses import replace

import pytest

from assistant.brains.briefing.briefer import STAY_SILENT
from assistant.domain.brain import (
    BrainFault,
    Heard,
    InTalk,
    NotMeant,
    Reached,
    ReplyAudio,
    ReplySettled,
    ReplyText,
    Spent,
    ToolCallsCancelled,
    TurnDone,
    Usage,
)
from assistant.domain.tool_call import ToolCall
from assistant.domain.turn_audio import TurnAudio
from integrations.errors import Retired, Unavailable
from integrations.gemini.events import (
    FunctionCall,
    FunctionCalls,
    FunctionCallsCancelled,
    Grounded,
    InputText,
    Interrupted,
    OutputAudio,
    OutputText,
    TokensUsed,
    TurnComplete,
)
from integrations.gemini.models import model_row
from tests.unit.assistant.brains.gemini.doubles import (
    ROW,
    SOUND,
    YES,
    Sent,
    outcome_of,
    sentence,
    session,
    spoken,
    stage,
    typed,
)

F = FunctionCalls((FunctionCall("1", "f", {}),))
CALLS = FunctionCalls((FunctionCall("1", "f", {}), FunctionCall("2", "g", {})))
F_HAD_STARTED = (
    '(For your information: the earlier call of "f" was cut off, but it had started. '
    'Its result, as data: "Kitchen Light: on" Do not repeat it.)'
)


async def test_a_spoken_turn() -> None:
    heard = InputText("turn on the lamp", "en")
    async with stage(session(*sentence(heard, *YES))) as on:
        events = await on.follow(on.brain.begin(spoken()))
    assert [event.moment for event in events if isinstance(event, Reached)] == [
        *("connected", "first_upload", "upload_done")
    ]
    *others, cost, end = [event for event in events if not isinstance(event, Reached)]
    assert others == [Heard("turn on the lamp", "en"), ReplyText("Yes."), ReplySettled()]
    assert isinstance(cost, Spent)
    assert end == TurnDone()


async def test_a_typed_turn_is_text_and_no_activity() -> None:
    async with stage(session(Sent("text", "turn on the lamp", YES))) as on:
        assert await on.play(typed()) == [ReplyText("Yes."), ReplySettled(), TurnDone()]


async def test_the_sentence_goes_up_while_it_is_spoken_and_ends_at_once() -> None:
    audio = TurnAudio()
    request = replace(spoken(), audio=audio)
    talk = session(*sentence(*YES, sound=b"\1\0" * 320))
    async with stage(talk) as on, asyncio.TaskGroup() as group:
        turn = group.create_task(on.follow(on.brain.begin(request)))
        await on.clock.settle()
        for _ in range(4):
            audio.append(b"\1\0" * 80)
            await on.clock.settle()
        audio.finish()
        await on.clock.settle()
        talk.assert_consumed()  # without any time passing
        await turn


async def test_the_backlog_goes_in_small_pieces_without_waiting() -> None:
    sound = bytes(32_000 * 20)  # 20 s
    talk = session(*sentence(*YES, sound=sound))
    async with stage(talk) as on:
        turn = on.brain.begin(spoken(sound))
        events, _ = await on.until(turn, ReplyText)
        assert on.clock.monotonic() == 0.0
        await events.aclose()


async def test_the_models_own_voice() -> None:
    said = (OutputAudio(b"\1\0", 24_000), OutputText("Yes.", True), TurnComplete())
    async with stage(session(*sentence(*said)), native_voice=True) as on:
        assert await on.play(spoken()) == [
            ReplyAudio(b"\1\0", 24_000),
            ReplyText("Yes.", voiced=False),
            TurnDone(),
        ]


async def test_parallel_calls_are_answered_together_each_once() -> None:
    answer = Sent("answer", [("1", "f", "done"), ("2", "g", "done")], YES)
    async with stage(session(*sentence(CALLS), answer)) as on:
        assert await on.play(spoken()) == [
            ToolCall("1", "f", {}),
            ToolCall("2", "g", {}),
            ReplyText("Yes."),
            ReplySettled(),
            TurnDone(),
        ]
        assert on.clock.monotonic() < 1  # the answer came while we still sent: it is not waited for


async def test_a_chain_of_rounds() -> None:
    first, second = (FunctionCalls((FunctionCall(id, "f", {}),)) for id in "12")
    script = [
        *sentence(first),
        Sent("answer", [("1", "f", "done")], (second,)),
        Sent("answer", [("2", "f", "done")], YES),
    ]
    async with stage(session(*script)) as on:
        assert [type(event) for event in await on.play(spoken())] == [
            *(ToolCall, ToolCall, ReplyText, ReplySettled, TurnDone)
        ]


async def test_a_late_transcript_of_the_sentence_before_is_not_heard_in_a_typed_turn() -> None:
    late = InputText(" the lights")
    talk = session(*sentence(*YES), Sent("text", "is it cold", (late, *YES)))
    async with stage(talk) as on:
        await on.play(spoken())
        events = await on.play(typed("is it cold"))
        assert [event for event in events if isinstance(event, Heard)] == []


async def test_a_note_that_did_not_arrive_is_told_again() -> None:
    broken = session(*sentence(F))
    second = session(Sent("context", fails=Unavailable("Gone.")))
    async with stage(broken, second, session(Sent("context"), *sentence(*YES))) as on:
        turn = on.brain.begin(spoken())
        events, call = await on.until(turn, ToolCall)
        broken.break_off(Unavailable("Gone."))
        await turn.answer(outcome_of(call.id, call.name))
        await events.aclose()
        await on.play(spoken())
        assert (await on.play(spoken()))[-1] == TurnDone()


async def test_a_result_whose_answer_broke_off_is_told_with_the_next_turn() -> None:
    first = session(*sentence(F), Sent("answer", [("1", "f", "done")]))
    async with stage(first, session(Sent("context", F_HAD_STARTED), *sentence(*YES))) as on:
        turn = on.brain.begin(spoken())
        events, call = await on.until(turn, ToolCall)
        await turn.answer(outcome_of(call.id, call.name))
        first.break_off(Unavailable("Gone."))
        await events.aclose()
        assert (await on.play(spoken()))[-1] == TurnDone()


@pytest.mark.parametrize("breaks", [True, False], ids=["it breaks off", "it was not used any more"])
async def test_a_session_with_an_open_call_is_not_resumed(breaks: bool) -> None:
    first = session(*sentence(F), handle="h")
    async with stage(first, session(*sentence(*YES))) as on:
        events, _ = await on.until(on.brain.begin(spoken()), ToolCall)
        if breaks:
            first.break_off(Unavailable("Gone."))
        await events.aclose()
        await on.clock.run(1.0 if breaks else 300.0)
        assert await on.play(spoken()) == [ReplyText("Yes."), ReplySettled(), TurnDone()]
        assert [setup.handle for setup in on.client.setups] == [None, None]


async def test_one_that_was_answered_to_the_end_is_not() -> None:
    first = session(*sentence(F), Sent("answer", [("1", "f", "done")], YES))
    async with stage(first, session(*sentence(*YES))) as on:
        await on.play(spoken())
        first.break_off(Unavailable("Gone."))
        assert (await on.play(spoken()))[-1] == TurnDone()


async def test_a_cancelled_call_is_not_answered_and_told_with_the_next_turn() -> None:
    cancelled = (FunctionCallsCancelled(("1",)), OutputText("All right.", True), TurnComplete())
    talk = session(
        *sentence(F),
        Sent("context", F_HAD_STARTED),
        *sentence(*YES),
    )
    async with stage(talk) as on:
        turn = on.brain.begin(spoken())
        events, call = await on.until(turn, ToolCall)
        talk.emit(*cancelled)
        assert await anext(events) == ToolCallsCancelled(("1",))
        assert await anext(events) == ReplyText("All right.")
        await turn.answer(outcome_of(call.id, "f"))
        await events.aclose()
        await on.play(spoken())


async def test_a_note_goes_in_front_of_a_typed_sentence() -> None:
    talk = session(
        Sent("text", None, (F,)),
        Sent("text", None, YES),
    )
    async with stage(talk, row=model_row("gemini-3.1-flash-live-preview")[0]) as on:
        turn = on.brain.begin(typed())
        events, _ = await on.until(turn, ToolCall)
        talk.emit(FunctionCallsCancelled(("1",)), TurnComplete())
        await turn.answer(outcome_of("1", "f"))
        await events.aclose()
        assert await on.play(typed()) == [ReplyText("Yes."), ReplySettled(), TurnDone()]


async def test_to_stay_silent_ends_without_words() -> None:
    silent = FunctionCalls((FunctionCall("1", STAY_SILENT, {}),))
    talk = session(*sentence(silent), Sent("answer", [("1", STAY_SILENT, "done")], YES))
    async with stage(talk) as on:
        assert await on.play(spoken()) == [NotMeant()]
        await on.clock.settle()


async def test_what_the_turn_cost_is_told_once_with_the_last_counts() -> None:
    used = [TokensUsed(count, 10, {"input_audio": count}) for count in (500, 1_000)]
    async with stage(session(*sentence(used[0], *YES, used[1]))) as on:
        events = await on.play(spoken())
        (spent,) = [event for event in events if isinstance(event, Spent)]
        assert spent.usage == Usage(1_000, 10, {"input_audio": 1_000})
        assert spent.cost_usd == pytest.approx((1_000 * 3.00 + 10 * 4.50) / 1e6)
        assert events[-1] == TurnDone()


def used(read: int, said: int) -> TokensUsed:
    return TokensUsed(read, said, {"input_text": read})


async def test_what_a_cut_off_turn_cost_is_told_with_the_next() -> None:
    talk = session(
        *sentence(used(500, 10), OutputText("Well,", True)),
        Sent("start", then=(Interrupted(), TurnComplete(), used(600, 20))),
        *sentence(*YES, used(100, 5))[1:],
    )
    async with stage(talk) as on:
        events, _ = await on.until(on.brain.begin(spoken()), ReplyText)
        await events.aclose()
        spent = [event for event in await on.play(spoken()) if isinstance(event, Spent)]
        assert [one.usage for one in spent] == [Usage(700, 25, {"input_text": 700})]


@pytest.mark.parametrize("ends", ["before it", "while it is spoken", "after it"])
async def test_a_turn_after_a_cut_off_one_is_estimated_too(ends: str) -> None:
    rest = (Interrupted(), TurnComplete())
    then = {ends: rest}
    talk = session(
        *sentence(used(500, 10), OutputText("Well,", True)),
        Sent("start", then=then.get("while it is spoken", ())),
        Sent("sound", SOUND),
        Sent("end", then=(*then.get("after it", ()), *YES)),
    )
    async with stage(talk) as on:
        events, _ = await on.until(on.brain.begin(spoken()), ReplyText)
        await events.aclose()
        talk.emit(*then.get("before it", ()))
        found = [one for one in await on.follow(on.brain.begin(spoken())) if isinstance(one, Spent)]
        # The first turn's 500, and the context of 500 that the second has read again.
        assert sum(one.usage.input_tokens for one in found) > 1_000


async def test_a_turn_that_is_given_up_may_have_cost_something() -> None:
    async with stage(session(*sentence())) as on:
        *_, cost, end = await on.follow(on.brain.begin(spoken()))
        assert isinstance(cost, Spent)
        assert cost.usage.estimated
        assert end == BrainFault("timeout", "Gemini stopped answering.", retryable=True)


async def test_an_empty_turn_is_asked_again_as_text() -> None:
    talk = session(
        *sentence(InputText("turn on the lamp"), TurnComplete()),
        Sent("text", "turn on the lamp", YES),
    )
    async with stage(talk) as on:
        events = await on.play(spoken())
        assert events[-1] == BrainFault("empty", "Gemini gave no answer.", retryable=True)
        again = spoken(heard="turn on the lamp")
        assert await on.play(again) == [ReplyText("Yes."), ReplySettled(), TurnDone()]


async def test_after_a_lost_connection_the_sound_is_sent_again_and_not_half_a_sentence() -> None:
    lost = session(Sent("start"), Sent("sound", SOUND, then=(InputText("turn on"),)))
    async with stage(lost, session(*sentence(*YES))) as on:
        request = spoken(finished=False)
        turn = on.brain.begin(request)
        events, _ = await on.until(turn, Heard)
        lost.break_off(Unavailable("Gone."))
        assert await anext(events) == BrainFault("unreachable", "Gone.", retryable=True)
        assert request.audio is not None
        request.audio.finish()
        again = await on.play(replace(request, heard="turn on"))
        assert again == [ReplyText("Yes."), ReplySettled(), TurnDone()]


@pytest.mark.parametrize(
    ("row", "told"), [(ROW, True), (replace(ROW, client_content=False), False)]
)
async def test_notes_reach_a_spoken_turn_only_where_the_model_takes_them(
    row: object, told: bool
) -> None:
    first = session(*sentence(F))
    script = [Sent("context")] if told else []
    async with stage(first, session(*script, *sentence(*YES)), row=row) as on:
        turn = on.brain.begin(spoken())
        events, _ = await on.until(turn, ToolCall)
        first.break_off(Unavailable("Gone."))
        await turn.answer(outcome_of("1", "f"))
        await events.aclose()
        assert await on.play(spoken()) == [ReplyText("Yes."), ReplySettled(), TurnDone()]


@pytest.mark.parametrize("aside", [True, False])
async def test_what_it_must_know_to_understand_the_turn_reaches_every_model(aside: bool) -> None:
    """Beside the speech, or in the instruction if the model accepts nothing beside it."""
    note = "(You have just said hello.)"
    row = replace(ROW, client_content=aside)
    talk = session(*([Sent("context", note)] if aside else []), *sentence(*YES))
    async with stage(talk, row=row) as on:
        assert await on.play(spoken(note=note)) == [ReplyText("Yes."), ReplySettled(), TurnDone()]
        assert on.client.setups[0].instruction.endswith(note) is not aside


# Silence


async def test_no_sign_of_an_answer_for_six_seconds() -> None:
    talk = session(*sentence())
    async with stage(talk) as on:
        events = await on.play(spoken())
        assert events == [BrainFault("timeout", "Gemini stopped answering.", retryable=True)]
        assert 6.0 <= on.clock.monotonic() < 6.3
        assert talk.closed_for_good.is_set()


async def test_silence_after_a_tools_result() -> None:
    talk = session(*sentence(CALLS), Sent("answer"))
    async with stage(talk) as on:
        events = await on.play(spoken())
        assert isinstance(events[-1], BrainFault)
        assert events[-1].kind == "timeout"
        assert 6.0 <= on.clock.monotonic() < 6.3


async def test_a_session_that_never_opens() -> None:
    async with stage(None) as on:
        events = await on.play(spoken())
        assert events == [
            BrainFault("unreachable", "Gemini could not be reached in time.", retryable=True)
        ]
        assert 5.0 <= on.clock.monotonic() < 5.3


async def test_a_socket_that_takes_nothing_any_more() -> None:
    talk = session(Sent("start", hangs=True))
    async with stage(talk) as on:
        events = await on.play(spoken())
        assert events == [
            BrainFault("unreachable", "Gemini no longer accepts input.", retryable=True)
        ]
        assert talk.closed_for_good.is_set()


async def test_a_model_that_is_gone() -> None:
    async with stage(Retired("Set gemini.model to another one.")) as on:
        assert await on.play(spoken()) == [
            BrainFault("retired", "Set gemini.model to another one.", retryable=False)
        ]


async def test_a_turn_without_sound_is_no_activity() -> None:
    async with stage(session()) as on:
        (fault,) = await on.play(spoken(b""))
        assert isinstance(fault, BrainFault)
        assert not fault.retryable


async def test_each_turn_with_calls_tells_of_its_talk() -> None:
    """The id is the same until the model has forgotten the conversation."""

    def calls(id: str) -> list[Sent]:
        call = FunctionCalls((FunctionCall(id, "f", {}),))
        return [*sentence(call), Sent("answer", [(id, "f", "done")], YES)]

    searched = FunctionCalls((FunctionCall("3", "f", {}),))
    found = [*sentence(Grounded(), searched), Sent("answer", [("3", "f", "done")], YES)]
    first = session(*sentence(*YES), *calls("1"), *calls("2"), *found)
    async with stage(first, session(*calls("4"))) as on:

        async def talks() -> list[InTalk]:
            events = await on.follow(on.brain.begin(spoken()))
            told = [event for event in events if isinstance(event, InTalk)]
            called = [type(event) for event in events if isinstance(event, InTalk | ToolCall)]
            assert called in ([], [InTalk, ToolCall])  # before the call, so that it counts for it
            return told

        assert await talks() == []  # nothing is called for
        one, again, with_web = [*await talks(), *await talks(), *await talks()]
        assert one == again
        assert not one.searched
        assert with_web == replace(one, searched=True)
        on.brain.forget()
        await on.clock.settle()
        [other] = await talks()
        assert other.talk != one.talk
        assert not other.searched
