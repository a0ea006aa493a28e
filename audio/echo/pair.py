"""One microphone with one loudspeaker: who they are, and how they are measured together."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from audio.bounded import BoundedCalls
from audio.device_status import MicrophoneChange, MicrophoneStatus
from audio.devices import DeviceInfo, find_device
from audio.devices.server import NoServer, connection
from audio.echo.measure import EchoPath, measure
from audio.errors import DeviceLost, InputUnusable
from audio.frames import SAMPLE_RATE
from audio.speaker import Speaker
from audio.steady import SteadyMicrophone
from audio.steady_parts import DeviceInput

#
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
        """What tells this pair from others, the same after a reboot."""
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
