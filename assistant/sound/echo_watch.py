"""Adjustment of the echo plan when the sound devices change. An echo measurement is valid for only
one pair of devices, so with another pair Hearth could hear its own voice as an interruption."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Any, Self

from assistant.config.sound import Audio
from assistant.domain.clock import Clock
from assistant.domain.records import StoreError
from assistant.sound.echo_plan import Devices, EchoPlan, devices_of, goes_by_devices
from audio.devices.watch import DeviceWatch
from audio.echo import Plan, Setting, choose_meanwhile
from audio.echo.measure import EchoPath, Pair
from audio.errors import AudioError
from audio.timing import BoundedCalls, CallStuck

SETTLE_S = 0.5  # seconds to wait after a device change, because changes come in bursts
AGAIN_S = 3.0  # seconds until the next check if the last one may have been too early

_NOT_KNOWN = Plan(
    "none",
    True,
    "The microphone and loudspeaker in use are not known at the moment: while I speak, only the "
    "wake word interrupts me.",
)

_log = logging.getLogger(__name__)


def plan_now(
    first: EchoPlan,
    setting: Setting,
    devices: Devices | None,
    path: EchoPath | None,
    *,
    extra: bool,
) -> EchoPlan:
    """Return the plan for `devices`, given the `first` plan, which must not use Hearth's own
    canceller.

    `devices` is None if they can't be determined. `path` is their measured echo path, or None if
    they have not been measured. `extra` is True if Hearth's own canceller is installed.
    """
    if devices is None:
        return first if first.pair is None else replace(first, plan=_NOT_KNOWN, path=None)
    if _is_first(first, devices) and not _path_has_changed(first, path):
        return first
    kind = None if path is None else path.kind
    plan = choose_meanwhile(setting, extra=extra, cancelled_source=devices.cancelled, path=kind)
    return replace(first, plan=plan, path=path, pair=devices.pair)


class EchoWatch:
    """Adjusts the echo plan when the devices change. Use it as a context manager on the
    event loop."""

    def __init__(
        self,
        audio: Audio,
        first: EchoPlan,
        full_duplex: Callable[[bool], None],
        known: Callable[[Pair], Awaitable[EchoPath | None]],
        clock: Clock,
        calls: BoundedCalls | None = None,
    ) -> None:
        """`full_duplex` is called with True if speech can interrupt Hearth, on entry and whenever
        that changes. `known` returns a pair's measured echo path, or None if it has not been
        measured. It can raise StoreError."""
        self._audio = audio
        self._first = self._now = first
        self._full_duplex = full_duplex
        self._known = known
        self._clock = clock
        self._extra = find_spec("livekit") is not None
        self._calls = BoundedCalls() if calls is None else calls
        self._news = False
        self._looking: asyncio.Task[None] | None = None
        self._forget: Callable[[], None] = lambda: None

    @property
    def now(self) -> EchoPlan:
        return self._now

    @property
    def unmeasured(self) -> Pair | None:
        """The current devices if their echo still has to be measured, otherwise None."""
        now, by_path = self._now, self._audio.echo_cancellation == "auto"
        open_question = by_path and now.plan.kind == "none" and now.path is None
        return now.pair if open_question and now.plan is not _NOT_KNOWN else None

    def look_again(self) -> None:
        self._changed()

    def as_json(self) -> dict[str, Any]:
        return self._now.as_json()

    def follow(self, watch: DeviceWatch) -> None:
        """Check the devices now and after each change that `watch` reports. Does nothing if the
        plan doesn't depend on the devices."""
        if self._first.plan.kind == "own" or not goes_by_devices(self._audio):
            return
        self._forget()
        self._forget = watch.listen(self._changed)
        self._changed()

    async def __aenter__(self) -> Self:
        self._full_duplex(not self._first.plan.half_duplex)
        return self

    async def __aexit__(self, *error: Any) -> None:
        self._forget()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        await self._calls.rest()

    def _changed(self) -> None:
        self._news = True
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._keep_looking(), name="echo-looking")

    async def _keep_looking(self) -> None:
        again, failed = False, 0
        while self._news or again:
            await self._clock.sleep(SETTLE_S if self._news or failed == 1 else AGAIN_S)
            newly, self._news = self._news, False
            devices = await self._look()
            failed = failed + 1 if devices is None else 0
            if failed != 1:  # one failure may be temporary
                self._become(devices, await self._path(devices))
            again = devices is None or (newly and _may_be_old(devices.pair))

    async def _look(self) -> Devices | None:
        try:
            devices = await self._calls.call(partial(devices_of, self._audio))
        except (AudioError, CallStuck):
            return None
        except Exception:  # last resort: no error may end the watch
            _log.debug("the search for sound devices failed", exc_info=True)
            return None
        first = self._first.pair
        # If the sound server is down, PortAudio uses different names for the devices.
        away = first is not None and _is_served(first) and not _is_served(devices.pair)
        return None if away else devices

    async def _path(self, devices: Devices | None) -> EchoPath | None:
        if devices is None or self._audio.echo_cancellation != "auto":
            return None
        try:
            return await self._known(devices.pair)
        except StoreError:
            return None
        except Exception:  # as above
            _log.debug("reading the stored echo measurement failed", exc_info=True)
            return None

    def _become(self, devices: Devices | None, path: EchoPath | None) -> None:
        before = self._now
        setting = self._audio.echo_cancellation
        self._now = now = plan_now(self._first, setting, devices, path, extra=self._extra)
        if now.plan == before.plan:
            return
        same = (
            before.pair is not None and now.pair is not None and before.pair.names == now.pair.names
        )
        sentence = now.plan.reason if same else self._sentence()
        _log.log(logging.WARNING if now.plan.half_duplex else logging.INFO, "%s", sentence)
        if now.plan.half_duplex != before.plan.half_duplex:
            self._full_duplex(not now.plan.half_duplex)

    def _sentence(self) -> str:
        reason, pair = self._now.plan.reason, self._now.pair
        if self._now.plan is _NOT_KNOWN or pair is None:
            return reason
        if self._now is self._first:
            return f"The original sound devices are back. {reason}"
        names = f"{pair.input.name} and {pair.output.name}"
        return f"The sound devices are now {names}. {reason}"


def _is_first(first: EchoPlan, devices: Devices) -> bool:
    return first.pair is not None and devices.pair.names == first.pair.names


def _path_has_changed(first: EchoPlan, path: EchoPath | None) -> bool:
    """Return True if the pair was measured after the start, or its loudspeaker was turned up so far
    that the measurement is no longer valid."""
    if first.path is None:
        return path is not None
    return first.path.kind == "apart" and path is None


def _is_served(pair: Pair) -> bool:
    return "server" in (pair.input.backend, pair.output.backend)


def _may_be_old(pair: Pair) -> bool:
    """Return True if the device list may be outdated: PortAudio keeps the devices that were present
    when it was last started."""
    return "alsa" in (pair.input.backend, pair.output.backend)
