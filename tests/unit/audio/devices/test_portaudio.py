"""PortAudio is refreshed only while no stream is open."""

import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from assistant.domain.clock import VirtualClock
from audio.devices import list_devices
from audio.devices.portaudio import (
    DeviceList,
    is_heavy,
    load_portaudio,
    refresh,
    register_stream,
    wanted,
)
from audio.errors import InputUnusable


class FakePortAudio(SimpleNamespace):
    class PortAudioError(Exception):
        pass

    def __init__(self) -> None:
        super().__init__()
        self._initialized = 1
        self.starts = 0
        self.refuses = False

    def _terminate(self) -> None:
        assert self._initialized
        self._initialized -= 1

    def _initialize(self) -> None:
        if self.refuses:
            raise self.PortAudioError("no host API")
        self._initialized += 1
        self.starts += 1


@pytest.fixture
def portaudio(monkeypatch: pytest.MonkeyPatch) -> FakePortAudio:
    fake = FakePortAudio()
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    return fake


def test_it_starts_anew_when_the_last_stream_is_closed(portaudio: FakePortAudio) -> None:
    microphone, loudspeaker = register_stream(), register_stream()
    assert not refresh()
    microphone()
    microphone()  # releasing twice counts once
    assert not refresh()
    loudspeaker()
    assert refresh()
    assert (portaudio.starts, portaudio._initialized) == (1, 1)


def test_a_start_that_failed_is_tried_again(portaudio: FakePortAudio) -> None:
    portaudio.refuses = True
    with pytest.raises(InputUnusable, match="no host API"):
        refresh()
    portaudio.refuses = False
    assert refresh()
    assert portaudio._initialized == 1


def test_without_portaudio_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "sounddevice":
                raise OSError("PortAudio library not found")

    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    for call in (list_devices, load_portaudio, refresh):
        with pytest.raises(InputUnusable, match="apt install libportaudio2"):
            call()


# ALSA plugins that are left out.


_LOADS = """\
import sys
from audio.devices import raw_devices
raw_devices()
sys.exit("libavcodec" in open("/proc/self/maps").read())
"""


@pytest.mark.parametrize(
    ("name", "heavy"),
    [
        ("libasound_module_pcm_a52.so", True),
        ("libasound_module_rate_lavrate_high.so", True),
        ("libasound_module_pcm_pulse.so", False),
        ("libasound_module_rate_speexrate.so", False),
    ],
)
def test_what_brings_ffmpeg_is_heavy(name: str, heavy: bool) -> None:
    assert is_heavy(name) is heavy


def test_what_a_person_has_set_up_is_kept() -> None:
    assert wanted(["", 'defaults.pcm.rate_converter "lavrate_high"'])
    assert not wanted(["pcm.!default { type pulse }", ""])


def test_the_list_of_devices_brings_no_ffmpeg() -> None:
    done = subprocess.run([sys.executable, "-c", _LOADS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# When a new device list is due, and events during the refresh.


async def at_once(work: Callable[[], bool]) -> bool:
    return work()


class PortAudio:
    def __init__(self) -> None:
        self.makes: bool | InputUnusable = True
        self.asked: list[str] = []
        self.meanwhile: Callable[[], None] = lambda: None

    async def before(self) -> None:
        self.asked.append("before")

    def refresh(self) -> bool:
        self.asked.append("refresh")
        self.meanwhile()
        if isinstance(self.makes, InputUnusable):
            raise self.makes
        return self.makes


def listed() -> tuple[DeviceList, PortAudio, VirtualClock]:
    portaudio, clock = PortAudio(), VirtualClock()
    return DeviceList(portaudio.refresh, portaudio.before, clock), portaudio, clock


async def test_it_is_old_at_first_after_news_and_after_a_while() -> None:
    made, portaudio, clock = listed()
    assert made.is_old(10), "nobody knows what came before us"
    assert await made.renew(at_once)
    assert portaudio.asked == ["before", "refresh"]
    assert not made.is_old(10)
    made.changed()
    assert made.is_old(10)
    assert await made.renew(at_once)
    clock.advance(9.9)
    assert not made.is_old(10)
    clock.advance(0.2)
    assert made.is_old(10)


@pytest.mark.parametrize("makes", [False, InputUnusable("PortAudio does not start again.")])
@pytest.mark.parametrize("once", [False, True])
async def test_one_that_was_not_made_is_still_due_unless_it_was_for_once(
    makes: bool | InputUnusable, once: bool
) -> None:
    made, portaudio, clock = listed()
    portaudio.makes = makes
    if isinstance(makes, InputUnusable):
        with pytest.raises(InputUnusable):
            await made.renew(at_once, once=once)
    else:
        assert not await made.renew(at_once, once=once)
    assert made.is_old(10) is not once
    clock.advance(10)
    assert made.is_old(10)


@pytest.mark.parametrize("makes", [True, False])
@pytest.mark.parametrize("once", [False, True])
async def test_what_comes_meanwhile_is_news_for_the_next(makes: bool, once: bool) -> None:
    made, portaudio, _ = listed()
    portaudio.makes = makes
    portaudio.meanwhile = made.changed
    assert await made.renew(at_once, once=once) is makes
    assert made.is_old(10)
