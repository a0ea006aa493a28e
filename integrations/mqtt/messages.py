"""Messages over the wire, the place of the broker, and why it cannot be used."""

import socket
import ssl
from dataclasses import dataclass, field
from typing import Literal

from paho.mqtt.reasoncodes import ReasonCode

from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable, causes

LARGEST = 64 * 1024  # bytes of one message that comes in


@dataclass(frozen=True, slots=True)
class Broker:
    """Place of the broker, and how one signs in."""

    host: str
    port: int = 1883
    username: str = ""
    password: str = field(default="", repr=False)
    tls: bool = False
    ca_file: str = ""  # PEM; "": the system's authorities


@dataclass(frozen=True, slots=True)
class Publication:
    """Message that goes out. The will of a connection is one too."""

    topic: str
    payload: str  # "" with `retain` removes what the broker kept
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Subscription:
    """Topic of what is to come in. By `qos` 1 a broker that keeps the session keeps messages too,
    while nobody is there to take them."""

    topic: str  # may hold + and #
    qos: Literal[0, 1]


@dataclass(frozen=True, slots=True)
class Arrival:
    """Message that came in."""

    topic: str
    payload: bytes
    number: int = 0  # the packet's; the broker uses it again once it is acknowledged. 0: QoS 0
    again: bool = False  # sent before: nobody can know whether that one was taken
    retained: bool = False  # an old one that the broker has kept for whoever subscribes
    left_s: int | None = None  # until it expires; None: not told (it never does, or MQTT 3.1.1)


# Why the broker cannot be used: each reason one sentence with the setting to mend.


class OtherVersion(Unavailable):
    """The broker does not speak this version of MQTT."""


# Names as in MQTT 5, section 2.4; paho gives those of 3.1.1 the same.
_CREDENTIALS = frozenset(
    {"Bad user name or password", "Not authorized", "Bad authentication method"}
)
_BUSY = frozenset({"Server unavailable", "Server busy", "Connection rate exceeded"})
_VERSION = "Unsupported protocol version"
_TAKEN_OVER = "Session taken over"


def refused(broker: Broker, reason: ReasonCode) -> IntegrationError:
    """The broker has answered CONNECT, and not with yes."""
    name = reason.getName()
    if name == _VERSION:
        return OtherVersion(f"The broker at {_place(broker)} does not speak this version of MQTT.")
    if name in _CREDENTIALS:
        return SignInAgain(
            f"The broker at {_place(broker)} does not let Hearth in: "
            "check mqtt.username and mqtt.password."
        )
    if name in _BUSY:
        return Unavailable(f"The broker at {_place(broker)} takes nobody now ({name}).")
    return Misconfigured(f"The broker at {_place(broker)} refuses Hearth: {name}.")


def ended(broker: Broker, reason: ReasonCode) -> IntegrationError:
    """A connection that stood is over."""
    if reason.getName() == _TAKEN_OVER:
        return Misconfigured(
            f"Another program signs in at the broker at {_place(broker)} in this box's name: "
            "is its data folder (assistant.data) in use twice, as a copy?"
        )
    return Unavailable(f"The connection to the broker at {_place(broker)} ended.")


def silent(broker: Broker) -> Unavailable:
    """No answer in time."""
    return Unavailable(f"The broker at {_place(broker)} does not answer.")


def hung_up(broker: Broker) -> Unavailable:
    """It ended the connection in place of an answer, or answered in no form of MQTT."""
    return Unavailable(
        f"What is at {_place(broker)} hangs up: check mqtt.host, mqtt.port and mqtt.tls."
    )


def network(broker: Broker, error: BaseException) -> IntegrationError:
    """The reason behind an error of the network."""
    for cause in causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Misconfigured(
                f"The certificate of the broker at {_place(broker)} is not trusted: "
                f"set mqtt.ca_file to its authority ({cause.verify_message})."
            )
        if isinstance(cause, ssl.SSLError):
            return Misconfigured(
                f"What is at {_place(broker)} does not speak TLS: check mqtt.port and mqtt.tls."
            )
        if isinstance(cause, socket.gaierror | UnicodeError):
            return Unavailable(f"There is no host named {broker.host!r} now: check mqtt.host.")
    return Unavailable(f"No broker is to be reached at {_place(broker)}.")


def _place(broker: Broker) -> str:
    return f"{broker.host}:{broker.port}"
