"""A ring of APA102 lamps, such as that of a ReSpeaker hat, shows what Hearth does.

    sudo apt install python3-spidev
    (umask 077 && hearth token create lamps --scopes read > ~/hearth-lamps.token)
    HEARTH_TOKEN_FILE=~/hearth-lamps.token python3 led_ring.py 12

12 is the number of lamps. SPI must be switched on (raspi-config).
"""

import sys

import spidev
from hearth_box import HearthBox

BRIGHTNESS = 4  # of 31
COLOURS = {  # red, green, blue
    "waking": (0, 90, 255),
    "listening": (0, 90, 255),
    "follow_up": (0, 60, 160),
    "thinking": (255, 120, 0),
    "confirming": (255, 0, 160),
    "speaking": (0, 200, 60),
    "fault": (120, 0, 0),
    "away": (60, 0, 0),
}
MUTED = (255, 0, 0)
TROUBLE = (60, 30, 0)  # idle, and a device is missing
DARK = (0, 0, 0)


def frame(colour: tuple[int, int, int], lamps: int) -> list[int]:
    """Return the bytes for the ring: a start, four for each lamp, an end."""
    red, green, blue = colour
    lamp = [0b1110_0000 | BRIGHTNESS, blue, green, red]
    return [0] * 4 + lamp * lamps + [0xFF] * (4 + lamps // 16)


def main(lamps: int) -> None:
    """Show every state on the ring."""
    bus = spidev.SpiDev()
    bus.open(0, 0)
    bus.max_speed_hz = 4_000_000
    for state in HearthBox().states():
        resting = TROUBLE if state.get("problems") else DARK
        colour = MUTED if state["muted"] else COLOURS.get(state["state"], resting)
        bus.writebytes(frame(colour, lamps))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
