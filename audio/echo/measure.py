"""Measuring what a microphone hears of a loudspeaker: a chirp is played once per pair.

The chirp rises from 300 to 3400 Hz in 0.7 s. In a recording it is found by its matched filter,
which lifts it 30 dB out of noise. Half a second of quiet before and after it tells the noise.
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
QUIET_SECONDS = 0.5  # before and after the chirp, in what is played
_NONE_DB = -100.0
LEVEL = 6_000  # int16 peak: to be heard, not to be afraid of
_FADE_SECONDS = 0.02
_LOWEST_HZ, _HIGHEST_HZ = 300.0, 3_400.0
MOST_DELAY_SECONDS = 0.8  # from the hand-over to the microphone's frame
_BEGINNING_SECONDS = 0.2  # of the chirp: what a device that cancels may let through
_END_SECONDS = 0.35
_FOUND = 8.0  # the matched filter's peak over its own noise from which a piece was heard
_ITS_OWN = 0.02  # of the power that was found, at least: it is the piece, and not another one
_DEAD = 2.0  # int16 RMS: below that a microphone gives no sound at all
_CLOSED = 0.15  # of the room's noise: a microphone that still hears does not fall so low
_HELD_DOWN = 0.5  # of the room's noise: whoever takes echo out takes some noise with it
_AFTER_SECONDS = 0.4  # at the end of the recording: the room's noise once more
_WEAK = 0.003  # of what was played (-50 dB): an echo that nothing needs to take out
_FADED = 0.1  # of the beginning's level: an echo that ends so is being taken out
_UNHEARD = (
    0.0126  # of what was played (-38 dB): where a louder echo may go unheard, nothing is known
)
_DISTURBED = 2.5  # times the noise before: something else sounded

_GAVE_NOTHING = (
    "The microphone gave digital silence while its echo was measured: unmute it, at the device."
)
_FELL_SILENT = (
    "The microphone fell silent while its echo was measured, and stayed so: unmute it, at the "
    "device."
)
_TOO_LOUD = (
    "It was too loud in the room to measure the echo: run `hearth devices --measure` when it is "
    "quiet."
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EchoPath:
    """Result of measuring one pair of devices."""

    # echo: to be taken out. apart: none to be heard (headphones, another room). cancels: a short
    # piece comes through, then nothing: the device takes it out. deaf: closed while it plays.
    kind: PathKind
    level_db: float  # of the echo against what was played, both as int16; -100 where none is
    delay_ms: float  # from the hand-over to the frame that holds it; 0 where none is
    noise_rms: float  # int16, of the room

    def to_dict(self) -> dict[str, Any]:
        """As plain values, to be kept."""
        return asdict(self)

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> "EchoPath | None":
        """Read what `to_dict` gave; None where it is not that (any more)."""
        try:
            kind = kept["kind"]
            figures = (float(kept[name]) for name in ("level_db", "delay_ms", "noise_rms"))
            return cls(kind, *figures) if kind in get_args(PathKind) else None
        except (KeyError, TypeError, ValueError):
            return None


def chirp() -> NDArray[np.int16]:
    """Make what is played: quiet, the chirp, quiet; mono at SAMPLE_RATE."""
    t = np.arange(round(CHIRP_SECONDS * SAMPLE_RATE)) / SAMPLE_RATE
    slope = (_HIGHEST_HZ - _LOWEST_HZ) / CHIRP_SECONDS
    wave = np.sin(2 * np.pi * (_LOWEST_HZ * t + slope * t**2 / 2))
    edge = np.minimum(1.0, np.minimum(t, CHIRP_SECONDS - t) / _FADE_SECONDS)
    quiet = np.zeros(round(QUIET_SECONDS * SAMPLE_RATE))
    return np.concatenate([quiet, LEVEL * wave * edge, quiet]).astype(np.int16)


def analyse(played: NDArray[np.int16], recorded: NDArray[np.int16]) -> EchoPath:
    """Judge a recording that began when `played` (as `chirp` gives it) was handed over.

    Both mono int16 at SAMPLE_RATE. The recording should last as long, and longer by
    MOST_DELAY_SECONDS. Raises ValueError when it is shorter than what was played, InputUnusable
    when it tells nothing of the path: the microphone was muted, all the time or from then on, or
    an echo could not have been heard in what else sounded.
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
        raise InputUnusable(_GAVE_NOTHING)  # it was switched on too late
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
    # Less noise than before may be a noise that has ended; less than before and after is not.
    held_down = during < _HELD_DOWN * min(noise, after)
    return EchoPath("cancels" if held_down else "apart", _NONE_DB, 0.0, noise)


async def measure(player: Player, frames: AsyncIterator[Frame]) -> EchoPath:
    """Play the chirp and judge what `frames`, of a microphone that is open, bring back of it.

    Takes about 2.5 s, in which nothing else may be played. `player` should have its device open:
    what opening takes counts as delay. Raises what the two and `analyse` raise, and DeviceLost when
    the frames end.
    """
    played = chirp()
    wanted = len(played) + round(MOST_DELAY_SECONDS * SAMPLE_RATE)
    recorded = bytearray()
    # The first frame tells that the microphone is open; before it nothing is played.
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
        raise DeviceLost("The microphone ended while the echo was measured: check its plug.")
    return analyse(played, np.frombuffer(bytes(recorded), np.int16))


async def _play_out(player: Player, pcm: bytes) -> None:
    """Return when it has sounded; a loudspeaker that goes half-way raises."""
    await player.play(pcm, SAMPLE_RATE)
    await player.drain()


@dataclass(frozen=True, slots=True)
class _Found:
    level: float  # of the echo, as a share of what was played
    delay_ms: float


def _find(heard: Floats, sound: Floats, part: slice, noise: float) -> _Found | None:
    """Find that part of the chirp in the recording by its matched filter, if it is there."""
    piece = sound[part]
    start = round(QUIET_SECONDS * SAMPLE_RATE) + part.start
    latest = start + round(MOST_DELAY_SECONDS * SAMPLE_RATE)
    filtered, sigma = _filter(heard, piece)
    at = start + int(np.argmax(filtered[start:latest]))
    if filtered[at] <= _FOUND * sigma or filtered[at] == 0.0:
        return None
    power = max(0.0, _rms(heard[at : at + len(piece)]) ** 2 - noise**2)
    # Another part of the chirp, much louder than the noise, also answers the filter, but weakly.
    its_own = (filtered[at] / (_rms(piece) * len(piece))) ** 2
    if its_own < _ITS_OWN * power:
        return None
    return _Found(np.sqrt(power) / _rms(piece), (at - start) / SAMPLE_RATE * 1000)


def _filter(heard: Floats, piece: Floats) -> tuple[Floats, float]:
    """The recording through the piece's matched filter, and how much noise is in that."""
    size = 1 << (len(heard) + len(piece)).bit_length()
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(piece, size))
    filtered = np.abs(np.fft.irfft(spectrum, size)[: len(heard)])
    return filtered, float(np.median(filtered)) / 0.6745  # of a normal distribution


def _least(heard: Floats, sound: Floats, part: slice) -> float:
    """The level from which on that part of the chirp would have been found in this noise."""
    piece = sound[part]
    _, sigma = _filter(heard, piece)
    return _FOUND * sigma / float(np.sum(piece**2))


def _by_pieces(heard: Floats) -> list[float]:
    """The RMS of each _END_SECONDS of it: nobody knows how late the device reacts."""
    size, step = round(_END_SECONDS * SAMPLE_RATE), SAMPLE_RATE // 50
    last = max(0, len(heard) - size)
    return [_rms(heard[at : at + size]) for at in range(0, last + 1, step)]


def _rms(samples: Floats) -> float:
    return float(np.sqrt(np.mean(samples**2))) if len(samples) else 0.0


def _db(share: float) -> float:
    return max(_NONE_DB, 20 * float(np.log10(max(share, 1e-9))))


# Through which port (jack, built-in loudspeaker) a device of the sound server works just now.
#
# One sink may stand for two ways into the room: what is true of its loudspeaker is not of the
# headphones at its jack, though the server calls both the same.


def ports_of(microphone: DeviceInfo, loudspeaker: DeviceInfo) -> tuple[str, str]:
    """The names of their active ports, "" where a device has none or is not the server's.

    Blocking, at most as long as the server may take to answer. Raises InputUnusable where a device
    is the server's and it does not answer.
    """
    devices = (microphone, loudspeaker)
    if all(device.backend != "server" for device in devices):
        return "", ""
    try:
        with connection() as pulse:
            sources, sinks = pulse.source_list(), pulse.sink_list()
    except NoServer as error:
        raise InputUnusable(
            f"The sound server does not say what is plugged in: {error}."
        ) from error
    return _port(microphone, sources), _port(loudspeaker, sinks)


def _port(device: DeviceInfo, listed: list[Any]) -> str:
    if device.backend != "server":
        return ""
    for found in listed:
        if found.name == device.name and found.port_active is not None:
            return str(found.port_active.name)
    return ""


LIMIT_S = 6.5  # of a measurement, which takes 3: time for a second attempt
_CALL_S = 2.0  # of each call into the sound system
_OPENING = bytes(2 * SAMPLE_RATE // 10)  # silence that opens the loudspeaker


@dataclass(frozen=True, slots=True)
class Pair:
    """Two devices of this machine, as they are now."""

    input: DeviceInfo
    output: DeviceInfo
    channel: int | None  # the microphone's that is listened to, from 1; None: the mean of all
    input_port: str = ""  # the sound server's name for the jack in use, "" where there is none
    output_port: str = ""

    @property
    def obstacle(self) -> str:
        """Why nothing can be learnt of them now, a sentence; "" where something can."""
        if self.input.monitor:
            return f"{self.input.name} is no microphone: it records what a loudspeaker plays."
        for device in (self.input, self.output):
            if device.muted or device.volume == 0:
                how = "muted" if device.muted else "at volume 0"
                return f"{device.name} is {how} at the sound server: switch it on there."
        return ""

    @property
    def names(self) -> tuple[str, int | None, str]:
        """Names that tell this pair from others, the same after a reboot."""
        return (
            _with_port(self.input.name, self.input_port),
            self.channel,
            _with_port(self.output.name, self.output_port),
        )


def find_pair(microphone: str, loudspeaker: str, channel: int | None = None) -> Pair:
    """The devices of these names, "default" for the system's choice. Blocking.

    Raises InputUnusable.
    """
    found = find_device(microphone, "input"), find_device(loudspeaker, "output")
    return Pair(*found, channel, *ports_of(*found))


async def measure_pair(pair: Pair, lead_in_ms: int = 0) -> EchoPath:
    """Open both, play the chirp, and close both: LIMIT_S, and the closing of devices that hang.

    `lead_in_ms`: of silence for a loudspeaker that sleeps. Raises InputUnusable and DeviceLost
    where nothing was learnt.
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
            measuring.cancel()  # it would be looked for without end

    microphone.on_change = changed
    try:
        await asyncio.wait({measuring}, timeout=LIMIT_S)
        if measuring.done() and not measuring.cancelled():
            return measuring.result()
        late = f"The sound stuttered or stood still: no measurement of the echo in {LIMIT_S:g} s."
        raise DeviceLost(gone[0] if gone else late)
    finally:
        measuring.cancel()
        await asyncio.wait({measuring})
        await speaker.close()


async def _measure(microphone: SteadyMicrophone, speaker: Speaker) -> EchoPath:
    """Until one is whole, or two say the same: a tone with gaps may mislead, as a device that
    takes echo out has to begin anew behind each."""
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
