"""The sound devices of this machine, as PortAudio sees them."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from audio.errors import InputUnusable

Kind = Literal["input", "output"]

# ALSA's card and device number, which may change from one boot to the next, e.g. " (hw:1,0)".
_CARD_NUMBER = re.compile(r"\s*\((?:plug)?hw:\d+,\d+\)$")
_PEOPLE_SAY = {"input": "microphone", "output": "loudspeaker"}


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device in one direction; a headset is two of these."""

    name: str  # what the configuration calls it; without the card number where that is clear
    kind: Kind
    channels: int  # the most it offers
    rate: int  # Hz, the rate it prefers
    default: bool  # the system's choice when none is named
    index: int  # PortAudio's number, valid in this process only


def load_portaudio() -> Any:
    """The sounddevice module. It is loaded here, and late, because it needs a system library.

    Raises InputUnusable when the library is missing.
    """
    try:
        import sounddevice
    except OSError as error:
        raise InputUnusable(
            "Sound devices need the system's PortAudio library, which is missing: "
            "install it with `sudo apt install libportaudio2`."
        ) from error
    return sounddevice


def list_devices() -> list[DeviceInfo]:
    """Every input, then every output. Empty on a machine without sound.

    The list is taken when PortAudio starts in this process; what is plugged in later is not in it.
    Raises InputUnusable when PortAudio is missing.
    """
    portaudio = load_portaudio()
    raw = [dict(device) for device in portaudio.query_devices()]
    return [*_one_kind(raw, "input", portaudio), *_one_kind(raw, "output", portaudio)]


def find_device(name: str, kind: Kind) -> DeviceInfo:
    """The device of that name, "default" for the system's choice.

    A part of the name will do if only one device has it. Raises InputUnusable otherwise.
    """
    devices = [device for device in list_devices() if device.kind == kind]
    people_say = _PEOPLE_SAY[kind]
    if not devices:
        raise InputUnusable(
            f"There is no {people_say}: plug one in, or set audio.{kind} to a file or to null."
        )
    if name == "default":
        # Without a declared default the first device is as good a guess as any.
        return next((device for device in devices if device.default), devices[0])
    found = [device for device in devices if device.name == name] or [
        device for device in devices if name.casefold() in device.name.casefold()
    ]
    if len(found) == 1:
        return found[0]
    known = ", ".join(device.name for device in devices)
    trouble = "fits several devices" if found else "is not here"
    raise InputUnusable(
        f'The {people_say} "{name}" {trouble}: set audio.{kind} to "default" or one of {known}.'
    )


def _one_kind(raw: list[dict[str, Any]], kind: Kind, portaudio: Any) -> list[DeviceInfo]:
    mine = [device for device in raw if device[f"max_{kind}_channels"] > 0]
    short = [_CARD_NUMBER.sub("", device["name"]) for device in mine]
    default = portaudio.default.device[0 if kind == "input" else 1]
    return [
        DeviceInfo(
            name=name if short.count(name) == 1 else device["name"],
            kind=kind,
            channels=device[f"max_{kind}_channels"],
            rate=int(device["default_samplerate"]),
            default=device["index"] == default,
            index=device["index"],
        )
        for device, name in zip(mine, short, strict=True)
    ]
