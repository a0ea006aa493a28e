"""Tests of the Gemini Live brain with the real google-genai client and the simulated service."""

import asyncio
from dataclasses import replace

import pytest

from assistant.brains.briefing.briefer import STAY_SILENT
from assistant.domain.brain import (
    BrainFault,
    Heard,
    NotMeant,
    Reached,
    ReplyAudio,
    ReplyText,
    Spent,
    ToolCallsCancelled,
    TurnDone,
    TurnRequest,
)
from assistant.domain.tool_call import ToolCall
from integrations.gemini.declarations import Declaration
from tests.simulators.script import (
    Call,
    CallTogether,
    Cancel,
    Close,
    Done,
    Drop,
    Gate,
    GoAway,
    Hear,
    Inner,
    LiveStep,
    Opening,
    Phantom,
    Say,
    Stall,
    Tokens,
    Turn,
)
from tests.unit.assistant.brains.gemini.doubles import ScriptedBriefer, outcome_of
from tests.unit.assistant.brains.gemini.talk import (
    BRIEFING,
    FUNCTIONS,
    QUICK,
    SPEECH,
    YES,
    talk,
)


async def test_every_sample_arrives_though_the_connect_takes_long() -> None:
    steps = (Hear("is the lamp on", language="en"), *YES)
    async with talk(Turn("audio", steps), openings=[Opening(delay_s=0.5)]) as on:
        events = await on.play()
        heard = on.service.turns[0].assert_heard(SPEECH, covers=(0, 32_000))
        assert (heard.start, heard.end) == (0, 32_000)
        assert on.service.turns[0].longest_chunk_s <= 0.1
        assert events[0] == Heard("is the lamp on", "en")
        assert events[-1] == TurnDone()


async def test_a_sentence_that_is_still_spoken() -> None:
    async with talk(Turn("audio", YES)) as on:
        request = on.spoken(b"", finished=False)
        audio = request.audio
        assert audio is not None
        async with asyncio.TaskGroup() as group:
            answer = group.create_task(on.answer(request))
            for start in range(0, len(SPEECH), 640):
                audio.append(SPEECH[start : start + 640])
                await asyncio.sleep(0)
            await on.service.until(lambda: bool(on.service.turns and on.service.turns[0].chunks))
            audio.finish()
            assert await answer == "Yes, it is."
        on.service.turns[0].assert_heard(SPEECH, covers=(0, 32_000))


async def test_a_typed_turn() -> None:
    async with talk(Turn("text", YES)) as on:
        assert await on.answer(TurnRequest("t", "en", "text", "is it on?", None)) == "Yes, it is."
        assert on.service.turns[0].text == "is it on?"


async def test_the_models_own_voice_arrives_whole() -> None:
    async with talk(Turn("audio", YES), native_voice=True) as on:
        events = await on.play()
        sound = b"".join(event.pcm for event in events if isinstance(event, ReplyAudio))
        assert sound == bytes(on.service.turns[0].reply_pcm)
        assert {event.rate for event in events if isinstance(event, ReplyAudio)} == {24_000}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([Say("It is on.", lag_s=0.2), Done(waits_for_text=False)], "It is on."),
        ([Inner("{call}", True), Inner("tool"), Say("It is on."), Done()], "It is on."),
        ([Call("HassTurnOn", {}), Say("It is on."), Done()], "It is on."),
        ([Say("On."), Done(status="IN_PROGRESS"), Say(" And hot."), Done("IDLE")], "On. And hot."),
        ([Say("[Silence]"), Say(" It is on."), Done()], " It is on."),
    ],
)
async def test_only_what_is_meant_for_ears_is_said(steps: list[LiveStep], said: str) -> None:
    async with talk(Turn("audio", steps)) as on:
        assert " ".join((await on.answer()).split()) == " ".join(said.split())


async def test_a_phantom_is_not_said() -> None:
    lamp = {"name": "Desk Lamp"}
    declared = Declaration(
        "HassTurnOn",
        "on",
        {"type": "OBJECT", "properties": {"name": {"type": "STRING"}}},
        (),
    )
    briefer = ScriptedBriefer(replace(BRIEFING, declarations=(declared,)))
    steps = [Call("HassTurnOn", lamp, wait=False), Phantom("Desk Lamp"), Say("It is on."), Done()]
    async with talk(Turn("audio", steps), briefer=briefer) as on:
        assert await on.answer() == "It is on."


async def test_parallel_calls_and_a_chain() -> None:
    ok = {"status": "done"}
    steps = [
        CallTogether(Call("HassTurnOn", answer=ok), Call("HassTurnOff", answer=ok)),
        Call("HassTurnOn", answer=ok),
        Call("HassTurnOff", answer=ok),
        *YES,
    ]
    async with talk(Turn("audio", steps)) as on:
        events = await on.play()
        assert [event.name for event in events if isinstance(event, ToolCall)] == [
            *("HassTurnOn", "HassTurnOff", "HassTurnOn", "HassTurnOff")
        ]
        assert events[-1] == TurnDone()


async def test_a_call_that_the_service_cancels_is_not_answered_and_told_later() -> None:
    first = Turn("audio", [Call("HassTurnOn", wait=False), Cancel(), *YES])
    async with talk(first, Turn("audio", YES)) as on:
        turn = on.brain.begin(on.spoken())
        ids: list[str] = []
        async for event in turn.events():
            if isinstance(event, ToolCallsCancelled):
                ids += event.ids
        assert len(ids) == 1
        await turn.answer(outcome_of(ids[0]))
        await on.answer()
        (note,) = [text for _, text, complete in on.service.connections[0].contents if not complete]
        assert "Kitchen Light: on" in note


async def test_barge_in_mid_reply() -> None:
    gate = Gate()
    long = Turn("audio", [Say("Once upon a time."), Stall(until=gate), Done()], cut=True)
    async with talk(long, Turn("audio", YES)) as on:
        turn = on.brain.begin(on.spoken())
        events = turn.events()
        async for event in events:
            if isinstance(event, ReplyText):
                break
        await events.aclose()
        assert await on.answer() == "Yes, it is."
        assert on.service.total_sockets == 1


async def test_a_sentence_cut_off_in_the_middle_is_never_answered() -> None:
    async with talk(Turn("audio", YES, cut=True), Turn("audio", YES)) as on:
        events = on.brain.begin(on.spoken(finished=False)).events()
        async for event in events:
            if event == Reached("first_upload"):
                break
        await on.service.until(lambda: bool(on.service.turns and on.service.turns[0].chunks))
        await events.aclose()
        assert await on.answer() == "Yes, it is."
        assert on.service.connections[1].resumed
        assert on.service.turns[0].ended_at is None


async def test_an_open_call_of_a_cut_off_turn_is_answered_first() -> None:
    first = Turn("audio", [Call("HassTurnOn", answer={"status": "unknown"}), Stall()], cut=True)
    async with talk(first, Turn("audio", YES)) as on:
        events = on.brain.begin(on.spoken()).events()
        async for event in events:
            if isinstance(event, ToolCall):
                break
        await events.aclose()
        assert await on.answer() == "Yes, it is."


async def test_to_stay_silent() -> None:
    first = Turn("audio", [Call(STAY_SILENT, answer={"status": "done"}), Say("Oh."), Done()])
    async with talk(replace(first, cut=None), Turn("audio", YES)) as on:
        assert await on.play() == [NotMeant()]
        assert await on.answer() == "Yes, it is."


async def test_what_it_cost() -> None:
    tokens = Tokens(900, 40, prompt_details={"AUDIO": 900}, response_details={"AUDIO": 40})
    async with talk(Turn("audio", [Say("Yes."), Done(usage=tokens)])) as on:
        (spent,) = [event for event in await on.play() if isinstance(event, Spent)]
        assert (spent.usage.input_tokens, spent.usage.output_tokens) == (900, 40)
        assert spent.cost_usd == pytest.approx((900 * 3.00 + 40 * 12.00) / 1e6)


# --- The brain on Gemini Live against the simulated service: trouble, and the session's life.


@pytest.mark.parametrize(
    ("steps", "kind", "retryable"),
    [
        ([Done()], "empty", True),
        ([Done(reason="MALFORMED_FUNCTION_CALL")], "empty", True),
        ([Done(reason="GENERATED_CONTENT_SAFETY")], "blocked", False),
        ([Stall()], "timeout", True),
        ([Call("HassTurnOn"), Stall()], "timeout", True),
        ([Drop()], "unreachable", True),
        ([Say("The"), Drop()], "unreachable", True),
        ([Close(1011, "Internal error encountered.")], "unreachable", True),
        ([Close(1011, "Resource has been exhausted (e.g. check quota).")], "quota", False),
    ],
)
async def test_each_trouble_is_a_fault_and_the_next_turn_works(
    steps: list[LiveStep], kind: str, retryable: bool
) -> None:
    async with talk(Turn("audio", steps, cut=None), Turn("audio", YES)) as on:
        fault = (await on.play())[-1]
        assert isinstance(fault, BrainFault)
        assert (fault.kind, fault.retryable) == (kind, retryable)
        assert await on.answer() == "Yes, it is."


async def test_a_drop_while_the_person_speaks() -> None:
    first = Turn("audio", (), during=[Hear("is"), Drop()], cut=None)
    async with talk(first, Turn("audio", YES)) as on:
        request = on.spoken(finished=False)
        events = await on.play(request)
        assert isinstance(events[-1], BrainFault)
        assert events[-1].retryable
        assert request.audio is not None
        request.audio.finish()
        assert await on.answer(replace(request, heard="is")) == "Yes, it is."
        on.service.turns[1].assert_heard(SPEECH, covers=(0, 32_000))


async def test_the_session_is_resumed_and_a_refused_handle_makes_way() -> None:
    turns = [Turn("audio", [Hear("is it on"), *YES])] + [Turn("audio", YES)] * 2
    openings = [Opening(), Opening(), Opening(refuse_handle=True)]
    async with talk(*turns, openings=openings, timeouts=replace(QUICK, warm_s=0.1)) as on:
        for number in range(3):
            assert await on.answer() == "Yes, it is."
            await on.service.until(lambda: on.service.open_sockets == 0)
            assert on.service.turns[number].cut == ""
        first, second, refused, last = on.service.connections
        assert (second.resumed, refused.handle is not None, last.handle) == (True, True, None)
        assert last.setup is not None
        assert "is it on" in str(last.setup)
        assert first.stray == second.stray == last.stray == b""


async def test_go_away_between_turns_and_mid_reply() -> None:
    gate = Gate()
    first = Turn("audio", [Say("Yes,"), GoAway(60), Stall(until=gate), Say(" it is."), Done()])
    async with talk(first, Turn("audio", YES)) as on:
        async with asyncio.TaskGroup() as group:
            answer = group.create_task(on.answer())
            await on.service.until(
                lambda: bool(on.service.turns) and bool(on.service.turns[0].reply_text)
            )
            assert on.service.open_sockets == 1
            gate.open()
            assert await answer == "Yes, it is."
        await on.service.until(lambda: on.service.total_sockets == 2)
        await on.service.until(lambda: on.service.connections[1].ready_at is not None)
        assert on.service.open_sockets == 1
        assert on.service.connections[1].resumed
        assert await on.answer() == "Yes, it is."


async def test_a_changed_menu_is_told_in_the_session() -> None:
    fewer = replace(BRIEFING, declarations=FUNCTIONS[:1], instruction="It is noon.")
    briefer = ScriptedBriefer(BRIEFING, fewer)
    async with talk(Turn("audio", YES), Turn("audio", YES), briefer=briefer) as on:
        await on.answer()
        await on.answer()
        (update,) = on.service.connections[0].updates
        assert {"systemInstruction", "tools"} == update.keys()


async def test_anticipation_costs_a_connect_and_no_sound() -> None:
    async with talk(timeouts=replace(QUICK, unused_s=0.1)) as on:
        on.brain.anticipate()
        on.brain.anticipate()
        await on.service.until(lambda: on.service.total_sockets == 1)
        await on.service.until(lambda: on.service.open_sockets == 0)
        assert on.service.heard_samples == 0


async def test_forty_turns_with_three_reconnects() -> None:
    turns = [Turn("audio", YES) for _ in range(40)]
    async with talk(*turns, timeouts=replace(QUICK, late_text_s=0.0)) as on:
        tasks: set[int] = set()
        for number in range(40):
            if number in (10, 30):
                on.service.connections[-1].drop()
            elif number == 20:
                on.service.connections[-1].go_away(50)
            assert await on.persist() == "Yes, it is."
            tasks.add(len(asyncio.all_tasks()))
        assert on.service.total_sockets == 4
        assert len(on.service.turns) == 40
        assert max(tasks) - min(tasks) <= 5  # none is left from turn to turn
