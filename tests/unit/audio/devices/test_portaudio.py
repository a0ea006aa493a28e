"""PortAudio starts anew only where no stream would lose the ground under it."""

import sys
from types import SimpleNamespace

import pytest

from audio.devices import list_devices
from audio.devices.portaudio import load_portaudio, refresh, register_stream
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
    microphone()  # closing twice is one closing
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
