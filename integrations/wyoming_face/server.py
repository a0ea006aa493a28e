"""A Wyoming server with one session per connection, and its announcement on the network."""

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wyoming.event import Event, async_write_event

from integrations.errors import Misconfigured
from integrations.owner import Opened, OwnedTasks
from integrations.places import ConnectionRoom, place_of
from integrations.wyoming_face.session import (
    MOST_DATA,
    BadEvent,
    DescribedSession,
    Send,
    read_event,
)

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncZeroconf


_ATTRIBUTION = {"name": "Hearth", "url": ""}
SERVICE = "_wyoming._tcp.local."
AGAIN_S = 60.0  # pause before a retry, because the device may start before its network
_ANYWHERE = ("", "0.0.0.0", "::")
# The multicast DNS address. Nothing is sent to it; it only serves to find this device's own
# address.
_FAR = ("224.0.0.251", 5353)
_END_WITHIN_S = 3.0
MOST_CONNECTIONS = 12  # Home Assistant keeps one open and sometimes opens another to check
ROOM = ConnectionRoom(MOST_CONNECTIONS, of_one=6, few=2, kept_for_few=3, kept_for_loopback=2)
# Home Assistant pings a satellite every two seconds. Other clients send one request and close.
SILENT_S = 60.0
# Limit for sending an event. Otherwise a client that reads nothing would keep its connection
# forever.
TAKEN_WITHIN_S = 10.0
CLOSE_S = 1.0  # for sending the remaining data

_log = logging.getLogger(__name__)


def satellite_info(name: str, area: str, version: str) -> Event:
    """Return a satellite's response to `describe`. The satellite's port must not offer any other
    service."""
    satellite = {**_artifact(name, "The voice of this room", version), "area": area or None}
    return _info({"satellite": {**satellite, "has_vad": True, "supports_trigger": False}})


def speech_info(name: str, voices: Mapping[str, Sequence[str]], version: str) -> Event:
    """Return the speech service's response to `describe`. `voices` maps the name of each voice to
    its language codes."""
    rows = [
        {**_artifact(voice, voice, version), "languages": list(languages), "speakers": None}
        for voice, languages in voices.items()
    ]
    program = {**_artifact(name, "Hearth's own voice", version), "voices": rows}
    return _info({"tts": [{**program, "supports_synthesize_streaming": False}]})


def _info(told: Mapping[str, Any]) -> Event:
    # Written by hand, because `wyoming.info` imports audioop, which warns and was removed in Python
    # 3.13.
    nothing: dict[str, Any] = {
        kind: [] for kind in ("asr", "tts", "handle", "intent", "wake", "mic", "snd")
    }
    return Event("info", {**nothing, **told})


def _artifact(name: str, description: str, version: str) -> dict[str, Any]:
    return {
        "name": name,
        "attribution": _ATTRIBUTION,
        "installed": True,
        "description": description,
        "version": version,
    }


@dataclass(frozen=True, slots=True)
class Advertised:
    name: str  # the instance's name, unique on the network
    port: int


async def advertise(services: Sequence[Advertised], host: str, again_s: float = AGAIN_S) -> None:
    """Announce the services by multicast DNS until cancelled, then withdraw the announcement.
    `host` is the address on which they listen, which must not be a loopback address. Failures are
    retried after `again_s` seconds."""
    # Imported here, because most devices do not need it.
    from zeroconf import Error
    from zeroconf.asyncio import AsyncZeroconf

    while True:
        try:
            address = await asyncio.to_thread(_address, host)
            await _tell(AsyncZeroconf(interfaces=[address]), services, address)
        except (OSError, Error) as error:
            _log.warning("the satellite cannot be announced on the network yet: %r", error)
            await asyncio.sleep(again_s)


async def _tell(network: "AsyncZeroconf", services: Sequence[Advertised], address: str) -> None:
    from zeroconf.asyncio import AsyncServiceInfo

    try:
        for one in services:
            info = AsyncServiceInfo(
                SERVICE,
                f"{one.name}.{SERVICE}",
                port=one.port,
                parsed_addresses=[address],
                server=f"{one.name}.local.",
            )
            # This checks if the name is taken, and in that case chooses another one.
            await network.async_register_service(info, allow_name_change=True)
        await asyncio.Event().wait()
    finally:
        for end in (network.async_unregister_all_services, network.async_close):
            try:
                async with asyncio.timeout(_END_WITHIN_S):
                    await end()
            except (TimeoutError, OSError) as error:
                why = str(error) or "no answer in time"
                _log.info("the satellite's shutdown could not be announced on the network: %s", why)


def _address(host: str) -> str:
    if host not in _ANYWHERE:
        return socket.gethostbyname(host)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_FAR)
        return str(probe.getsockname()[0])


class WyomingServer(Opened):
    def __init__(
        self,
        host: str,
        port: int,
        session: Callable[[Send], DescribedSession],
        setting: str,
        silent_s: float = SILENT_S,
        taken_within_s: float = TAKEN_WITHIN_S,
    ) -> None:
        """If `port` is 0, the system chooses one. `setting` is the name of the port's setting."""
        self._host = host
        self._port = port
        self._session = session
        self._setting = setting
        self._silent_s = silent_s
        self._taken_within_s = taken_within_s
        self._tasks = OwnedTasks()
        self._server: asyncio.Server | None = None
        self._full = False  # the log already says that there is no room
        self._open: list[str] = []  # origin of each connection

    async def _enter(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._tasks)
        try:
            self._server = await asyncio.start_server(
                self._connected, self._host or None, self._port, limit=MOST_DATA
            )
        except OSError as error:
            raise Misconfigured(
                f"Cannot listen on {self._host} port {self._port} ({error.strerror}): choose "
                f"another {self._setting}, or stop the program that is using it"
            ) from error
        stack.callback(self._server.close)

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")
        place = place_of(str(peer[0])) if peer else ""
        if not ROOM.is_left(place, self._open):
            if not self._full:
                _log.warning("too many Wyoming connections; some are rejected")
            self._full = True
            writer.close()
            return
        self._full = False
        self._open.append(place)
        self._tasks.start(self._serve(reader, writer, place), "wyoming connection")

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, place: str
    ) -> None:
        sending = asyncio.Lock()

        async def send(event: Event) -> None:
            try:
                async with asyncio.timeout(self._taken_within_s):
                    async with sending:  # several announcements can end at the same time
                        await async_write_event(event, writer)
            except TimeoutError:
                writer.transport.abort()  # or a client that keeps sending would stay connected
                raise ConnectionAbortedError("the client is not reading the answers") from None

        try:
            async with self._session(send) as session:
                while (event := await self._next(reader)) is not None:
                    await session.take(event)
        except BadEvent as error:
            _log.info("closed a Wyoming connection: %s", error)
        except OSError as error:
            _log.debug("lost a Wyoming connection: %s", error)
        except Exception:
            # One connection's error must not end the others.
            _log.exception("a Wyoming connection failed")
        finally:
            self._open.remove(place)
            await _close(writer)

    async def _next(self, reader: asyncio.StreamReader) -> Event | None:
        try:
            async with asyncio.timeout(self._silent_s):
                return await read_event(reader)
        except TimeoutError:
            _log.debug("closed a Wyoming connection: nothing arrived for a while")
            return None


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    closing = True
    try:
        async with asyncio.timeout(CLOSE_S) as patience:
            await writer.wait_closed()
            closing = False
    except OSError as error:
        closing = patience.expired()
        why = str(error) or "the client is not reading the answers"
        _log.debug("the last message of a Wyoming connection could not be sent: %s", why)
    finally:
        if closing:  # on a closed transport, `abort` fails with Python 3.13
            writer.transport.abort()
