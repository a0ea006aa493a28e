"""Tests that the echo of new devices is measured when it disturbs nobody."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from unittest.mock import create_autospec

import pytest

from assistant.config.sound import Audio
from assistant.conversation.hearing import Reading
from assistant.domain.clock import VirtualClock
from assistant.sound import echo_measurement
from assistant.sound.echo_measurement import AGAIN_S, IDLE_S, QUIET_S, EchoMeasurement, is_quiet
from assistant.sound.echo_plan import EchoPaths
from assistant.sound.echo_watch import EchoWatch
from audio.device_status import MicrophoneStatus
from audio.devices.portaudio import DeviceInfo
from audio.echo import PathKind
from audio.echo.measure import EchoPath, Pair
from audio.errors import DeviceLost, InputUnusable
from audio.speaker import Speaker
from audio.steady import SteadyMicrophone

MICROPHONE = DeviceInfo("usb mic", "input", 1, 16_000, True, 4)
PHONE = DeviceInfo("speakerphone", "output", 2, 48_000, True, 5)
FIRST = Pair(MICROPHONE, PHONE, None)
SECOND = Pair(MICROPHONE, replace(PHONE, name="hdmi"), None)
DUE = QUIET_S + IDLE_S + 3


class Box:
    """A room with new devices, and somebody in it."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.rests = self.quiet = True
        self.result: PathKind | Exception = "apart"
        self.lasts = asyncio.Event()  # a measurement ends once it is set
        self.lasts.set()
        self.measured: list[Pair] = []
        self.times: list[float] = []
        self.cancelled = asyncio.Event()
        self.watch = create_autospec(EchoWatch, instance=True)
        self.watch.unmeasured = FIRST
        self.microphone = create_autospec(SteadyMicrophone, instance=True)
        self.microphone.lend = self.lend
        self.microphone.status = MicrophoneStatus.LISTENING
        self.speaker = create_autospec(Speaker, instance=True)
        self.speaker.release.return_value = True
        self.paths = create_autospec(EchoPaths, instance=True)
        self.paths.measured = self.measure
        self.lent: set[asyncio.Task[None]] = set()

    def lend(self, use: Callable[[], Awaitable[None]]) -> None:
        async def lending() -> None:
            await use()

        self.lent.add(asyncio.create_task(lending()))

    async def measure(self, pair: Pair, audio: Audio) -> EchoPath:
        self.measured.append(pair)
        self.times.append(self.clock.monotonic())
        try:
            await self.lasts.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if isinstance(self.result, Exception):
            raise self.result
        self.watch.unmeasured = None
        return EchoPath(self.result, -30.0, 20.0, 12.0)


@asynccontextmanager
async def running(box: Box) -> AsyncIterator["asyncio.Task[None]"]:
    measurement = EchoMeasurement(
        box.watch, box.microphone, box.speaker, box.paths, Audio(), box.clock
    )
    task = asyncio.create_task(measurement.run(lambda: box.rests, lambda: box.quiet))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task, *box.lent])


@pytest.fixture
def box() -> Box:
    return Box()


async def test_it_waits_for_quiet_and_measures_once(box: Box) -> None:
    async with running(box):
        box.quiet = False
        await box.clock.run(60)
        assert box.measured == []
        box.quiet = True
        await box.clock.run(QUIET_S - 1)
        assert box.measured == []
        await box.clock.run(4)
        assert box.measured == [FIRST]
        box.watch.look_again.assert_called_once_with()
        await box.clock.run(7200)
        assert box.measured == [FIRST]


async def test_quiet_that_somebody_breaks_begins_again(box: Box) -> None:
    async with running(box):
        for name in ("rests", "quiet"):
            await box.clock.run(QUIET_S - 2)
            setattr(box, name, False)
            await box.clock.run(2)
            setattr(box, name, True)
        await box.clock.run(QUIET_S - 2)
        assert box.measured == []
        await box.clock.run(5)
        assert box.measured == [FIRST]


async def test_a_person_who_begins_to_talk_ends_it_and_it_is_tried_again(box: Box) -> None:
    box.lasts.clear()
    async with running(box):
        await box.clock.run(DUE)
        assert box.measured == [FIRST]
        assert not box.cancelled.is_set()
        box.rests = False
        async with asyncio.timeout(5):
            await box.cancelled.wait()
        box.watch.look_again.assert_not_called()
        box.rests = True
        box.lasts.set()
        await box.clock.run(DUE)
        assert box.measured == [FIRST, FIRST]
        box.watch.look_again.assert_called_once_with()


@pytest.mark.parametrize(("extra", "ends"), [(True, True), (False, False)])
async def test_an_echo_ends_it_where_it_can_be_taken_out(
    box: Box, monkeypatch: pytest.MonkeyPatch, extra: bool, ends: bool
) -> None:
    monkeypatch.setattr(echo_measurement, "find_spec", lambda name: object() if extra else None)
    box.result = "echo"
    async with running(box) as task:
        await box.clock.run(DUE)
        assert box.measured == [FIRST]
        assert task.done() is ends


@pytest.mark.parametrize(
    "trouble", [InputUnusable("muted"), DeviceLost("gone"), RuntimeError("a defect")]
)
async def test_a_failure_is_told_once_and_tried_again_less_and_less(
    box: Box, trouble: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    box.result = trouble
    async with running(box):
        await box.clock.run(3 * AGAIN_S[-1])
        gaps = [after - before for before, after in pairwise(box.times)]
        assert len(gaps) == len(AGAIN_S)
        for gap, wait_s in zip(gaps, AGAIN_S, strict=True):
            assert wait_s + QUIET_S <= gap <= wait_s + DUE
        box.watch.unmeasured, box.result = SECOND, "apart"
        await box.clock.run(DUE)
        assert box.measured[-1] == SECOND
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [str(trouble) in record.getMessage() for record in told] == [True]


async def test_what_the_server_holds_shut_plays_no_tone(
    box: Box, caplog: pytest.LogCaptureFixture
) -> None:
    box.watch.unmeasured = replace(FIRST, output=replace(PHONE, muted=True))
    async with running(box):
        await box.clock.run(DUE)
    assert box.measured == []
    box.speaker.release.assert_not_called()
    assert "muted in the sound server" in caplog.text


async def test_a_loudspeaker_that_plays_is_waited_for(box: Box) -> None:
    box.speaker.release.return_value = False
    async with running(box):
        await box.clock.run(DUE)
        assert box.measured == []
        box.speaker.release.return_value = True
        await box.clock.run(DUE)
        assert box.measured == [FIRST]


@pytest.mark.parametrize(
    "status", [status for status in MicrophoneStatus if status is not MicrophoneStatus.LISTENING]
)
async def test_a_microphone_that_gives_nothing_is_not_measured(
    box: Box, status: MicrophoneStatus
) -> None:
    box.microphone.status = status
    async with running(box):
        await box.clock.run(2 * DUE)
    assert box.measured == []


@pytest.mark.parametrize(
    ("level", "quiet"),
    [
        (Reading(), False),
        (Reading(rms_db=-50.0), False),
        (Reading(rms_db=-50.0, noise_floor_db=-52.0), True),
        (Reading(rms_db=-40.0, noise_floor_db=-52.0), False),
        (Reading(rms_db=-96.0, noise_floor_db=-96.0), True),
    ],
)
def test_quiet_is_what_the_room_usually_is(level: Reading, quiet: bool) -> None:
    assert is_quiet(level) is quiet
