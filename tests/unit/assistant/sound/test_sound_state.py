"""Tests of the sound devices in /v1/state, /v1/events and /healthz."""

import json
from dataclasses import replace
from typing import Any
from unittest.mock import create_autospec

import pytest

from assistant.domain.events import EventBus
from assistant.interfaces.api.box import Box
from assistant.sound.devices import SoundState
from assistant.sound.echo_plan import EchoPlan
from audio.device_status import AGAIN_S
from audio.echo import Plan
from audio.echo.livekit import CleanCounts, LivekitCleaner
from audio.errors import InputUnusable
from audio.player import NullPlayer, OneOutput
from tests.unit.assistant.interfaces.api.doubles import parts
from tests.unit.audio.speaker_stage import SECOND, Rig, rigged, say
from tests.unit.audio.steady_stage import Stage, listening

NOWHERE = OneOutput(NullPlayer(paced=False))


def taken_out() -> EchoPlan:
    """Return a plan whose canceller has counted."""
    cleaner = create_autospec(LivekitCleaner, instance=True)
    cleaner.counts = CleanCounts(processed=7, bypassed=3, failed=1, stalls=2)
    return EchoPlan(Plan("own", False, "An echo was measured, and Hearth removes it."), cleaner, "")


def box_of(rig: Rig, sound: SoundState) -> Box:
    return Box(replace(parts(), sound=sound), EventBus(), rig.clock)


async def test_a_loudspeaker_that_goes_is_an_event_a_sentence_and_no_health() -> None:
    async with rigged() as rig:
        sound = SoundState(None, rig.speaker)
        with box_of(rig, sound) as box:
            stream = box.events.since(None, box.events.now("state", box.state()))
            first = data(await anext(stream))
            assert (first["loudspeaker"], first["problems"], first["health"]) == ("ready", [], "ok")
            rig.trouble = InputUnusable("There is no loudspeaker: plug one in.")
            rig.news.tell()
            await rig.pass_time(1)
            told = data(await anext(stream))
            assert told["loudspeaker"] == "missing"
            assert told["problems"] == ["There is no loudspeaker: plug one in."]
            assert "sound" not in told, "what changes all the time is no event"
            assert sound.health == "degraded"
            state = box.state()
            assert (state["health"], state["loudspeaker"]) == ("degraded", "missing")
            rig.trouble = None
            await rig.pass_time(AGAIN_S + 1)
            told = data(await anext(stream))
            assert (told["loudspeaker"], told["problems"]) == ("ready", [])
            assert box.state()["health"] == "ok"
            await stream.aclose()
        rig.trouble = InputUnusable("There is no loudspeaker: plug one in.")
        rig.news.tell()
        await rig.pass_time(1)  # nobody follows any more, and nothing breaks


def data(event: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(event.decode().split("data: ")[1])
    return found


async def test_what_was_counted_is_told() -> None:
    stage = Stage()
    async with rigged() as rig, listening(stage):
        await stage.room(1.04)
        sound = SoundState(stage.microphone, rig.speaker, taken_out(), lambda: 5)
        await rig.during(say(rig))
        rig.device.gaps = 2
        report = sound.report()
        assert report["microphone"] == {
            "status": "listening",
            "last_frame_age_s": pytest.approx(0.0, abs=0.1),
            "dropped_blocks": 0,
            "reopened": 0,
            "abandoned_calls": 0,
        }
        speaker = {"status": "ready", "lost": 0, "dropped": 0, "underruns": 0, "gaps": 2}
        assert report["loudspeaker"] == {**speaker, "since_s": pytest.approx(1.0, abs=0.2)}
        assert report["wake"] == {"near_misses": 5}
        echo = report["echo"]
        assert (echo["cancellation"], echo["half_duplex"]) == ("own", False)
        frames = echo["frames"]
        assert (frames["processed"], frames["bypassed"], frames["failed"]) == (7, 3, 1)
        assert json.loads(json.dumps(report)) == report
        rig.trouble = InputUnusable("There is no loudspeaker: plug one in.")
        await rig.pass_time(10)
        with pytest.raises(InputUnusable):
            await rig.during(rig.voice.play(SECOND, 48_000))
        stage.device.unplug()
        await stage.room(1.04)
        report = sound.report()
        assert report["loudspeaker"]["dropped"] == 1
        assert report["microphone"]["status"] == "missing"
        assert [problem[:22] for problem in sound.problems] == [
            "There is no microphone",
            "There is no loudspeake",
        ]


async def test_a_microphone_that_somebody_closed_is_no_problem() -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(1.04)
        stage.microphone.pause(True)
        await stage.clock.run(5)
        sound = SoundState(stage.microphone, NOWHERE)
        assert (sound.problems, sound.health) == ([], "ok")
        assert sound.report()["microphone"]["status"] == "closed"
        stage.microphone.pause(False)


async def test_a_listener_that_is_stuck_is_a_problem_though_the_microphone_is_well() -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(1.04)
        sound = SoundState(stage.microphone, NOWHERE)
        stage.clock.advance(3)
        assert sound.problems == ["The microphone has given no sound for more than 2 s."]
        assert sound.health == "degraded"


def test_files_have_nothing_to_tell() -> None:
    sound = SoundState(None, NOWHERE)
    assert (sound.loudspeaker, sound.problems, sound.health) == ("none", [], "ok")
    assert sound.report() == {
        "microphone": None,
        "loudspeaker": None,
        "wake": {"near_misses": 0},
        "echo": None,
    }
