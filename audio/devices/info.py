"""What is known of a sound device."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["input", "output"]
Backend = Literal["alsa", "server"]


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device in one direction; a headset is two of these."""

    name: str  # what the configuration calls it; the same after a reboot or in another socket
    kind: Kind
    channels: int  # the most it offers
    rate: int  # Hz, the rate it prefers
    default: bool  # the system's choice when none is named
    index: int  # PortAudio's number, valid in this process until PortAudio is refreshed
    description: str = ""  # for people
    backend: Backend = "alsa"
    usb: str = ""  # "usb:vendor:product:serial", "" where it is not on USB
    monitor: bool = False  # records what a loudspeaker plays: no microphone
    muted: bool | None = None  # at the sound server; None: not known
    volume: float | None = None  # at the sound server, 1.0 is as it comes; None: not known
    # The sound server's name for it, where `chosen` has to name it; None: the server chooses.
    target: str | None = None
