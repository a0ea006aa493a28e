"""Tests of the figures of a whole turn: its first end, its first sound, and its lost start."""

from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.cut_offs import delay_ms
from tests.benchmarks.lost_start import rounded, unanswered
from tests.benchmarks.peers.pipecat import Heard
from tests.benchmarks.service import ServedTurn, Sounded
from tests.benchmarks.whole_turns import Recording, Turn, in_the_room, lost_ms, turn_of

FIRST, LAST = 16_000, 32_000  # voiced samples


@pytest.fixture(scope="module")
def recording() -> Recording:
    """Return three seconds, of which the second one is spoken."""
    said = np.zeros(48_000, np.int16)
    said[FIRST:LAST] = 5_000
    return Recording(Path("said.wav"), in_the_room(said.tobytes(), 1), FIRST, LAST)


def part(recording: Recording, start: int, end: int = 40_000) -> bytes:
    return recording.pcm[2 * start : 2 * end]


@pytest.mark.parametrize(
    ("start", "lost"),
    [
        pytest.param(FIRST - 4_800, 0.0, id="from before it on"),
        pytest.param(FIRST, 0.0, id="from its first sample on"),
        pytest.param(FIRST + 960, 60.0, id="60 ms of it are missing"),
        pytest.param(LAST, None, id="nothing of it is there"),
    ],
)
def test_what_is_missing_of_the_start(recording: Recording, start: int, lost: float | None) -> None:
    assert lost_ms(part(recording, start), recording) == lost


def test_no_sound_is_nothing_of_it(recording: Recording) -> None:
    assert lost_ms(b"", recording) is None


def test_other_sound_is_a_fault(recording: Recording) -> None:
    with pytest.raises(ValueError, match="no part of the recording"):
        lost_ms(bytes(6_400), recording)


def test_a_room_is_noise_of_whole_frames() -> None:
    room = np.frombuffer(in_the_room(bytes(1_000), 1), np.int16)
    assert len(room) == 640
    assert 0 < np.abs(room.astype(int)).max() < 200


def sounded(recording: Recording, index: int, ended_at: float | None) -> Sounded:
    pcm = part(recording, FIRST - 100)
    return Sounded(ServedTurn(index, ended_at, 1, len(pcm) // 2), pcm)


def test_the_first_of_two_ends_counts(recording: Recording) -> None:
    turns = [sounded(recording, 7, 99.9), sounded(recording, 8, 100.4)]
    turn = turn_of(turns, recording, word=100.0, audible=100.75)
    assert turn.wire == pytest.approx(-100.0)
    assert turn.cut_off
    assert turn.audible == pytest.approx(750.0)
    assert (turn.lost, turn.calls) == (0.0, 2)


def test_a_turn_of_which_the_service_knows_nothing(recording: Recording) -> None:
    turn = turn_of([], recording, word=100.0, audible=None)
    assert turn == Turn(audible=None, wire=None, lost=None, spoken=1_000.0)
    assert turn.missing == 1_000.0
    assert not turn.cut_off


def test_a_whole_command_is_lost_where_nothing_arrived() -> None:
    spoken = 1_200.0
    turns = [
        Turn(400.0, 300.0, 60.0, spoken=spoken),
        Turn(None, None, None, spoken=spoken),
        Turn(None, 300.0, 35.0, spoken=spoken),
    ]
    assert [turn.missing for turn in turns] == [60.0, spoken, 35.0]
    assert unanswered(turns) == 2


def test_how_losses_are_told() -> None:
    assert rounded([0.0, 0.0]) == "0"
    assert rounded([34.5, 1_200.2]) == "35 to 1200"


@pytest.mark.parametrize(
    ("ended", "ms"),
    [((101.5, 103.0), 500.0), ((100.4,), -600.0), ((), float("inf"))],
)
def test_the_delay_of_who_is_listened_to(ended: tuple[float, ...], ms: float) -> None:
    heard = Heard(began=100.0, audible=None, ended=ended)
    assert delay_ms(heard, last_voiced=16_000) == pytest.approx(ms)
