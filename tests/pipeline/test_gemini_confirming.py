"""Tests of unlocking with Gemini: nothing that the model does or claims replaces the person's
yes."""

import subprocess
from collections.abc import Sequence
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest

from assistant.demo.scenes import SpokenCommand, make_clip
from assistant.domain.tool_call import Decision
from audio.frames import SAMPLE_RATE
from audio.sound_files import WavSource, read_wav, write_wav
from tests.pipeline.gemini_hearing import LONG
from tests.pipeline.gemini_rig import LIVE, Scene, ended, said, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Hear, Say, Step, Turn, Wait

OFF, DOOR = "intent__HassTurnOff", {"name": "Front Door"}
ASKED = {"status": "needs_confirmation"}
UNLOCK = Call(OFF, DOOR, answer=ASKED)
HEARD = Hear("unlock the front door", language="en-GB")
QUESTION, LEFT = "Unlock the front door?", "OK, I left the front door locked."
YES = "yes please"


def speech(words: str, folder: Path) -> bytes:
    """Return a person's words without the wake word, 16 kHz mono int16."""
    path = folder / f"{words.replace(' ', '-')}.wav"
    subprocess.run(["flite", "-voice", "rms", "-t", words, "-o", path], check=True, timeout=30)
    return read_wav(path)


def silence(seconds: float) -> bytes:
    return bytes(round(seconds * SAMPLE_RATE) * 2)


def dialogue(folder: Path, *answers: str, request: str = "unlock the front door") -> Path:
    """Record the request after the wake word, the answers to the question, and silence."""
    sound = read_wav(make_clip(SpokenCommand("request", request, "rms"), folder))
    for answer in answers:
        sound += silence(1.0) + speech(answer, folder) + silence(2.0)
    path = folder / "dialogue.wav"
    write_wav(path, sound + silence(25.0), SAMPLE_RATE)
    return path


def door(on: Scene) -> str:
    assert on.app.home.demo is not None
    return on.app.home.demo.house.get("lock.front_door").state


async def heard(on: Scene, clip: Path) -> list[Any]:
    """Return all turns of a recording."""
    await on.app.runner.listen(WavSource(clip, realtime=False), turns=1)
    return on.turns


CLAIMS = [Say("I have unlocked the front door. The user said yes."), Done()]
# What the model does once its call is answered with needs_confirmation ...
AFTER_ASKING: dict[str, Sequence[Step]] = {
    "is silent": [Done()],
    "asks by itself": [Say("Shall I unlock the front door?"), Done()],
    "claims it is done": CLAIMS,
    "calls again": [UNLOCK, Say("Done."), Done()],
}
# ... and after the person has answered.
AFTER_ANSWER: dict[str, Sequence[Step]] = {
    "calls again": [Call(OFF, DOOR), Say("It is unlocked."), Done()],
    "talks": [Say("Of course, I will unlock it."), Done()],
    "is silent": [Done()],
}
# Every one of them in the short form, every pair in the long one.
_EACH = zip(AFTER_ASKING, cycle(AFTER_ANSWER), strict=False)
BRANCHES = list(product(AFTER_ASKING, AFTER_ANSWER) if LONG else _EACH)


@pytest.mark.parametrize(("first", "then"), BRANCHES)
async def test_a_yes_opens_once_whatever_the_model_does(
    tmp_path: Path, first: str, then: str
) -> None:
    turns = [
        Turn("audio", [HEARD, UNLOCK, *AFTER_ASKING[first]], cut=None),
        Turn("audio", [Hear("Yes, please."), *AFTER_ANSWER[then]], cut=None),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        [turn] = await heard(on, dialogue(tmp_path, YES))
        assert ended(turn) == (LIVE, None)
        assert door(on) in ("unlocking", "unlocked")
        assert on.house_calls == [(OFF, DOOR)]
        assert said(turn).startswith(QUESTION)
        assert "OK, unlocking it." in said(turn)
        assert "user said yes" not in said(turn)
        assert turn.record.confirmation.verdict == "yes"
        assert turn.outcomes[0].decision is Decision.CONFIRMED


@pytest.mark.parametrize(("first", "then"), BRANCHES)
async def test_a_no_leaves_it_locked_whatever_the_model_does(
    tmp_path: Path, first: str, then: str
) -> None:
    turns = [
        Turn("audio", [HEARD, UNLOCK, *AFTER_ASKING[first]], cut=None),
        Turn("audio", [Hear("No."), *AFTER_ANSWER[then]], cut=None),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        [turn] = await heard(on, dialogue(tmp_path, "no"))
        assert door(on) == "locked"
        assert on.house_calls == []
        assert said(turn) == f"{QUESTION} {LEFT}"
        assert turn.record.confirmation.verdict == "no"
        assert turn.outcomes[0].decision is Decision.DENIED


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        pytest.param([Hear("Yes."), Wait(0.2), *CLAIMS], "yes", id="early"),
        pytest.param([Wait(2.0), Hear("Yes, please."), *CLAIMS], "yes", id="2 s late"),
        pytest.param([Hear("Yes,"), Wait(0.2), Hear(" please."), *CLAIMS], "yes", id="in pieces"),
        pytest.param([Hear("Guess at ease."), *CLAIMS], "unclear", id="wrong"),
    ],
)
async def test_the_transcript_comes_as_it_will(
    tmp_path: Path, steps: list[Step], verdict: str
) -> None:
    turns = [Turn("audio", [HEARD, UNLOCK, Done()]), Turn("audio", steps, cut=None)]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        [turn] = [await on.hear(dialogue(tmp_path, YES))]
        told = turn.record.confirmation
        assert told is not None
        assert (told.verdict == "yes") is (verdict == "yes"), told
        assert (door(on) != "locked") is (verdict == "yes")


async def test_without_a_transcript_this_machine_hears_the_answer(tmp_path: Path) -> None:
    turns = [Turn("audio", [HEARD, UNLOCK, Done()]), Turn("audio", CLAIMS, cut=None)]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        turn = await on.hear(dialogue(tmp_path, YES))
        assert turn.record.confirmation is not None
        assert turn.record.confirmation.verdict == "yes"
        assert door(on) != "locked"


async def test_silence_leaves_it_locked_after_twenty_seconds(tmp_path: Path) -> None:
    turns = [Turn("audio", [HEARD, UNLOCK, *CLAIMS])]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        turn = await on.hear(dialogue(tmp_path))
        assert said(turn) == f"{QUESTION} {LEFT}"
        assert turn.record.confirmation is not None
        assert turn.record.confirmation.verdict == "silence"
        assert door(on) == "locked"


async def test_a_new_command_is_done_and_the_door_stays_shut(tmp_path: Path) -> None:
    light = {"area": "Office", "domain": ["light"]}
    turns = [
        Turn("audio", [HEARD, UNLOCK, *CLAIMS], cut=None),
        Turn(
            "audio",
            [
                Hear("turn on the office lights"),
                Call("intent__HassTurnOn", light, answer={"status": "done"}),
                Say("The office lights are on."),
                Done(),
            ],
        ),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        first, second = await heard(on, dialogue(tmp_path, "turn on the office lights"))
        assert first.record.confirmation.verdict == "new_command"
        assert said(first) == QUESTION
        assert said(second) == "The office lights are on."
        assert on.house_calls == [("intent__HassTurnOn", light)]
        assert door(on) == "locked"


@pytest.mark.parametrize(
    "other",
    [
        Call("intent__HassTurnOn", {"name": "Garage door"}),
        Call(OFF, {"area": "Hall"}),
        Call(OFF, {"area": "Hall", "domain": ["lock"]}),
        Call(OFF, {"name": "puerta principal"}),
        Call(OFF, {"floor": "Ground"}),
        Call(OFF, {"device_class": ["lock"], "domain": ["lock"]}),
    ],
    ids=["another thing", "its area", "its kind", "another name", "its floor", "its class"],
)
async def test_a_no_is_not_got_round_by_another_call(tmp_path: Path, other: Call) -> None:
    turns = [
        Turn("audio", [HEARD, UNLOCK, other, *CLAIMS], cut=None),
        Turn("audio", [Hear("No."), other, *CLAIMS], cut=None),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        before = {
            one: on.app.home.client.house.entities[one].state
            for one in ("lock.front_door", "cover.garage_door")
        }
        await heard(on, dialogue(tmp_path, "no"))
        for entity_id, state in before.items():
            assert on.app.home.client.house.entities[entity_id].state == state


async def test_the_model_is_told_with_the_next_turn(tmp_path: Path) -> None:
    turns = [
        Turn("audio", [HEARD, UNLOCK, *CLAIMS], cut=None),
        Turn("audio", [Hear("No."), *CLAIMS], cut=None),
        Turn("text", [Say("It is locked."), Done()]),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        await heard(on, dialogue(tmp_path, "no"))
        await on.ask("is the front door locked")
    told = on.service.turns[2].text
    assert told is not None
    assert "answer was: no" in told


async def test_locking_needs_nothing(tmp_path: Path) -> None:
    steps = [
        Hear("lock the front door"),
        Call("intent__HassTurnOn", DOOR, answer={"status": "done"}),
        Say("It is locked."),
        Done(),
    ]
    async with scene(tmp_path, GeminiSimulator([Turn("audio", steps)]), hears=True) as on:
        turn = await on.hear(dialogue(tmp_path, request="lock the front door"))
        assert turn.outcomes[0].decision is Decision.ALLOWED
        assert turn.record.confirmation is None


PIN: dict[str, Any] = {"secure": "pin", "pin": "1234"}


@pytest.mark.parametrize(
    ("spoken", "opens"), [("one two three four", True), ("four three two one", False)]
)
async def test_a_pin_is_heard_on_this_machine_alone(
    tmp_path: Path, spoken: str, opens: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    clip = dialogue(tmp_path, spoken)
    # A second activity, or a single sample outside of the first one, fails the simulator.
    turns = [Turn("audio", [HEARD, UNLOCK, *CLAIMS], cut=None)]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True, policy=PIN) as on:
        turn = await on.hear(clip)
        assert said(turn).startswith(f"{QUESTION} Please say the PIN.")
        assert (door(on) != "locked") is opens
        told = turn.record.confirmation
        assert told is not None
        assert told.heard == "****"
        assert told.verdict == ("yes" if opens else "no")
        rows = await on.app.home.store.audited()
        assert next(row.decision for row in rows) is (
            Decision.CONFIRMED if opens else Decision.DENIED
        )
        request = on.service.turns[0].pcm
        assert len(request) / 2 / SAMPLE_RATE < 5.0
    heard_request = read_wav(clip)
    assert heard_request.find(request[-3200:]) < len(heard_request) // 2
    kept = list((tmp_path / "data").rglob("*"))
    for secret in (b"one two three four", b"four three two one"):
        assert not [path for path in kept if path.is_file() and secret in path.read_bytes()]
    assert "one two three" not in caplog.text


async def test_three_wrong_pins_lock_it(tmp_path: Path) -> None:
    wrong = [Turn("audio", [HEARD, Call(OFF, DOOR), *CLAIMS], cut=None) for _ in range(4)]
    async with scene(tmp_path, GeminiSimulator(wrong), hears=True, policy=PIN) as on:
        for number in range(4):
            right = number == 3
            if right:
                on.clock.leap(700)  # within the quarter of an hour; its call is in time again
            clip = dialogue(tmp_path, "one two three four" if right else "four three two one")
            turn = await on.hear(clip)
            assert door(on) == "locked"
        assert "too many wrong PINs" in said(turn)
