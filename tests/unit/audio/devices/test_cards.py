"""USB cards are told apart by what they are, not by the number they happen to have."""

from pathlib import Path

import pytest

from audio.devices.server import usb_names


def plug(sys: Path, number: int, socket: str, **attributes: str) -> None:
    """A card as the kernel shows it: a link to an interface, one below the device."""
    device = sys / "devices" / "usb1" / socket
    interface = device / f"{socket}:1.0"
    interface.mkdir(parents=True)
    for name, value in attributes.items():
        (device / name).write_text(f"{value}\n")
    card = sys / "class" / "sound" / f"card{number}"
    card.mkdir(parents=True)
    (card / "device").symlink_to(interface)


JABRA = {"idVendor": "0b0e", "idProduct": "0412", "serial": "501AA5C0"}
CHEAP = {"idVendor": "0d8c", "idProduct": "0014"}


@pytest.mark.parametrize(
    ("cards", "names"),
    [
        ({}, {}),
        ({1: ("1-1", JABRA)}, {1: "usb:0b0e:0412:501AA5C0"}),
        ({3: ("1-2", JABRA)}, {3: "usb:0b0e:0412:501AA5C0"}),
        ({1: ("1-1", CHEAP), 2: ("1-3", JABRA)}, {1: "usb:0d8c:0014", 2: "usb:0b0e:0412:501AA5C0"}),
        ({1: ("1-1", CHEAP), 2: ("1-3", CHEAP)}, {1: "usb:0d8c:0014@1-1", 2: "usb:0d8c:0014@1-3"}),
        ({0: ("platform", {})}, {}),
    ],
)
def test_names(
    tmp_path: Path, cards: dict[int, tuple[str, dict[str, str]]], names: dict[int, str]
) -> None:
    for number, (socket, attributes) in cards.items():
        plug(tmp_path, number, socket, **attributes)
    assert usb_names(tmp_path) == names


def test_what_else_the_kernel_shows_is_passed_over(tmp_path: Path) -> None:
    plug(tmp_path, 1, "1-1", **JABRA)
    for name in ("controlC1", "card1x", "pcmC1D0c", "timer"):
        (tmp_path / "class" / "sound" / name).mkdir()
    (tmp_path / "class" / "sound" / "card7").mkdir()  # a card without a device, e.g. a loopback
    assert list(usb_names(tmp_path)) == [1]


def test_a_machine_without_sys(tmp_path: Path) -> None:
    assert usb_names(tmp_path / "nowhere") == {}
