"""Tests of a model that calls without end, contradicts itself or makes nonsense calls.

The turn ends nevertheless, done calls are reported, the house changes within the limits, and every
refusal is in the audit with its rule. Simulated service.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.conversation.record import FinishedTurn
from assistant.domain.records import AuditRecord
from assistant.domain.tool_call import Decision, Status
from assistant.tools.execution.guards import MAX_REPEATED
from tests.pipeline.gemini_rig import (
    ASKED,
    KITCHEN,
    LIVE,
    OFFICE,
    OFFLINE,
    ONCE,
    TURN_ON,
    Scene,
    ended,
    outcomes,
    said,
    scene,
)
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, CallTogether, Done, OnceTurn, Raw, Say, Step, Turn

TURN_OFF, DIM = "intent__HassTurnOff", "light__HassLightSet"
HEAT, LOUDER = "climate__HassClimateSetTemperature", "media_player__HassSetVolumeRelative"
ENOUGH = "I kept trying and got nowhere, so I stopped."
ON = "office light is on"
CLAIMS = [Say("I have done everything."), Done()]
OFTEN = 100  # more than any limit allows
SOON_S = 10.0  # a person waits no longer for a turn that goes round in circles


async def asked(on: Scene, text: str = ASKED) -> FinishedTurn:
    """Run one typed turn, which has to end in time and with a sentence."""
    began_s = time.monotonic()
    turn = await on.ask(text)
    assert time.monotonic() - began_s < SOON_S
    assert said(turn)
    return turn


async def audit(on: Scene) -> list[AuditRecord]:
    """Return the audit, the first call first."""
    return [*reversed(await on.app.home.store.audited(limit=200))]


def rules(rows: Sequence[AuditRecord]) -> Counter[str]:
    """Return the number of refused calls per rule."""
    return Counter(row.rule for row in rows if row.decision is Decision.DENIED)


async def given_up(on: Scene) -> None:
    """Wait until a session in which the model goes on calling without a turn has been closed."""
    first = on.service.connections[0]
    await on.until(lambda: not first.open)
    [turn] = on.service.turns
    assert len(turn.calls) < OFTEN
    on.lost_calls = sum(call.status == "open" for call in turn.calls)
    assert on.lost_calls <= 1


def once_or_live(brain: str, steps: Sequence[Step]) -> GeminiSimulator:
    if brain == LIVE:
        return GeminiSimulator([Turn("text", steps, cut=None)])
    return GeminiSimulator(once=[OnceTurn(steps, cut=None)])


# --- forever


@pytest.mark.parametrize("brain", [LIVE, ONCE])
@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([Call(TURN_ON, OFFICE)] * OFTEN, id="the same"),
        pytest.param([Call(name, OFFICE) for name in (TURN_OFF, TURN_ON)] * OFTEN, id="off and on"),
        pytest.param(
            [Call(DIM, {"name": "Office light", "brightness": n}) for n in range(1, OFTEN)],
            id="others each time",
        ),
    ],
)
async def test_changes_without_end(tmp_path: Path, brain: str, calls: Sequence[Step]) -> None:
    order = {"order": [brain, OFFLINE]}
    async with scene(tmp_path, once_or_live(brain, [*calls, *CLAIMS]), brain=order) as on:
        on.repeats = True
        turn = await asked(on)
        assert ended(turn) == (brain, "endless")
        same = all(one == calls[0] for one in calls)  # done once, and stopped earlier
        most = 1 if same else on.app.settings.limits.rounds_per_turn
        rule = "repeated" if same else "too_many_rounds"
        assert len(on.house_calls) == most
        assert ON in said(turn)
        assert said(turn).endswith(ENOUGH)
        rows = await audit(on)
        assert rules(rows) == {rule: 2}, "one correction, then it is left"
        assert [row.decision for row in rows[:most]] == [Decision.ALLOWED] * most
        assert {row.turn_id for row in rows} == {turn.record.turn_id}
        if brain == LIVE:
            await given_up(on)


async def test_readings_without_end(tmp_path: Path) -> None:
    calls = [Call("GetLiveContext", {"name": f"lamp {number}"}) for number in range(OFTEN)]
    async with scene(tmp_path, once_or_live(LIVE, [*calls, *CLAIMS])) as on:
        turn = await asked(on, "what is on in the office")
        assert ended(turn) == (LIVE, "endless")
        assert said(turn) == ENOUGH, "what a model is told of a reading is nothing for a person"
        rows = await audit(on)
        assert len(rows) == on.app.settings.limits.calls_per_turn + 2
        assert rules(rows) == {"too_many_calls": 2}
        assert on.house_calls == []
        await given_up(on)


@pytest.mark.parametrize("brain", [LIVE, ONCE])
async def test_the_same_reading_without_end(tmp_path: Path, brain: str) -> None:
    calls = [Call("GetLiveContext", {"area": "office"})] * OFTEN
    order = {"order": [brain, OFFLINE]}
    async with scene(tmp_path, once_or_live(brain, [*calls, *CLAIMS]), brain=order) as on:
        turn = await asked(on, "what is on in the office")
        assert (ended(turn), said(turn)) == ((brain, "endless"), ENOUGH)
        rows = await audit(on)
        assert len(rows) == MAX_REPEATED + 2
        assert rules(rows) == {"repeated": 2}
        if brain == LIVE:
            await given_up(on)


async def test_gemini_once_has_a_limit_of_rounds_too(tmp_path: Path) -> None:
    calls = [Call("GetLiveContext", {"name": f"lamp {number}"}) for number in range(OFTEN)]
    service = once_or_live(ONCE, [*calls, *CLAIMS])
    async with scene(tmp_path, service, brain={"order": [ONCE, OFFLINE]}) as on:
        turn = await asked(on)
        assert ended(turn) == (OFFLINE, None)  # nothing was changed: the next brain may try
        assert [name for name, _ in on.house_calls] == [TURN_ON]
    assert len(service.once_requests) < 10


async def test_nobody_pays_for_a_model_that_calls_on_after_its_turn(tmp_path: Path) -> None:
    steps = [Call(TURN_ON, OFFICE)] * 500
    turns = [Turn("text", [*steps, *CLAIMS], cut=None), Turn("text", [Say("Hello."), Done()])]
    async with scene(tmp_path, GeminiSimulator(turns)) as on:
        on.repeats = True
        await asked(on)
        await given_up(on)
        turn = await asked(on, "good morning")
        assert (ended(turn), said(turn)) == ((LIVE, None), "Hello.")


# --- nonsense


@pytest.mark.parametrize("brain", [LIVE, ONCE])
@pytest.mark.parametrize(
    ("call", "rule"),
    [
        pytest.param(Call("HassBlowUp", {}, undeclared=True), "unknown_tool", id="no such tool"),
        pytest.param(
            Call(DIM, {"area": ["office"], "brightness": "very"}), "bad_argument", id="wrong types"
        ),
        pytest.param(Call(HEAT, {"area": "living room"}), "bad_argument", id="missing argument"),
        pytest.param(Call(TURN_ON, {"name": "Flux capacitor"}), "unseen", id="no such thing"),
    ],
)
async def test_the_same_nonsense_again_and_again(
    tmp_path: Path, brain: str, call: Call, rule: str
) -> None:
    order = {"order": [brain, OFFLINE]}
    async with scene(tmp_path, once_or_live(brain, [call] * OFTEN + CLAIMS), brain=order) as on:
        turn = await asked(on)
        assert ended(turn) == (brain, "endless")
        assert said(turn) == ENOUGH
        assert on.house_calls == []
        assert outcomes(turn) == [Status.NOT_RUN] * 5
        rows = await audit(on)
        assert [row.rule for row in rows] == [rule] * 3 + ["too_alike"] * 2
        if brain == LIVE:
            await given_up(on)


async def test_other_nonsense_each_time(tmp_path: Path) -> None:
    calls = [Call(TURN_ON, {"name": f"Flux capacitor {number}"}) for number in range(OFTEN)]
    async with scene(tmp_path, once_or_live(LIVE, [*calls, *CLAIMS])) as on:
        turn = await asked(on)
        assert ended(turn) == (LIVE, "endless")
        assert said(turn) == ENOUGH
        assert on.house_calls == []
        assert rules(await audit(on))["too_many_calls"] == 2
        await given_up(on)


async def test_one_correction_is_enough_for_a_model_that_listens(tmp_path: Path) -> None:
    """It is given the reason, and ends with its own words."""
    steps = [
        *([Call(TURN_ON, OFFICE)] * MAX_REPEATED),
        Call(TURN_ON, OFFICE, answer={"status": "denied", "retryable": False}),
        Say("The office lights are on."),
        Done(),
    ]
    async with scene(tmp_path, once_or_live(LIVE, steps)) as on:
        on.repeats = True
        turn = await asked(on)
        assert (ended(turn), said(turn)) == ((LIVE, None), "The office lights are on.")


# --- all at once


async def test_thirty_changes_at_once(tmp_path: Path) -> None:
    names = ("Office light", "Kitchen light", "Dining room light")
    calls = [Call(DIM, {"name": names[n % 3], "brightness": n + 1}) for n in range(30)]
    async with scene(tmp_path, once_or_live(LIVE, [CallTogether(*calls), *CLAIMS])) as on:
        turn = await asked(on)
        assert ended(turn) == (LIVE, None), "all of them together are one correction"
        limits = on.app.settings.limits
        assert len(on.house_calls) == limits.mutations_per_turn
        rows = await audit(on)
        assert len(rows) == 30
        assert rules(rows) == {
            "too_many_mutations": limits.calls_per_turn - limits.mutations_per_turn,
            "too_many_calls": 30 - limits.calls_per_turn,
        }


async def test_what_is_still_under_way_is_told_too(tmp_path: Path) -> None:
    nonsense = Call(TURN_ON, {"name": "Flux capacitor"})
    slow = Call(TURN_ON, {"name": "Office light"}, wait=False)
    async with scene(tmp_path, once_or_live(LIVE, [slow, *[nonsense] * OFTEN, *CLAIMS])) as on:
        async with on.holding_the_house() as hold, asyncio.TaskGroup() as group:
            turn = group.create_task(asked(on))
            await hold.reached.wait()
            calls = on.service.turns
            await on.until(lambda: bool(calls) and len(calls[0].calls) > 6)
            hold.go_on.set()
        assert ended(turn.result()) == (LIVE, "endless")
        assert (
            said(turn.result()) == f"Done. The office light is on at one hundred percent. {ENOUGH}"
        )
        await given_up(on)


async def test_of_what_was_switched_to_and_fro_the_end_is_told(tmp_path: Path) -> None:
    calls = [Call(name, {"name": "Office light"}) for name in (TURN_ON, TURN_OFF)] * 50
    limits = {"rounds_per_turn": 3}
    async with scene(tmp_path, once_or_live(LIVE, [*calls, *CLAIMS]), limits=limits) as on:
        on.repeats = True
        turn = await asked(on)
        assert said(turn) == f"Done. The office light is on at one hundred percent. {ENOUGH}"
        await given_up(on)


async def test_thirty_readings_at_once(tmp_path: Path) -> None:
    calls = [Call("GetLiveContext", {"name": f"lamp {n}"}) for n in range(30)]
    async with scene(tmp_path, once_or_live(LIVE, [CallTogether(*calls), *CLAIMS])) as on:
        await asked(on)
        assert rules(await audit(on)) == {"too_many_calls": 6}


# --- what is no loop


async def test_the_same_change_is_done_twice_if_the_person_says_so(tmp_path: Path) -> None:
    louder = Call(LOUDER, {"area": "living room", "volume_step": 10}, answer={"status": "done"})
    steps = [louder, louder, Say("Louder twice."), Done()]
    async with scene(tmp_path, once_or_live(LIVE, steps)) as on:
        on.repeats = True
        assert on.app.home.demo is not None
        speaker = on.app.home.demo.house.get("media_player.living_room_speaker")
        before = speaker.attributes["volume_level"]
        turn = await asked(on, "louder in the living room, and again")
        assert ended(turn) == (LIVE, None)
        assert len(on.house_calls) == 2
        after = on.app.home.demo.house.get("media_player.living_room_speaker")
        assert after.attributes["volume_level"] == pytest.approx(before + 0.2)
        assert rules(await audit(on)) == {}


async def test_a_call_that_comes_twice_under_its_id_is_done_once(tmp_path: Path) -> None:
    twin = {"id": "c1", "name": TURN_ON, "args": KITCHEN}
    steps = [
        Call(TURN_ON, KITCHEN, id="c1", wait=False),
        Raw({"toolCall": {"functionCalls": [twin]}}),
        Say("It is on."),
        Done(),
    ]
    async with scene(tmp_path, once_or_live(LIVE, steps)) as on:
        turn = await asked(on, "turn on the kitchen light")
        assert (ended(turn), said(turn)) == ((LIVE, None), "It is on.")
        assert on.house_calls == [(TURN_ON, KITCHEN)]
        assert len(await audit(on)) == 1


async def test_the_next_turn_begins_anew(tmp_path: Path) -> None:
    """Limits of a turn end with it; those of an hour do not."""
    loop = [Call(TURN_ON, OFFICE)] * 8

    def respond(turn: object) -> list[Step]:
        return [*loop, *CLAIMS]

    service = GeminiSimulator(respond=respond)
    async with scene(tmp_path, service) as on:
        on.repeats = True
        for number in range(1, 4):
            turn = await asked(on)
            assert ended(turn) == (LIVE, "endless")
            assert len(on.house_calls) == number


async def test_a_minute_has_its_limit_over_all_turns(tmp_path: Path) -> None:
    steps = [Call(TURN_ON, OFFICE), *CLAIMS]
    service = GeminiSimulator(respond=lambda turn: steps)
    async with scene(tmp_path, service, limits={"comfort_per_minute": 3}) as on:
        on.repeats = True
        for _ in range(5):
            await asked(on)
        assert len(on.house_calls) == 3
        assert rules(await audit(on)) == {"too_fast": 2}
        on.clock.leap(61)
        await asked(on)
        assert len(on.house_calls) == 4
