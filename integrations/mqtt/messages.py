"""MQTT data classes, and errors that explain why the broker cannot be used."""

import socket
import ssl
from dataclasses import dataclass, field
from typing import Literal

from paho.mqtt.reasoncodes import ReasonCode

from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable, causes

LARGEST = 64 * 1024  # bytes of a received message


@dataclass(frozen=True, slots=True)
class Broker:
    host: str
    port: int = 1883
    username: str = ""
    password: str = field(default="", repr=False)
    tls: bool = False
    ca_file: str = ""  # PEM; "" for the system's authorities


@dataclass(frozen=True, slots=True)
class Publication:
    topic: str
    payload: str  # "" with `retain` removes the retained message
    retain: bool = False


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription to a topic. With `qos` 1, a broker that keeps the session stores messages
    during an outage."""

    topic: str  # may contain + and #
    qos: Literal[0, 1]


@dataclass(frozen=True, slots=True)
class Arrival:
    topic: str
    payload: bytes
    number: int = 0  # packet number, which the broker reuses after the acknowledgement; 0 for QoS 0
    again: bool = False  # sent before, and possibly already processed
    retained: bool = False  # a retained message, sent because of the subscription
    left_s: int | None = None  # seconds until it expires; None if unknown (never, or MQTT 3.1.1)


# Errors that say why the broker cannot be used and which setting to correct.


class OtherVersion(Unavailable):
    """The broker does not support this MQTT version."""


# Names as in MQTT 5, section 2.4; paho uses the same for 3.1.1.
_CREDENTIALS = frozenset(
    {"Bad user name or password", "Not authorized", "Bad authentication method"}
)
_BUSY = frozenset({"Server unavailable", "Server busy", "Connection rate exceeded"})
_VERSION = "Unsupported protocol version"
_TAKEN_OVER = "Session taken over"


def refused(broker: Broker, reason: ReasonCode) -> IntegrationError:
    """Return the error for a CONNECT that the broker refused."""
    name = reason.getName()
    if name == _VERSION:
        return OtherVersion(
            f"The broker at {_place(broker)} does not support this version of MQTT."
        )
    if name in _CREDENTIALS:
        return SignInAgain(
            f"The broker at {_place(broker)} rejected the login: check mqtt.username and "
            "mqtt.password."
        )
    if name in _BUSY:
        return Unavailable(
            f"The broker at {_place(broker)} is not accepting connections at the moment ({name})."
        )
    return Misconfigured(f"The broker at {_place(broker)} rejected the connection: {name}.")


def ended(broker: Broker, reason: ReasonCode) -> IntegrationError:
    """Return the error for an open connection that the broker closed."""
    if reason.getName() == _TAKEN_OVER:
        return Misconfigured(
            f"Another program is connected to the broker at {_place(broker)} under this "
            "box's name: is a copy of its data folder (assistant.data) in use elsewhere?"
        )
    return Unavailable(f"The connection to the broker at {_place(broker)} was closed.")


def silent(broker: Broker) -> Unavailable:
    return Unavailable(f"The broker at {_place(broker)} does not answer.")


def hung_up(broker: Broker) -> Unavailable:
    """Return the error for a connection that closed, or for a response that is not MQTT."""
    return Unavailable(
        f"{_place(broker)} closes the connection: check mqtt.host, mqtt.port and mqtt.tls."
    )


def network(broker: Broker, error: BaseException) -> IntegrationError:
    for cause in causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Misconfigured(
                f"The certificate of the broker at {_place(broker)} is not trusted: set "
                "mqtt.ca_file to the file of its certificate authority "
                f"({cause.verify_message})."
            )
        if isinstance(cause, ssl.SSLError):
            return Misconfigured(
                f"{_place(broker)} does not use TLS: check mqtt.port and mqtt.tls."
            )
        if isinstance(cause, socket.gaierror | UnicodeError):
            return Unavailable(f"No host named {broker.host!r} was found: check mqtt.host.")
    return Unavailable(
        f"The broker at {_place(broker)} cannot be reached: check that it is running, mqtt.host "
        "and mqtt.port."
    )


def _place(broker: Broker) -> str:
    return f"{broker.host}:{broker.port}"
