"""Listing devices and finding them by name; every failure names what to do."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from audio import devices as find
from audio.devices import chosen, find_device, list_devices, server_out_of_reach
from audio.devices.portaudio import DeviceInfo, Kind
from audio.devices.server import NoServer, ServerDevice, usb_names
from audio.errors import InputUnusable
from tests.unit.audio.devices.test_server import JABRA as USB_JABRA
from tests.unit.audio.devices.test_server import plug

NO_CARD = -1


def device(index: int, name: str, inputs: int, outputs: int, rate: float = 48_000.0) -> Any:
    return {
        "index": index,
        "name": name,
        "max_input_channels": inputs,
        "max_output_channels": outputs,
        "default_samplerate": rate,
    }


CARDS = [
    device(0, "USB PnP Audio: Audio (hw:1,0)", 1, 2, 44_100.0),
    device(1, "Jabra: USB (hw:2,0)", 1, 0),
    device(2, "Jabra: USB (hw:3,0)", 1, 0),
    device(3, "sysdefault", 32, 32),
    device(4, "HDMI: 0 (hw:0,3)", 0, 8),
]
WITH_SERVER = [*CARDS, device(5, "pulse", 32, 32), device(6, "default", 32, 32)]


def served(name: str, kind: Kind = "input", **more: Any) -> ServerDevice:
    plain = {
        "description": f"The {name}",
        "channels": 2,
        "rate": 44_100,
        "default": False,
        "monitor": False,
        "suspended": False,
        "muted": False,
        "volume": 1.0,
        "card": NO_CARD,
        "index": 0,
    }
    return ServerDevice(name=name, kind=kind, **{**plain, **more})


JABRA = "alsa_input.usb-Jabra_SPEAK_510-00.mono"
SERVED = [
    served("alsa_output.pci.monitor", monitor=True, default=True),
    served(JABRA, card=2, muted=True, volume=0.4),
    served("alsa_input.pci", description="Built-in"),
    served("alsa_output.pci", "output", default=True, card=0),
]
Give = Callable[..., SimpleNamespace]


@pytest.fixture
def give(monkeypatch: pytest.MonkeyPatch) -> Give:
    """Install a PortAudio with these devices, and a server with those or none at all."""

    def make(raw: list[Any], default: int = 3, server: list[ServerDevice] | None = None) -> Any:
        def ask() -> list[ServerDevice]:
            if server is None:
                raise NoServer("nobody listens")
            return server

        fake = SimpleNamespace(
            query_devices=lambda: list(raw), default=SimpleNamespace(device=[default, default])
        )
        monkeypatch.setitem(sys.modules, "sounddevice", fake)
        monkeypatch.setattr(find, "server_devices", ask)
        monkeypatch.setattr(find, "usb_names", lambda sys: {})
        return fake

    return make


def names(devices: list[DeviceInfo]) -> list[tuple[str, str]]:
    return [(found.kind, found.name) for found in devices]


@pytest.mark.parametrize("raw", [CARDS, [*CARDS, device(5, "pulse", 0, 0)]])
def test_the_list_has_inputs_then_outputs(give: Give, raw: list[Any]) -> None:
    give(raw)
    listed = list_devices()
    assert names(listed) == [
        ("input", "USB PnP Audio: Audio"),
        ("input", "Jabra: USB (hw:2,0)"),  # equal names are told apart by ALSA's numbers
        ("input", "Jabra: USB (hw:3,0)"),
        ("input", "sysdefault"),
        ("output", "USB PnP Audio: Audio"),
        ("output", "sysdefault"),
        ("output", "HDMI: 0"),
    ]
    name = "USB PnP Audio: Audio"
    assert listed[0] == DeviceInfo(name, "input", 1, 44_100, False, 0, description=name)
    assert [found.index for found in listed if found.default] == [3, 3]


def test_a_usb_card_that_the_kernel_shows_under_another_number_is_found_again(
    give: Give, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Read from the kernel's device tree: card 1 is removed and returns as card 4 beside a new
    one."""

    def machine(*raw: Any) -> None:
        give(list(raw))
        monkeypatch.setattr(find, "usb_names", usb_names)

    plug(tmp_path / "before", 1, "1-1", **USB_JABRA)
    machine(device(0, "Jabra: USB (hw:1,0)", 1, 2), device(1, "HDMI (hw:0,0)", 0, 2))
    name = find_device("Jabra: USB", "input", sys=tmp_path / "before").name
    assert name == "usb:0b0e:0412:501AA5C0"

    machine(device(0, "HDMI (hw:0,0)", 0, 2))
    (tmp_path / "away" / "class" / "sound").mkdir(parents=True)
    with pytest.raises(InputUnusable, match="There is no microphone"):
        find_device(name, "input", sys=tmp_path / "away")

    plug(tmp_path / "after", 1, "1-2", idVendor="0d8c", idProduct="0014")
    plug(tmp_path / "after", 4, "1-3", **USB_JABRA)
    machine(
        device(0, "Other: USB (hw:1,0)", 1, 2),
        device(1, "Jabra: USB (hw:4,0)", 1, 2),
        device(2, "HDMI (hw:0,0)", 0, 2),
    )
    found = [find_device(name, kind, sys=tmp_path / "after") for kind in ("input", "output")]
    assert [(one.index, one.description) for one in found] == [(1, "Jabra: USB")] * 2


def test_a_usb_card_keeps_its_name_under_another_number(
    give: Give, monkeypatch: pytest.MonkeyPatch
) -> None:
    jabra = "usb:0b0e:0412:501AA5C0"
    for number in (1, 4):
        raw = [device(0, f"Jabra: USB (hw:{number},0)", 1, 2), device(1, "HDMI (hw:0,0)", 0, 2)]
        raw.append(device(2, f"Jabra: USB (hw:{number},1)", 1, 0))
        give(raw, default=1)
        monkeypatch.setattr(find, "usb_names", lambda sys, number=number: {number: jabra})
        found = find_device(jabra, "input")
        assert (found.index, found.name, found.usb) == (0, jabra, jabra)
        assert found.description == "Jabra: USB"
        assert find_device(f"{jabra},1", "input").index == 2  # the second device of the card


def test_sys_can_be_another(give: Give, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    give(CARDS)
    monkeypatch.setattr(find, "usb_names", lambda sys: {1: "usb:1:2"} if sys == tmp_path else {})
    assert list_devices(sys=tmp_path)[0].name == "usb:1:2"


def test_a_server_is_listed_with_the_cards_it_leaves_alone(give: Give) -> None:
    give(WITH_SERVER, default=6, server=SERVED)
    listed = list_devices()
    assert names(listed) == [
        ("input", JABRA),
        ("input", "alsa_input.pci"),
        ("input", "USB PnP Audio: Audio"),
        ("input", "Jabra: USB (hw:3,0)"),
        ("output", "alsa_output.pci"),
        ("output", "USB PnP Audio: Audio"),
    ]
    assert listed[0] == DeviceInfo(
        JABRA,
        "input",
        2,
        44_100,
        False,
        5,
        description=f"The {JABRA}",
        backend="server",
        muted=True,
        volume=0.4,
        target=JABRA,
    )
    assert [found.name for found in list_devices(monitors=True) if found.monitor] == [
        "alsa_output.pci.monitor"
    ]


def test_a_server_that_does_not_answer_leaves_portaudio(give: Give) -> None:
    give(WITH_SERVER, default=6)
    assert find_device("default", "input") == DeviceInfo(
        "default", "input", 32, 48_000, True, 6, description="default"
    )


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("default", 3),
        ("USB PnP Audio: Audio", 0),
        ("usb pnp", 0),
        ("Jabra: USB (hw:3,0)", 2),
    ],
)
def test_an_input_is_found(give: Give, name: str, index: int) -> None:
    give(CARDS)
    assert find_device(name, "input").index == index


@pytest.mark.parametrize(
    ("name", "found", "target"),
    [
        (JABRA, JABRA, JABRA),
        ("speak_510", JABRA, JABRA),
        ("usb:0b0e:0412", JABRA, JABRA),
        ("Built-in", "alsa_input.pci", "alsa_input.pci"),
        # the server's default is a monitor, so the first microphone is used
        ("default", JABRA, JABRA),
        ("alsa_output.pci.monitor", "alsa_output.pci.monitor", "alsa_output.pci.monitor"),
        ("pulse", "pulse", None),  # PortAudio's name
    ],
)
def test_a_source_is_found(
    give: Give, monkeypatch: pytest.MonkeyPatch, name: str, found: str, target: str | None
) -> None:
    give(WITH_SERVER, default=6, server=SERVED)
    monkeypatch.setattr(find, "usb_names", lambda sys: {2: "usb:0b0e:0412"})
    device = find_device(name, "input")
    assert (device.name, device.target, device.index) == (found, target, 5)


def test_the_servers_own_choice_is_left_to_it(give: Give) -> None:
    give(WITH_SERVER, default=6, server=SERVED)
    found = find_device("default", "output")
    assert (found.name, found.target, found.index) == ("alsa_output.pci", None, 5)


def test_of_two_with_one_name_the_first_is_taken(give: Give) -> None:
    twice = [served("mic", rate=16_000), served("mic", rate=48_000)]
    give(WITH_SERVER, default=6, server=twice)
    assert find_device("mic", "input").rate == 16_000


@pytest.mark.parametrize(
    ("raw", "server", "out_of_reach"),
    [(CARDS, SERVED, True), (CARDS, None, False), (WITH_SERVER, SERVED, False)],
)
def test_a_server_without_a_way_to_it(
    give: Give, raw: list[Any], server: list[ServerDevice] | None, out_of_reach: bool
) -> None:
    give(raw, server=server)
    assert server_out_of_reach() is out_of_reach


def test_a_monitor_is_no_microphone(give: Give) -> None:
    give([device(5, "pulse", 32, 32)], default=5, server=[SERVED[0], SERVED[3]])
    for name in ("default", "alsa_output"):
        with pytest.raises(InputUnusable, match="There is no microphone"):
            find_device(name, "input")


def test_without_a_declared_default_the_first_is_taken(give: Give) -> None:
    give(CARDS, default=-1)
    assert find_device("default", "input").index == 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [("jabra", "matches several devices"), ("Røde", "is not here"), ("HDMI: 0", "is not here")],
)
def test_what_is_not_found_names_what_there_is(give: Give, name: str, reason: str) -> None:
    give(CARDS)
    with pytest.raises(InputUnusable) as caught:
        find_device(name, "input")
    message = str(caught.value)
    assert reason in message
    assert "audio.input" in message
    assert "USB PnP Audio: Audio, Jabra: USB (hw:2,0), Jabra: USB (hw:3,0), sysdef" in message


@pytest.mark.parametrize(
    ("kind", "said"), [("input", "no microphone"), ("output", "no loudspeaker")]
)
def test_a_machine_without_sound(give: Give, kind: Any, said: str) -> None:
    give([], default=-1)
    assert list_devices() == []
    with pytest.raises(InputUnusable, match=said) as caught:
        find_device("default", kind)
    assert f"audio.{kind}" in str(caught.value)


def info(kind: Kind, target: str | None) -> DeviceInfo:
    return DeviceInfo("it", kind, 1, 48_000, False, 0, target=target)


@pytest.mark.parametrize(
    ("kind", "variable"), [("input", "PULSE_SOURCE"), ("output", "PULSE_SINK")]
)
@pytest.mark.parametrize("before", [None, "the_persons_own"])
def test_what_is_chosen_is_told_only_while_opening(
    monkeypatch: pytest.MonkeyPatch, kind: Kind, variable: str, before: str | None
) -> None:
    monkeypatch.delenv(variable, raising=False)
    if before is not None:
        monkeypatch.setenv(variable, before)
    opening = chosen(info(kind, "second"))
    opening.__enter__()
    assert os.environ[variable] == "second"
    error = RuntimeError("the opening failed")
    assert not opening.__exit__(RuntimeError, error, None)
    assert os.environ.get(variable) == before
    with chosen(info(kind, None)):
        assert os.environ.get(variable) == before


def test_an_opening_that_hangs_does_not_keep_others_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(find, "_CHOOSING_S", 0.001)
    monkeypatch.delenv("PULSE_SOURCE", raising=False)
    with chosen(info("input", "hangs")):
        with chosen(info("input", "second")):
            assert os.environ["PULSE_SOURCE"] == "second"
        assert "PULSE_SOURCE" not in os.environ
    assert "PULSE_SOURCE" not in os.environ
    with chosen(info("input", "third")):
        assert os.environ["PULSE_SOURCE"] == "third"
