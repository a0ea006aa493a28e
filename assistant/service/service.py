"""The main process: startup, signals, reloads, watchdog and shutdown."""

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
from assistant.conversation.hearing import Hearing
from assistant.conversation.loop import ConversationLoop
from assistant.domain.clock import Clock
from assistant.domain.health import STUCK_S
from assistant.service.notify import SETTLED_S, Manager, Starts, pause_s
from assistant.service.reload import Reloading
from audio.device_status import MicrophoneStatus
from audio.steady import SteadyMicrophone
from integrations.errors import unpacked
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from assistant.app.build import App
    from assistant.sound.devices import SoundState


_GRACE_S = 60.0  # seconds added to our delay when extending systemd's timeout
_log = logging.getLogger(__name__)

Tell = Callable[["App", Startup, str], None]


class Service:
    """Runs Hearth until it is asked to stop or its input audio file ends. SIGTERM stops it, even
    during startup. SIGHUP reloads the settings once the current conversation has ended (see
    `Reloading`)."""

    def __init__(
        self,
        reloading: Reloading,
        manager: Manager,
        starts: Starts,
        clock: Clock,
        tell: Tell,
        startup: Startup | None = None,
    ) -> None:
        """`tell` is called when startup is complete, with the app, its startup stages and a
        sentence about what Hearth is listening for. It must not block. `startup` collects the
        stages of the first startup."""
        self._startup = startup or Startup()  # stages of the current startup
        self._reloading = reloading
        self._manager = manager
        self._starts = starts
        self._clock = clock
        self._tell = tell
        self._requests = Requests()
        self._pulse = Pulse(clock.monotonic)
        self._stopped = asyncio.Event()
        self._opening: asyncio.Timeout | None = None  # set while a stop must interrupt startup
        self._stands: tuple[App, SoundState] | None = None
        self._stood = asyncio.Event()  # set when the first startup is complete

    async def run(self) -> None:
        """Run until stopped. Raises the errors of `assistant.app.daemon.serve`, unless Hearth can
        return to the previous settings."""
        with _signals(self.stop, self.reload):
            if not await self._wait_after_failures():
                await self._serve_watched()
        self._starts.succeed()

    def stop(self) -> None:
        """Shut down cleanly without waiting for the current work."""
        self._manager.stopping()
        self._stopped.set()
        self._requests.stop()
        if self._opening is not None:
            self._opening.reschedule(asyncio.get_running_loop().time())

    def reload(self) -> None:
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
            self._manager.reloading("Applying the new settings")

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
            _log.debug("the new settings could not be applied", exc_info=error)
            return Ended.RELOAD
        finally:
            self._opening = None

    def _listens(self, runner: ConversationLoop, microphone: SteadyMicrophone | None) -> None:
        self._pulse.listen(microphone, runner.hearing)
        self._manager.ready("Listening; still starting up")

    def _stands_now(
        self, app: "App", _microphone: SteadyMicrophone | None, sound: "SoundState"
    ) -> None:
        self._stands = app, sound
        self._opening = None  # from here on, `serve` handles a request to stop
        self._pulse.stand()
        self._stood.set()
        self._reloading.opened()
        self._manager.status(self._status())
        self._tell(app, self._startup, listens_to(app, sound))

    def _status(self) -> str:
        if self._stands is None:
            return ""
        return status_of(*self._stands, self._reloading.trouble)

    async def _wait_after_failures(self) -> bool:
        failed = self._starts.begin()
        pause = pause_s(failed)
        if not pause:
            return False
        sentence = f"The last {failed} starts failed; trying again in {pause:g} s"
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
    """Handle SIGTERM, and SIGHUP if stdin isn't a terminal: a closing terminal also sends SIGHUP,
    which must end Hearth."""
    loop = asyncio.get_running_loop()
    followed = {signal.SIGTERM: stop}
    if sys.stdin is None or not sys.stdin.isatty():  # stdin is None if it was closed
        followed[signal.SIGHUP] = reload
    for number, follow in followed.items():
        loop.add_signal_handler(number, follow)
    try:
        yield
    finally:
        for number in followed:
            loop.remove_signal_handler(number)


# The classes below detect whether Hearth is stuck and must be restarted.
#
# Hearth works if microphone frames are being processed, or if the microphone is known to be missing
# or off. The audio front end's thread must also answer pings, because in a silent room it gets no
# frames and a failure would go unnoticed. The checks run on the event loop, so a blocked loop is
# detected too.


def status_of(app: "App", sound: "SoundState", trouble: str = "") -> str:
    """Return a status such as "Listening for okay_nabu.", followed by current problems. `trouble`
    is a problem with the settings, or "". The status never contains transcripts."""
    home = app.home.client
    away = "" if home.connected else str(home.problem or "Home Assistant is not connected.")
    return " ".join(filter(None, [listens_to(app, sound), *sound.problems, away, trouble]))


def listens_to(app: "App", sound: "SoundState") -> str:
    """Return a sentence such as "Listening for okay_nabu." or "Not listening."."""
    if app.daemon is not None and app.daemon.mute.on:
        return "The microphone is muted."
    if sound.troubles.get("microphone"):
        return "Not listening."
    if app.settings.audio.input == "null":
        return "No microphone; answering programs only."
    words = ", ".join(word.model for word in app.settings.wake.words)
    return f"Listening for {words}."


LOOK_S = 2.0  # maximum time between checks in seconds
_STRIKES = 2  # failed checks in a row; one can be due to a delayed event loop


class Watchdog:
    """Resets systemd's watchdog while Hearth works, and triggers it if something stays stuck. A
    blocked event loop can't reset the watchdog, which then times out."""

    def __init__(
        self,
        manager: Manager,
        clock: Clock,
        problem: Callable[[], str],
        status: Callable[[], str],
    ) -> None:
        """`problem` returns a sentence about what is stuck, or "". `status` returns the status, or
        "" if it is unknown."""
        self._manager = manager
        self._clock = clock
        self._problem = problem
        self._status = status
        self._strikes = 0

    async def watch(self) -> None:
        limit_s = self._manager.watchdog_s
        pause_s = LOOK_S if limit_s is None else min(LOOK_S, limit_s / 4)
        while True:
            self._look()
            await self._clock.sleep(pause_s)

    def _look(self) -> None:
        problem = self._problem()
        if not problem:
            self._strikes = 0
            if self._manager.watchdog_s is not None:
                self._manager.alive()
            if status := self._status():
                self._manager.status(status)
            return
        self._strikes += 1
        if self._strikes == _STRIKES:
            _log.error("%s Hearth must be restarted.", problem)
            if self._manager.watchdog_s is not None:
                self._manager.give_up(problem)


OPENING_S = 60.0  # seconds within which Hearth must be listening
# Seconds within which the rest of startup must be complete, such as connecting to Home Assistant.
STANDING_S = 180.0
HELD_S = 60.0  # seconds after which a call that blocks the microphone counts as stuck

_HEARS = (MicrophoneStatus.LISTENING, MicrophoneStatus.SILENT)


class Pulse:
    """Detector for blockages that only a restart fixes. Initially, it expects startup to be in
    progress."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._microphone: SteadyMicrophone | None = None
        self._ear: Hearing | None = None
        self._opening = True  # not listening yet
        self._stands = False  # startup is complete
        self._opening_since = now()
        self._count = 0
        self._count_at = 0.0  # when the count last grew or wasn't expected to
        self._status: MicrophoneStatus | None = None
        self._held_since: float | None = None
        self._pinged_at: float | None = None  # time of an unanswered ping

    def open(self) -> None:
        self._opening, self._stands, self._opening_since = True, False, self._now()
        self._microphone = self._ear = None

    def listen(self, microphone: SteadyMicrophone | None, ear: Hearing) -> None:
        """Watch the audio front end, which has started. `microphone` is None if Hearth listens to a
        file or not at all."""
        self._opening = False
        self._microphone, self._ear = microphone, ear
        self._count, self._count_at, self._status = 0, self._now(), None
        self._held_since = self._pinged_at = None

    def stand(self) -> None:
        """Record that startup is complete."""
        self._stands = True

    def problem(self) -> str:
        """Return a sentence about what is stuck, or "" if everything works."""
        now = self._now()
        passed = now - self._opening_since
        if self._opening:
            late = passed > OPENING_S
            return f"Hearth is not listening after {OPENING_S:g} s." if late else ""
        if not self._stands and passed > STANDING_S:
            return f"Hearth has not finished starting after {STANDING_S:g} s."
        microphone, ear = self._microphone, self._ear
        if microphone is None or ear is None:
            return ""
        if microphone.heartbeat_age_s > STUCK_S:
            return f"Nothing has been read from the microphone for {STUCK_S:g} s."
        return (
            self._of_thread(ear, now)
            or self._of_frames(ear, microphone.status, now)
            or self._of_device(microphone, now)
        )

    def _of_thread(self, ear: Hearing, now: float) -> str:
        # Read it only once, because the audio front end's thread can change it at any time.
        asked = self._pinged_at
        if asked is None:
            self._pinged_at = now
            ear.ping(self._answered)
        elif now - asked > STUCK_S:
            return f"The audio thread has not answered for {STUCK_S:g} s."
        return ""

    def _answered(self) -> None:
        self._pinged_at = None

    def _of_frames(self, ear: Hearing, status: MicrophoneStatus, now: float) -> str:
        count = ear.frames_heard + ear.frames_passed
        if count != self._count or status is not self._status or status not in _HEARS:
            self._count, self._status, self._count_at = count, status, now
        if now - self._count_at > STUCK_S:
            return f"No sound has been processed for {STUCK_S:g} s, although the microphone works."
        return ""

    def _of_device(self, microphone: SteadyMicrophone, now: float) -> str:
        if microphone.status is not MicrophoneStatus.MISSING or not microphone.stuck:
            self._held_since = None
            return ""
        if self._held_since is None:
            self._held_since = now
        if now - self._held_since > HELD_S:
            return "The microphone is blocked by a call into the sound system that does not return."
        return ""
