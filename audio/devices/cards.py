"""The kernel's sound cards, and a name for each USB card that outlives its number."""

import re
from collections import Counter
from pathlib import Path

SYS = Path("/sys")

_CARD = re.compile(r"card(\d+)$")


def usb_names(sys: Path = SYS) -> dict[int, str]:
    """The names of the USB cards by their present numbers: "usb:vendor:product:serial".

    The serial number is left out where the device has none. Two cards that are the same up to
    here are told apart by the socket they are in, e.g. "usb:0d8c:0014@1-1.3".
    """
    names: dict[int, str] = {}
    sockets: dict[int, str] = {}
    for folder in (sys / "class" / "sound").glob("card*"):
        match = _CARD.match(folder.name)
        # The card belongs to one interface of the USB device; the parent is the device itself.
        device = (folder / "device").resolve().parent
        vendor, product = _read(device / "idVendor"), _read(device / "idProduct")
        if match is None or not (vendor and product):
            continue
        number = int(match.group(1))
        serial = _read(device / "serial")
        names[number] = f"usb:{vendor}:{product}" + (f":{serial}" if serial else "")
        sockets[number] = device.name
    known = Counter(names.values())
    return {
        number: name if known[name] == 1 else f"{name}@{sockets[number]}"
        for number, name in names.items()
    }


def _read(path: Path) -> str:
    """The one line of an attribute, "" where the device has no such thing."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
