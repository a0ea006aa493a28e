"""Tests of mute: effective at once, stored on the disk, and kept over restarts."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from assistant.conversation.rules.state import Standing, State
from assistant.domain.clock import SystemClock, VirtualClock
from assistant.domain.records import StoreError
from assistant.journal.store import Store
from assistant.sound.mute import BACK_S, NAME, MicrophoneTones, Mute
from audio.device_status import MicrophoneStatus as Status
from audio.errors import DeviceLost
from integrations.web.box import NotPossible
from tests.fakes.small_values import FakeValues


class Box(FakeValues):
    """Disk, device, conversation and loudspeaker in one, which record the order of events."""

    def __init__(self, **kept: Any) -> None:
        super().__init__()
        self.values = kept
        self.deaf = False  # the loudspeaker
        self.done: list[str] = []
        self.gate: asyncio.Event | None = None  # the disk waits for it

    async def keep(self, name: str, value: Any) -> None:
        if self.gate is not None:
            await self.gate.wait()
        await super().keep(name, value)
        self.done.append(f"disk {value}")

    def pause(self, on: bool) -> None:
        self.done.append(f"device {on}")

    def mute(self, on: bool) -> None:
        self.done.append(f"conversation {on}")

    async def sound(self, name: str) -> None:
        if self.deaf:
            raise DeviceLost("unplugged")
        self.done.append(name)

    async def opening(self) -> bool:
        self.done.append("tone")
        return not self.deaf


@pytest.fixture
def box() -> Box:
    return Box()


async def muting(box: Box) -> Mute:
    mute = Mute(box, box.mute, box.sound, box.opening)
    await mute.load()
    mute.attach(box.pause)
    box.done.clear()
    return mute


async def test_closed_first_and_acknowledged_last(box: Box) -> None:
    mute = await muting(box)
    await mute.set(True)
    assert mute.on
    assert box.done == ["device True", "conversation True", "disk True", "mute"]


async def test_opened_once_the_disk_knows(box: Box) -> None:
    mute = await muting(box)
    await mute.set(True)
    box.done.clear()
    await mute.set(False)
    assert not mute.on
    assert box.done == ["disk False", "device False", "conversation False", "unmute"]


async def test_a_program_opens_it_with_a_tone_before(box: Box) -> None:
    mute = await muting(box)
    await mute.set(True, aloud=True)
    assert "tone" not in box.done
    box.done.clear()
    await mute.set(False, aloud=True)
    assert not mute.on
    assert box.done == ["tone", "disk False", "device False", "conversation False"]
    await mute.set(False, aloud=True)
    assert box.done.count("tone") == 1


async def test_where_nobody_would_hear_the_tone_it_stays_closed(box: Box) -> None:
    mute = await muting(box)
    await mute.set(True)
    box.done.clear()
    box.deaf = True
    with pytest.raises(NotPossible, match="stays muted"):
        await mute.set(False, aloud=True)
    assert mute.on
    assert (box.values[NAME], box.done) == (True, ["tone"])
    await mute.set(False)  # a person sees what they do
    assert not mute.on


async def test_without_a_loudspeaker_no_program_opens_it(box: Box) -> None:
    mute = Mute(box, box.mute)
    await mute.load()
    await mute.set(True)
    with pytest.raises(NotPossible):
        await mute.set(False, aloud=True)
    assert mute.on


async def test_twice_is_once(box: Box) -> None:
    mute = await muting(box)
    await mute.set(False)
    assert box.done == []
    await mute.set(True)
    await mute.set(True)
    assert box.done.count("mute") == 1


@pytest.mark.parametrize(
    ("value", "muted"), [(None, False), (False, False), (True, True), ("yes", True), ({}, True)]
)
async def test_what_an_earlier_process_left(value: Any, muted: bool) -> None:
    box = Box(**({} if value is None else {NAME: value}))
    mute = Mute(box, box.mute, box.sound)
    await mute.load()
    mute.attach(box.pause)
    assert mute.on is muted
    assert box.done == [f"conversation {muted}", f"device {muted}"]  # and no sound


async def test_where_it_cannot_be_read_nothing_is_listened_to(
    box: Box, caplog: pytest.LogCaptureFixture
) -> None:
    box.readable = box.writable = False
    mute = await muting(box)
    assert mute.on
    assert "cannot be read" in caplog.text
    box.readable = box.writable = True
    await mute.set(True)  # now the disk knows it too
    assert box.done == ["device True", "conversation True", "disk True"]


@pytest.mark.parametrize("on", [True, False])
async def test_a_full_disk_is_told_but_it_holds(box: Box, on: bool) -> None:
    mute = await muting(box)
    await mute.set(not on)
    box.done.clear()
    box.readable = box.writable = False
    with pytest.raises(StoreError):
        await mute.set(on)
    assert mute.on is on
    assert box.done == [f"device {on}", f"conversation {on}"]
    box.readable = box.writable = True
    await mute.set(on)  # the same again: nothing changes but the disk
    assert f"disk {on}" in box.done
    assert "mute" not in box.done
    assert "unmute" not in box.done


async def test_a_loudspeaker_that_is_gone_is_no_matter(box: Box) -> None:
    mute = await muting(box)
    box.deaf = True
    await mute.set(True)
    assert box.values[NAME] is True


async def test_nobody_has_to_wait_for_silence(box: Box) -> None:
    mute = await muting(box)
    box.gate = asyncio.Event()
    setting = asyncio.create_task(mute.set(True))
    await asyncio.sleep(0)
    assert box.done == ["device True", "conversation True"]  # the disk has not answered yet
    opening = asyncio.create_task(mute.set(False))
    box.gate.set()
    await asyncio.gather(setting, opening)
    assert not mute.on
    assert box.values[NAME] is False


async def test_it_is_in_the_store_of_the_next_process(tmp_path: Path) -> None:
    box = Box()
    for expected in (False, True):
        async with Store(tmp_path / "hearth.db", SystemClock()) as store:
            mute = Mute(store, box.mute)
            await mute.load()
            assert mute.on is expected
            await mute.set(True)


# The loss of the microphone is spoken only to a person who is speaking with us.


class Room:
    """Records the tones that were heard, in a room whose loudspeaker may be missing."""

    def __init__(self) -> None:
        self.tones: list[str] = []
        self.mute = False

    async def sound(self, name: str) -> None:
        if self.mute:
            raise DeviceLost("The loudspeaker has gone.")
        self.tones.append(name)


IDLE = Standing(State.IDLE, False, Status.LISTENING)
FAULT = Standing(State.FAULT, False, Status.MISSING)


async def heard(room: Room, clock: VirtualClock, *standings: Standing | float) -> list[str]:
    """Return the tones after these changes; a number is a wait in seconds."""
    async with MicrophoneTones(room.sound, clock, IDLE) as tones:
        for standing in standings:
            if isinstance(standing, Standing):
                tones.stand(standing)
            else:
                clock.advance(standing)
            await clock.settle()
    return room.tones


def at(state: State, microphone: Status = Status.LISTENING, muted: bool = False) -> Standing:
    return Standing(state, muted, microphone)


SPEAKING_OF_IT = at(State.SPEAKING, Status.MISSING)


@pytest.mark.parametrize(
    ("happens", "tones"),
    [
        ([FAULT, IDLE], []),  # at night
        ([at(State.SPEAKING), at(State.SPEAKING, Status.MISSING), FAULT, IDLE], []),
        ([at(State.LISTENING), FAULT, SPEAKING_OF_IT, FAULT, 10.0, IDLE], ["unmute"]),
        ([at(State.WAKING), at(State.FAULT, Status.ELSEWHERE), IDLE], ["unmute"]),
        ([at(State.CONFIRMING), SPEAKING_OF_IT, FAULT, IDLE], ["unmute"]),
        ([at(State.FOLLOW_UP), FAULT], ["error"]),
        ([at(State.FOLLOW_UP), FAULT, IDLE, FAULT, IDLE], ["error", "unmute"]),
        ([at(State.LISTENING), FAULT, BACK_S + 1, IDLE], []),  # nobody waits so long
        # Back while we still speak of the loss: not over our own words.
        ([at(State.LISTENING), SPEAKING_OF_IT, at(State.SPEAKING)], []),
        ([at(State.LISTENING), SPEAKING_OF_IT, at(State.SPEAKING), IDLE], ["unmute"]),
        # A person who speaks and is heard knows that it is back.
        ([at(State.LISTENING), SPEAKING_OF_IT, at(State.WAKING), IDLE], []),
        ([at(State.LISTENING), FAULT, at(State.FAULT, Status.CLOSED, muted=True), IDLE], []),
        # A microphone that is silent most of the time is not reported.
        ([at(State.IDLE, Status.SILENT), IDLE, at(State.IDLE, Status.SILENT), IDLE], []),
    ],
)
async def test_who_hears_what(happens: list[Standing | float], tones: list[str]) -> None:
    assert await heard(Room(), VirtualClock(), *happens) == tones


async def test_a_room_without_loudspeaker(caplog: pytest.LogCaptureFixture) -> None:
    room = Room()
    room.mute = True
    assert await heard(room, VirtualClock(), at(State.FOLLOW_UP), FAULT) == []
    assert "could not be played" in caplog.text


@pytest.mark.parametrize("why", [Status.SILENT, Status.CLOSED])
async def test_what_was_not_heard_and_is_again_is_a_line_of_the_log(
    why: Status, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        unheard = at(State.IDLE, why, muted=why is Status.CLOSED)
        await heard(Room(), VirtualClock(), unheard, at(State.IDLE, Status.OPENING), IDLE, IDLE)
    assert caplog.messages == ["the microphone is on again"]
