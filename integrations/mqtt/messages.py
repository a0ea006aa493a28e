"""What goes over the wire, and where the broker is."""

from dataclasses import dataclass, field
from typing import Literal

LARGEST = 64 * 1024  # bytes of one message that comes in


@dataclass(frozen=True, slots=True)
class Broker:
    """Where it is and how one signs in."""

    host: str
    port: int = 1883
    username: str = ""
    password: str = field(default="", repr=False)
    tls: bool = False
    ca_file: str = ""  # PEM; "": the system's authorities


@dataclass(frozen=True, slots=True)
class Publication:
    """One message that goes out. The will of a connection is one too."""

    topic: str
    payload: str  # "" with `retain` removes what the broker kept
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Subscription:
    """What is to come in. With `qos` 1 a broker that keeps the session keeps the messages too,
    while nobody is there to take them."""

    topic: str  # may hold + and #
    qos: Literal[0, 1]


@dataclass(frozen=True, slots=True)
class Arrival:
    """One message that came in."""

    topic: str
    payload: bytes
    number: int = 0  # the packet's; the broker uses it again once it is acknowledged. 0: QoS 0
    again: bool = False  # sent before: nobody can know whether that one was taken
    retained: bool = False  # an old one that the broker has kept for whoever subscribes
    left_s: int | None = None  # until it expires; None: not told (it never does, or MQTT 3.1.1)
