"""A pair of devices, and its measurement when devices fail."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audio.device_status import MicrophoneChange, MicrophoneStatus
from audio.devices import server
from audio.devices.portaudio import DeviceInfo
from audio.echo import PathKind
from audio.echo import measure as pairs
from audio.echo.measure import EchoPath, Pair, chirp, find_pair, measure_pair, ports_of
from audio.errors import DeviceLost, InputUnusable
from audio.frames import FRAME_SAMPLES, Frame
from audio.player import NullPlayer
from tests.unit.audio.devices.fake_pulse import FakeServer, source

MICROPHONE = DeviceInfo("mic", "input", 1, 16_000, True, 4, muted=False, volume=1.0)
LOUDSPEAKER = DeviceInfo("speaker", "output", 2, 48_000, True, 5)
PAIR = Pair(MICROPHONE, LOUDSPEAKER, 2)
HEARD = [chirp(), np.zeros(16_000, np.int16)]


@pytest.mark.parametrize(
    ("microphone", "loudspeaker", "words"),
    [
        ({}, {}, ""),
        ({"monitor": True}, {}, "mic is not a microphone"),
        ({"muted": True}, {}, "mic is muted"),
        ({"volume": 0.0}, {}, "mic is at volume 0"),
        ({}, {"muted": True}, "speaker is muted"),
        ({}, {"volume": 0.0}, "speaker is at volume 0"),
        ({"muted": None, "volume": None}, {"volume": 0.01}, ""),
    ],
)
async def test_what_is_closed_is_not_measured(
    microphone: dict[str, Any], loudspeaker: dict[str, Any], words: str
) -> None:
    pair = Pair(replace(MICROPHONE, **microphone), replace(LOUDSPEAKER, **loudspeaker), None)
    assert words in pair.obstacle
    assert bool(pair.obstacle) is bool(words)
    if words:
        with pytest.raises(InputUnusable, match=words):
            await measure_pair(pair)


class Room:
    """Microphone and loudspeaker in one: what is played is heard, as far as `behaves` allows."""

    def __init__(self) -> None:
        self.behaves: Callable[[Room], Any] = lambda room: None
        self.open: set[str] = set()
        self.asked: list[Any] = []
        self.on_change: Callable[[MicrophoneChange], None] = lambda change: None
        self.sentence = "The microphone has gone."
        self.dropped = 0  # at the microphone
        self.gaps = 0  # at the loudspeaker
        self.tones = 1
        self.frame = 0  # in samples, of what is heard

    def microphone(self, device: Any, calls: Any) -> "Room":
        self.asked.append((device.name, device._channel))
        return self

    def speaker(self, name: str, lead_in_ms: int, calls: Any) -> "Room":
        self.asked.append((name, lead_in_ms))
        self.open.add("speaker")
        return self

    def stream(self, name: str) -> NullPlayer:
        return NullPlayer(paced=False)

    async def close(self) -> None:
        self.open.remove("speaker")

    async def frames(self) -> AsyncGenerator[Frame, None]:
        self.open.add("microphone")
        try:
            heard = np.concatenate([np.zeros(FRAME_SAMPLES, np.int16), *HEARD * self.tones])
            for at in range(0, len(heard) - FRAME_SAMPLES + 1, FRAME_SAMPLES):
                if at == 9_600:
                    waits = self.behaves(self)
                    if waits is not None:
                        await waits
                self.frame = at
                yield Frame(heard[at : at + FRAME_SAMPLES].tobytes(), at)
        finally:
            self.open.remove("microphone")

    def lose(self) -> Any:
        """Remove the microphone, which is then searched for without end."""
        self.on_change(MicrophoneChange(MicrophoneStatus.MISSING, ""))
        return asyncio.Event().wait()


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Room:
    here = Room()
    monkeypatch.setattr(pairs, "SteadyMicrophone", here.microphone)
    monkeypatch.setattr(pairs, "Speaker", here.speaker)
    return here


async def test_both_are_opened_by_name_and_closed(room: Room) -> None:
    path = await measure_pair(PAIR, 300)
    assert path.kind == "echo"
    assert room.asked == [("mic", 2), ("speaker", 300)]
    assert room.open == set()


@pytest.mark.parametrize("side", ["dropped", "gaps"])
async def test_what_stuttered_is_measured_again(room: Room, side: str) -> None:
    room.tones = 2
    room.behaves = lambda room: setattr(room, side, 1)
    assert (await measure_pair(PAIR)).kind == "echo"
    assert room.frame > 40_000, "the first attempt has counted"


async def test_two_that_stuttered_count_if_they_agree(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[PathKind] = ["echo", "cancels", "cancels"]

    async def stutter(player: Any, frames: Any) -> EchoPath:
        room.gaps += 1
        return EchoPath(told.pop(0), -6.0, 120.0, 12.0)

    monkeypatch.setattr(pairs, "measure", stutter)
    assert (await measure_pair(PAIR)).kind == "cancels"
    assert told == []


async def test_a_microphone_that_goes_ends_it_at_once(room: Room) -> None:
    room.behaves = Room.lose
    with pytest.raises(DeviceLost, match="microphone has gone"):
        await measure_pair(PAIR)
    assert room.open == set()


async def test_a_device_that_hangs_has_its_time(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "LIMIT_S", 0.01)
    room.behaves = lambda _: asyncio.Event().wait()
    with pytest.raises(DeviceLost, match=r"in 0\.01 s"):
        await measure_pair(PAIR)
    assert room.open == set()


async def test_who_waits_may_leave(room: Room) -> None:
    opened = asyncio.Event()

    def hang(room: Room) -> Any:
        opened.set()
        return asyncio.Event().wait()

    room.behaves = hang
    measuring = asyncio.create_task(measure_pair(PAIR))
    await opened.wait()
    measuring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await measuring
    assert room.open == set()


# The jack in use distinguishes pairs.


SERVED_MICROPHONE = DeviceInfo("card", "input", 1, 16_000, True, 4, backend="server")
SERVED_LOUDSPEAKER = DeviceInfo("card", "output", 2, 48_000, True, 5, backend="server")


def port(name: str) -> Any:
    return SimpleNamespace(name=name)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """One card whose two sides have the same name."""
    fake = FakeServer(
        sources=[source("card", 0, port_active=port("mic"))],
        sinks=[source("card", 0, port_active=port("speaker")), source("null", 1, port_active=None)],
    )
    monkeypatch.setattr(server, "load_pulsectl", lambda: fake.module)
    monkeypatch.setattr(server, "ANSWER_S", 0.05)
    return fake


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, DeviceInfo]:
    devices = {"input": SERVED_MICROPHONE, "output": SERVED_LOUDSPEAKER}
    monkeypatch.setattr(pairs, "find_device", lambda name, kind: devices[kind])
    return devices


def test_each_side_has_the_port_of_its_own_list(fake: FakeServer) -> None:
    assert ports_of(SERVED_MICROPHONE, SERVED_LOUDSPEAKER) == ("mic", "speaker")
    assert ports_of(SERVED_MICROPHONE, replace(SERVED_LOUDSPEAKER, name="null")) == ("mic", "")
    assert ports_of(replace(SERVED_MICROPHONE, name="gone"), SERVED_LOUDSPEAKER) == ("", "speaker")
    assert fake.open == 0


def test_without_a_server_nobody_is_asked(fake: FakeServer) -> None:
    fake.up = False
    apart = [replace(device, backend="alsa") for device in (SERVED_MICROPHONE, SERVED_LOUDSPEAKER)]
    assert ports_of(*apart) == ("", "")
    mixed = replace(SERVED_MICROPHONE, backend="alsa"), SERVED_LOUDSPEAKER
    fake.up = True
    assert ports_of(*mixed) == ("", "speaker")


@pytest.mark.parametrize("state", ["down", "hangs"])
def test_a_server_that_does_not_answer_leaves_the_pair_unknown(
    fake: FakeServer, found: dict[str, DeviceInfo], state: str
) -> None:
    fake.up, fake.hangs = state != "down", state == "hangs"
    with pytest.raises(InputUnusable, match="sound server"):
        find_pair("default", "default")
    assert fake.open == 0


def test_another_jack_of_the_same_card_is_another_pair(
    fake: FakeServer, found: dict[str, DeviceInfo]
) -> None:
    names = {find_pair("default", "default").names}
    fake.sinks[0].port_active = port("headphones")
    names.add(find_pair("default", "default").names)
    fake.sources[0].port_active = port("headset-mic")
    names.add(find_pair("default", "default").names)
    assert len(names) == 3
    fake.sinks[0].port_active, fake.sources[0].port_active = port("speaker"), port("mic")
    assert find_pair("default", "default").names in names


def test_devices_without_ports_are_called_as_they_are() -> None:
    assert Pair(SERVED_MICROPHONE, SERVED_LOUDSPEAKER, 2).names == ("card", 2, "card")
