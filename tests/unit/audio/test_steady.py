"""A microphone recovers from every failure and reports its status."""

import itertools

import numpy as np
import pytest

from audio import microphone as microphone_module
from audio.device_status import MicrophoneStatus as Status
from audio.devices.portaudio import DeviceInfo, Kind
from audio.errors import InputUnusable
from audio.frames import FRAME_SAMPLES, SAMPLE_RATE, Frame
from audio.microphone import DeviceInput
from tests.fakes.sound import MIC, MONITOR
from tests.unit.audio.steady_stage import BLOCK_S, Stage, listening


def gaps(frames: list[Frame]) -> list[int]:
    """Return the samples between frames that do not follow each other."""
    pairs = itertools.pairwise(frames)
    return [after.start - before.end for before, after in pairs if after.start != before.end]


async def test_it_listens() -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(2)
        assert stage.microphone.status is Status.LISTENING
        assert stage.microphone.last_frame_age_s == 0
        assert (stage.microphone.reopened, stage.microphone.dropped) == (0, 0)
    sound = np.frombuffer(b"".join(frame.pcm for frame in stage.frames), "<i2")
    assert sound.tolist() == [number % 30_000 for number in range(2 * SAMPLE_RATE)]
    assert [frame.start for frame in stage.frames] == list(range(0, 2 * SAMPLE_RATE, FRAME_SAMPLES))
    assert stage.told == [Status.LISTENING]


@pytest.mark.parametrize("rate", [44_100, 48_000])
async def test_a_device_with_a_rate_of_its_own(rate: int) -> None:
    stage = Stage()
    stage.device.rate = rate
    async with listening(stage):
        await stage.room(20)
        await gone_and_back(stage)
        await stage.room(4)
    [gap] = gaps(stage.frames)
    assert gap / SAMPLE_RATE == pytest.approx(3.1, abs=0.2)
    assert stage.frames[-1].end / SAMPLE_RATE == pytest.approx(27, abs=0.2)


async def gone_and_back(stage: Stage) -> None:
    stage.device.unplug()
    await stage.room(3.04)
    stage.device.there = True
    stage.watch.tell()


async def gone_unseen(stage: Stage) -> None:
    stage.device.unplug()
    await stage.room(3.04)
    stage.device.there = True


async def suspended(stage: Stage) -> None:
    stage.device.suspended = True
    await stage.room(8)
    assert len(stage.device.attempts) <= 3, "no storm of openings"
    stage.device.suspended = False


async def suspended_and_told(stage: Stage) -> None:
    await suspended(stage)
    stage.watch.tell()


async def stopped_for_good(stage: Stage) -> None:
    """Stop the stream, so that only a new one gives sound."""
    stage.device.open.clear()
    await stage.room(2.08)


async def stands_still_for_a_moment(stage: Stage) -> None:
    """Stop the stream for a moment."""
    stage.device.suspended = True
    await stage.room(1.6)
    stage.device.suspended = False
    await stage.room(0.4)
    assert stage.microphone.reopened == 0


async def seen_only_by_a_refresh(stage: Stage) -> None:
    stage.device.unplug()
    await stage.room(20)
    stage.device.blind = True
    stage.watch.tell()


async def breaks_in_an_unknown_way(stage: Stage) -> None:
    stage.device.breaks = OSError("no such thing")
    stage.device.unplug()
    await stage.room(6)
    assert "no such thing" in stage.microphone.sentence
    stage.device.breaks, stage.device.there = None, True


async def stuck_in_opening(stage: Stage) -> None:
    stage.device.stuck = True
    stage.device.unplug()
    await stage.room(5)
    assert "does not answer" in stage.microphone.sentence
    stage.device.stuck, stage.device.there = False, True


TROUBLES = [
    gone_and_back,
    gone_unseen,
    suspended,
    suspended_and_told,
    stopped_for_good,
    stands_still_for_a_moment,
    seen_only_by_a_refresh,
    breaks_in_an_unknown_way,
    stuck_in_opening,
]


@pytest.mark.parametrize("watched", [True, False], ids=["watched", "unwatched"])
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_it_listens_again_and_time_goes_on(trouble, watched: bool) -> None:  # type: ignore[no-untyped-def]
    stage = Stage(watched)
    async with listening(stage):
        await stage.room(6)
        assert stage.told == [Status.LISTENING]
        before = len(stage.frames)
        began = stage.clock.monotonic()
        await trouble(stage)
        lost_s = stage.clock.monotonic() - began
        sentence = stage.changes[0].sentence
        assert sentence.startswith(("The microphone", "There is no microphone"))
        await stage.room(2.4)
        assert stage.told == [Status.MISSING, Status.LISTENING]
        assert stage.microphone.sentence == ""
        [gap] = gaps(stage.frames)
        # The position of the newest sample is the time since the first one, after any failure.
        assert stage.frames[-1].end / SAMPLE_RATE == pytest.approx(
            stage.clock.monotonic(), abs=BLOCK_S
        )
        assert lost_s - 0.5 <= gap / SAMPLE_RATE <= lost_s + 2.4
        assert stage.frames[before].start % FRAME_SAMPLES == 0


async def test_it_is_missing_at_the_start() -> None:
    stage = Stage()
    stage.device.there = False
    async with listening(stage):
        await stage.room(60)
        assert stage.told == [Status.MISSING]
        assert stage.microphone.last_frame_age_s == pytest.approx(60, abs=0.1)
        assert stage.microphone.heartbeat_age_s <= 1
        waits = np.diff(stage.device.attempts)
        assert waits[:4] == pytest.approx([0.25, 0.5, 1, 2])
        assert set(np.round(waits[4:], 3)) == {2.0}
        stage.device.there = True
        stage.watch.tell()
        await stage.room(0.32)
        assert stage.told == [Status.LISTENING]
    assert stage.frames[0].start == 0


async def test_a_storm_of_news_is_no_storm_of_attempts() -> None:
    stage = Stage()
    stage.device.there = False
    async with listening(stage):
        for _ in range(100):
            await stage.clock.run(0.01)
            stage.watch.tell()
        assert len(stage.device.attempts) <= 5


async def test_one_that_ends_again_and_again_is_opened_ever_more_slowly() -> None:
    stage = Stage(watched=False)
    async with listening(stage):
        for _ in range(200):
            for capture in list(stage.device.open):
                capture.blocks.end()
            await stage.room(BLOCK_S)
        assert len(stage.device.attempts) <= 12  # in 16 s


async def test_moved_to_a_monitor_it_says_so_and_hears_nothing_of_it() -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(6)
        heard = len(stage.frames)
        stage.device.there = False
        stage.watch.spot = MONITOR
        stage.watch.tell()
        await stage.room(8)
        assert len(stage.frames) == heard
        assert stage.told == [Status.LISTENING, Status.ELSEWHERE]
        assert '"speaker.monitor"' in stage.microphone.sentence
        assert stage.microphone.last_frame_age_s == pytest.approx(8, abs=0.2)
        stage.device.there = True
        stage.watch.spot = MIC
        stage.watch.tell()
        await stage.room(0.4)
        assert stage.told == [Status.OPENING, Status.LISTENING]
    assert stage.microphone.reopened == 0, "the server has moved us back"
    assert stage.frames[-1].end / SAMPLE_RATE == pytest.approx(14.4, abs=0.1)


async def test_elsewhere_it_asks_for_its_place_once_the_microphone_is_there_again() -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(6)
        stage.device.there = False
        stage.watch.spot = MONITOR
        stage.watch.tell()
        for _ in range(100):
            stage.watch.tell()
            await stage.room(BLOCK_S)
        assert len(stage.device.attempts) == 1
        stage.device.there = True  # and the server does not move us back
        for _ in range(100):
            stage.watch.tell()
            await stage.room(BLOCK_S)
        assert 2 <= len(stage.device.attempts) <= 8, "no storm"
        assert stage.told == [Status.LISTENING, Status.ELSEWHERE]
        stage.watch.spot = MIC
        await stage.room(2.4)
        assert stage.told == [Status.OPENING, Status.LISTENING]


async def test_a_new_stream_that_begins_at_a_monitor_is_not_heard() -> None:
    stage = Stage()
    stage.watch.spot = MONITOR
    async with listening(stage):
        await stage.room(4)
        assert (stage.frames, stage.told) == ([], [Status.ELSEWHERE])


async def test_digital_silence_is_said_once_and_flows() -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(1.04)
        stage.device.silent = True
        await stage.room(2.88)
        assert stage.told == [Status.LISTENING]
        await stage.room(60)
        [change] = stage.changes
        assert change.status is stage.microphone.status is Status.SILENT
        assert "unmute it" in change.sentence
        stage.changes.clear()
        assert stage.microphone.last_frame_age_s <= BLOCK_S
        stage.device.silent = False
        await stage.room(BLOCK_S)
        assert stage.told == [Status.LISTENING]
        stage.device.silent = True
        await stage.room(10)
        assert [change.sentence for change in stage.changes] == [""], "not twice in an hour"
    assert (gaps(stage.frames), stage.microphone.reopened) == ([], 0)


async def test_muted_the_device_is_closed() -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(1.04)
        stage.microphone.pause(True)
        await stage.clock.settle()
        assert not stage.device.open
        heard = len(stage.frames)
        await stage.room(30)
        assert stage.told == [Status.LISTENING, Status.CLOSED]
        assert (len(stage.frames), len(stage.device.attempts)) == (heard, 1)
        assert stage.microphone.heartbeat_age_s <= 1
        stage.microphone.pause(False)
        assert stage.microphone.last_frame_age_s == 0
        await stage.room(0.4)
        assert stage.told == [Status.OPENING, Status.LISTENING]
    [gap] = gaps(stage.frames)
    assert gap / SAMPLE_RATE == pytest.approx(30, abs=0.1)


async def test_muted_from_the_start_nothing_is_opened() -> None:
    stage = Stage()
    stage.microphone.pause(True)
    async with listening(stage):
        await stage.room(10)
    assert stage.device.attempts == []


async def test_a_listener_that_is_late_loses_the_oldest_and_time_goes_on() -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(1.04)
        for _ in range(30):  # nobody reads them: 25 are kept
            stage.clock.advance(BLOCK_S)
            stage.device.give()
        await stage.room(1.04)
        assert stage.microphone.dropped == 5
    assert gaps(stage.frames) == [5 * 1280]


async def test_sound_that_comes_in_bursts_has_no_gap() -> None:
    stage = Stage()
    async with listening(stage):
        await stage.room(1.04)
        stage.clock.advance(0.8)
        await stage.clock.settle()
        for _ in range(10):
            stage.device.give()
        await stage.room(1.04)
    assert gaps(stage.frames) == []


async def test_a_cleaner_has_every_frame_and_begins_anew_with_each_opening() -> None:
    class Cleaner:
        def __init__(self) -> None:
            self.restarts = 0

        def clean(self, pcm: bytes) -> bytes:
            return bytes(len(pcm))

        def restart(self) -> None:
            self.restarts += 1

    stage = Stage()
    cleaner = Cleaner()
    stage.microphone._cleaner = cleaner
    async with listening(stage):
        await stage.room(6)
        await gone_and_back(stage)
        await stage.room(4)
        # A microphone whose sound is cleaned to silence is not silent.
        assert stage.microphone.status is Status.LISTENING
    assert cleaner.restarts == 2
    assert not any(any(frame.pcm) for frame in stage.frames)


async def test_other_streams_let_go_before_the_devices_are_looked_for() -> None:
    asked: list[float] = []

    async def let_go() -> None:
        asked.append(stage.clock.monotonic())

    stage = Stage(before_refresh=let_go)
    async with listening(stage):
        await stage.room(6)
        stage.device.unplug()
        await stage.room(0.4)
        stage.watch.tell()
        await stage.room(15)
        assert asked == stage.device.refreshes
        assert 2 <= len(asked) <= 4, "at news, and now and then"


async def test_with_every_thread_stuck_its_heart_stands_still() -> None:
    stage = Stage()
    stage.device.stuck = True
    async with listening(stage):
        await stage.room(1.04)
        stage.calls.exhausted = True
        await stage.room(20)
        assert stage.microphone.heartbeat_age_s > 10


def test_a_block_length_that_is_not_allowed() -> None:
    for block_ms in (19, 81):
        with pytest.raises(ValueError, match="20 to 80"):
            DeviceInput(block_ms=block_ms)


@pytest.mark.parametrize(
    ("name", "kinds", "there"),
    [("default", ["output"], False), ("default", ["input", "output"], True)],
)
def test_a_loudspeaker_is_no_microphone(
    monkeypatch: pytest.MonkeyPatch, name: str, kinds: list[Kind], there: bool
) -> None:
    devices = [DeviceInfo("x", kind, 1, 48_000, default=True, index=0) for kind in kinds]
    monkeypatch.setattr(microphone_module, "list_devices", lambda: devices)
    assert DeviceInput(name).is_there() is there


def test_a_named_microphone_is_there_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str, kind: Kind) -> DeviceInfo:
        if name != "usb:1:2":
            raise InputUnusable("It is not here.")
        return DeviceInfo(name, kind, 1, 48_000, default=False, index=3)

    monkeypatch.setattr(microphone_module, "find_device", find)
    assert [DeviceInput(name).is_there() for name in ("usb:1:2", "usb:3:4")] == [True, False]
