"""The process that serves: its start, its signals, one set of settings after the other, its end."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assistant.app.daemon import Ended, Hooks, Requests, serve
from assistant.app.process import Startup
from assistant.config.schema import Settings
from assistant.conversation.runner import Runner
from assistant.domain.clock import Clock
from assistant.service.notify import SETTLED_S, Manager, Starts, pause_s
from assistant.service.pulse import Pulse, Watchdog, status_of
from assistant.service.reload import Reloading
from audio.steady import SteadyMicrophone
from integrations.errors import unpacked
from integrations.owner import OwnedTasks

if TYPE_CHECKING:  # they bring what is imported later, while frames are judged
    from assistant.app.build import App
    from assistant.sound.devices import SoundState

_GRACE_S = 60.0  # for systemd to wait beyond a pause of ours
_log = logging.getLogger(__name__)

Tell = Callable[["App", Startup], None]


class Service:
    """Serves until it is told to stop, or until what it listens to is over.

    SIGTERM stops it, also while something is still being opened. SIGHUP has the settings read anew
    (see `Reloading`); the conversation under way ends first.
    """

    def __init__(
        self,
        reloading: Reloading,
        manager: Manager,
        starts: Starts,
        clock: Clock,
        tell: Tell,
        startup: Startup | None = None,
    ) -> None:
        """`tell`: is given what stands and the stages of its opening, after each; must not block.
        `startup`: takes those of the first opening."""
        self._startup = startup or Startup()  # of what is being opened, or stands
        self._reloading = reloading
        self._manager = manager
        self._starts = starts
        self._clock = clock
        self._tell = tell
        self._requests = Requests()
        self._pulse = Pulse(clock.monotonic)
        self._stopped = asyncio.Event()
        self._opening: asyncio.Timeout | None = None  # while a stop has to cut it short
        self._stands: tuple[App, SoundState] | None = None
        self._stood = asyncio.Event()  # for the first time

    async def run(self) -> None:
        """Serve. Raises what `assistant.app.daemon.serve` does, for the first settings."""
        with _signals(self.stop, self.reload):
            if not await self._wait_after_failures():
                await self._serve_watched()
        self._starts.succeed()

    def stop(self) -> None:
        """End at once and well."""
        self._manager.stopping()
        self._stopped.set()
        self._requests.stop()
        if self._opening is not None:
            self._opening.reschedule(asyncio.get_running_loop().time())

    def reload(self) -> None:
        """Have the settings read anew."""
        if self._reloading.wish():
            self._requests.reload()
        else:
            self._requests.renew()

    async def _serve_watched(self) -> None:
        watchdog = Watchdog(self._manager, self._clock, self._pulse.problem, self._status)
        async with OwnedTasks() as tasks:
            tasks.start(watchdog.watch(), "watchdog")
            tasks.start(self._settle(), "settling")
            await self._serve_all()

    async def _serve_all(self) -> None:
        settings = self._reloading.serving
        while await self._serve(settings) is Ended.RELOAD:
            self._requests.renew()
            settings = self._reloading.take_up()
            self._startup = Startup()
            self._manager.reloading("Takes up new settings")

    async def _serve(self, settings: Settings) -> Ended:
        self._pulse.open()
        self._stands = None
        hooks = Hooks(
            self._requests,
            on_listening=self._listens,
            on_ready=self._stands_now,
            troubles={"settings": lambda: self._reloading.trouble},
            stuck=self._pulse.problem,
            startup=self._startup,
        )
        try:
            async with asyncio.timeout(None) as self._opening:
                if self._stopped.is_set():
                    return Ended.STOP
                return await serve(settings, hooks)
        except Exception as error:
            stopped = self._stopped.is_set()
            if stopped and isinstance(error, TimeoutError):
                return Ended.STOP
            stood = self._stands is not None
            if stopped or stood or not self._reloading.cannot_open(unpacked(error)):
                raise
            _log.debug("the new settings could not be opened", exc_info=error)
            return Ended.RELOAD
        finally:
            self._opening = None

    def _listens(self, runner: Runner, microphone: SteadyMicrophone | None) -> None:
        self._pulse.listen(microphone, runner.hearing)
        self._manager.ready("Listens; opens the house and the rest")

    def _stands_now(
        self, app: "App", _microphone: SteadyMicrophone | None, sound: "SoundState"
    ) -> None:
        self._stands = app, sound
        self._opening = None  # from here on the request to stop is seen
        self._pulse.stand()
        self._stood.set()
        self._reloading.opened()
        self._manager.status(self._status())
        self._tell(app, self._startup)

    def _status(self) -> str:
        if self._stands is None:
            return ""
        return status_of(*self._stands, self._reloading.trouble)

    async def _wait_after_failures(self) -> bool:
        """Wait where the starts before this one failed. True: a stop came meanwhile."""
        failed = self._starts.begin()
        pause = pause_s(failed)
        if not pause:
            return False
        sentence = f"The last {failed} starts have failed; tries again in {pause:g} s"
        _log.warning("%s.", sentence)
        self._manager.extend(pause + _GRACE_S)
        self._manager.status(sentence)
        try:
            async with asyncio.timeout(pause):
                await self._stopped.wait()
        except TimeoutError:
            return False
        return True

    async def _settle(self) -> None:
        await self._stood.wait()
        await self._clock.sleep(SETTLED_S)
        self._starts.succeed()


@contextmanager
def _signals(stop: Callable[[], None], reload: Callable[[], None]) -> Iterator[None]:
    """Follow SIGTERM; and SIGHUP, unless that is how a terminal says that it was closed."""
    loop = asyncio.get_running_loop()
    followed = {signal.SIGTERM: stop}
    if sys.stdin is None or not sys.stdin.isatty():  # None: it was closed for us
        followed[signal.SIGHUP] = reload
    for number, follow in followed.items():
        loop.add_signal_handler(number, follow)
    try:
        yield
    finally:
        for number in followed:
            loop.remove_signal_handler(number)
