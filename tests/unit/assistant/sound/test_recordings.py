"""Tests of the sound that is kept for debugging: little, private, and deleted in time."""

import json
import stat
import threading
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assistant.config.sound import Recordings as Keep
from assistant.conversation.rules.effects import OpenTurn
from assistant.conversation.rules.events import WakeHeard
from assistant.conversation.rules.state import State
from assistant.conversation.turn import Turn
from assistant.domain.clock import VirtualClock
from assistant.domain.turn_audio import TurnAudio
from assistant.sound import recordings
from assistant.sound.recordings import (
    AFTER_ANSWER_S,
    FOLDER,
    WAITING,
    Recorder,
    Recording,
    Recordings,
    listed,
    path_of,
)
from audio.wake import NearMiss
from tests.fakes.sound import standing

SOUND = bytes(range(256)) * 125  # a second
WAKE = "okay_nabu", 0.9712
MISS = NearMiss("okay_nabu", 0.9712, 0.5, 32_000)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@asynccontextmanager
async def keeping(
    folder: Path, clock: VirtualClock, keep: int = 3, **more: Any
) -> AsyncIterator[Recordings]:
    """Yield recordings that have written everything when the block is left."""
    settings = Keep(keep=keep, keep_hours=more.pop("hours", 48))
    async with Recordings(folder, settings, clock, **more) as kept:
        yield kept


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / FOLDER).iterdir())


async def test_a_wake_is_a_wav_file_with_its_scores_beside_it(
    tmp_path: Path, clock: VirtualClock
) -> None:
    async with keeping(tmp_path, clock) as kept:
        assert kept.on
        kept.wake(*WAKE, SOUND)
        clock.advance(1.5)
        kept.near_miss(NearMiss("/models/hey house.tflite", 0.4, 0.61, 0), SOUND[:320])
        clock.advance(1.5)
        kept.turn("01hv", SOUND * 3, "okay_nabu", 0.9712)
        clock.advance(1.5)
        kept.turn("01hw", SOUND, "follow_up")
    assert names(tmp_path) == [
        "20260101T120000.000000Z-wake-okay_nabu-0.97.json",
        "20260101T120000.000000Z-wake-okay_nabu-0.97.wav",
        "20260101T120001.500000Z-near-hey_house-0.40.json",
        "20260101T120001.500000Z-near-hey_house-0.40.wav",
        "20260101T120003.000000Z-turn-okay_nabu-0.97.json",
        "20260101T120003.000000Z-turn-okay_nabu-0.97.wav",
        "20260101T120004.500000Z-turn-follow_up.json",
        "20260101T120004.500000Z-turn-follow_up.wav",
    ]
    wake, near, turn, further = listed(tmp_path)
    assert (wake.kind, wake.word, wake.score, wake.seconds) == ("wake", "okay_nabu", 0.9712, 1.0)
    assert (near.closeness, near.seconds) == (0.61, 0.01)
    assert (turn.turn_id, turn.seconds, turn.at) == ("01hv", 3.0, wake.at.replace(second=3))
    assert (further.score, further.turn_id) == (None, "01hw")
    with wave.open(str(path_of(tmp_path, turn))) as file:
        form = (file.getnchannels(), file.getsampwidth(), file.getframerate())
        assert form == (1, 2, 16_000)
        assert file.readframes(file.getnframes()) == SOUND * 3


async def test_only_the_owner_may_listen(tmp_path: Path, clock: VirtualClock) -> None:
    (tmp_path / FOLDER).mkdir(mode=0o755)
    async with keeping(tmp_path, clock) as kept:
        kept.wake(*WAKE, SOUND)
    assert stat.S_IMODE((tmp_path / FOLDER).stat().st_mode) == 0o700
    for path in (tmp_path / FOLDER).iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_the_last_ones_of_each_kind(tmp_path: Path, clock: VirtualClock) -> None:
    async with keeping(tmp_path, clock, keep=2) as kept:
        for number in range(5):
            kept.wake(*WAKE, SOUND)
            kept.turn(f"t{number}", SOUND, "okay_nabu", 0.9)
            clock.advance(10)
    found = listed(tmp_path)
    assert [one.turn_id for one in found if one.kind == "turn"] == ["t3", "t4"]
    assert len([one for one in found if one.kind == "wake"]) == 2
    assert len(names(tmp_path)) == 8


async def test_none_is_older_than_asked_for(tmp_path: Path, clock: VirtualClock) -> None:
    async with keeping(tmp_path, clock, hours=1) as kept:
        kept.wake(*WAKE, SOUND)
    clock.advance(3601)
    async with keeping(tmp_path, clock, hours=1):
        pass
    assert listed(tmp_path) == []
    assert names(tmp_path) == []


async def test_off_it_keeps_nothing_and_deletes_what_there_was(
    tmp_path: Path, clock: VirtualClock
) -> None:
    async with keeping(tmp_path, clock) as kept:
        kept.wake(*WAKE, SOUND)
    async with keeping(tmp_path, clock, keep=0) as kept:
        assert not kept.on
        kept.wake(*WAKE, SOUND)
        kept.turn("t", SOUND, "okay_nabu")
    assert not (tmp_path / FOLDER).exists()
    async with keeping(tmp_path, clock, keep=0):
        pass  # nothing to delete


async def test_what_somebody_else_put_there_stays(tmp_path: Path, clock: VirtualClock) -> None:
    (tmp_path / FOLDER).mkdir()
    mine = tmp_path / FOLDER / "notes.json"
    mine.write_text("{}")
    (tmp_path / FOLDER / "20260101T120000.000000Z-wake-x-0.97.json").write_text("broken")
    async with keeping(tmp_path, clock) as kept:
        kept.wake(*WAKE, SOUND)
    assert len(listed(tmp_path)) == 1
    async with keeping(tmp_path, clock, keep=0):
        pass
    assert names(tmp_path) == ["notes.json"]


async def test_nothing_of_guests(tmp_path: Path, clock: VirtualClock) -> None:
    async with keeping(tmp_path, clock, may_keep=lambda: False) as kept:
        kept.wake(*WAKE, SOUND)
        kept.near_miss(MISS, SOUND)
        kept.turn("t", SOUND, "okay_nabu")
    assert listed(tmp_path) == []


async def test_nothing_of_an_answer_nor_of_what_may_hold_it(
    tmp_path: Path, clock: VirtualClock
) -> None:
    async with keeping(tmp_path, clock) as kept:
        kept.stand(standing(State.CONFIRMING))
        kept.wake(*WAKE, SOUND)
        kept.near_miss(MISS, SOUND)
        kept.turn("answer", SOUND, "okay_nabu")
        kept.stand(standing(State.THINKING))
        clock.advance(AFTER_ANSWER_S - 0.1)
        kept.wake(*WAKE, SOUND)  # what led to it is the answer
        kept.near_miss(MISS, SOUND)
        clock.advance(0.2)
        kept.stand(standing(State.IDLE))
        kept.wake(*WAKE, SOUND)
    (only,) = listed(tmp_path)
    assert only.kind == "wake"


async def test_nothing_of_nothing(tmp_path: Path, clock: VirtualClock) -> None:
    async with keeping(tmp_path, clock) as kept:
        kept.wake(*WAKE, b"")
    assert listed(tmp_path) == []


async def test_a_disk_that_is_full_is_told_once(
    tmp_path: Path, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FOLDER).write_text("in the way")
    async with keeping(tmp_path, clock) as kept:
        kept.wake(*WAKE, SOUND)
        kept.wake(*WAKE, SOUND)
    assert caplog.text.count("could not be saved") == 1


async def test_a_disk_that_is_slow_costs_recordings_not_time(
    tmp_path: Path, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, gate = threading.Event(), threading.Event()
    written = []

    def write(folder: Path, recording: recordings.Recording, pcm: bytes) -> None:
        begun.set()
        gate.wait(10)
        written.append(recording)

    monkeypatch.setattr(recordings, "write", write)
    async with keeping(tmp_path, clock) as kept:
        kept.wake(*WAKE, SOUND)
        assert begun.wait(10)
        for _ in range(WAITING + 3):
            kept.wake(*WAKE, SOUND)
        assert kept.left_out == 3
        gate.set()
    assert len(written) == WAITING + 1


async def test_a_process_that_died_while_writing(tmp_path: Path, clock: VirtualClock) -> None:
    """Sound without its scores is not listed, but it counts and is deleted like the others."""
    async with keeping(tmp_path, clock) as kept:
        kept.wake(*WAKE, SOUND)
    (half,) = listed(tmp_path)
    path_of(tmp_path, half).with_suffix(".json").unlink()
    assert listed(tmp_path) == []
    clock.advance(10)
    async with keeping(tmp_path, clock, keep=1) as kept:
        kept.wake(*WAKE, SOUND)
    (whole,) = listed(tmp_path)
    assert len(names(tmp_path)) == 2
    row = json.loads(path_of(tmp_path, whole).with_suffix(".json").read_text())
    assert row["word"] == "okay_nabu"
    assert path_of(tmp_path, whole).stat().st_size == 44 + len(SOUND)


# The part of a turn's sound that is kept.


HEARD = WakeHeard("okay_nabu", 0.97, at_ms=2_000.0, mark_ms=1_700.0)
BUTTON = WakeHeard("button", 1.0, at_ms=2_000.0, mark_ms=2_000.0, pressed=True)
SENTENCE = bytes(640)


def recent() -> bytes:
    return SENTENCE * 3


def turn(opening: OpenTurn, sound: bytes | None = SENTENCE) -> Turn:
    audio = None if sound is None else TurnAudio()
    if audio is not None and sound is not None:
        audio.append(sound)
    return cast(Turn, SimpleNamespace(opening=opening, audio=audio, turn_id="t1"))


VOICE = OpenTurn(1, "voice", 1_700.0, HEARD)


@pytest.mark.parametrize(
    ("one", "kept"),
    [
        (
            turn(VOICE),
            [("wake", "okay_nabu", 0.97, 0.06, ""), ("turn", "okay_nabu", 0.97, 0.02, "t1")],
        ),
        (turn(OpenTurn(1, "voice", 2_000.0, BUTTON)), [("turn", "button", None, 0.02, "t1")]),
        (turn(OpenTurn(1, "follow_up", 0.0, None)), [("turn", "follow_up", None, 0.02, "t1")]),
        (turn(OpenTurn(1, "voice", 0.0, None, held=True)), []),  # what was said as an answer
        (turn(OpenTurn(1, "text", 0.0, None), None), []),
    ],
)
async def test_what_is_kept_of_a_turn(
    tmp_path: Path, one: Turn, kept: list[tuple[str, str, float | None, float, str]]
) -> None:
    assert sorted(await recorded(tmp_path, one, keep=5)) == sorted(kept)


async def test_where_nothing_is_kept(tmp_path: Path) -> None:
    assert await recorded(tmp_path, turn(VOICE), keep=0) == []


async def test_a_near_miss(tmp_path: Path) -> None:
    async with Recordings(tmp_path, Keep(keep=5), VirtualClock()) as recordings:
        Recorder(recordings, recent).missed(NearMiss("alexa", 0.4, 0.6, 32_000))
    (only,) = listed(tmp_path)
    assert (only.kind, only.word, only.score, only.closeness) == ("near", "alexa", 0.4, 0.6)
    assert only.seconds == 0.06


async def recorded(
    folder: Path, one: Turn, keep: int
) -> list[tuple[str, str, float | None, float, str]]:
    async with Recordings(folder, Keep(keep=keep), VirtualClock()) as recordings:
        recorder = Recorder(recordings, recent)
        recorder.opened(one)
        recorder.whole(one)
    return [_told(row) for row in listed(folder)]


def _told(row: Recording) -> tuple[str, str, float | None, float, str]:
    return row.kind, row.word, row.score, row.seconds, row.turn_id
