"""One authenticated websocket to Home Assistant: commands with answers, and subscribed events.

The protocol is Home Assistant's own (developers' documentation, "WebSocket API"): the server sends
`auth_required`, the client `auth`, the server `auth_ok` or `auth_invalid`; after that each command
carries a rising `id`, and results and events come back under it.
"""

import asyncio
import itertools
import json
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from integrations.errors import (
    IntegrationError,
    Misconfigured,
    Refused,
    SignInAgain,
    Unavailable,
)

log = logging.getLogger(__name__)

OPEN_TIMEOUT_S = 10.0
COMMAND_TIMEOUT_S = 15.0
MAX_MESSAGE_BYTES = 64 * 1024 * 1024  # get_states of a house of 5,000 entities is some megabytes

UNKNOWN_FORM = "Home Assistant answered in a form that Hearth does not know."

EventHandler = Callable[[Mapping[str, Any]], None]


class Connection:
    """Commands and events over one open socket. Any task may send; one task runs `read`."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._handlers: dict[int, EventHandler] = {}

    async def command(self, kind: str, **fields: Any) -> Any:
        """Send one command and return its result. Raises Refused or Unavailable."""
        return await self._send(next(self._ids), kind, fields)

    async def subscribe(self, handler: EventHandler, kind: str, **fields: Any) -> Any:
        """Send a subscribing command; `handler` is then called with each event, in order."""
        number = next(self._ids)
        self._handlers[number] = handler
        return await self._send(number, kind, fields)

    async def _send(self, number: int, kind: str, fields: Mapping[str, Any]) -> Any:
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            async with asyncio.timeout(COMMAND_TIMEOUT_S):
                await self._socket.send(json.dumps({"id": number, "type": kind, **fields}))
                message = await answer
        except (TimeoutError, ConnectionClosed):
            raise Unavailable(f"Home Assistant did not answer {kind}.") from None
        finally:
            self._answers.pop(number, None)
        if not message.get("success"):
            reason = (message.get("error") or {}).get("message", "no reason given")
            raise Refused(f"Home Assistant refused {kind}: {reason}.")
        return message.get("result")

    async def read(self) -> None:
        """Deliver what arrives until the socket closes, then raise Unavailable."""
        gone = Unavailable("The connection to Home Assistant closed.")
        try:
            async for text in self._socket:
                content = json.loads(text)
                # Several messages may share one frame.
                for message in content if isinstance(content, list) else [content]:
                    self._deliver(message)
        except (ConnectionClosed, ValueError) as error:
            log.debug("The websocket ended: %s", error)
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            log.debug("An odd message ended the websocket.", exc_info=error)
            gone = Unavailable(UNKNOWN_FORM)
        finally:
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(gone)
        raise gone

    def _deliver(self, message: Mapping[str, Any]) -> None:
        number = message.get("id", 0)
        if message.get("type") == "event":
            handler = self._handlers.get(number)
            if handler is not None:
                handler(message.get("event") or {})
            return
        answer = self._answers.get(number)
        if answer is not None and not answer.done():
            answer.set_result(message)


@asynccontextmanager
async def open_connection(
    url: str, token: str, tls: ssl.SSLContext | None
) -> AsyncIterator[Connection]:
    """Connect and sign in. `url` is Home Assistant's own ("http://host:8123").

    Raises Misconfigured, SignInAgain or Unavailable, each a sentence that names the setting.
    """
    address = f"{url.rstrip('/').replace('http', 'ws', 1)}/api/websocket"
    try:
        async with connect(
            address,
            ssl=tls if address.startswith("wss:") else None,
            open_timeout=OPEN_TIMEOUT_S,
            max_size=MAX_MESSAGE_BYTES,
            proxy=None,  # Home Assistant is at home; a proxy for the internet would not find it
        ) as socket:
            await _sign_in(socket, token)
            yield Connection(socket)
    except (InvalidURI, InvalidHandshake, OSError, TimeoutError) as error:
        raise _explained(error, url) from error


def _explained(error: Exception, url: str) -> IntegrationError:
    """Why no socket could be opened, as a sentence that names the setting."""
    if isinstance(error, InvalidURI):
        return Misconfigured(
            f"home_assistant.url = {url!r} is no address; "
            "it looks like http://homeassistant.local:8123."
        )
    if isinstance(error, ssl.SSLCertVerificationError):
        return Misconfigured(
            f"The certificate of {url} is not trusted: set home_assistant.ca_file to its "
            "authority, or home_assistant.verify_tls to false."
        )
    starting = isinstance(error, InvalidStatus) and error.response.status_code >= 500
    if isinstance(error, InvalidHandshake) and not starting:
        return Misconfigured(
            f"{url} answers, but not as Home Assistant does: check home_assistant.url."
        )
    return Unavailable(
        f"Home Assistant does not answer at {url}: check home_assistant.url and that it is running."
    )


async def _sign_in(socket: ClientConnection, token: str) -> None:
    try:
        async with asyncio.timeout(OPEN_TIMEOUT_S):
            await socket.recv()  # auth_required
            await socket.send(json.dumps({"type": "auth", "access_token": token}))
            reply = json.loads(await socket.recv())
            accepted = reply["type"] == "auth_ok"
    except (ConnectionClosed, ValueError):
        raise Unavailable("Home Assistant closed the connection while signing in.") from None
    except (KeyError, RecursionError, TypeError):
        raise Unavailable(UNKNOWN_FORM) from None
    if not accepted:
        raise SignInAgain(
            "Home Assistant does not accept home_assistant.token: "
            "make a new long-lived token on your profile page, under Security."
        )
