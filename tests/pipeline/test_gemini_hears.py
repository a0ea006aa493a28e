"""Tests of `hearth hear` with real recordings: the service gets the command, bit for bit.

The connection may take any time, in both paces. All ten speakers with LONG=1, in seven minutes.
"""

import importlib
import itertools
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assistant.cli.main import main
from assistant.demo.scenes import SpokenCommand, make_clip
from audio.earcons import earcon
from audio.sound_files import read_wav
from tests.benchmarks.sound import voiced
from tests.lateness import Lateness
from tests.pipeline.gemini_hearing import (
    HEARTH,
    LONG,
    TAKES,
    Clip,
    assert_bit_for_bit,
    clip_of,
    is_sound,
    office_lights,
    one_value,
    serving,
    surroundings,
)
from tests.shared_data import REPOSITORY
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Hear, Opening, Say, Think, Turn

KEYS = {
    *("turn_id", "brain", "wake", "heard", "answer", "spoken", "tool_calls", "confirmation"),
    "not_done",
    *("timeline", "usage", "cost_usd", "error"),
}
UPWARDS = ("connected", "first_upload", "upload_done", "heard")
PERSON = ("wake", "speech_start", "speech_end", "end_of_turn", "upload_done")
ANSWER = (
    *("heard", "first_tool_call", "last_tool_result", "first_reply_text"),
    *("first_audio_out", "answer_done"),
)
DELAYS_S = (0.0, 0.3, 1.0, 3.0)
LIGHTS = {"light.office", "light.desk_lamp"}
# USD per million tokens of gemini-3.8-live, in / out: sound 3 / 12, text 0.75 / 4.5.
COST_USD = (200 * 3 + 800 * 0.75 + 60 * 12 + 40 * 4.5) / 1e6


@pytest.fixture(autouse=True, scope="module")
def _sdk() -> None:
    """Import what a process imports once, and a program that stays before anybody speaks."""
    importlib.import_module("google.genai.live")


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surroundings(tmp_path, monkeypatch)


def _service(delay_s: float) -> GeminiSimulator:
    return GeminiSimulator([Turn("audio", office_lights())], openings=[Opening(delay_s=delay_s)])


def _one_breath(speech: Path, folder: Path, take: str) -> Clip:
    """Join the wake word and the command without a pause; the command is the clip's third piece."""
    command = speech / f"turn_on_the_office_lights_{take}.wav"
    return clip_of(folder / "clip.wav", 0.5, speech / "okay_nabu.wav", command, 1.5)


def _assert_complete(told: dict[str, Any], delay_s: float, pace: str, late_ms: float = 0) -> None:
    """Check that every key of the contract is there and that the values agree.

    `late_ms` is how late the machine itself was.
    """
    assert set(told) == KEYS
    assert (told["brain"], told["error"], told["confirmation"]) == ("gemini-live", None, None)
    assert (told["wake"]["word"], told["wake"]["at_ms"]) == ("okay_nabu", told["timeline"]["wake"])
    assert told["heard"] == "turn on the office lights"
    assert told["answer"] == "The office lights are **on**."
    assert told["spoken"]["clauses"] == ["The office lights are on."]
    at = told["timeline"]
    for order in (UPWARDS, PERSON, ANSWER):
        moments = [at[key] for key in order]
        assert moments == sorted(moments), dict(zip(order, moments, strict=True))
    if pace == "--realtime":
        # The connect begins with the rising score, just before the wake word is certain.
        assert -500 < at["connected"] - at["wake"] - delay_s * 1000 < 900 + late_ms
        # What was said until then goes up faster than it was spoken.
        assert at["upload_done"] - max(at["connected"], at["end_of_turn"]) < 500 + late_ms
        assert at["answer_done"] - at["first_audio_out"] >= 0.9 * told["spoken"]["audio_ms"]
    [call] = told["tool_calls"]
    assert (call["server"], call["name"]) == ("home_assistant", "intent__HassTurnOn")
    assert (call["decision"], call["tier"], call["status"]) == ("allowed", "comfort", "done")
    assert {seen["entity_id"] for seen in call["observed"]} == LIGHTS
    assert {seen["before"] for seen in call["observed"]} == {"off"}
    assert {seen["after"][:2] for seen in call["observed"]} == {"on"}
    assert call["ms"] > 0
    assert told["usage"] == {
        "input_tokens": 1_000,
        "output_tokens": 100,
        "by_modality": {
            "input_audio": 200,
            "input_text": 800,
            "output_audio": 60,
            "output_text": 40,
        },
        "estimated": False,
    }
    assert told["cost_usd"] == pytest.approx(COST_USD)


def _assert_spoken(answer: Path, told: dict[str, Any]) -> None:
    """Check that the answer sounds, after the wake sound if the person paused for that."""
    sound, (tone, rate) = read_wav(answer), earcon("wake")
    played_ms, tone_ms = len(sound) / 2 / 16, len(tone) / 2 / rate * 1000
    answer_ms = told["spoken"]["audio_ms"]
    assert answer_ms > 500
    assert is_sound(sound[-round(answer_ms) * 32 :])
    assert min(abs(played_ms - answer_ms - extra) for extra in (0.0, tone_ms)) < 2


# In real time each takes as long as it lasts: the short form hears one.
@pytest.mark.parametrize(
    ("pace", "take", "delay_s"),
    list(itertools.product(["--fast", "--realtime"], TAKES, DELAYS_S))
    if LONG
    else [*itertools.product(["--fast"], ["04"], DELAYS_S), ("--realtime", "04", 0.3)],
)
def test_the_whole_command_arrives(
    pace: str,
    take: str,
    delay_s: float,
    speech: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    clip, answer = _one_breath(speech, tmp_path, take), tmp_path / "answer.wav"
    with serving(_service(delay_s), monkeypatch) as service, Lateness() as lateness:
        assert main(["hear", str(clip.path), pace, "--json", "--out", str(answer)]) == 0
        [turn] = service.turns
    told = one_value(capsys.readouterr().out)
    # In real time a whole command ends after 0.3 s of silence; the recordings have more of it.
    begin, end = clip.places[2]
    first, last = voiced(clip.pcm[2 * begin : 2 * end])
    assert_bit_for_bit(turn, told, clip.pcm, (begin + first, begin + last))
    assert turn.longest_chunk_s <= 0.1
    assert service.total_sockets == 1
    _assert_complete(told, delay_s, pace, lateness.ms)
    _assert_spoken(answer, told)


def test_a_clip_of_our_own_in_another_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but this repository and flite is needed."""
    made = make_clip(SpokenCommand("made", "turn on the office lights", "rms"), tmp_path)
    clip = clip_of(tmp_path / "clip.wav", 0.5, made, 1.0)
    answer = tmp_path / "answer.wav"
    program = [*HEARTH, "hear"]
    with serving(_service(0.3), monkeypatch) as service:
        done = subprocess.run(
            [*program, str(clip.path), "--fast", "--json", "--out", str(answer)],
            cwd=REPOSITORY,
            env=dict(os.environ),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        [turn] = service.turns
    told = one_value(done.stdout)
    begin, end = clip.places[1]
    second = 16_000  # the clip has one of silence before and after
    # The command: from the end of the wake word at the latest to the last sound.
    assert_bit_for_bit(turn, told, clip.pcm, (round(told["wake"]["at_ms"] * 16), end - second))
    assert begin + second < told["wake"]["at_ms"] * 16
    _assert_complete(told, 0.3, "--fast")
    _assert_spoken(answer, told)


def test_a_person_who_does_not_pause(
    speech: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One recording at 48 kHz holds wake word and command: the service gets what the ear gets."""
    monkeypatch.setenv("HEARTH_WAKE__WORDS", '["alexa"]')
    recording = read_wav(speech / "alexa_turn_off_dining_room.wav")
    steps = [
        Think(0.05),
        Hear("turn off dining room"),
        Call("intent__HassTurnOff", {"area": "dining room", "domain": ["light"]}),
        Say("It is off."),
        Done(),
    ]
    clip = clip_of(tmp_path / "clip.wav", 0.5, recording, 1.5)
    simulator = GeminiSimulator([Turn("audio", steps)], openings=[Opening(delay_s=1.0)])
    with serving(simulator, monkeypatch) as service:
        assert main(["hear", str(clip.path), "--fast", "--json"]) == 0
        [turn] = service.turns
    told = one_value(capsys.readouterr().out)
    command = (round(told["wake"]["at_ms"] * 16), clip.places[1][1])
    assert_bit_for_bit(turn, told, clip.pcm, command)
    [call] = told["tool_calls"]
    changed = {seen["entity_id"]: seen["after"] for seen in call["observed"]}
    assert changed["light.dining_room"] == "off"
