"""Tests of a model that claims to have opened what stays shut: our own sentence is spoken
instead."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assistant.domain.tool_call import Decision
from audio.player import NullPlayer
from tests.pipeline.dialogues import dialogue
from tests.pipeline.gemini_rig import LIVE, OFFLINE, ONCE, Scene, said, scene, settled
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, CallTogether, Done, Hear, OnceTurn, Say, Step, Turn

UNLOCK = Call("intent__HassTurnOff", {"name": "Front door"})
GARAGE = Call("intent__HassTurnOn", {"name": "Garage door"})
CLAIM = "I have unlocked the front door for you."
CLAIMS = [Say(CLAIM), Done()]
QUESTION, LEFT = "Unlock the front door?", "OK, I left the front door locked."
MODEL_HZ = 24_000  # of the model's own voice; no local one has it
TEXT = "unlock the front door"


class Taped(NullPlayer):
    """Records whose voice is played."""

    def __init__(self) -> None:
        super().__init__(paced=False)
        self.rates: list[int] = []  # of each piece

    async def play(self, pcm: bytes, rate: int) -> None:
        self.rates.append(rate)
        await super().play(pcm, rate)


class Types:
    """A person at the keyboard."""

    def __init__(self, *lines: str | None) -> None:
        """Type one of `lines` per question; the last one repeats."""
        self.lines = list(lines)

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        return self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]


def service(brain: str, steps: Sequence[Step], kind: str = "text") -> GeminiSimulator:
    if brain == ONCE:
        return GeminiSimulator(once=[OnceTurn(steps, cut=None)])
    assert kind in ("text", "audio")
    return GeminiSimulator([Turn("audio" if kind == "audio" else "text", steps, cut=None)])


def door(on: Scene) -> str:
    assert on.app.home.demo is not None
    return on.app.home.demo.house.get("lock.front_door").state


VOICES = pytest.mark.parametrize(
    ("brain", "voice"), [(LIVE, "espeak"), (LIVE, "gemini"), (ONCE, "espeak"), (ONCE, "gemini")]
)

OFF, DOOR = UNLOCK.name, {"name": "Front door"}
AGAIN: Mapping[str, Call] = {
    "the same": UNLOCK,
    "the tool's other name": Call("HassTurnOff", DOOR, undeclared=True),
    "the door's name in lower case": Call(OFF, {"name": "front door"}),
    "with a domain": Call(OFF, {**DOOR, "domain": ["lock"]}),
    "with a room": Call(OFF, {**DOOR, "area": "Hallway"}),
}


class Ponders(Types):
    """A person who answers after the model has made all of its calls."""

    def __init__(self, line: str, service: GeminiSimulator, calls: int) -> None:
        super().__init__(line)
        self._service, self._calls = service, calls

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        def made() -> bool:
            return settled(self._service.turns[0]) == ["answered"] * self._calls

        await asyncio.to_thread(self._service.wait_until, made)
        return await super().ask(question, hidden=hidden)


@pytest.mark.parametrize("together", [True, False], ids=["in one frame", "one after the other"])
@pytest.mark.parametrize("again", AGAIN)
async def test_a_call_that_is_made_again_is_asked_about_once(
    tmp_path: Path, again: str, together: bool
) -> None:
    call = AGAIN[again]
    both = [CallTogether(UNLOCK, call)] if together else [UNLOCK, call]
    made = service(LIVE, [*both, *CLAIMS])
    yes = Ponders("yes", made, 2)
    async with scene(tmp_path, made, prompter=yes, brain={"order": [LIVE]}) as on:
        turn = await on.ask(TEXT)
        assert said(turn) == f"{QUESTION} OK, unlocking it."
        assert on.house_calls == [(OFF, DOOR)]
        first, second = turn.outcomes
        assert (first.decision, second.decision) == (Decision.CONFIRMED, Decision.CONFIRMED)
        assert second.rule == "done_already"


async def test_a_no_is_the_answer_to_a_call_that_was_made_again_too(tmp_path: Path) -> None:
    made = service(LIVE, [UNLOCK, AGAIN["with a room"], *CLAIMS])
    no = Ponders("no", made, 2)
    async with scene(tmp_path, made, prompter=no, brain={"order": [LIVE]}) as on:
        turn = await on.ask(TEXT)
        assert said(turn) == f"{QUESTION} {LEFT}"
        assert [one.decision for one in turn.outcomes] == [Decision.DENIED] * 2


REFUSALS: Mapping[str, dict[str, Any]] = {
    "ruled out": {"secure": "deny"},
    "guests": {"mode": "guest"},
    "by a rule": {"rules": [{"domain": "lock", "decide": "deny"}]},
}


@VOICES
@pytest.mark.parametrize("why", REFUSALS)
async def test_after_a_refusal_ours_is_heard(
    tmp_path: Path, brain: str, voice: str, why: str
) -> None:
    player = Taped()
    async with scene(
        tmp_path,
        service(brain, [UNLOCK, *CLAIMS]),
        player=player,
        brain={"order": [brain, OFFLINE]},
        voice={"engine": voice},
        policy=REFUSALS[why],
    ) as on:
        on.private = True
        turn = await on.ask(TEXT)
        assert turn.outcomes[0].decision is Decision.DENIED
        assert CLAIM not in said(turn)
        assert said(turn) == turn.outcomes[0].sentence
        assert "not allowed" in said(turn)
        assert player.rates
        assert MODEL_HZ not in player.rates
        assert door(on) == "locked"


@VOICES
@pytest.mark.parametrize("line", ["no", "hmm", None])
async def test_after_a_no_ours_is_heard(
    tmp_path: Path, brain: str, voice: str, line: str | None
) -> None:
    player = Taped()
    async with scene(
        tmp_path,
        service(brain, [UNLOCK, *CLAIMS]),
        player=player,
        prompter=Types(line),
        brain={"order": [brain, OFFLINE]},
        voice={"engine": voice},
    ) as on:
        turn = await on.ask(TEXT)
        assert said(turn) == f"{QUESTION} {LEFT}"
        assert MODEL_HZ not in player.rates
        assert door(on) == "locked"


@VOICES
async def test_after_a_yes_what_was_seen_is_heard(tmp_path: Path, brain: str, voice: str) -> None:
    player = Taped()
    async with scene(
        tmp_path,
        service(brain, [UNLOCK, *CLAIMS]),
        player=player,
        prompter=Types("yes"),
        brain={"order": [brain, OFFLINE]},
        voice={"engine": voice},
    ) as on:
        turn = await on.ask(TEXT)
        assert said(turn) == f"{QUESTION} OK, unlocking it."
        assert MODEL_HZ not in player.rates


@VOICES
async def test_where_nobody_can_be_asked_nothing_is_claimed(
    tmp_path: Path, brain: str, voice: str
) -> None:
    player = Taped()
    async with scene(
        tmp_path,
        service(brain, [UNLOCK, *CLAIMS]),
        player=player,
        brain={"order": [brain, OFFLINE]},
        voice={"engine": voice},
    ) as on:
        turn = await on.ask(TEXT)
        assert turn.outcomes[0].decision is Decision.NEEDS_CONFIRMATION
        assert CLAIM not in said(turn)
        assert QUESTION in said(turn)
        assert MODEL_HZ not in player.rates
        assert door(on) == "locked"


@pytest.mark.parametrize("voice", ["espeak", "gemini"])
async def test_the_question_by_ear_is_in_the_local_voice(tmp_path: Path, voice: str) -> None:
    player = Taped()
    turns = [
        Turn("audio", [Hear(TEXT, language="en-GB"), UNLOCK, *CLAIMS], cut=None),
        Turn("audio", [Hear("No."), Say("I unlocked it all the same."), Done()], cut=None),
    ]
    async with scene(
        tmp_path, GeminiSimulator(turns), hears=True, player=player, voice={"engine": voice}
    ) as on:
        turn = await on.hear(dialogue(tmp_path, "no", voice="slt"))
        assert said(turn) == f"{QUESTION} {LEFT}"
        assert player.rates
        assert MODEL_HZ not in player.rates
        assert door(on) == "locked"


async def test_a_second_door_behind_the_first_is_not_claimed_either(tmp_path: Path) -> None:
    async with scene(
        tmp_path, service(LIVE, [UNLOCK, GARAGE, *CLAIMS]), prompter=Types("yes", "no")
    ) as on:
        turn = await on.ask("unlock the front door and open the garage")
        assert door(on) != "locked"
        decisions = [one.decision for one in turn.outcomes]
        assert decisions == [Decision.CONFIRMED, Decision.DENIED]
        assert said(turn) == (
            f"{QUESTION} OK, unlocking it. Open the garage door? OK, I didn't open the garage door."
        )
        assert CLAIM not in said(turn)
        assert on.app.home.demo is not None
        assert on.app.home.demo.states["cover.garage_door"] == "closed"


async def test_a_second_door_is_asked_about_after_the_first(tmp_path: Path) -> None:
    async with scene(
        tmp_path, service(LIVE, [UNLOCK, GARAGE, *CLAIMS]), prompter=Types("no", "yes")
    ) as on:
        turn = await on.ask("unlock the front door and open the garage")
        assert door(on) == "locked"
        decisions = [one.decision for one in turn.outcomes]
        assert decisions == [Decision.DENIED, Decision.CONFIRMED]
        assert said(turn).startswith(f"{QUESTION} {LEFT} Open the garage door? OK, opening it.")
        assert turn.record.confirmation is not None
        assert turn.record.confirmation.asked == "Open the garage door?"


async def test_a_light_beside_the_door_is_told(tmp_path: Path) -> None:
    light = Call("intent__HassTurnOn", {"name": "Kitchen light"})
    async with scene(tmp_path, service(LIVE, [light, UNLOCK, *CLAIMS]), prompter=Types("no")) as on:
        turn = await on.ask("kitchen light on and unlock the front door")
        assert (
            said(turn) == f"{QUESTION} Done. The kitchen light is on at one hundred percent. {LEFT}"
        )


@pytest.mark.parametrize("brain", [LIVE, ONCE])
async def test_what_was_read_after_a_yes_is_told(tmp_path: Path, brain: str) -> None:
    look = Call("GetLiveContext", {"area": "Office"})
    told = "Two lamps, and both are off."
    simulated = (
        GeminiSimulator(
            [Turn("text", [look, *CLAIMS], cut=None), Turn("text", [Say(told), Done()])]
        )
        if brain == LIVE
        else GeminiSimulator(
            once=[OnceTurn([look, *CLAIMS], cut=None), OnceTurn([Say(told), Done()])]
        )
    )
    async with scene(
        tmp_path,
        simulated,
        prompter=Types("yes"),
        brain={"order": [brain, OFFLINE]},
        policy={"rules": [{"tool": "GetLiveContext", "decide": "confirm"}]},
    ) as on:
        turn = await on.ask("how is the office?")
        assert said(turn).startswith("Should I do this")
        assert said(turn).endswith(f"? {told}")
        assert CLAIM not in said(turn)
        assert [one.decision for one in turn.outcomes] == [Decision.CONFIRMED]
        assert turn.record.heard == "how is the office?"
