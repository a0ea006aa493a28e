"""An open microphone closes for a moment, so that a new loudspeaker can be seen."""

import numpy as np
import pytest

from audio.device_status import MicrophoneStatus
from audio.errors import InputUnusable
from audio.frames import FRAME_MS, SAMPLE_RATE, SAMPLES_PER_MS
from tests.unit.audio.steady_stage import BLOCK_S, Stage, listening

Status = MicrophoneStatus
FRAME = FRAME_MS * SAMPLES_PER_MS
SETTLED_S = 6.0  # of sound, before it closes
UNTOLD_S = 60.0  # until it closes although nothing has changed


async def heard(stage: Stage) -> None:
    """Let it listen until it knows the devices."""
    await stage.room(SETTLED_S)
    stage.microphone.make_way()
    await stage.room(SETTLED_S)
    stage.device.refreshes.clear()
    stage.device.attempts.clear()
    assert stage.told == [Status.LISTENING]


async def test_it_lets_go_once_after_news_and_tells_nobody() -> None:
    stage = Stage()
    async with listening(stage):
        await heard(stage)
        stage.watch.tell()
        stage.microphone.make_way()
        await stage.clock.settle()
        assert len(stage.device.refreshes) == 1
        assert stage.device.attempts == stage.device.refreshes, "it was opened again at once"
        for _ in range(20):
            await stage.room(1.04)
            stage.microphone.make_way()  # the loudspeaker is still missing
        assert len(stage.device.refreshes) == 1
        assert stage.told == []
        assert stage.microphone.last_frame_age_s < 2 * BLOCK_S


async def test_without_being_asked_it_does_not_let_go() -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(SETTLED_S)
        stage.watch.tell()
        await stage.room(UNTOLD_S * 2)
        assert stage.device.refreshes == []


async def test_where_nothing_tells_of_changes_it_lets_go_now_and_then() -> None:
    stage = Stage()
    async with listening(stage):
        await heard(stage)
        for _ in range(100):
            await stage.room(2.0)
            stage.microphone.make_way()
        assert len(stage.device.refreshes) == pytest.approx(200 / UNTOLD_S, abs=1)


async def test_while_somebody_is_listened_to_it_stays() -> None:
    stage = Stage()
    rests = False
    stage.microphone.at_rest = lambda: rests
    async with listening(stage):
        await stage.room(SETTLED_S)
        stage.microphone.make_way()
        await stage.room(1.04)
        assert len(stage.device.attempts) == 1
        rests = True
        await stage.room(1.04)
        assert len(stage.device.attempts) == 1, "nobody has asked again"
        stage.microphone.make_way()
        await stage.room(1.04)
        assert len(stage.device.attempts) == 2


async def test_just_opened_it_stays() -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(2.0)
        stage.microphone.make_way()
        await stage.room(SETTLED_S)
        assert len(stage.device.attempts) == 1


@pytest.mark.parametrize("how", ["missing", "switched off", "no call returns"])
async def test_where_it_cannot_help_it_does_nothing(how: str) -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(SETTLED_S)
        match how:
            case "missing":
                stage.device.unplug()
            case "switched off":
                stage.microphone.pause(True)
            case _:
                stage.calls.stuck = 1
        await stage.room(1.04)
        status, refreshes = stage.microphone.status, len(stage.device.refreshes)
        stage.microphone.make_way()
        await stage.room(0.16)
        assert stage.microphone.status is status
        assert len(stage.device.refreshes) == refreshes


async def test_what_waits_is_not_lost_and_the_gap_counts() -> None:
    stage = Stage()
    size = round(BLOCK_S * SAMPLE_RATE)
    async with listening(stage):
        await heard(stage)
        before = len(stage.frames)
        stage.watch.tell()
        await stage.clock.settle()
        block = np.full(size, 7, "<i2").tobytes()
        stage.device.open[0].blocks.put(block, False, True)  # the listener waits for the next block
        stage.microphone.make_way()
        await stage.clock.run(2 * BLOCK_S)  # none of it is heard
        await stage.room(1.04)
    pcm = b"".join(frame.pcm for frame in stage.frames[before:])
    assert pcm.startswith(block)
    steps = np.diff([frame.start for frame in stage.frames])
    assert set(steps) == {FRAME, FRAME + 2 * size}, "as much later as was lost"


async def test_other_streams_let_go_first() -> None:
    asked: list[float] = []

    async def let_go() -> None:
        asked.append(stage.clock.monotonic())

    stage = Stage(before_refresh=let_go)
    async with listening(stage):
        await heard(stage)
        asked.clear()
        stage.watch.tell()
        stage.microphone.make_way()
        await stage.room(1.04)
        assert asked == stage.device.refreshes
        assert len(asked) == 1


async def test_where_another_stream_stays_open_it_does_not_try_again_at_once() -> None:
    stage = Stage()
    async with listening(stage):
        await heard(stage)
        stage.device.held = True
        stage.watch.tell()
        for _ in range(25):
            stage.microphone.make_way()
            await stage.room(2.0)
        assert len(stage.device.refreshes) == 1
        stage.device.held = False
        for _ in range(10):
            await stage.room(2.0)
            stage.microphone.make_way()
        assert len(stage.device.refreshes) == 2
        assert stage.told == []


async def test_news_that_come_while_the_list_is_made_are_for_the_next() -> None:
    stage = Stage()
    async with listening(stage):
        await heard(stage)
        stage.device.while_refreshing = stage.watch.tell
        stage.watch.tell()
        stage.microphone.make_way()
        await stage.room(SETTLED_S)
        assert len(stage.device.refreshes) == 1
        stage.device.while_refreshing = lambda: None
        stage.microphone.make_way()
        await stage.room(1.04)
        assert len(stage.device.refreshes) == 2


async def test_if_it_cannot_be_opened_again_that_is_told_and_it_heals() -> None:
    stage = Stage()
    async with listening(stage):
        await heard(stage)
        stage.device.refusal = InputUnusable("PortAudio could not be restarted: restart Hearth.")
        stage.watch.tell()
        stage.microphone.make_way()
        await stage.room(0.16)
        assert stage.told == [Status.MISSING]
        assert "could not be restarted" in stage.microphone.sentence
        stage.device.refusal = None
        await stage.room(3.04)
        assert stage.told == [Status.LISTENING]


async def test_a_microphone_that_is_muted_at_the_device_lets_go_too() -> None:
    stage = Stage()
    stage.device.silent = True
    async with listening(stage):
        await stage.room(SETTLED_S)
        assert stage.microphone.status is Status.SILENT
        stage.microphone.make_way()
        await stage.room(SETTLED_S)
        assert len(stage.device.refreshes) == 1
        sentences = [change.sentence for change in stage.changes if change.sentence]
        assert len(sentences) == 1, "it is said once"
