"""Measurement of the echo path from a loudspeaker to a microphone.

The test signal is a chirp from 300 to 3400 Hz, which a matched filter finds in the recording.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from audio.device_status import MicrophoneChange, MicrophoneStatus
from audio.devices import find_device
from audio.devices.portaudio import DeviceInfo
from audio.devices.server import NoServer, connection
from audio.echo import PathKind
from audio.errors import DeviceLost, InputUnusable
from audio.frames import SAMPLE_RATE, Frame
from audio.microphone import DeviceInput
from audio.player import Player
from audio.speaker import Speaker
from audio.steady import SteadyMicrophone
from audio.timing import BoundedCalls

CHIRP_SECONDS = 0.7
QUIET_SECONDS = 0.5  # silence before and after the chirp
_NONE_DB = -100.0
LEVEL = 6_000  # int16 peak: audible but not startling
_FADE_SECONDS = 0.02
_LOWEST_HZ, _HIGHEST_HZ = 300.0, 3_400.0
MOST_DELAY_SECONDS = 0.8  # from passing audio to the player to the microphone's frame
_BEGINNING_SECONDS = 0.2  # start of the chirp, which a cancelling device may let through
_END_SECONDS = 0.35
_FOUND = 8.0  # a part was heard if the matched filter's peak exceeds its noise by this factor
_ITS_OWN = 0.02  # least share of the power found that must belong to this part of the chirp
_DEAD = 2.0  # int16 RMS; below this, a microphone delivers no sound
_CLOSED = 0.15  # share of the room's noise; an open microphone doesn't fall this low
_HELD_DOWN = 0.5  # share of the room's noise; an echo canceller removes some noise too
_AFTER_SECONDS = 0.4  # at the end of the recording, to measure the room's noise again
_WEAK = 0.003  # share of the played level (-50 dB); a weaker echo needs no cancelling
_FADED = 0.1  # share of the start's level; an echo that ends this low is being cancelled
_UNHEARD = 0.0126  # share of the played level (-38 dB); no result if a louder echo could be missed
_DISTURBED = 2.5  # times the noise before; louder means that another sound interfered

_GAVE_NOTHING = (
    "The microphone delivered only digital silence while the echo was measured: unmute it on the "
    "device itself."
)
_FELL_SILENT = (
    "The microphone went silent while the echo was measured: unmute it on the device itself."
)
_TOO_LOUD = (
    "The room was too loud to measure the echo: run `hearth devices --measure` when it is quiet."
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EchoPath:
    # echo: must be cancelled. apart: inaudible (headphones, another room). cancels: the device
    # cancels it, so that only the start comes through. deaf: the microphone closes while the
    # loudspeaker plays.
    kind: PathKind
    # Level of the echo relative to the played audio, both as int16; -100 if there is none.
    level_db: float
    delay_ms: float  # from passing audio to the player to the frame with its echo; 0 if none
    noise_rms: float  # int16 RMS of the room

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> "EchoPath | None":
        """Restore the result of `to_dict`. Returns None if it is invalid."""
        try:
            kind = kept["kind"]
            figures = (float(kept[name]) for name in ("level_db", "delay_ms", "noise_rms"))
            return cls(kind, *figures) if kind in get_args(PathKind) else None
        except (KeyError, TypeError, ValueError):
            return None


def chirp() -> NDArray[np.int16]:
    """Return the test signal, a chirp between two silences: int16, shape (n,), 16 kHz."""
    t = np.arange(round(CHIRP_SECONDS * SAMPLE_RATE)) / SAMPLE_RATE
    slope = (_HIGHEST_HZ - _LOWEST_HZ) / CHIRP_SECONDS
    wave = np.sin(2 * np.pi * (_LOWEST_HZ * t + slope * t**2 / 2))
    edge = np.minimum(1.0, np.minimum(t, CHIRP_SECONDS - t) / _FADE_SECONDS)
    quiet = np.zeros(round(QUIET_SECONDS * SAMPLE_RATE))
    return np.concatenate([quiet, LEVEL * wave * edge, quiet]).astype(np.int16)


def analyse(played: NDArray[np.int16], recorded: NDArray[np.int16]) -> EchoPath:
    """Determine the echo path from a recording that began when `played` (from `chirp`) was passed
    to the player.

    Both are int16, shape (n,), 16 kHz. The recording should be longer than `played` by
    MOST_DELAY_SECONDS (0.8 s). Raises ValueError if it is shorter than `played`, and InputUnusable
    if the microphone was muted or the room was too loud.
    """
    if len(recorded) < len(played):
        raise ValueError("the recording is shorter than what was played")
    heard = recorded.astype(np.float64)
    quiet = round(QUIET_SECONDS * SAMPLE_RATE)
    sound = played[quiet:-quiet].astype(np.float64)
    begins = round(_BEGINNING_SECONDS * SAMPLE_RATE)
    ends = len(sound) - round(_END_SECONDS * SAMPLE_RATE)
    noise = _rms(heard[:quiet])
    late = round(MOST_DELAY_SECONDS * SAMPLE_RATE)
    during = min(_by_pieces(heard[quiet + begins : quiet + len(sound) + late]))
    after = _rms(heard[-round(_AFTER_SECONDS * SAMPLE_RATE) :])
    if max(noise, during) <= _DEAD < after:
        raise InputUnusable(_GAVE_NOTHING)  # it was unmuted too late
    first = _find(heard, sound, slice(0, begins), noise)
    last = _find(heard, sound, slice(ends, len(sound)), noise)
    lasts = last is not None and last.level >= _FADED * (first.level if first else 0.0)
    if last is not None and lasts and last.level >= _WEAK:
        return EchoPath("echo", _db(last.level), last.delay_ms, noise)
    if noise > _DEAD and during < max(_DEAD, _CLOSED * noise):
        if after < max(_DEAD, _CLOSED * noise):
            raise InputUnusable(_FELL_SILENT)
        return EchoPath("deaf", _NONE_DB, 0.0, noise)
    if last is not None and lasts:
        return EchoPath("apart", _db(last.level), last.delay_ms, noise)
    if first is None and during <= _DEAD:
        raise InputUnusable(_GAVE_NOTHING)
    since = quiet + (0 if first is None else ends + round(first.delay_ms * SAMPLE_RATE / 1000))
    disturbed = max(_by_pieces(heard[since : since + len(sound) + late])) > _DISTURBED * max(
        noise, _DEAD
    )
    if disturbed or _least(heard, sound, slice(ends, len(sound))) > _UNHEARD:
        raise InputUnusable(_TOO_LOUD)
    if first is not None:
        return EchoPath("cancels", _db(first.level), first.delay_ms, noise)
    # Less noise than before may only mean that a noise has ended, but not less than before and
    # after.
    held_down = during < _HELD_DOWN * min(noise, after)
    return EchoPath("cancels" if held_down else "apart", _NONE_DB, 0.0, noise)


async def measure(player: Player, frames: AsyncIterator[Frame]) -> EchoPath:
    """Play the chirp and determine the echo path from `frames`, which come from an open microphone.

    Takes about 2.5 s, during which nothing else may play. Open the player's device first, because
    the time to open it would count as delay. Raises the errors of `player`, `frames` and `analyse`,
    and DeviceLost if the frames end.
    """
    played = chirp()
    wanted = len(played) + round(MOST_DELAY_SECONDS * SAMPLE_RATE)
    recorded = bytearray()
    # The first frame shows that the microphone is open; play nothing before it.
    await anext(frames, None)
    playing = asyncio.create_task(_play_out(player, played.tobytes()))
    try:
        async for frame in frames:
            recorded += frame.pcm
            if len(recorded) >= wanted * 2:
                break
        await playing
    finally:
        playing.cancel()
    if len(recorded) < wanted * 2:
        raise DeviceLost("The microphone stopped while the echo was measured: check its cable.")
    return analyse(played, np.frombuffer(bytes(recorded), np.int16))


async def _play_out(player: Player, pcm: bytes) -> None:
    await player.play(pcm, SAMPLE_RATE)
    await player.drain()


@dataclass(frozen=True, slots=True)
class _Found:
    level: float  # the echo's level as a share of the played level
    delay_ms: float


def _find(heard: Floats, sound: Floats, part: slice, noise: float) -> _Found | None:
    piece = sound[part]
    start = round(QUIET_SECONDS * SAMPLE_RATE) + part.start
    latest = start + round(MOST_DELAY_SECONDS * SAMPLE_RATE)
    filtered, sigma = _filter(heard, piece)
    at = start + int(np.argmax(filtered[start:latest]))
    if filtered[at] <= _FOUND * sigma or filtered[at] == 0.0:
        return None
    power = max(0.0, _rms(heard[at : at + len(piece)]) ** 2 - noise**2)
    # Another part of the chirp that is much louder than the noise also triggers the filter, but
    # weakly.
    its_own = (filtered[at] / (_rms(piece) * len(piece))) ** 2
    if its_own < _ITS_OWN * power:
        return None
    return _Found(np.sqrt(power) / _rms(piece), (at - start) / SAMPLE_RATE * 1000)


def _filter(heard: Floats, piece: Floats) -> tuple[Floats, float]:
    size = 1 << (len(heard) + len(piece)).bit_length()
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(piece, size))
    filtered = np.abs(np.fft.irfft(spectrum, size)[: len(heard)])
    return filtered, float(np.median(filtered)) / 0.6745  # for a normal distribution


def _least(heard: Floats, sound: Floats, part: slice) -> float:
    """Return the lowest level at which this part of the chirp would have been found in the
    noise."""
    piece = sound[part]
    _, sigma = _filter(heard, piece)
    return _FOUND * sigma / float(np.sum(piece**2))


def _by_pieces(heard: Floats) -> list[float]:
    size, step = round(_END_SECONDS * SAMPLE_RATE), SAMPLE_RATE // 50
    last = max(0, len(heard) - size)
    return [_rms(heard[at : at + size]) for at in range(0, last + 1, step)]


def _rms(samples: Floats) -> float:
    return float(np.sqrt(np.mean(samples**2))) if len(samples) else 0.0


def _db(share: float) -> float:
    return max(_NONE_DB, 20 * float(np.log10(max(share, 1e-9))))


# The active port (jack, built-in loudspeaker) of a sound server's device. One sink can have several
# outputs with the same name, and a measurement of its loudspeaker isn't valid for the headphones at
# its jack.


def ports_of(microphone: DeviceInfo, loudspeaker: DeviceInfo) -> tuple[str, str]:
    """Return the names of both devices' active ports, or "" for a device whose port is unknown.
    Blocks for at most 0.5 s. Raises InputUnusable if the sound server is needed but doesn't answer.
    """
    devices = (microphone, loudspeaker)
    if all(device.backend != "server" for device in devices):
        return "", ""
    try:
        with connection() as pulse:
            sources, sinks = pulse.source_list(), pulse.sink_list()
    except NoServer as error:
        raise InputUnusable(
            f"The sound server does not report which devices are plugged in: {error}."
        ) from error
    return _port(microphone, sources), _port(loudspeaker, sinks)


def _port(device: DeviceInfo, listed: list[Any]) -> str:
    if device.backend != "server":
        return ""
    for found in listed:
        if found.name == device.name and found.port_active is not None:
            return str(found.port_active.name)
    return ""


LIMIT_S = 6.5  # for a measurement, which takes 3 s, so that there is time for a second attempt
_CALL_S = 2.0  # for each call into the sound system
_OPENING = bytes(2 * SAMPLE_RATE // 10)  # silence that opens the loudspeaker


@dataclass(frozen=True, slots=True)
class Pair:
    input: DeviceInfo
    output: DeviceInfo
    channel: int | None  # the microphone's channel in use, from 1; None for the mean of all
    input_port: str = ""  # the sound server's name of the port in use; "" if there is none
    output_port: str = ""

    @property
    def obstacle(self) -> str:
        """A sentence that explains why the pair can't be measured now, or ""."""
        if self.input.monitor:
            return f"{self.input.name} is not a microphone: it records what a loudspeaker plays."
        for device in (self.input, self.output):
            if device.muted or device.volume == 0:
                how = "muted" if device.muted else "at volume 0"
                return f"{device.name} is {how} in the sound server: turn it on there."
        return ""

    @property
    def names(self) -> tuple[str, int | None, str]:
        """Names that identify the pair, even after a reboot."""
        return (
            _with_port(self.input.name, self.input_port),
            self.channel,
            _with_port(self.output.name, self.output_port),
        )


def find_pair(microphone: str, loudspeaker: str, channel: int | None = None) -> Pair:
    """Find the devices with these names, where "default" is the system's default. Blocks. Raises
    InputUnusable."""
    found = find_device(microphone, "input"), find_device(loudspeaker, "output")
    return Pair(*found, channel, *ports_of(*found))


async def measure_pair(pair: Pair, lead_in_ms: int = 0) -> EchoPath:
    """Open both devices, measure their echo path, and close them.

    Takes at most LIMIT_S (6.5 s) plus the time to close. `lead_in_ms` is the length of the silence
    that is played first, for a loudspeaker that has to wake up. Raises InputUnusable or DeviceLost
    if the measurement fails.
    """
    if pair.obstacle:
        raise InputUnusable(pair.obstacle)
    calls = BoundedCalls(_CALL_S)
    microphone = SteadyMicrophone(DeviceInput(pair.input.name, pair.channel), calls=calls)
    speaker = Speaker(pair.output.name, lead_in_ms, calls=calls)
    measuring = asyncio.create_task(_measure(microphone, speaker), name="echo measurement")
    gone: list[str] = []

    def changed(change: MicrophoneChange) -> None:
        if change.status is MicrophoneStatus.MISSING:
            gone.append(microphone.sentence)
            measuring.cancel()  # the microphone would search for its device forever

    microphone.on_change = changed
    try:
        await asyncio.wait({measuring}, timeout=LIMIT_S)
        if measuring.done() and not measuring.cancelled():
            return measuring.result()
        late = (
            f"The sound stuttered or stopped, so the echo could not be measured in {LIMIT_S:g} s."
        )
        raise DeviceLost(gone[0] if gone else late)
    finally:
        measuring.cancel()
        await asyncio.wait({measuring})
        await speaker.close()


async def _measure(microphone: SteadyMicrophone, speaker: Speaker) -> EchoPath:
    """Repeat the measurement until a recording has no gaps or two in a row give the same result.

    A recording with gaps can be misleading, because a device that cancels echo starts over after
    each gap.
    """
    player = speaker.stream("voice")
    await player.play(_OPENING, SAMPLE_RATE)
    await player.drain()
    before: EchoPath | None = None
    async with aclosing(microphone.frames()) as frames:
        while True:
            gaps = speaker.gaps + microphone.dropped
            path = await measure(player, frames)
            whole = speaker.gaps + microphone.dropped == gaps
            if whole or (before is not None and before.kind == path.kind):
                return path
            before = path


def _with_port(name: str, port: str) -> str:
    return f"{name} {port}" if port else name
