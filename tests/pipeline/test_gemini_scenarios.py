"""Tests of turns with Gemini that go well, and of known habits of models. Simulated service."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.brains.briefing.briefer import STAY_SILENT
from assistant.domain.tool_call import Status
from tests.pipeline.gemini_rig import (
    KITCHEN,
    LIVE,
    OFFICE,
    OFFICE_ON,
    OFFLINE,
    ONCE,
    TURN_ON,
    ended,
    outcomes,
    said,
    scene,
    settled,
)
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import (
    Call,
    CallTogether,
    Done,
    Drop,
    Hear,
    Inner,
    OnceTurn,
    Phantom,
    Say,
    Step,
    Tokens,
    Turn,
)

HEARD = Hear("turn on the office lights", language="en-GB")
ON = Say("The office lights are on.")
SAID = "The office lights are on."


# --- as it should be


async def test_a_typed_turn(tmp_path: Path) -> None:
    steps = [
        Call(TURN_ON, KITCHEN, answer={"status": "done"}),
        Say("The kitchen light is **on**."),
        Done(usage=Tokens(prompt=900, response=40)),
    ]
    async with scene(tmp_path, GeminiSimulator([Turn("text", steps)])) as on:
        turn = await on.ask("turn on the kitchen light")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == "The kitchen light is on."
        assert on.house_calls == [(TURN_ON, KITCHEN)]
        assert turn.record.usage is not None
        assert turn.record.usage.input_tokens == 900
        assert turn.record.cost_usd > 0
    assert on.service.turns[0].text == "turn on the kitchen light"


async def test_a_spoken_turn(tmp_path: Path, command: Path) -> None:
    steps = [HEARD, Call(TURN_ON, OFFICE, answer={"status": "done"}), ON, Done()]
    async with scene(tmp_path, GeminiSimulator([Turn("audio", steps)]), hears=True) as on:
        turn = await on.hear(command)
        assert ended(turn) == (LIVE, None)
        assert turn.record.heard == "turn on the office lights"
        assert said(turn) == SAID
        assert outcomes(turn) == [Status.DONE]


async def test_calls_that_come_together_are_all_answered(tmp_path: Path) -> None:
    steps = [
        CallTogether(
            Call(TURN_ON, KITCHEN, answer={"status": "done"}),
            Call(TURN_ON, OFFICE, answer={"status": "done"}),
            Call("GetLiveContext", {"area": "kitchen"}),
        ),
        Say("Both are on."),
        Done(),
    ]
    async with scene(tmp_path, GeminiSimulator([Turn("text", steps)])) as on:
        turn = await on.ask("turn on the lights in the kitchen and the office")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == "Both are on."
        assert sorted(given["area"] for _, given in on.house_calls) == ["Kitchen", "Office"]
    assert settled(on.service.turns[0]) == ["answered"] * 3


async def test_a_chain_of_three_rounds(tmp_path: Path) -> None:
    steps = [
        Call("GetLiveContext", {"area": "office"}),
        Call(TURN_ON, OFFICE, answer={"status": "done"}),
        Call("light__HassLightSet", {"area": "kitchen", "brightness": 30}),
        Say("All done."),
        Done(),
    ]
    async with scene(tmp_path, GeminiSimulator([Turn("text", steps)])) as on:
        turn = await on.ask("make the office bright and the kitchen 30 percent")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == "All done."
        assert outcomes(turn) == [Status.DONE] * 3
        assert [name for name, _ in on.house_calls] == [TURN_ON, "light__HassLightSet"]
    assert settled(on.service.turns[0]) == ["answered"] * 3


async def test_speech_that_was_not_meant_for_us(tmp_path: Path, command: Path) -> None:
    steps = [Hear("and now the weather"), Call(STAY_SILENT), Done()]
    async with scene(tmp_path, GeminiSimulator([Turn("audio", steps)]), hears=True) as on:
        turn = await on.hear(command)
        assert ended(turn) == (LIVE, "not_meant")
        assert turn.record.sound == "unmeant"
        assert turn.record.clauses == ()
        assert on.player.played_ms > 0  # the soft tone
        assert turn.record.heard == "and now the weather"


# --- what models do besides


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(
            [Say("The office lights are on.", lag_s=0.2), Done(waits_for_text=False)],
            id="the transcript comes after the end",
        ),
        pytest.param([Phantom("office"), ON, Done()], id="a phantom of the call"),
        pytest.param([Phantom("office."), ON, Done()], id="a phantom with a full stop"),
        pytest.param([Say("[Silence]"), ON, Done()], id="silence is written down"),
        pytest.param([Inner("call:HassTurnOn"), Inner("I think", True), ON, Done()], id="inner"),
        pytest.param(
            [Say("The office"), Done("IN_PROGRESS"), Say(" lights are on."), Done("IDLE")],
            id="in progress, then idle",
        ),
        pytest.param([Done("IN_PROGRESS"), ON, Done("IDLE")], id="in progress without a word"),
    ],
)
async def test_only_the_answer_is_spoken_and_all_of_it(
    tmp_path: Path, after: Sequence[Step]
) -> None:
    steps = [Call(TURN_ON, OFFICE), *after]
    async with scene(tmp_path, GeminiSimulator([Turn("text", steps)])) as on:
        turn = await on.ask("turn on the office lights")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID
        assert len(on.house_calls) == 1


async def test_a_turn_that_goes_on_by_itself_with_another_call(tmp_path: Path) -> None:
    steps = [
        Call(TURN_ON, OFFICE),
        Done("IN_PROGRESS"),
        Call(TURN_ON, KITCHEN),
        Say("Both are on."),
        Done("IDLE"),
    ]
    async with scene(tmp_path, GeminiSimulator([Turn("text", steps)])) as on:
        turn = await on.ask("turn on the office lights and the kitchen light")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == "Both are on."
        assert outcomes(turn) == [Status.DONE] * 2


# --- without a word


async def test_an_empty_turn_is_asked_once_more_as_text(tmp_path: Path, command: Path) -> None:
    service = GeminiSimulator(
        [
            Turn("audio", [HEARD, Done()]),
            Turn("text", [Call(TURN_ON, OFFICE), ON, Done()]),
        ]
    )
    async with scene(tmp_path, service, hears=True) as on:
        turn = await on.hear(command)
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID
    assert service.turns[1].text == "turn on the office lights"


async def test_after_two_empty_turns_the_next_rung_answers(tmp_path: Path) -> None:
    service = GeminiSimulator(
        [Turn("text", [Done()])] * 2, once=[OnceTurn([Call(TURN_ON, OFFICE), ON, Done()])]
    )
    async with scene(tmp_path, service) as on:
        turn = await on.ask("turn on the office lights")
        assert ended(turn) == (ONCE, None)
        assert said(turn) == SAID


async def test_the_device_answers_where_all_of_gemini_is_empty(tmp_path: Path) -> None:
    service = GeminiSimulator([Turn("text", [Done()])] * 2, once=[OnceTurn([Done()])] * 2)
    async with scene(tmp_path, service) as on:
        turn = await on.ask("turn on the office lights")
        assert ended(turn) == (OFFLINE, None)
        assert said(turn).startswith("Gemini didn't answer, so I'll answer on my own for now.")
        assert len(on.house_calls) == 1


@pytest.mark.parametrize(
    "steps",
    [
        [Call(TURN_ON, OFFICE), Done()],
        [Call(TURN_ON, OFFICE), Say("[Silence]"), Done()],
        [Call(TURN_ON, OFFICE), Call(STAY_SILENT), Done()],
    ],
    ids=["nothing", "silence written down", "silent on purpose"],
)
async def test_a_model_that_acts_and_says_nothing(tmp_path: Path, steps: Sequence[Step]) -> None:
    async with scene(tmp_path, GeminiSimulator([Turn("text", steps)])) as on:
        turn = await on.ask("turn on the office lights")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == OFFICE_ON
        assert len(on.house_calls) == 1


async def test_a_model_that_announces_acts_and_then_says_nothing(tmp_path: Path) -> None:
    steps = [Say("One moment."), Call(TURN_ON, OFFICE), Done()]
    async with scene(tmp_path, GeminiSimulator([Turn("text", steps)])) as on:
        turn = await on.ask("turn on the office lights")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == f"One moment. {OFFICE_ON}"


async def test_a_model_that_only_looks_and_says_nothing_is_asked_again(tmp_path: Path) -> None:
    look = Call("GetLiveContext", {"area": "office"})
    service = GeminiSimulator(
        [Turn("text", [look, Done()]), Turn("text", [look, Say("It is dark."), Done()])]
    )
    async with scene(tmp_path, service) as on:
        turn = await on.ask("is it dark in the office?")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == "It is dark."


# --- in the model's own voice

NATIVE = {"engine": "gemini"}


async def test_the_models_own_voice_is_played_whole(tmp_path: Path) -> None:
    steps = [Call(TURN_ON, OFFICE), Say(SAID, lag_s=0.05), Done()]
    service = GeminiSimulator([Turn("text", steps)])
    async with scene(tmp_path, service, voice=NATIVE) as on:
        turn = await on.ask("turn on the office lights")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == SAID  # its transcript
        sound_ms = len(service.turns[0].reply_pcm) / 2 / 24
        assert on.player.played_ms == pytest.approx(sound_ms, abs=1)


async def test_what_it_does_not_say_the_local_voice_says(tmp_path: Path) -> None:
    service = GeminiSimulator([Turn("text", [Call(TURN_ON, OFFICE), Done()])])
    async with scene(tmp_path, service, voice=NATIVE) as on:
        turn = await on.ask("turn on the office lights")
        assert ended(turn) == (LIVE, None)
        assert said(turn) == OFFICE_ON
        assert on.player.played_ms > 500


async def test_where_it_breaks_off_the_local_voice_goes_on(tmp_path: Path) -> None:
    service = GeminiSimulator([Turn("text", [Call(TURN_ON, OFFICE), Say("The"), Drop()])])
    async with scene(tmp_path, service, voice=NATIVE) as on:
        turn = await on.ask("turn on the office lights")
        assert ended(turn) == (LIVE, "unreachable")
        assert said(turn).endswith(f"{OFFICE_ON} Then I lost the connection.")
