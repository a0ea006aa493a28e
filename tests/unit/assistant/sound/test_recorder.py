"""What is kept of a turn, and from when."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from assistant.config.sound import Recordings as Keep
from assistant.conversation.rules.effects import OpenTurn
from assistant.conversation.rules.events import WakeHeard
from assistant.conversation.turn import Turn
from assistant.domain.clock import VirtualClock
from assistant.domain.turn_audio import TurnAudio
from assistant.sound.recordings import Recorder, Recording, Recordings, listed
from audio.wake import NearMiss

WAKE = WakeHeard("okay_nabu", 0.97, at_ms=2_000.0, mark_ms=1_700.0)
BUTTON = WakeHeard("button", 1.0, at_ms=2_000.0, mark_ms=2_000.0, pressed=True)
SOUND = bytes(640)


def recent() -> bytes:
    return SOUND * 3


def turn(opening: OpenTurn, sound: bytes | None = SOUND) -> Turn:
    audio = None if sound is None else TurnAudio()
    if audio is not None and sound is not None:
        audio.append(sound)
    return cast(Turn, SimpleNamespace(opening=opening, audio=audio, turn_id="t1"))


VOICE = OpenTurn(1, "voice", 1_700.0, WAKE)


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
