"""Tests of one set of settings after the other, and of the way back from invalid ones."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import cast

import pytest

from assistant.app.daemon import Ended, Hooks
from assistant.config.schema import Settings
from assistant.conversation.hearing import Hearing
from assistant.domain.clock import VirtualClock
from assistant.domain.health import STUCK_S
from assistant.service import service as module
from assistant.service.notify import Manager, Starts
from assistant.service.reload import Reloading
from assistant.service.service import HELD_S, OPENING_S, STANDING_S, Pulse, Service, Watchdog
from audio.device_status import MicrophoneStatus as Status
from audio.steady import SteadyMicrophone

Step = Callable[[], Awaitable[Ended]]


OLD, NEW = (
    Settings.model_validate({"assistant": {"data": "/tmp/hearth"}, "http": {"port": port}})
    for port in (8765, 8766)
)


class Rig:
    """A service whose settings are served by a script, one step per opening."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[Step] = []
        self.served: list[Settings] = []
        self.reloading = Reloading(OLD, lambda: NEW)
        self.service = Service(
            self.reloading,
            Manager(),
            Starts(None),
            VirtualClock(),
            lambda app, startup, listening: None,
        )
        monkeypatch.setattr(module, "serve", self._serve)

    async def _serve(self, settings: Settings, hooks: Hooks) -> Ended:
        self.served.append(settings)
        return await self.steps.pop(0)()

    async def wish(self) -> Ended:
        self.service.reload()
        return Ended.RELOAD

    async def stop(self) -> Ended:
        return Ended.STOP


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    return Rig(monkeypatch)


@pytest.mark.parametrize(
    "error",
    [OSError("no"), TimeoutError("late"), ExceptionGroup("all", [TimeoutError("late")])],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_new_settings_fail_with_those_before_are_served_again(
    rig: Rig, error: Exception
) -> None:
    async def fail() -> Ended:
        raise error

    rig.steps = [rig.wish, fail, rig.stop]
    await rig.service.run()
    assert rig.served == [OLD, NEW, OLD]
    assert "could not be applied" in rig.reloading.trouble


async def test_the_first_settings_have_none_before_them(rig: Rig) -> None:
    async def fail() -> Ended:
        raise TimeoutError

    rig.steps = [fail]
    with pytest.raises(TimeoutError):
        await rig.service.run()


async def test_a_stop_cuts_an_opening_short_and_is_no_fault_of_the_settings(rig: Rig) -> None:
    async def hang() -> Ended:
        asyncio.get_running_loop().call_soon(rig.service.stop)
        await asyncio.Event().wait()
        raise AssertionError

    rig.steps = [rig.wish, hang]
    async with asyncio.timeout(20):
        await rig.service.run()
    assert rig.served == [OLD, NEW]
    assert rig.reloading.trouble == ""


async def test_a_stop_while_the_old_settings_are_closed_opens_nothing_more(rig: Rig) -> None:
    async def wish_and_stop() -> Ended:
        rig.service.reload()
        rig.service.stop()
        return Ended.RELOAD

    rig.steps = [wish_and_stop]
    await rig.service.run()
    assert rig.served == [OLD]


@dataclass
class Microphone:
    status: Status = Status.LISTENING
    heartbeat_age_s: float = 0.1
    stuck: int = 0


@dataclass
class Ear:
    frames_heard: int = 0
    frames_passed: int = 0
    answers: bool = True
    pings: list[Callable[[], None]] = field(default_factory=list)

    def ping(self, pong: Callable[[], None]) -> None:
        if self.answers:
            pong()
        else:
            self.pings.append(pong)


class Box:
    """A health check with everything that it reads."""

    def __init__(self, microphone: Microphone | None = None) -> None:
        self.now = 100.0
        self.microphone = microphone or Microphone()
        self.ear = Ear()
        self.pulse = Pulse(lambda: self.now)
        self.listen(self.microphone)
        self.pulse.stand()

    def listen(self, microphone: Microphone | None) -> None:
        """Open the ear and set the microphone that it listens to."""
        self.pulse.listen(cast(SteadyMicrophone | None, microphone), cast(Hearing, self.ear))

    def after(self, seconds: float, frames: int = 0, passed: int = 0) -> str:
        """Return the problem after `seconds`, checked each second; `frames` come each second."""
        problem = ""
        for _ in range(round(seconds)):
            self.now += 1
            self.ear.frames_heard += frames
            self.ear.frames_passed += passed
            problem = self.pulse.problem()
        return problem


def test_frames_that_are_judged_are_life() -> None:
    assert Box().after(3600, frames=50) == ""


def test_so_are_frames_of_a_silent_room() -> None:
    assert Box(Microphone(Status.SILENT)).after(3600, passed=50) == ""


def test_a_microphone_that_listens_has_its_frames_judged() -> None:
    box = Box()
    assert box.after(STUCK_S, frames=0) == ""
    assert "No sound has been processed" in box.after(2)
    assert box.after(1, frames=1) == ""


@pytest.mark.parametrize("status", [Status.MISSING, Status.ELSEWHERE, Status.CLOSED])
def test_a_device_that_is_known_to_be_absent_is_waited_for(status: Status) -> None:
    box = Box(Microphone(status))
    assert box.after(3600) == ""
    box.microphone.status = Status.LISTENING  # it is back, and has its time
    assert box.after(STUCK_S) == ""


@pytest.mark.parametrize("status", list(Status))
def test_whoever_looks_for_it_must_go_on(status: Status) -> None:
    box = Box(Microphone(status, heartbeat_age_s=STUCK_S + 0.1))
    assert "Nothing has been read" in box.after(1, frames=50)


@pytest.mark.parametrize("status", list(Status))
def test_the_ears_thread_must_answer_also_where_it_has_nothing_to_judge(status: Status) -> None:
    box = Box(Microphone(status))
    box.ear.answers = False
    assert box.after(STUCK_S, passed=50) == ""
    assert "thread has not answered" in box.after(2, passed=50)
    assert len(box.ear.pings) == 1  # one question at a time
    box.ear.pings[0]()
    box.ear.answers = True
    assert box.after(1, passed=50) == ""


def test_a_device_that_our_own_stuck_call_holds_comes_back_with_a_new_process_alone() -> None:
    box = Box(Microphone(Status.MISSING, stuck=1))
    assert box.after(HELD_S) == ""
    assert "does not return" in box.after(2)
    box.microphone.stuck = 0
    assert box.after(1) == ""


def test_a_stuck_call_beside_a_microphone_that_listens_is_none() -> None:
    assert Box(Microphone(Status.LISTENING, stuck=2)).after(3600, frames=50) == ""


def test_settings_are_open_in_time() -> None:
    box = Box()
    box.pulse.open()
    assert box.after(OPENING_S) == ""
    assert "not listening" in box.after(1)
    box.listen(box.microphone)
    assert box.after(1) == ""


@pytest.mark.parametrize("microphone", [Microphone(), None])
def test_who_listens_has_somebody_to_serve_what_is_heard(microphone: Microphone | None) -> None:
    box = Box()
    box.pulse.open()
    box.listen(microphone)
    assert box.after(STANDING_S, frames=50) == ""
    assert "not finished starting" in box.after(1, frames=50)
    box.pulse.stand()
    assert box.after(3600, frames=50) == ""


def test_without_a_microphone_the_loop_alone_counts() -> None:
    box = Box()
    box.listen(None)
    box.ear.answers = False
    assert box.after(3600) == ""


class Told(Manager):
    """A service manager that records its messages."""

    def __init__(self, watchdog_s: float | None) -> None:
        super().__init__("/nowhere", watchdog_s)
        self.words: list[str] = []

    def _send(self, *lines: str) -> None:
        self.words.append(lines[0])


class WatchedRig:
    def __init__(self, watchdog_s: float | None = 20.0) -> None:
        self.problem = self.status = ""
        self.clock = VirtualClock()
        self.manager = Told(watchdog_s)
        self.watchdog = Watchdog(
            self.manager, self.clock, lambda: self.problem, lambda: self.status
        )


@pytest.fixture
async def watched() -> AsyncIterator[WatchedRig]:
    watched = WatchedRig()
    task = asyncio.ensure_future(watched.watchdog.watch())
    yield watched
    task.cancel()
    await asyncio.wait([task])


async def test_it_is_fed_ten_times_as_often_as_needed(watched: WatchedRig) -> None:
    await watched.clock.run(19.9)
    assert watched.manager.words == ["WATCHDOG=1"] * 10


async def test_what_is_stuck_for_one_look_only_is_not_fed(watched: WatchedRig) -> None:
    await watched.clock.run(1)
    watched.problem = "It hangs."
    await watched.clock.run(2)
    watched.problem = ""
    await watched.clock.run(2)
    assert watched.manager.words == ["WATCHDOG=1"] * 2


async def test_what_stays_stuck_is_told_once_with_its_sentence(
    watched: WatchedRig, caplog: pytest.LogCaptureFixture
) -> None:
    await watched.clock.run(1)
    watched.problem = "It hangs."
    with caplog.at_level(logging.ERROR):
        await watched.clock.run(30)
    assert watched.manager.words == ["WATCHDOG=1", "WATCHDOG=trigger"]
    assert caplog.messages == ["It hangs. Hearth must be restarted."]


async def test_the_status_follows(watched: WatchedRig) -> None:
    await watched.clock.run(1)
    watched.status = "Listens."
    await watched.clock.run(4)
    assert watched.manager.words == ["WATCHDOG=1", "WATCHDOG=1", "STATUS=Listens.", "WATCHDOG=1"]


async def test_where_nobody_watches_only_the_status_is_told() -> None:
    watched = WatchedRig(None)
    task = asyncio.ensure_future(watched.watchdog.watch())
    watched.problem = "It hangs."
    await watched.clock.run(10)
    watched.problem, watched.status = "", "Listens."
    await watched.clock.run(10)
    task.cancel()
    await asyncio.wait([task])
    assert watched.manager.words == ["STATUS=Listens."]
