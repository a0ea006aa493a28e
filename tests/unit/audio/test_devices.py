"""Devices are listed and found by name, and every failure to find one tells what to do."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from audio.devices import DeviceInfo, find_device, list_devices
from audio.errors import InputUnusable


def device(index: int, name: str, inputs: int, outputs: int, rate: float = 48_000.0) -> Any:
    return {
        "index": index,
        "name": name,
        "max_input_channels": inputs,
        "max_output_channels": outputs,
        "default_samplerate": rate,
    }


DEVICES = [
    device(0, "USB PnP Audio: Audio (hw:1,0)", 1, 2, 44_100.0),
    device(1, "Jabra: USB (hw:2,0)", 1, 0),
    device(2, "Jabra: USB (hw:3,0)", 1, 0),
    device(3, "pulse", 32, 32),
    device(4, "HDMI: 0 (hw:0,3)", 0, 8),
]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A PortAudio with these devices; `pulse` is the default both ways."""
    fake = SimpleNamespace(
        query_devices=lambda: list(DEVICES), default=SimpleNamespace(device=[3, 3])
    )
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    return fake


@pytest.fixture
def deaf_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(query_devices=list, default=SimpleNamespace(device=[-1, -1]))
    monkeypatch.setitem(sys.modules, "sounddevice", fake)


def test_the_list_has_inputs_then_outputs(machine: Any) -> None:
    listed = list_devices()
    assert [(found.name, found.kind) for found in listed] == [
        ("USB PnP Audio: Audio", "input"),
        ("Jabra: USB (hw:2,0)", "input"),  # two of a kind keep what tells them apart
        ("Jabra: USB (hw:3,0)", "input"),
        ("pulse", "input"),
        ("USB PnP Audio: Audio", "output"),
        ("pulse", "output"),
        ("HDMI: 0", "output"),
    ]
    assert listed[0] == DeviceInfo("USB PnP Audio: Audio", "input", 1, 44_100, False, 0)
    assert [found.index for found in listed if found.default] == [3, 3]


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("default", 3),
        ("USB PnP Audio: Audio", 0),
        ("usb pnp", 0),
        ("Jabra: USB (hw:3,0)", 2),
    ],
)
def test_an_input_is_found(machine: Any, name: str, index: int) -> None:
    assert find_device(name, "input").index == index


def test_without_a_declared_default_the_first_is_taken(machine: Any) -> None:
    machine.default.device = [-1, -1]
    assert find_device("default", "input").index == 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [("jabra", "fits several devices"), ("Røde", "is not here"), ("HDMI: 0", "is not here")],
)
def test_what_is_not_found_names_what_there_is(machine: Any, name: str, reason: str) -> None:
    with pytest.raises(InputUnusable) as caught:
        find_device(name, "input")
    message = str(caught.value)
    assert reason in message
    assert "audio.input" in message
    assert "USB PnP Audio: Audio, Jabra: USB (hw:2,0), Jabra: USB (hw:3,0), pulse" in message


@pytest.mark.parametrize(
    ("kind", "said"), [("input", "no microphone"), ("output", "no loudspeaker")]
)
def test_a_machine_without_sound(deaf_machine: None, kind: Any, said: str) -> None:
    assert list_devices() == []
    with pytest.raises(InputUnusable, match=said) as caught:
        find_device("default", kind)
    assert f"audio.{kind}" in str(caught.value)


def test_without_portaudio_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "sounddevice":
                raise OSError("PortAudio library not found")

    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with pytest.raises(InputUnusable, match="apt install libportaudio2"):
        list_devices()
