"""Tests that each change of the microphone is an event, a sentence and an entry of its health."""

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from assistant.conversation.rules.state import Standing
from assistant.domain.events import EventBus
from assistant.interfaces.api.box import Box
from assistant.sound.devices import SoundState
from assistant.sound.mute import MicrophoneTones
from audio.player import NullPlayer, OneOutput
from tests.fakes.sound import MIC, MONITOR
from tests.unit.assistant.conversation.doubles import ScriptedBrain, ScriptedEar
from tests.unit.assistant.conversation.stage import runner_with
from tests.unit.assistant.interfaces.api.doubles import parts
from tests.unit.audio.steady_stage import Stage, listening

NOBODY_HEARS = OneOutput(NullPlayer(paced=False))


def unplug(stage: Stage) -> None:
    stage.device.unplug()
    stage.watch.tell()


def plug(stage: Stage) -> None:
    stage.device.there = True
    stage.watch.tell()


def suspend(stage: Stage) -> None:
    stage.device.suspended = True


def resume(stage: Stage) -> None:
    stage.device.suspended = False


def mute_at_device(stage: Stage) -> None:
    stage.device.silent = True


def unmute_at_device(stage: Stage) -> None:
    stage.device.silent = False


def move(stage: Stage) -> None:
    stage.device.there = False  # so the server has put us elsewhere
    stage.watch.spot = MONITOR
    stage.watch.tell()


def move_back(stage: Stage) -> None:
    stage.device.there = True
    stage.watch.spot = MIC
    stage.watch.tell()


def close(stage: Stage) -> None:
    stage.microphone.pause(True)


def open_again(stage: Stage) -> None:
    stage.microphone.pause(False)


Do = Callable[[Stage], None]
IS_BACK, IS_HEARD = "the microphone is back", "the microphone is on again"


@pytest.mark.parametrize(
    ("happens", "word", "sentence", "health", "mend", "back"),
    [
        (unplug, "missing", "plug", "degraded", plug, IS_BACK),
        (suspend, "missing", "has delivered no audio for 1 s", "degraded", resume, IS_BACK),
        (mute_at_device, "silent", "unmute it", "degraded", unmute_at_device, IS_HEARD),
        (move, "elsewhere", "has moved Hearth from the microphone", "degraded", move_back, IS_BACK),
        (close, "closed", "is switched off", "ok", open_again, IS_HEARD),
    ],
)
async def test_each_change_and_the_return(
    caplog: pytest.LogCaptureFixture,
    happens: Do,
    word: str,
    sentence: str,
    health: str,
    mend: Do,
    back: str,
) -> None:
    stage, seen, tones = Stage(), Seen(), list[str]()

    async def sound(name: str) -> None:
        tones.append(name)

    with caplog.at_level(logging.INFO):
        async with (
            runner_with(ScriptedBrain(), ScriptedEar({}), clock=stage.clock) as (runner, _),
            MicrophoneTones(sound, stage.clock, runner.standing) as microphone_tones,
            listening(stage),
        ):
            stage.microphone.on_change = runner.on_microphone
            runner.observe(microphone_tones.stand)
            state = SoundState(stage.microphone, NOBODY_HEARS)
            made = replace(parts(), conversation=runner, sound=state)
            with Box(made, EventBus(), stage.clock) as box:
                runner.observe(seen.stand)
                await stage.room(2)
                assert (box.state()["microphone"], state.health) == ("listening", "ok")
                caplog.clear()
                happens(stage)
                await stage.room(6)
                told = box.state()
                assert (told["microphone"], told["health"]) == (word, health)
                assert [sentence in problem for problem in told["problems"]] == [True] * (
                    health != "ok"
                )
                assert [sentence in message for message in caplog.messages] == [True]
                assert caplog.records[0].levelno == logging.WARNING
                caplog.clear()
                mend(stage)
                await stage.room(6)
                told = box.state()
                assert (told["microphone"], told["health"]) == ("listening", "ok")
                assert told["problems"] == []
                assert caplog.messages == [back]
                run = box.events.now("state", {}).id.split("-")[0]
                events = box.events.since(f"{run}-0", None)
                sent = [told_in(await anext(events)) for _ in seen.words]
                await events.aclose()
    words = [each["microphone"] for each in sent]
    assert words == seen.words
    assert sent[-1]["problems"] == []
    assert words.index(word) < len(words) - 1
    assert tones == [], "nobody was spoken with"


def told_in(event: bytes) -> dict[str, Any]:
    """Return the data of a sent event."""
    said: dict[str, Any] = json.loads(event.split(b"data: ")[1])
    return said


class Seen:
    """Records the texts about the microphone."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def stand(self, standing: Standing) -> None:
        self.words.append(standing.microphone.name.lower())
