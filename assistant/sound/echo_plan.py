"""Plan against our own voice in the microphone, by the settings and the devices."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.config.sound import Audio
from assistant.domain.clock import SystemClock
from assistant.domain.records import SmallValues, StoreError
from assistant.journal.store import Store
from assistant.sound.mute import NAME as MUTED
from audio.devices import find_device, list_devices
from audio.devices.portaudio import DeviceInfo
from audio.echo import Plan, choose, echo_cancelled
from audio.echo.measure import EchoPath, Pair, find_pair, measure_pair
from audio.errors import AudioError, DeviceLost, InputUnusable

if TYPE_CHECKING:
    from audio.echo.livekit import LivekitCleaner


# What was measured of the echo, kept for each pair of microphone and loudspeaker.
#
# A pair is measured once, by a chirp, in a quiet moment after it was first used. A measurement that
# tells nothing is not kept.


_LOUDER = 1.25  # times the volume at which no echo was found: 6 dB at a sound server

_log = logging.getLogger(__name__)

Measure = Callable[[Pair, int], Awaitable[EchoPath]]


class EchoPaths:
    """Knows the pairs that were measured, and measures others."""

    def __init__(self, kept: SmallValues, measure: Measure = measure_pair) -> None:
        """`kept`: the store. `measure` opens both devices; `int` is the lead-in in ms."""
        self._kept = kept
        self._measure = measure

    async def known(self, pair: Pair) -> EchoPath | None:
        """Read what was kept of this pair; None: nothing that still counts. Raises StoreError."""
        row = await self._kept.kept(_name(pair))
        if not isinstance(row, dict) or not isinstance(row.get("path"), dict):
            return None
        path = EchoPath.from_dict(row["path"])
        if path is not None and path.kind == "apart" and _louder(pair, row.get("volume")):
            return None
        return path

    async def measured(self, pair: Pair, audio: Audio) -> EchoPath:
        """Measure this pair, the devices of `audio`, and keep the result.

        Raises InputUnusable and DeviceLost where nothing was learnt, and StoreError.
        """
        # Where this cannot be read, it may be muted: the error ends the attempt.
        muted = await self._kept.kept(MUTED)
        if muted is not None and muted is not False:
            raise InputUnusable("The microphone is muted, by a person: nothing may be heard.")
        path = await self._measure(pair, audio.lead_in_ms)
        await _still_there(pair, audio)
        row = {"path": path.to_dict(), "volume": pair.output.volume}
        await self._kept.keep(_name(pair), row)
        _log.info("the echo of %s in %s was measured: %s", pair.output.name, pair.input.name, path)
        return path


async def _still_there(pair: Pair, audio: Audio) -> None:
    """Raises DeviceLost where the devices are others by now, or closed."""
    now = await asyncio.to_thread(find_pair, audio.input, audio.output, audio.channel)
    if now.obstacle or now.names != pair.names:
        raise DeviceLost(now.obstacle or "The sound devices changed while they were measured.")


def _name(pair: Pair) -> str:
    """Under which it is kept: another device or another channel is another pair."""
    return f"echo {json.dumps(pair.names)}"


def _louder(pair: Pair, then: Any) -> bool:
    """Tell whether the loudspeaker is set so much louder that an echo may be heard now."""
    now = pair.output.volume
    return isinstance(then, int | float) and now is not None and now > then * _LOUDER


@dataclass(frozen=True, slots=True)
class EchoPlan:
    """The plan, and who carries it out."""

    plan: Plan
    cleaner: "LivekitCleaner | None"  # between microphone and ear; hears what the speaker plays
    complaint: str  # where the settings want more than there is, a sentence; else ""
    path: EchoPath | None = None  # what was measured with these devices
    pair: Pair | None = None  # the devices, where the plan is by them; None: they were not found

    def as_json(self) -> dict[str, Any]:
        """Give its state for programs: `frames` (of 20 ms) since the start, None where none
        is cleaned."""
        return {
            "cancellation": self.plan.kind,
            "half_duplex": self.plan.half_duplex,
            "reason": self.plan.reason,
            "path": None if self.path is None else self.path.kind,
            "frames": None if self.cleaner is None else asdict(self.cleaner.counts),
        }


@dataclass(frozen=True, slots=True)
class Devices:
    """Devices that the settings mean, as they are now."""

    pair: Pair
    cancelled: bool  # the sound server takes our voice out


async def plan_echo(settings: Settings) -> EchoPlan:
    """Choose the plan for the devices of these settings.

    `auto` goes by what was measured with these two devices before; until then only the wake word
    interrupts. Nothing is played here. Raises InputUnusable if the settings want what this machine
    cannot do.
    """
    audio = settings.audio
    extra = find_spec("livekit") is not None
    cancelled = await asyncio.to_thread(_is_cancelled, audio)
    pair = path = None
    if goes_by_devices(audio):
        pair, path = await _known(settings)
    try:
        plan = await _plan(audio, path, extra, cancelled)
    except InputUnusable as error:
        if audio.echo_cancellation != "auto" or _tidies(audio):
            raise
        _log.warning("The echo is not taken out, so only the wake word interrupts: %s", error)
        plan = await _plan(audio, path, False, cancelled)
    return replace(plan, pair=pair)


async def measure_echo(settings: Settings, pair: Pair) -> EchoPath:
    """Measure these two, the devices of the settings, now, and keep it.

    Raises InputUnusable and DeviceLost where nothing was learnt, ConfigError and StoreError.
    """
    async with Store(settings.database, SystemClock()) as store:
        return await EchoPaths(store).measured(pair, settings.audio)


def is_device(name: str) -> bool:
    """Tell whether `audio.input` or `audio.output` names a device: no file, and not nothing."""
    return name != "null" and not name.startswith("file:")


def goes_by_devices(audio: Audio) -> bool:
    """Tell whether with other devices the plan may be another."""
    return (
        audio.echo_cancellation in ("auto", "system")
        and is_device(audio.input)
        and is_device(audio.output)
    )


def devices_of(audio: Audio) -> Devices:
    """The devices of these settings, which name two. Blocking. Raises InputUnusable."""
    return Devices(find_pair(audio.input, audio.output, audio.channel), _is_cancelled(audio))


async def _plan(audio: Audio, path: EchoPath | None, extra: bool, cancelled: bool) -> EchoPlan:
    """Raises InputUnusable where the canceller is installed and does not work."""
    kind = None if path is None else path.kind
    plan = choose(audio.echo_cancellation, extra=extra, cancelled_source=cancelled, path=kind)
    own = plan.kind == "own"
    wanted = audio.echo_cancellation in ("on", "system")
    complaint = plan.reason if wanted and plan.half_duplex else ""
    if not (own or _tidies(audio)):
        return EchoPlan(plan, None, complaint, path)
    from audio.echo.livekit import LivekitCleaner  # late: an extra

    cleaner = await asyncio.to_thread(
        LivekitCleaner,
        echo=own,
        noise_suppression=audio.noise_suppression,
        automatic_gain=audio.automatic_gain,
    )
    return EchoPlan(plan, cleaner, complaint, path)


def _tidies(audio: Audio) -> bool:
    return audio.noise_suppression or audio.automatic_gain


async def _known(settings: Settings) -> tuple[Pair | None, EchoPath | None]:
    """Return the devices and, with "auto", what is known about their echo; None for either."""
    audio = settings.audio
    pair: Pair | None = None
    try:
        pair = await asyncio.to_thread(find_pair, audio.input, audio.output, audio.channel)
        if audio.echo_cancellation == "auto":
            async with Store(settings.database, SystemClock()) as store:
                return pair, await EchoPaths(store).known(pair)
    except (AudioError, ConfigError, StoreError) as error:
        _log.debug("nothing is known about the echo: %s", error)
    except Exception:  # the edge: whatever breaks in there, Hearth starts
        _log.debug("looking for the sound devices broke", exc_info=True)
    return pair, None


def _is_cancelled(audio: Audio) -> bool:
    """Tell whether the sound server takes our voice out, for "default" with its default devices.

    The microphone must be a source that it makes for that, and the loudspeaker the sink that
    belongs to it, where there is such a one: what is played past it is not taken out.
    """
    if not is_device(audio.input):
        return False
    try:
        if not _cancels(find_device(audio.input, "input")):
            return False
        sinks = [device for device in list_devices() if device.kind == "output"]
        if not is_device(audio.output) or not any(map(_cancels, sinks)):
            return True
        return _cancels(find_device(audio.output, "output"))
    except AudioError:
        return False  # a device is missing; what it is like is not known


def _cancels(device: DeviceInfo) -> bool:
    return echo_cancelled(device.name, {"device.description": device.description})
