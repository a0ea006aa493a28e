"""Listening that does not end when the microphone goes: the device is opened again."""

import logging
from collections.abc import Callable

from assistant.clock import Clock
from assistant.turn.events import SourceLost
from assistant.turn.runner import Runner
from audio.errors import DeviceLost, InputUnusable
from audio.frames import FrameSource

_log = logging.getLogger(__name__)


async def listen_for_ever(
    runner: Runner, open_source: Callable[[], FrameSource], clock: Clock, pause_s: float
) -> None:
    """Hear a device, and open it again `pause_s` after it has gone.

    Raises InputUnusable where it could not be opened even once.
    """
    heard_before = False
    while True:
        try:
            await runner.listen(open_source())
        except DeviceLost as error:
            _log.warning("%s", error)
        except InputUnusable as error:
            if not heard_before:
                raise
            _log.info("%s", error)
        heard_before = True
        runner.dispatch(SourceLost())
        await runner.rest()  # a new source sets the clock back, under an answer that goes on
        await clock.sleep(pause_s)
