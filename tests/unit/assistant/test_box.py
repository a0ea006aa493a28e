"""The box as programs see it."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from assistant.announcements import KEEP
from assistant.box import Announcing, Box
from assistant.clock import VirtualClock
from assistant.journal.records import AnnouncementRecord, StoreError
from assistant.tools.moment import Mode
from assistant.turn.standing import Standing
from assistant.turn.state import State
from audio.steady import MicrophoneStatus
from integrations.web.api import AnnounceRequest, NotAnnounced, NotKept


class FakeConversation:
    """A conversation that stands as the test says."""

    def __init__(self) -> None:
        self.standing = Standing(State.IDLE, False, MicrophoneStatus.LISTENING)
        self.observers: list[Callable[[Standing], None]] = []
        self.can_wake = True
        self.stopped = 0

    def observe(self, observer: Callable[[Standing], None]) -> Callable[[], None]:
        self.observers.append(observer)
        return lambda: self.observers.remove(observer)

    def wake(self) -> bool:
        return self.can_wake

    def stop(self) -> None:
        self.stopped += 1


class FakeModes:
    """Modes on a disk that may be full."""

    def __init__(self) -> None:
        self.current = Mode.NORMAL
        self.until: datetime | None = None
        self.full = False

    async def set(self, mode: Mode, until: datetime | None = None) -> None:
        self.current, self.until = mode, until
        if self.full:
            raise StoreError("the disk is full")


async def test_it_tells_every_change_while_it_is_open() -> None:
    conversation = FakeConversation()
    muted: list[bool] = []

    async def mute(on: bool) -> None:
        muted.append(on)

    box = Box(conversation, mute, FakeModes(), VirtualClock())
    with box:
        assert box.state() == {
            "state": "idle",
            "muted": False,
            "microphone": "listening",
            "mode": "normal",
        }
        stream = box.events.since(None, box.events.now("state", box.state()))
        assert b'"idle"' in await anext(stream)
        conversation.observers[0](Standing(State.FOLLOW_UP, True, MicrophoneStatus.CLOSED))
        told = await anext(stream)
        await box.mute(True)
        box.stop()
    box.events.close()
    assert b'"state": "follow_up", "muted": true, "microphone": "closed"' in told
    assert (muted, conversation.stopped, conversation.observers) == ([True], 1, [])
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


@pytest.mark.parametrize("can", [True, False])
def test_a_button_listens_where_it_can(can: bool) -> None:
    conversation = FakeConversation()
    conversation.can_wake = can

    async def mute(on: bool) -> None:
        raise AssertionError("nobody mutes")

    assert Box(conversation, mute, FakeModes(), VirtualClock()).listen() is can


async def _nobody_mutes(on: bool) -> None:
    raise StoreError("the disk is full")


async def test_a_mode_is_switched_for_a_time_and_told() -> None:
    modes, clock = FakeModes(), VirtualClock()
    with Box(FakeConversation(), _nobody_mutes, modes, clock) as box:
        stream = box.events.since(None, box.events.now("state", box.state()))
        await anext(stream)
        await box.set_mode("guest", 90)
        assert (modes.current, modes.until) == (Mode.GUEST, clock.now() + timedelta(minutes=90))
        assert b'"mode": "guest"' in await anext(stream)
        await box.set_mode("normal", None)
        assert (modes.current, modes.until) == (Mode.NORMAL, None)
        await stream.aclose()


async def test_what_the_disk_did_not_take_is_told() -> None:
    modes = FakeModes()
    modes.full = True
    box = Box(FakeConversation(), _nobody_mutes, modes, VirtualClock())
    with pytest.raises(NotKept, match="not over a restart"):
        await box.mute(True)
    with pytest.raises(NotKept, match="not over a restart"):
        await box.set_mode("guest", None)
    assert box.state()["mode"] == "guest"


class Queue:
    """Announcements that wait."""

    def __init__(self) -> None:
        self.held: list[AnnouncementRecord] = []
        self.kept: list[AnnouncementRecord] = []
        self.room = True
        self.full = False

    async def keep(self, record: AnnouncementRecord) -> bool:
        if self.full:
            raise StoreError("the disk is full")
        self.kept.append(record)
        return self.room

    def hold(self, record: AnnouncementRecord) -> bool:
        self.held.append(record)
        return self.room


def box_with(announcing: Announcing | None) -> Box:
    return Box(
        FakeConversation(), _nobody_mutes, FakeModes(), VirtualClock(), announcing=announcing
    )


async def test_an_announcement_is_held_with_a_tone_unless_it_is_to_outlive_a_restart() -> None:
    queue, now = Queue(), VirtualClock().now()
    box = box_with(queue)
    plain = await box.announce(AnnounceRequest(text="Dinner."))
    whole = AnnounceRequest(
        text="Fuego.",
        preannounce=False,
        volume=0.5,
        priority="high",
        expire_s=90,
        persist=True,
        language="es",
    )
    name = await box.announce(whole)
    assert queue.held == [
        AnnouncementRecord(
            plain, "Dinner.", now, now + KEEP, {"priority": "normal", "sound": "announce"}
        )
    ]
    options = {"priority": "high", "volume": 0.5, "language": "es"}
    expires = now + timedelta(seconds=90)
    assert queue.kept == [AnnouncementRecord(name, "Fuego.", now, expires, options)]
    assert plain != name


@pytest.mark.parametrize("persist", [True, False])
async def test_an_announcement_for_which_there_is_no_room_is_told(persist: bool) -> None:
    queue = Queue()
    queue.room = False
    with pytest.raises(NotAnnounced, match="as important"):
        await box_with(queue).announce(AnnounceRequest(text="Dinner.", persist=persist))


async def test_an_announcement_that_cannot_be_kept_is_not_said() -> None:
    queue = Queue()
    queue.full = True
    with pytest.raises(NotKept, match="the disk is full"):
        await box_with(queue).announce(AnnounceRequest(text="Dinner.", persist=True))
    assert queue.held == []


async def test_where_nothing_is_said_unasked_that_is_told() -> None:
    with pytest.raises(NotAnnounced, match="by this process"):
        await box_with(None).announce(AnnounceRequest(text="Dinner."))
