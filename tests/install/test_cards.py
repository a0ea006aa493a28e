"""Tests of which sound cards are shared without a sound server, by the kernel's description."""

import subprocess
from pathlib import Path

import pytest

_PARTS = Path(__file__).parents[2] / "deploy/install"
# name: (plays, records, on USB), in the kernel's order
_Cards = dict[str, tuple[bool, bool, bool]]

_PI: _Cards = {"vc4hdmi0": (True, False, False), "Headphones": (True, False, False)}


def _said(script: str, cards: _Cards, folder: Path) -> str:
    for number, (name, (plays, records, usb)) in enumerate(cards.items()):
        card = folder / f"card{number}"
        card.mkdir()
        (card / "id").write_text(f"{name}\n")
        if plays:
            (card / "pcm0p").mkdir()
        if records:
            (card / "pcm0c").mkdir()
        if usb:
            (card / "usbid").write_text("0b0e:0412\n")
    parts = " ".join(f". {_PARTS}/{part}.sh;" for part in ("talk", "places", "sound"))
    done = subprocess.run(
        ["bash", "-euc", f"{parts} CARDS={folder}; {script}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("cards", "player", "recorder"),
    [
        ({}, "", ""),
        (_PI, "Headphones", ""),
        (_PI | {"Jabra": (True, True, True)}, "Jabra", "Jabra"),
        (_PI | {"Camera": (False, True, True)}, "Headphones", "Camera"),
        ({"PCH": (True, True, False), "Mic": (False, True, True)}, "PCH", "Mic"),
        ({"PCH": (True, True, False), "HDMI": (True, False, False)}, "PCH", "PCH"),
    ],
    ids=["none", "pi", "pi-speakerphone", "pi-camera", "pc-microphone", "pc"],
)
def test_a_card_on_usb_goes_first(
    cards: _Cards, player: str, recorder: str, tmp_path: Path
) -> None:
    said = _said("best_card p; best_card c", cards, tmp_path)
    assert said.split("\n")[:2] == [player, recorder]


def test_what_is_written_for_alsa(tmp_path: Path) -> None:
    said = _said("shared_alsa vc4hdmi0 Camera", {}, tmp_path)
    assert "playback.pcm \"plug:'dmix:CARD=vc4hdmi0'\"" in said
    assert "capture.pcm \"plug:'dsnoop:CARD=Camera'\"" in said
    assert "ctl.!default { type hw; card vc4hdmi0 }" in said


def test_a_direction_that_no_card_has_is_left_out(tmp_path: Path) -> None:
    said = _said("shared_alsa '' Camera", {}, tmp_path)
    assert "playback" not in said
    assert "ctl.!default { type hw; card Camera }" in said
