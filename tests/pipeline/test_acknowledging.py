"""Tests that a done command is a tone in its room, and words elsewhere: sound in, sound out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from assistant.app.build import App
from assistant.conversation.record import FinishedTurn
from assistant.demo.scenes import SpokenCommand, make_clip
from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import Status
from assistant.journal.store import Store
from audio.earcons import earcon
from audio.player import NullPlayer
from audio.sound_files import WavSource
from integrations.mcp.servers import McpResult
from tests.pipeline.gemini_rig import KITCHEN, LIVE, OFFICE, OFFLINE, TURN_ON, outcomes, said, scene
from tests.pipeline.rig import hear, offline_settings, pipeline, splice, states
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Hear, Opening, Say, Step, Turn

LIGHTS = "turn on the office lights"
ON = Call(TURN_ON, OFFICE)


def length_ms(name: str) -> float:
    pcm, rate = earcon(name)
    return len(pcm) / 2 / rate * 1000


def here(folder: Path, area: str, acknowledge: str, **more: Any) -> dict[str, Any]:
    """Return sections of the settings: the box's room, and how it acknowledges."""
    return {
        "assistant": {"data": str(folder / "data"), "area": area},
        "voice": {"engine": "espeak", "acknowledge": acknowledge},
        **more,
    }


def assert_toned(turn: FinishedTurn, player: NullPlayer) -> None:
    """Check for one tone and no words; what the brain answered is still known."""
    assert (turn.record.clauses, turn.record.audio_ms) == ((), 0.0)
    assert turn.record.sound == "done"
    assert turn.record.answer
    assert turn.record.error is None
    assert player.played_ms == pytest.approx(length_ms("done"))
    assert {"first_audio_out", "answer_done"} <= turn.record.timeline.keys()


def assert_told(turn: FinishedTurn, player: NullPlayer) -> None:
    """Check for words and no tone."""
    assert turn.record.clauses
    assert turn.record.sound is None
    assert player.played_ms == pytest.approx(turn.record.audio_ms, abs=1)


# --- a brain on this device


async def _offline(
    folder: Path, clip: Path, sections: dict[str, Any]
) -> tuple[FinishedTurn, NullPlayer, dict[str, str]]:
    player = NullPlayer(paced=False)
    settings = offline_settings(folder, **sections)
    async with pipeline(settings, player) as app:
        turn = await hear(app, clip)
        shown = states(app)
    assert turn is not None
    async with Store(settings.database, SystemClock()) as store:
        kept = await store.turn(turn.record.turn_id)
    assert kept is not None
    assert (kept.sound, kept.clauses) == (turn.record.sound, turn.record.clauses)
    return turn, player, shown


@pytest.mark.parametrize(
    ("acknowledge", "area", "sounds", "tone"),
    [
        ("auto", "Office", {}, True),
        ("auto", "Kitchen", {}, False),
        ("auto", "", {}, False),
        ("sound", "Kitchen", {}, True),
        ("sound", "", {}, True),
        ("words", "Office", {}, False),
        ("auto", "Office", {"done": False}, False),
    ],
)
async def test_the_room_decides(
    command: Path,
    tmp_path: Path,
    acknowledge: str,
    area: str,
    sounds: dict[str, bool],
    tone: bool,
) -> None:
    sections = here(tmp_path, area, acknowledge, sounds=sounds)
    turn, player, shown = await _offline(tmp_path, command, sections)
    assert (shown["light.office"], shown["light.desk_lamp"]) == ("on", "on")
    (assert_toned if tone else assert_told)(turn, player)


@pytest.mark.parametrize(
    ("sentence", "calls"),
    [("is the office light on", []), ("close the living room blinds", [Status.DONE])],
)
async def test_a_reading_and_what_is_on_its_way_are_told_in_words(
    sentence: str, calls: list[Status], tmp_path: Path
) -> None:
    clip = make_clip(SpokenCommand("clip", sentence, "rms"), tmp_path)
    turn, player, _ = await _offline(tmp_path, clip, here(tmp_path, "Office", "sound"))
    assert (turn.record.heard, [one.status for one in turn.outcomes]) == (sentence, calls)
    assert_told(turn, player)


async def test_what_is_not_understood_is_told_in_words(tmp_path: Path, command: Path) -> None:
    clip = make_clip(SpokenCommand("clip", "tell me a story about dragons", "rms"), tmp_path)
    turn, player, _ = await _offline(tmp_path, clip, here(tmp_path, "Office", "sound"))
    assert_told(turn, player)


def _does_nothing(app: App) -> Any:
    """Let the house confirm every call and do the opposite."""
    call = app.home.hub.call

    async def other(server: str, name: str, arguments: dict[str, Any], *rest: Any) -> McpResult:
        return await call(server, name.replace("TurnOn", "TurnOff"), arguments, *rest)

    return patch.object(app.home.hub, "call", other)


async def test_what_was_not_seen_is_told_in_words(command: Path, tmp_path: Path) -> None:
    player = NullPlayer(paced=False)
    settings = offline_settings(tmp_path, **here(tmp_path, "Office", "auto"))
    async with pipeline(settings, player) as app:
        with _does_nothing(app):
            turn = await hear(app, command)
    assert turn is not None
    assert outcomes(turn) == [Status.NOT_OBSERVED]
    assert_told(turn, player)


async def test_two_turns_in_one_conversation(command: Path, tmp_path: Path) -> None:
    player = NullPlayer(paced=False)
    settings = offline_settings(tmp_path, **here(tmp_path, "Office", "auto"))
    kitchen = make_clip(SpokenCommand("kitchen", "turn on the kitchen light", "rms"), tmp_path)
    both = splice(tmp_path / "both.wav", command, 1.0, kitchen, 1.0)
    async with pipeline(settings, player) as app:
        await app.runner.listen(WavSource(both, realtime=False))
        first, second = app.log.turns
    assert (first.record.sound, first.record.clauses) == ("done", ())
    assert second.record.sound is None
    assert second.record.clauses


# --- Gemini


def spoken_turn(*steps: Step) -> GeminiSimulator:
    return GeminiSimulator([Turn("audio", [Hear(LIGHTS), *steps, Done()])])


@pytest.mark.parametrize("engine", ["espeak", "gemini"])
async def test_a_models_words_are_held_back(command: Path, tmp_path: Path, engine: str) -> None:
    player = NullPlayer(paced=False)
    sections = here(tmp_path, "Office", "auto")
    sections["voice"]["engine"] = engine
    service = spoken_turn(ON, Say("The office lights are **on**."))
    async with scene(tmp_path, service, hears=True, player=player, **sections) as on:
        turn = await on.hear(command)
        assert turn.record.brain == LIVE
        assert turn.record.answer == "The office lights are **on**."
        assert_toned(turn, player)


@pytest.mark.parametrize("engine", ["espeak", "gemini"])
@pytest.mark.parametrize(
    ("steps", "words"),
    [
        pytest.param(
            [ON, Say("They are on. Shall I close the blinds?")],
            "They are on. Shall I close the blinds?",
            id="a question",
        ),
        pytest.param(
            [Call(TURN_ON, KITCHEN), Say("The kitchen light is on.")],
            "The kitchen light is on.",
            id="another room",
        ),
        pytest.param(
            [ON, Call(TURN_ON, KITCHEN), Say("All of them are on.")],
            "All of them are on.",
            id="two rooms",
        ),
        pytest.param(
            [ON, Call(TURN_ON, {"name": "Nothing"}), Say("Only the lights are on.")],
            "Only the lights are on.",
            id="in part",
        ),
    ],
)
async def test_a_model_is_let_speak(
    command: Path, tmp_path: Path, engine: str, steps: Sequence[Step], words: str
) -> None:
    player = NullPlayer(paced=False)
    sections = here(tmp_path, "Office", "auto")
    sections["voice"]["engine"] = engine
    async with scene(tmp_path, spoken_turn(*steps), hears=True, player=player, **sections) as on:
        turn = await on.hear(command)
        assert said(turn) == words
        assert turn.record.audio_ms > 100


async def test_a_typed_command_is_answered_as_ever(tmp_path: Path) -> None:
    service = GeminiSimulator([Turn("text", [ON, Say("The office lights are on."), Done()])])
    async with scene(tmp_path, service, **here(tmp_path, "Office", "auto")) as on:
        turn = await on.ask(LIGHTS)
        assert turn.record.answer == "The office lights are on."
        assert said(turn) == "The office lights are on."
        assert turn.record.sound is None


async def test_a_step_down_to_this_device_is_told_with_a_tone(
    command: Path, tmp_path: Path
) -> None:
    """The tone, then the reason, then what was done, in words, because there is something to
    report."""
    player = NullPlayer(paced=False)
    sections = here(tmp_path, "Office", "auto", brain={"order": [LIVE, OFFLINE]})
    service = GeminiSimulator(opening=Opening(http_status=503))
    async with scene(tmp_path, service, hears=True, player=player, **sections) as on:
        on.repeats = True
        turn = await on.hear(command)
        assert (turn.record.brain, turn.record.sound) == (OFFLINE, None)
        assert len(turn.record.clauses) >= 2
        tone_ms = player.played_ms - turn.record.audio_ms
        assert tone_ms == pytest.approx(length_ms("offline"), abs=1)
        again = await on.hear(command)
        assert (again.record.brain, again.record.sound) == (OFFLINE, "done")  # nothing is new
