"""Tests of publicly reported behaviours of Gemini Live, one row each. Simulated service.

The source of each is its comment. Other tests of such behaviours: `test_gemini_breaks.py`,
`test_gemini_never_mute.py`, `test_gemini_scenarios.py`, `test_gemini_setup_repair.py`.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.pipeline.gemini_rig import (
    ASKED,
    LIVE,
    OFFICE,
    OFFICE_ON,
    SAID,
    TURN_ON,
    ended,
    said,
    scene,
)
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.live_cases import CasePlayer, LiveCase
from tests.simulators.script import (
    AwaitAnswers,
    Call,
    Cancel,
    Close,
    Done,
    Drop,
    Garbage,
    GoAway,
    Handle,
    Hear,
    Inner,
    Interrupt,
    Opening,
    Phantom,
    Raw,
    Say,
    Sound,
    Stall,
    Step,
    Tokens,
    Turn,
    Wait,
)

STILL = "Yes, they are on now."
STOPPED = f"{OFFICE_ON} Then something went wrong and I had to stop."
BOTH = [SAID, STILL]
OFFICE_JSON = '{"area": "Office", "domain": ["light"]}'
LOST = f"{OFFICE_ON} Then I lost the connection."
CALL = Call(TURN_ON, OFFICE)
OPEN_CALL = Call(TURN_ON, OFFICE, wait=False)
SERVED: list[Step] = [CALL, Say(SAID), Done()]
LATER: list[Step] = [CALL, Say(STILL), Done()]
REFUSED: list[Step] = [Close(1007, "Request contains an invalid argument.")]
MOON = "It is about three hundred and eighty thousand kilometres."
PARTIAL: list[Step] = [Say("It is about three hundred and"), Done(generation=False)]
LOUDER = Call("media_player__HassSetVolumeRelative", {"name": "Kitchen speaker", "volume_step": 10})
ADD = Call("todo__HassListAddItem", {"name": "Shopping list", "item": "milk"})
ADD_SHORT = Call("HassListAddItem", ADD.args, undeclared=True)
SAME_CALL = {"name": TURN_ON, "args": OFFICE, "id": "twice"}


def content(**fields: object) -> Raw:
    return Raw({"serverContent": fields})


Row = tuple[list[list[Step]], Sequence[str]]
ROWS: dict[str, Row] = {
    # google-gemini/gemini-cli #27178; pydantic/pydantic-ai #6643
    "closed with 1000 between turns": ([[*SERVED, Close(1000)], LATER], [SAID, STILL]),
    # yeyu2/Youtube_demos #5
    "dropped between turns": ([[*SERVED, Drop()], LATER], [SAID, STILL]),
    # livekit/agents #5985: the resumed session fails in the same way
    "refused midway, twice": (
        [SERVED, REFUSED, LATER, LATER],
        [SAID, STILL, STILL],
    ),
    "refused midway, twice in one turn": (
        [SERVED, REFUSED, REFUSED, LATER, LATER],
        [SAID, STILL, STILL],
    ),
    "refused after the action": ([[CALL, *REFUSED], LATER], [LOST, STILL]),
    # livekit/agents #4545; googleapis/js-genai #1236
    "1008 before the action": (
        [[Close(1008, "Operation is not implemented, or supported, or enabled.")], LATER],
        [STILL, STILL],
    ),
    # google-gemini/gemini-cli #27178
    "closed with 1000 before the answer": ([[Close(1000)], LATER], [STILL, STILL]),
    "closed with 1000 after the action": ([[CALL, Close(1000)], LATER], [LOST, STILL]),
    "the service restarts": ([[Say("The"), Close(1012)], LATER], [STILL, STILL]),
    # frames that the client library cannot read
    "garbage": (
        [[Garbage(), CALL, Garbage(), Say(SAID), Garbage(), Done(), Garbage()], LATER],
        [SAID, STILL],
    ),
    "a drop after a reading": (
        [[Call("GetLiveContext", {"area": "office"}), Drop()], SERVED, LATER],
        [SAID, STILL],
    ),
    # google-gemini/cookbook #1197; pydantic/pydantic-ai #7188
    "goAway within an answer": (
        [[CALL, Say("The office"), GoAway(5), Say(" lights are on."), Done(), Drop()], LATER],
        [SAID, STILL],
    ),
    "goAway at once, in the answer": (
        [[CALL, Say("The office"), GoAway(0), Stall()], LATER],
        [LOST, STILL],
    ),
    # googleapis/python-genai #2117; googleapis/js-genai #1578
    "empty parts": (
        [[content(modelTurn={"parts": []}), Done(generation=False)], SERVED, LATER],
        [SAID, STILL],
    ),
    # langwatch/scenario #360
    "turnComplete twice": ([[*SERVED, content(turnComplete=True)], LATER], [SAID, STILL]),
    # langwatch/scenario #360: interrupted and complete, without a generation
    "interrupted at once": (
        [SERVED, [Interrupt(), content(turnComplete=True), *LATER]],
        [SAID, STILL],
    ),
    # pydantic/pydantic-ai: the answer is a turn of its own, after the results
    "turnComplete with the call": (
        [[OPEN_CALL, content(turnComplete=True), AwaitAnswers(), Say(SAID), Done()], LATER],
        [SAID, STILL],
    ),
    # pydantic/pydantic-ai: the call comes a little after turnComplete
    "a call after turnComplete": (
        [[Say("I will do it now."), Done(), Wait(0.1), CALL, Say(SAID), Done()], LATER],
        [f"I will do it now. {SAID}", STILL],
    ),
    # mastra-ai/mastra #22969
    "a call in the reply and as a tool call": (
        [
            [
                Call(TURN_ON, OFFICE, id="twice", wait=False),
                content(modelTurn={"parts": [{"functionCall": SAME_CALL}]}),
                AwaitAnswers(),
                Say(SAID),
                Done(),
            ],
            LATER,
        ],
        [SAID, STILL],
    ),
    # Google's migration page of gemini-3.8-live; livekit/agents #5556
    "a list item again with new ids": (
        [[ADD, ADD, ADD, Say("Milk is on the list."), Done()], LATER],
        ["Milk is on the list.", STILL],
    ),
    "a list item again under its short name": (
        [[ADD, ADD_SHORT, Say("Milk is on the list."), Done()], LATER],
        ["Milk is on the list.", STILL],
    ),
    "a relative command again with new ids": (
        [[LOUDER, LOUDER, LOUDER, Say("It is louder."), Done()], LATER],
        ["It is louder.", STILL],
    ),
    # livekit/agents #5556: the model takes the call back and says nothing more
    "cancelled after it was done": ([[OPEN_CALL, Cancel(), Done()], LATER], [OFFICE_ON, STILL]),
    "cancelled before it was made": (
        [[Raw({"toolCallCancellation": {"ids": ["unknown"]}}), *SERVED], LATER],
        [SAID, STILL],
    ),
    "cancelled with its repetition": (
        [[OPEN_CALL, OPEN_CALL, Cancel(), Done()], LATER],
        [OFFICE_ON, STILL],
    ),
    # livekit/agents #2174
    "a tool that does not exist": (
        [[Call("make_coffee", {}, undeclared=True), Say("I cannot do that here."), Done()], LATER],
        ["I cannot do that here.", STILL],
    ),
    # livekit/agents #6569
    "a call in the middle of a sentence": (
        [[Say("Sure, I will turn on the lights."), CALL, Say(SAID), Done()], LATER],
        [f"Sure, I will turn on the lights. {SAID}", STILL],
    ),
    # pydantic/pydantic-ai, pipecat: thoughts as text parts
    "thoughts": ([[Inner("Let me think.", True), *SERVED], LATER], [SAID, STILL]),
    # googleapis/python-genai: the transcript of the answer is missing
    "sound without a transcript": (
        [[CALL, Say("", audio_s=2), Done()], LATER],
        [OFFICE_ON, STILL],
    ),
    # google-gemini/cookbook #822
    "the end of the transcript is late": (
        [[Say(MOON, lag_s=1.5), Done(waits_for_text=False)], LATER],
        [MOON, STILL],
    ),
    "a whole sentence of the transcript is late": (
        [
            [
                *(CALL, Phantom("The office light is on."), Sound(6), Done(), Wait(1.5)),
                Phantom(" The desk lamp cannot be reached."),
            ],
            LATER,
        ],
        ["The office light is on. The desk lamp cannot be reached.", STILL],
    ),
    # google-gemini/gemini-live-api-examples #56; googleapis/python-genai #2117
    "the rest of a sentence comes after turnComplete": (
        [[*PARTIAL, Wait(0.5), Say(" eighty thousand kilometres."), Done()], LATER],
        ["It is about three hundred and eighty thousand kilometres.", STILL],
    ),
    "turnComplete in the middle of a sentence": (
        [PARTIAL, [Say(MOON), Done()], LATER],
        [MOON, STILL],
    ),
    "turnComplete in the middle of a report": (
        [[CALL, Say("The office lights"), Done(generation=False)], LATER],
        [OFFICE_ON, STILL],
    ),
    # Google's Live guide: with proactive audio, the model may decline to answer
    "no answer at all": (
        [[Done()], [Done()], LATER],
        ["I didn't get an answer to that. Please say it again.", STILL],
    ),
    # googleapis/python-genai, types.TurnCompleteReason
    "a malformed call": (
        [[Done(reason="MALFORMED_FUNCTION_CALL", generation=False)], SERVED, LATER],
        [SAID, STILL],
    ),
    "a malformed call after the action": (
        [[CALL, Done(reason="MALFORMED_FUNCTION_CALL", generation=False)], LATER],
        [STOPPED, STILL],
    ),
    "a refusal for safety after the action": (
        [[CALL, Done(reason="SAFETY", generation=False)], LATER],
        [STOPPED, STILL],
    ),
    # google-gemini/cookbook #1197
    "interrupted twice": (
        [[CALL, Say("The"), Interrupt(), Interrupt(), Done()], LATER],
        [STOPPED, STILL],
    ),
    # pipecat: 3.x sends transcript, sound and end in one frame
    "all in one frame": (
        [[CALL, content(outputTranscription={"text": SAID}, turnComplete=True)], LATER],
        [SAID, STILL],
    ),
    # Google's Live reference: resumable is false all along
    "no handle, then a drop": (
        [[Handle(False), *SERVED, Handle(False), Drop()], LATER],
        [SAID, STILL],
    ),
    # google-gemini/cookbook #1346
    "the transcript comes twice": (
        [[CALL, Say(SAID), Say(SAID, audio_s=0), Done()], LATER],
        [SAID, STILL],
    ),
    # google-gemini/gemini-live-api-examples #46
    "a sentence three times": (
        [[Say("I will do it now. " * 3), CALL, Say(SAID), Done()], LATER],
        [f"I will do it now. {SAID}", STILL],
    ),
    # control tokens leak into the transcript
    "control tokens": ([[CALL, Say(f"<ctrl46>{SAID}<end_of_turn>"), Done()], LATER], [SAID, STILL]),
    "control tokens between bars": (
        [[CALL, Say(f"<|im_start|>{SAID}<|im_end|>"), Done()], LATER],
        [SAID, STILL],
    ),
    # AidenAI-IO/aiden-firmware #708: a call is said and not made; these wordings are our guess
    "a call is said as JSON": ([[Say(f"HassTurnOn {OFFICE_JSON}"), Done()], SERVED, LATER], BOTH),
    "a call is said as code": (
        [[Say('```tool_code\nHassTurnOn(area="Office")\n```'), Done()], SERVED, LATER],
        BOTH,
    ),
    "a call is said after a sentence": (
        [[Say("Sure. call:HassTurnOn area: Office"), Done()], SERVED, LATER],
        BOTH,
    ),
    # livekit/agents #2174
    "a result is said after a sentence": (
        [[CALL, Say(f'{SAID} tool_outputs {{"status": "done"}}'), Done()], LATER],
        BOTH,
    ),
    # pipecat: the frame with turnComplete has no usage
    "usage in a frame of its own": (
        [[CALL, Say(SAID), Done(usage=Tokens()), Wait(0.1)], LATER],
        [SAID, STILL],
    ),
    # an answer whose transcript of the person's words never comes (live-api-web-console #142), or
    # is only a mark
    "noise is heard": ([[Hear("<noise>"), *SERVED], LATER], [SAID, STILL]),
}


@pytest.mark.parametrize("name", ROWS)
async def test_a_reported_behaviour(tmp_path: Path, name: str) -> None:
    steps, expected = ROWS[name]
    case = LiveCase(name, "", len(expected), (Opening(),), tuple(map(tuple, steps)), 0, 0.0)
    service = GeminiSimulator(respond=CasePlayer(case))
    async with scene(tmp_path, service, brain={"order": [LIVE]}) as on:
        on.repeats = True  # in different turns
        for answer in expected:
            before = len(on.house_calls)
            turn = await on.ask(ASKED)
            assert said(turn) == answer
            made = Counter((name, str(given)) for name, given in on.house_calls[before:])
            assert max(made.values(), default=1) == 1, made
        assert ended(turn) == (LIVE, None)


# Google's migration page of gemini-3.8-live: a call is repeated, and can be worded differently
SHORT = LOUDER.name.rpartition("__")[2]
AGAIN = {
    "under its short name": Call(SHORT, LOUDER.args, undeclared=True),
    "through call_tool": Call(
        "call_tool", {"name": SHORT, "arguments": LOUDER.args}, undeclared=True
    ),
    "with a room": Call(LOUDER.name, {**(LOUDER.args or {}), "area": "Kitchen"}),
    "in lower case": Call(LOUDER.name, {"name": "kitchen speaker", "volume_step": 10}),
}


@pytest.mark.parametrize("again", AGAIN)
async def test_a_call_that_is_repeated_in_other_words_is_made_once(
    tmp_path: Path, again: str
) -> None:
    steps = [LOUDER, AGAIN[again], Say("It is louder."), Done()]
    service = GeminiSimulator([Turn("text", steps)])
    async with scene(tmp_path, service, brain={"order": [LIVE]}, gemini={"menu": "whole"}) as on:
        assert said(await on.ask("make the kitchen speaker louder")) == "It is louder."
        assert len(on.house_calls) == 1


async def test_calls_that_differ_in_what_they_do_are_all_made(tmp_path: Path) -> None:
    other = Call(LOUDER.name, {"name": "Kitchen speaker", "volume_step": 5})
    bread = Call(ADD.name, {**(ADD.args or {}), "item": "bread"})
    steps = [LOUDER, other, ADD, bread, Say("All done."), Done()]
    async with scene(tmp_path, GeminiSimulator([Turn("text", steps)])) as on:
        assert said(await on.ask("do all of it")) == "All done."
        assert len(on.house_calls) == 4


# pydantic/pydantic-ai, realtime/google.py, observed with gemini-3.8-live: a resumed session still
# waits for the calls that went under with their connection, and takes the next input only for the
# end of their exchange. If they are answered first, its reaction comes at any time.
LOSES: list[Step] = [OPEN_CALL, Drop()]


@pytest.mark.parametrize(
    ("steps", "lost_calls"),
    [(LOSES, 1), ([OPEN_CALL, AwaitAnswers(), Drop()], 0), ([CALL, Say("The"), Drop()], 0)],
    ids=["before the result", "after the result", "within the answer"],
)
async def test_a_session_that_may_wait_for_calls_is_not_resumed(
    tmp_path: Path, steps: list[Step], lost_calls: int
) -> None:
    service = GeminiSimulator(
        [Turn("text", SERVED), Turn("text", steps), Turn("text", LATER)], withholds_handles=False
    )
    async with scene(tmp_path, service, brain={"order": [LIVE]}) as on:
        on.repeats, on.lost_calls = True, lost_calls
        for answer in (SAID, LOST, STILL):
            assert said(await on.ask(ASKED)) == answer
        first, fresh = service.connections
        assert (first.resumed, fresh.resumed) == (False, False)
        assert fresh.setup is not None
        assert SAID in fresh.setup.instruction, "it knows what was said before"
        assert len(service.turns) == 3, "no command was swallowed"


async def test_a_command_that_a_session_swallows_is_sent_again(tmp_path: Path) -> None:
    swallowed: list[Step] = [Done(generation=False)]
    case = LiveCase("", "", 3, (), tuple(map(tuple, [SERVED, LOSES, swallowed, LATER])), 1, 0.0)
    async with scene(
        tmp_path, GeminiSimulator(respond=CasePlayer(case)), brain={"order": [LIVE]}
    ) as on:
        on.repeats, on.lost_calls = True, 1
        for answer in (SAID, LOST, STILL):
            assert said(await on.ask(ASKED)) == answer
