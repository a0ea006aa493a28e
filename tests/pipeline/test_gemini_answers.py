"""Tests of answers to a question with Gemini: in pieces, as a new command, typed, and cut off."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.conversation.rules.events import StopAsked
from assistant.demo.scenes import SpokenCommand, make_clip
from assistant.domain.tool_call import Decision
from audio.frames import SAMPLE_RATE, Frame
from audio.sound_files import WavSource, read_wav, write_wav
from tests.pipeline.dialogues import LONG_S, UNLOCK, dialogue, silence, speech
from tests.pipeline.gemini_rig import LIVE, Scene, ended, said, scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Hear, Say, Step, Turn, Wait

ASKED = {"status": "needs_confirmation"}
DOOR = Call("intent__HassTurnOff", {"name": "Front Door"}, answer=ASKED)
GARAGE = Call("intent__HassTurnOn", {"name": "Garage door"}, answer=ASKED)
ROBOT = Call("vacuum__HassVacuumStart", {"name": "Robbie"}, answer=ASKED)
UNLOCKS = Turn("audio", [Hear(UNLOCK, language="en-GB"), DOOR, Done()], cut=None)
SAYS_YES = [Hear("Yes, please."), Say("Okay."), Done()]


class Types:
    """A person at the keyboard."""

    def __init__(self, line: str) -> None:
        self.line = line

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        return self.line


def state(on: Scene, entity_id: str) -> str:
    assert on.app.home.demo is not None
    return on.app.home.demo.house.get(entity_id).state


def spoken(folder: Path, *pieces: str | float) -> Path:
    """Record the request, then the given words and pauses."""
    sound = read_wav(make_clip(SpokenCommand("request", UNLOCK, "rms"), folder))
    for piece in pieces:
        sound += silence(piece) if isinstance(piece, float) else speech(piece, folder)
    path = folder / "spoken.wav"
    write_wav(path, sound + silence(LONG_S), SAMPLE_RATE)
    return path


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([Hear("Yes"), Say("Okay."), Wait(0.3), Hear(" but not now")], id="it talks"),
        pytest.param([Hear("Yes"), Wait(0.6), Hear(" but not now")], id="it is silent"),
    ],
)
async def test_a_transcript_in_pieces_is_waited_for(tmp_path: Path, steps: list[Step]) -> None:
    turns = [
        Turn("audio", [Hear("start the vacuum"), ROBOT, Done()], cut=None),
        Turn("audio", [*steps, Say("I started it."), Done()], cut=None),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        turn = await on.hear(dialogue(tmp_path, "yes but not now", request="start the vacuum"))
        assert turn.record.confirmation is not None
        assert turn.record.confirmation.heard == "Yes but not now"
        assert turn.record.confirmation.verdict == "unclear"
        assert on.house_calls == []


async def test_where_the_transcript_is_the_only_witness_too(tmp_path: Path) -> None:
    steps = [Hear("Sí"), Say("Vale."), Wait(0.3), Hear(" pero ahora no"), Done()]
    turns = [
        Turn("audio", [Hear("abre la puerta principal"), DOOR, Done()], cut=None),
        Turn("audio", steps, cut=None),
    ]
    # There is no recogniser for Spanish here.
    spanish = {"data": str(tmp_path / "data"), "languages": ["es"]}
    async with scene(tmp_path, GeminiSimulator(turns), hears=True, assistant=spanish) as on:
        turn = await on.hear(dialogue(tmp_path, "yes but not now"))
        assert turn.record.confirmation is not None
        assert turn.record.confirmation.heard == "Sí pero ahora no"
        assert state(on, "lock.front_door") == "locked"


async def test_a_call_that_comes_twice_is_asked_about_once(tmp_path: Path) -> None:
    same = replace(DOOR, id="one")
    turns = [
        Turn("audio", [Hear(UNLOCK), same, same, Done()], cut=None),
        Turn("audio", SAYS_YES, cut=None),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        turn = await on.hear(dialogue(tmp_path, "yes please"))
        assert said(turn) == "Unlock the front door? OK, unlocking it."


@pytest.mark.parametrize(
    ("transcript", "verdict", "opens"),
    [("Yes, please.", "yes", True), ("Guess at ease.", "unclear", False)],
)
async def test_a_second_question_needs_both_witnesses_too(
    tmp_path: Path, transcript: str, verdict: str, opens: bool
) -> None:
    turns = [
        UNLOCKS,
        Turn("audio", [Hear("open the garage door"), GARAGE, Done()], cut=None),
        Turn("audio", [Hear(transcript), Say("I opened it."), Done()], cut=None),
    ]
    # Long after our own voice also on a machine that is slow to answer.
    clip = spoken(tmp_path, 4.0, "open the garage door", 4.0, "yes please", 2.0)
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        await on.app.runner.listen(WavSource(clip, realtime=False), turns=1)
        first, second = (turn.record.confirmation for turn in on.turns)
        assert first is not None
        assert first.verdict == "new_command"
        assert second is not None
        assert (second.asked, second.heard) == ("Open the garage door?", transcript)
        assert second.verdict == verdict
        assert len(on.service.turns) == 3
        assert state(on, "lock.front_door") == "locked"
        assert (state(on, "cover.garage_door") != "closed") is opens


class Hesitates(WavSource):
    """A person who, after a set second, says nothing more before something has happened."""

    def __init__(self, clip: Path, from_s: float, happened: Callable[[], Awaitable[None]]) -> None:
        super().__init__(clip, realtime=False)
        self._from, self._happened = round(from_s * SAMPLE_RATE), happened

    async def frames(self) -> AsyncGenerator[Frame, None]:
        async for frame in super().frames():
            if frame.start <= self._from < frame.end:
                await self._happened()
            yield frame


async def test_a_model_that_waits_for_the_answer_in_silence_is_not_asked_again(
    tmp_path: Path,
) -> None:
    turns = [UNLOCKS, Turn("audio", SAYS_YES, cut=None)]
    asked = len(read_wav(spoken(tmp_path))) / 2 / SAMPLE_RATE - LONG_S
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:

        async def silent() -> None:
            await on.until(lambda: on.service.turns[0].done_at is not None)
            await asyncio.sleep(0.3)  # in which it would be asked again

        clip = spoken(tmp_path, 3.0, "yes please")
        await on.app.runner.listen(Hesitates(clip, asked + 2.0, silent), turns=1)
        assert said(on.turns[-1]) == "Unlock the front door? OK, unlocking it."
        assert [outcome.decision for outcome in on.turns[-1].outcomes] == [Decision.CONFIRMED]
        assert len(on.service.turns) == 2


async def test_a_door_asked_for_right_after_our_question_stays_shut(tmp_path: Path) -> None:
    denied = replace(GARAGE, answer={"status": "denied"})
    turns = [
        UNLOCKS,
        Turn("audio", [Hear("open the garage door"), denied, Say("Open."), Done()], cut=None),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on:
        clip = spoken(tmp_path, 1.0, "open the garage door", 2.0)
        await on.app.runner.listen(WavSource(clip, realtime=False), turns=1)
        assert [outcome.rule for outcome in on.turns[-1].outcomes] == ["own_speech"]
        assert said(on.turns[-1]).startswith("I'd only just finished speaking")
        assert on.house_calls == []


async def test_stopped_while_the_confirmed_call_is_made(tmp_path: Path) -> None:
    turns = [
        UNLOCKS,
        Turn("audio", [Hear("Yes, please."), Say("I am at it"), Wait(60)], cut=None),
        Turn("text", [Say("It is noon."), Done()], cut=None),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), hears=True) as on, asyncio.timeout(60):
        clip = WavSource(dialogue(tmp_path, "yes please"), realtime=False)
        async with on.holding_the_house() as hold:
            listening = asyncio.create_task(on.app.runner.listen(clip, turns=1))
            await hold.reached.wait()
            on.app.runner.dispatch(StopAsked())
            await listening
            hold.go_on.set()
        turn = await on.ask("what time is it")
        assert (said(turn), ended(turn)) == ("It is noon.", (LIVE, None))
        assert state(on, "lock.front_door") != "locked"
        # `scene` checks that no task and no socket is left.
        newest = (await on.app.home.store.audited())[0]
        assert newest.decision is Decision.CONFIRMED


async def test_a_new_command_that_is_typed_is_a_typed_turn(tmp_path: Path) -> None:
    turns = [
        Turn("text", [DOOR, Done()], cut=None),
        Turn("text", [Say("The light is on."), Done()], cut=None),
    ]
    line = "turn on the kitchen light"
    async with scene(tmp_path, GeminiSimulator(turns), prompter=Types(line)) as on:
        await on.ask(UNLOCK)
        first, second = (turn.record for turn in on.turns)
        assert first.confirmation is not None
        assert first.confirmation.verdict == "new_command"
        assert first.clauses == ("Unlock the front door?",)
        assert (second.source, second.heard) == ("text", line)
        assert second.clauses == ("The light is on.",)
        assert (on.service.turns[1].text or "").endswith(line)
        assert state(on, "lock.front_door") == "locked"
