"""Choice of the method that keeps Hearth's own voice out of the microphone's audio."""

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


# Measured echo paths, stored for each pair of microphone and loudspeaker.
#
# A pair is measured once, with a chirp, when the room is quiet after the pair was first used.
# Failed measurements are not stored.


_LOUDER = 1.25  # times the volume at which no echo was found; 6 dB on a sound server's scale

_log = logging.getLogger(__name__)

Measure = Callable[[Pair, int], Awaitable[EchoPath]]


class EchoPaths:
    """Measures the echo paths of device pairs, and stores them."""

    def __init__(self, kept: SmallValues, measure: Measure = measure_pair) -> None:
        """`measure` opens both devices of a pair and measures it, given the lead-in in ms."""
        self._kept = kept
        self._measure = measure

    async def known(self, pair: Pair) -> EchoPath | None:
        """Return the pair's stored echo path, or None if it must be measured. Raises StoreError."""
        row = await self._kept.kept(_name(pair))
        if not isinstance(row, dict) or not isinstance(row.get("path"), dict):
            return None
        path = EchoPath.from_dict(row["path"])
        if path is not None and path.kind == "apart" and _louder(pair, row.get("volume")):
            return None
        return path

    async def measured(self, pair: Pair, audio: Audio) -> EchoPath:
        """Measure and store the pair's echo path. `audio` contains the settings that name the
        devices.

        Raises InputUnusable or DeviceLost if the measurement fails, for example because the
        microphone is muted. Also raises StoreError.
        """
        # If this can't be read, the microphone may be muted, so the error must end the attempt.
        muted = await self._kept.kept(MUTED)
        if muted is not None and muted is not False:
            raise InputUnusable(
                "A person has muted the microphone, so the echo cannot be measured."
            )
        path = await self._measure(pair, audio.lead_in_ms)
        await _still_there(pair, audio)
        row = {"path": path.to_dict(), "volume": pair.output.volume}
        await self._kept.keep(_name(pair), row)
        _log.info("the echo of %s in %s was measured: %s", pair.output.name, pair.input.name, path)
        return path


async def _still_there(pair: Pair, audio: Audio) -> None:
    now = await asyncio.to_thread(find_pair, audio.input, audio.output, audio.channel)
    if now.obstacle or now.names != pair.names:
        raise DeviceLost(now.obstacle or "The sound devices changed during the measurement.")


def _name(pair: Pair) -> str:
    return f"echo {json.dumps(pair.names)}"


def _louder(pair: Pair, then: Any) -> bool:
    """Return True if the volume is now so much higher than the volume `then` that an echo may be
    audible."""
    now = pair.output.volume
    return isinstance(then, int | float) and now is not None and now > then * _LOUDER


@dataclass(frozen=True, slots=True)
class EchoPlan:
    """Chosen handling of the echo, with the canceller if Hearth uses its own."""

    plan: Plan
    # Processes the microphone's audio; also receives the audio that the loudspeaker plays.
    cleaner: "LivekitCleaner | None"
    complaint: str  # a sentence if a setting can't be satisfied, otherwise ""
    path: EchoPath | None = None  # the measured path of these devices
    # The devices, if the plan depends on them; None if they were not found.
    pair: Pair | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the plan as JSON-compatible data. `frames` contains counts of 20 ms frames since
        the start, or is None without a canceller."""
        return {
            "cancellation": self.plan.kind,
            "half_duplex": self.plan.half_duplex,
            "reason": self.plan.reason,
            "path": None if self.path is None else self.path.kind,
            "frames": None if self.cleaner is None else asdict(self.cleaner.counts),
        }


@dataclass(frozen=True, slots=True)
class Devices:
    """The microphone and loudspeaker to which the settings currently refer."""

    pair: Pair
    cancelled: bool  # the sound server removes Hearth's voice


async def plan_echo(settings: Settings) -> EchoPlan:
    """Choose how to handle the echo between the devices in the settings, without playing anything.
    Raises InputUnusable if the settings require something that this machine can't do."""
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
        _log.warning("The echo is not removed, so only the wake word interrupts: %s", error)
        plan = await _plan(audio, path, False, cancelled)
    return replace(plan, pair=pair)


async def measure_echo(settings: Settings, pair: Pair) -> EchoPath:
    """Measure and store the echo path of `pair`, whose devices are named in the settings. Raises
    InputUnusable or DeviceLost if the measurement fails. Also raises ConfigError and StoreError."""
    async with Store(settings.database, SystemClock()) as store:
        return await EchoPaths(store).measured(pair, settings.audio)


def is_device(name: str) -> bool:
    """Return True if `audio.input` or `audio.output` is a device rather than a file or `null`."""
    return name != "null" and not name.startswith("file:")


def goes_by_devices(audio: Audio) -> bool:
    return (
        audio.echo_cancellation in ("auto", "system")
        and is_device(audio.input)
        and is_device(audio.output)
    )


def devices_of(audio: Audio) -> Devices:
    """Find the microphone and the loudspeaker that are named in the settings. Neither of them may
    be a file or `null`. Blocks. Raises InputUnusable."""
    return Devices(find_pair(audio.input, audio.output, audio.channel), _is_cancelled(audio))


async def _plan(audio: Audio, path: EchoPath | None, extra: bool, cancelled: bool) -> EchoPlan:
    kind = None if path is None else path.kind
    plan = choose(audio.echo_cancellation, extra=extra, cancelled_source=cancelled, path=kind)
    own = plan.kind == "own"
    wanted = audio.echo_cancellation in ("on", "system")
    complaint = plan.reason if wanted and plan.half_duplex else ""
    if not (own or _tidies(audio)):
        return EchoPlan(plan, None, complaint, path)
    from audio.echo.livekit import LivekitCleaner  # imported late: an optional dependency

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
    audio = settings.audio
    pair: Pair | None = None
    try:
        pair = await asyncio.to_thread(find_pair, audio.input, audio.output, audio.channel)
        if audio.echo_cancellation == "auto":
            async with Store(settings.database, SystemClock()) as store:
                return pair, await EchoPaths(store).known(pair)
    except (AudioError, ConfigError, StoreError) as error:
        _log.debug("the echo measurement cannot be read: %s", error)
    except Exception:  # last resort: no device error may keep Hearth from starting
        _log.debug("the search for sound devices failed", exc_info=True)
    return pair, None


def _is_cancelled(audio: Audio) -> bool:
    """Return True if the sound server removes Hearth's voice from the microphone. If the server has
    an echo-cancelled sink, Hearth must play to it, because the server removes only audio that
    passes through that sink."""
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
        return False  # a device is missing, so its properties are unknown


def _cancels(device: DeviceInfo) -> bool:
    return echo_cancelled(device.name, {"device.description": device.description})
