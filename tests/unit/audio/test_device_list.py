"""When a new list of the devices is due, and what becomes of news meanwhile."""

from collections.abc import Callable

import pytest

from assistant.domain.clock import VirtualClock
from audio.devices.portaudio import DeviceList
from audio.errors import InputUnusable


async def at_once(work: Callable[[], bool]) -> bool:
    return work()


class PortAudio:
    """Makes a list, or does not."""

    def __init__(self) -> None:
        self.makes: bool | InputUnusable = True
        self.asked: list[str] = []
        self.meanwhile: Callable[[], None] = lambda: None

    async def before(self) -> None:
        self.asked.append("before")

    def refresh(self) -> bool:
        self.asked.append("refresh")
        self.meanwhile()
        if isinstance(self.makes, InputUnusable):
            raise self.makes
        return self.makes


def listed() -> tuple[DeviceList, PortAudio, VirtualClock]:
    portaudio, clock = PortAudio(), VirtualClock()
    return DeviceList(portaudio.refresh, portaudio.before, clock), portaudio, clock


async def test_it_is_old_at_first_after_news_and_after_a_while() -> None:
    made, portaudio, clock = listed()
    assert made.is_old(10), "nobody knows what came before us"
    assert await made.renew(at_once)
    assert portaudio.asked == ["before", "refresh"]
    assert not made.is_old(10)
    made.changed()
    assert made.is_old(10)
    assert await made.renew(at_once)
    clock.advance(9.9)
    assert not made.is_old(10)
    clock.advance(0.2)
    assert made.is_old(10)


@pytest.mark.parametrize("makes", [False, InputUnusable("PortAudio does not start again.")])
@pytest.mark.parametrize("once", [False, True])
async def test_one_that_was_not_made_is_still_due_unless_it_was_for_once(
    makes: bool | InputUnusable, once: bool
) -> None:
    made, portaudio, clock = listed()
    portaudio.makes = makes
    if isinstance(makes, InputUnusable):
        with pytest.raises(InputUnusable):
            await made.renew(at_once, once=once)
    else:
        assert not await made.renew(at_once, once=once)
    assert made.is_old(10) is not once
    clock.advance(10)
    assert made.is_old(10)


@pytest.mark.parametrize("makes", [True, False])
@pytest.mark.parametrize("once", [False, True])
async def test_what_comes_meanwhile_is_news_for_the_next(makes: bool, once: bool) -> None:
    made, portaudio, _ = listed()
    portaudio.makes = makes
    portaudio.meanwhile = made.changed
    assert await made.renew(at_once, once=once) is makes
    assert made.is_old(10)
