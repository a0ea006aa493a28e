"""MQTT messages, the broker's address, and the reasons why it cannot be used."""

import socket
import ssl
from dataclasses import dataclass, field
from typing import Literal

from paho.mqtt.reasoncodes import ReasonCode

from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable, causes

LARGEST = 64 * 1024  # bytes of a received message


@dataclass(frozen=True, slots=True)
class Broker:
    """The broker's address and credentials."""

    host: str
    port: int = 1883
    username: str = ""
    password: str = field(default="", repr=False)
    tls: bool = False
    ca_file: str = ""  # PEM; "" for the system's authorities


@dataclass(frozen=True, slots=True)
class Publication:
    """A message to publish, or the will of a connection."""

    topic: str
    payload: str  # "" with `retain` removes the retained message
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription. With `qos` 1, a broker that keeps the session keeps messages during an
    outage."""

    topic: str  # may contain + and #
    qos: Literal[0, 1]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A received message."""

    topic: str
    payload: bytes
    number: int = 0  # packet number, reused by the broker once it is acknowledged; 0 for QoS 0
    again: bool = False  # sent before; whether that one was processed is unknown
    retained: bool = False  # a retained message, sent because of the subscription
    left_s: int | None = None  # seconds until it expires; None if unknown (never, or MQTT 3.1.1)


# Why the broker cannot be used, each reason a sentence with the setting to fix.


class OtherVersion(Unavailable):
    """The broker does not support this version of MQTT."""


# Names as in MQTT 5, section 2.4; paho uses the same for 3.1.1.
_CREDENTIALS = frozenset(
    {"Bad user name or password", "Not authorized", "Bad authentication method"}
)
_BUSY = frozenset({"Server unavailable", "Server busy", "Connection rate exceeded"})
_VERSION = "Unsupported protocol version"
_TAKEN_OVER = "Session taken over"


def refused(broker: Broker, reason: ReasonCode) -> IntegrationError:
    """Return the error for a refused CONNECT."""
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
    """Return the error for an open connection that ended."""
    if reason.getName() == _TAKEN_OVER:
        return Misconfigured(
            f"Another program signs in at the broker at {_place(broker)} in this box's name: "
            "is its data folder (assistant.data) in use twice, as a copy?"
        )
    return Unavailable(f"The connection to the broker at {_place(broker)} ended.")


def silent(broker: Broker) -> Unavailable:
    """Return the error for a missing answer."""
    return Unavailable(f"The broker at {_place(broker)} does not answer.")


def hung_up(broker: Broker) -> Unavailable:
    """Return the error for a closed connection, or an answer that is not MQTT."""
    return Unavailable(
        f"What is at {_place(broker)} hangs up: check mqtt.host, mqtt.port and mqtt.tls."
    )


def network(broker: Broker, error: BaseException) -> IntegrationError:
    """Return the error for a network error."""
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
