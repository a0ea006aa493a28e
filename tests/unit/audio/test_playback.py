"""One opening of a loudspeaker, with a fake PortAudio."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assistant.domain.clock import VirtualClock
from audio import playback
from audio.devices.portaudio import DeviceInfo
from audio.errors import DeviceLost, InputUnusable, Unlisted
from audio.mixer import RATE, Mixer
from audio.playback import BLOCK_MS, DevicePlayback

BLOCK = RATE * BLOCK_MS // 1000
SOUND = (np.sin(np.arange(RATE) * 0.05) * 8000).astype(np.int16)


class FakeStream:
    """The parts of sounddevice.RawOutputStream that are used."""

    latency = 0.06

    def __init__(self, portaudio: "FakePortAudio", **settings: Any) -> None:
        self.settings = settings
        self.active = False
        self.closed = False
        self._portaudio = portaudio

    def start(self) -> None:
        if self._portaudio.starts_with is not None:
            raise self._portaudio.PortAudioError(*self._portaudio.starts_with)
        self.active = True

    def abort(self, ignore_errors: bool = True) -> None:
        self.active = False

    def close(self, ignore_errors: bool = True) -> None:
        self.closed = True

    def pull(
        self, samples: int = BLOCK, delay: float | None = None, underflow: bool = False
    ) -> bytes:
        out = bytearray(samples * 2 * self.settings["channels"])
        time = None
        if delay is not None:
            time = SimpleNamespace(currentTime=7.0, outputBufferDacTime=7.0 + delay)
        self.settings["callback"](out, samples, time, SimpleNamespace(output_underflow=underflow))
        return bytes(out)


class FakePortAudio:
    """A PortAudio that accepts what the test sets; `open` counts the registered streams."""

    class PortAudioError(Exception):
        pass

    def __init__(self) -> None:
        self.rates = {RATE}
        self.channels = 1
        self.refusal = -9997
        self.starts_with: tuple[str, int] | None = None
        self.streams: list[FakeStream] = []
        self.checks = 0
        self.open = 0
        self.chosen = False
        self.refreshed = 0
        self.held = False  # another stream of the process is open
        self.served = False  # a sound server answers

    def check_output_settings(self, **settings: Any) -> None:
        self.checks += 1
        assert self.open
        assert self.chosen
        if settings["samplerate"] not in self.rates or settings["channels"] != self.channels:
            raise self.PortAudioError("no", self.refusal)

    def RawOutputStream(self, **settings: Any) -> FakeStream:  # noqa: N802 (PortAudio's name)
        self.streams.append(FakeStream(self, **settings))
        return self.streams[-1]

    def register(self) -> Callable[[], None]:
        self.open += 1
        taken = [True]

        def release() -> None:
            self.open -= taken[0]
            taken[0] = False

        return release

    def refresh(self) -> bool:
        assert not self.open
        if self.held:
            return False
        self.refreshed += 1
        return True

    @contextmanager
    def choose(self, device: DeviceInfo) -> Iterator[None]:
        self.chosen = True
        yield
        self.chosen = False


DEVICE = DeviceInfo("box", "output", 2, 44_100, default=True, index=3)


@pytest.fixture
def portaudio(monkeypatch: pytest.MonkeyPatch) -> FakePortAudio:
    fake = FakePortAudio()
    monkeypatch.setattr(playback, "load_portaudio", lambda: fake)
    monkeypatch.setattr(playback, "find_device", lambda name, kind: DEVICE)
    monkeypatch.setattr(playback, "register_stream", fake.register)
    monkeypatch.setattr(playback, "refresh", fake.refresh)
    monkeypatch.setattr(playback, "has_server", lambda: fake.served)
    monkeypatch.setattr(playback, "chosen", fake.choose)
    return fake


class Played:
    """A reference that records its calls."""

    def __init__(self) -> None:
        self.sound = bytearray()
        self.rates: set[int] = set()
        self.stalls: list[float] = []

    def played(self, pcm: bytes, rate: int) -> None:
        self.sound += pcm
        self.rates.add(rate)

    def stalled(self, seconds: float) -> None:
        self.stalls.append(seconds)


def made(reference: Played | None = None) -> tuple[DevicePlayback, Mixer, VirtualClock]:
    mixer, clock = Mixer(), VirtualClock()
    return DevicePlayback("box", mixer, clock, reference), mixer, clock


def test_the_device_pulls_the_mix_and_the_reference_hears_all_of_it(
    portaudio: FakePortAudio,
) -> None:
    reference = Played()
    opened, mixer, clock = made(reference)
    opened.open()
    assert opened.alive
    [stream] = portaudio.streams
    assert stream.settings["device"] == 3
    assert (stream.settings["samplerate"], stream.settings["channels"]) == (RATE, 1)
    silence = stream.pull()
    mixer.tracks["voice"].put(SOUND)
    clock.advance(0.5)
    sound = stream.pull()
    assert silence == bytes(2 * BLOCK)
    assert sound == SOUND[:BLOCK].tobytes()
    assert bytes(reference.sound) == silence + sound
    assert reference.rates == {RATE}
    assert opened.asked_at == 0.5
    assert portaudio.open == 1
    opened.close()
    opened.close()
    assert stream.closed
    assert not opened.alive
    assert portaudio.open == 0


@pytest.mark.parametrize(("told", "delay"), [(0.08, 0.08), (None, 0.06), (0.0, 0.06), (9e9, 0.06)])
def test_what_the_device_holds_is_not_heard_yet(
    portaudio: FakePortAudio, told: float | None, delay: float
) -> None:
    opened, mixer, _ = made()
    opened.open()
    voice = mixer.tracks["voice"]
    voice.put(SOUND)
    portaudio.streams[0].pull(BLOCK, told)
    assert voice.position(delay - 0.001) == 0
    assert voice.position(delay + 0.005) == pytest.approx(BLOCK / 2, abs=1)


@pytest.mark.parametrize(
    ("rates", "channels", "rate"),
    [({RATE}, 2, RATE), ({44_100}, 1, 44_100), ({16_000, 22_050}, 2, 22_050)],
)
def test_it_takes_what_the_device_offers(
    portaudio: FakePortAudio, rates: set[int], channels: int, rate: int
) -> None:
    portaudio.rates, portaudio.channels = rates, channels
    reference = Played()
    opened, mixer, _ = made(reference)
    opened.open()
    mixer.tracks["voice"].put(SOUND)
    [stream] = portaudio.streams
    assert stream.settings["samplerate"] == rate
    samples = rate * BLOCK_MS // 1000
    heard = np.frombuffer(b"".join(stream.pull(samples) for _ in range(110)), np.int16)
    left = heard[::channels]
    assert all(np.array_equal(left, heard[channel::channels]) for channel in range(channels))
    loud = np.flatnonzero(np.abs(left.astype(int)) > 400)
    assert loud[-1] - loud[0] == pytest.approx(rate, rel=0.01)
    assert np.abs(left.astype(int)).max() == pytest.approx(8000, rel=0.02)
    assert bytes(reference.sound) == left.tobytes()
    assert reference.rates == {rate}


def test_the_times_that_a_device_was_not_served_are_counted(portaudio: FakePortAudio) -> None:
    opened, _, _ = made()
    opened.open()
    for late in (False, True, False, True):
        portaudio.streams[0].pull(underflow=late)
    assert opened.gaps == 2


def test_the_reference_hears_the_silence_of_a_device_that_was_not_served(
    portaudio: FakePortAudio,
) -> None:
    reference = Played()
    opened, _, _ = made(reference)
    opened.open()
    stream = portaudio.streams[0]
    stream.pull(delay=0.05)
    stream.pull(delay=0.06)
    assert reference.stalls == []
    stream.pull(delay=0.15, underflow=True)
    assert reference.stalls == [pytest.approx(0.08)]
    stream.pull(underflow=True)  # of unknown length
    assert reference.stalls[1:] == [0.0]


def test_a_device_that_was_left_takes_nothing_more(portaudio: FakePortAudio) -> None:
    opened, mixer, _ = made()
    opened.open()
    mixer.tracks["voice"].put(SOUND)
    opened.leave()
    assert portaudio.streams[0].pull() == bytes(2 * BLOCK)
    assert mixer.tracks["voice"].handed == 0


def test_a_device_that_takes_no_format_is_lost(portaudio: FakePortAudio) -> None:
    portaudio.rates = set()
    with pytest.raises(DeviceLost, match=r"audio\.output"):
        made()[0].open()
    assert portaudio.checks > 6
    assert portaudio.open == 0


def test_a_device_that_does_not_answer_is_asked_once(portaudio: FakePortAudio) -> None:
    portaudio.rates, portaudio.refusal = set(), -9999
    with pytest.raises(DeviceLost):
        made()[0].open()
    assert portaudio.checks == 1
    assert portaudio.open == 0


def test_a_stream_that_does_not_start_is_closed(portaudio: FakePortAudio) -> None:
    portaudio.starts_with = ("Input/output error", -9999)
    opened = made()[0]
    with pytest.raises(DeviceLost):
        opened.open()
    assert [stream.closed for stream in portaudio.streams] == [True]
    assert portaudio.open == 0
    assert not opened.alive


@pytest.mark.parametrize("found", [True, False])
def test_a_device_that_is_not_listed_is_looked_for_anew(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    def find(name: str, kind: str) -> DeviceInfo:
        if portaudio.refreshed and found:
            return DEVICE
        raise InputUnusable("There is no loudspeaker.")

    monkeypatch.setattr(playback, "find_device", find)
    opened = made()[0]
    if found:
        opened.open()
        assert portaudio.open == 1
    else:
        with pytest.raises(InputUnusable, match="no loudspeaker"):
            opened.open()
        assert portaudio.open == 0
    assert portaudio.refreshed == 1


@pytest.mark.parametrize("rates", [{RATE}, {44_100}])
def test_a_look_opens_nothing(portaudio: FakePortAudio, rates: set[int]) -> None:
    portaudio.rates = rates
    looked, _, _ = made()
    looked.look()
    assert (portaudio.streams, portaudio.open, portaudio.chosen) == ([], 0, False)
    assert portaudio.checks


def test_a_look_at_a_server_asks_it_for_nothing_but_its_list(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = replace(DEVICE, backend="server", target="box")
    monkeypatch.setattr(playback, "find_device", lambda name, kind: served)
    looked, _, _ = made()
    looked.look()
    assert (portaudio.checks, portaudio.open) == (0, 0)


def test_a_look_tells_what_opening_would(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    portaudio.rates, portaudio.refusal = set(), -9985  # another program uses it
    looked, _, _ = made()
    with pytest.raises(DeviceLost, match="cannot be opened"):
        looked.look()
    assert portaudio.checks == 2, "it may have had another number in a new list"

    def nothing(name: str, kind: str) -> DeviceInfo:
        raise InputUnusable("There is no loudspeaker: plug one in.")

    monkeypatch.setattr(playback, "find_device", nothing)
    with pytest.raises(InputUnusable, match="plug one in"):
        looked.look()
    assert portaudio.refreshed == 2, "PortAudio has looked anew before"
    assert portaudio.open == 0


def returning(portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch) -> None:
    """List the device under its old number, which is refused until PortAudio is refreshed."""

    def find(name: str, kind: str) -> DeviceInfo:
        portaudio.rates = {RATE} if portaudio.refreshed else set()
        return replace(DEVICE, backend="alsa", index=3 if portaudio.refreshed else 1)

    monkeypatch.setattr(playback, "find_device", find)
    portaudio.refusal = -9985  # paDeviceUnavailable


def test_one_that_returns_under_another_number_is_found(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    returning(portaudio, monkeypatch)
    made()[0].look()
    assert portaudio.refreshed == 1
    assert portaudio.open == 0


@pytest.mark.parametrize(("served", "trouble"), [(False, Unlisted), (True, DeviceLost)])
def test_one_that_returns_while_another_stream_is_open_asks_for_a_new_list(
    portaudio: FakePortAudio,
    monkeypatch: pytest.MonkeyPatch,
    served: bool,
    trouble: type[Exception],
) -> None:
    returning(portaudio, monkeypatch)
    portaudio.held, portaudio.served = True, served
    with pytest.raises(trouble, match="cannot be opened"):
        made()[0].look()
    assert portaudio.open == 0


@pytest.mark.parametrize("how", ["look", "open"])
@pytest.mark.parametrize("served", [True, False])
def test_one_that_only_a_new_list_would_show_is_told_apart_where_no_server_lists_it(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch, how: str, served: bool
) -> None:
    def nothing(name: str, kind: str) -> DeviceInfo:
        raise InputUnusable("There is no loudspeaker: plug one in.")

    monkeypatch.setattr(playback, "find_device", nothing)
    portaudio.held, portaudio.served = True, served
    with pytest.raises(InputUnusable, match="plug one in") as caught:
        getattr(made()[0], how)()
    assert (caught.type is Unlisted) is not served
    assert portaudio.open == 0
