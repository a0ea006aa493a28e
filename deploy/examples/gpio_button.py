"""A push button on a Raspberry Pi: a press makes Hearth listen, or be silent while it speaks; held
for two seconds it mutes the microphone, or opens it again.

    sudo apt install python3-gpiozero python3-lgpio
    (umask 077 && hearth token create button --scopes admin > ~/hearth-button.token)
    HEARTH_TOKEN_FILE=~/hearth-button.token python3 gpio_button.py 17

17 is the number of the GPIO; the button connects it to ground.
"""

import sys
import threading

from gpiozero import Button
from hearth_box import AWAY, HearthBox

HOLD_S = 2.0
BUSY = ("thinking", "speaking", "confirming")


def main(pin: int) -> None:
    """Report every press to Hearth."""
    box = HearthBox()
    now = dict(AWAY)
    held = threading.Event()

    def hold() -> None:
        held.set()
        box.press("unmute" if now["muted"] else "mute")

    def release() -> None:
        if held.is_set():
            held.clear()
        else:
            box.press("stop" if now["state"] in BUSY else "listen")

    button = Button(pin, hold_time=HOLD_S, bounce_time=0.05)
    button.when_held, button.when_released = hold, release
    for state in box.states():
        now.update(state)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 17)
