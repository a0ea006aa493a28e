"""Tests of real recordings, from the wake word to the changed house."""

import os
from pathlib import Path

import pytest

from assistant.domain.tool_call import Status
from tests.pipeline.rig import hear, offline_settings, pipeline, splice, states

LONG = bool(os.environ.get("LONG"))
TAKES = ("02", "04", "06", "08", "10", "12", "14", "16", "18", "20")
# "The office lights" are all lights of that room, "the office light" is one of them.
OFFICE_LIGHTS = {"light.office", "light.desk_lamp"}
WITHOUT_WAKE_WORD = (
    *(f"turn_on_the_office_lights_{take}" for take in TAKES),
    "conversation_with_turn_on_the_office_lights",
    "negative_reference",
    "not_a_wake_word_snowboy",
)


@pytest.mark.parametrize("pause_s", [0.0, 0.5, 1.5])
async def test_ten_speakers_turn_on_the_office_lights(
    speech: Path, tmp_path: Path, pause_s: float
) -> None:
    right: list[str] = []
    # All ten in one breath, and of the others two, or all with LONG=1.
    takes = TAKES if LONG or not pause_s else TAKES[::5]
    async with pipeline(offline_settings(tmp_path)) as app:
        assert app.home.demo is not None
        quiet = states(app)
        for take in takes:
            for light in OFFICE_LIGHTS:
                app.home.demo.house.write(light, "off")
            command = speech / f"turn_on_the_office_lights_{take}.wav"
            clip = splice(tmp_path / "clip.wav", speech / "okay_nabu.wav", pause_s, command, 1.0)
            turn = await hear(app, clip)
            changed = {key for key, state in states(app).items() if state != quiet[key]}
            assert changed <= OFFICE_LIGHTS, f"{take} did something else"
            done = turn and [call.status for call in turn.outcomes] == [Status.DONE]
            if done and "light.office" in changed:
                right.append(take)
    assert len(right) >= 0.9 * len(takes), f"only {right}"


async def test_one_breath_at_48_khz(speech: Path, tmp_path: Path) -> None:
    settings = offline_settings(tmp_path, wake={"words": ["alexa"]})
    async with pipeline(settings) as app:
        assert states(app)["light.dining_room"] == "on"
        turn = await hear(app, speech / "alexa_turn_off_dining_room.wav")
        assert turn is not None
        assert turn.record.wake is not None
        assert turn.record.wake.word == "alexa"
        assert states(app)["light.dining_room"] == "off"


async def test_without_wake_word_there_is_no_turn(speech: Path, tmp_path: Path) -> None:
    async with pipeline(offline_settings(tmp_path)) as app:
        before = states(app)
        for name in WITHOUT_WAKE_WORD:
            assert await hear(app, speech / f"{name}.wav") is None, name
        assert states(app) == before
        assert app.home.demo is not None
        assert app.home.demo.calls == []


async def test_talk_after_the_wake_word_is_no_command(speech: Path, tmp_path: Path) -> None:
    async with pipeline(offline_settings(tmp_path)) as app:
        before = states(app)
        for name in ("negative_reference", "hey_rhasspy"):
            clip = splice(
                tmp_path / "clip.wav", speech / "okay_nabu.wav", 0.3, speech / f"{name}.wav", 1.0
            )
            turn = await hear(app, clip)
            assert turn is not None
            assert turn.outcomes == ()
        assert states(app) == before
