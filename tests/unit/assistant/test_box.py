"""The box as programs see it."""

from collections.abc import Callable

import pytest

from assistant.box import Box
from assistant.turn.standing import Standing
from assistant.turn.state import State
from audio.steady import MicrophoneStatus


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


async def test_it_tells_every_change_while_it_is_open() -> None:
    conversation = FakeConversation()
    muted: list[bool] = []

    async def mute(on: bool) -> None:
        muted.append(on)

    box = Box(conversation, mute)
    with box:
        assert box.state() == {"state": "idle", "muted": False, "microphone": "listening"}
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

    assert Box(conversation, mute).listen() is can
