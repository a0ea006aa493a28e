"""Told to the network by multicast DNS, so that Home Assistant offers the box by itself."""

import asyncio
import logging
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncZeroconf

SERVICE = "_wyoming._tcp.local."
AGAIN_S = 60.0  # after which it is tried again: a box may start before its network
_ANYWHERE = ("", "0.0.0.0", "::")
_FAR = ("224.0.0.251", 5353)  # where multicast DNS goes; nothing is sent to find our address
_END_WITHIN_S = 3.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Advertised:
    """One service."""

    name: str  # of the instance, unique in the network
    port: int


async def advertise(services: Sequence[Advertised], host: str, again_s: float = AGAIN_S) -> None:
    """Tell the network of these until it is cancelled, and that they go then.

    `host`: what they listen on, no loopback address.
    """
    # Imported late: most boxes do without.
    from zeroconf import Error
    from zeroconf.asyncio import AsyncZeroconf

    while True:
        try:
            address = await asyncio.to_thread(_address, host)
            await _tell(AsyncZeroconf(interfaces=[address]), services, address)
        except (OSError, Error) as error:
            _log.warning("the satellite cannot be told to the network yet: %r", error)
            await asyncio.sleep(again_s)


async def _tell(network: "AsyncZeroconf", services: Sequence[Advertised], address: str) -> None:
    """Until it is cancelled."""
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
            # It asks first whether somebody has that name, and takes another one then.
            await network.async_register_service(info, allow_name_change=True)
        await asyncio.Event().wait()
    finally:
        for end in (network.async_unregister_all_services, network.async_close):
            try:
                async with asyncio.timeout(_END_WITHIN_S):
                    await end()
            except (TimeoutError, OSError) as error:
                why = str(error) or "no answer in time"
                _log.info("the network is not told that the satellite goes: %s", why)


def _address(host: str) -> str:
    """Ours in the network. Raises OSError where there is none."""
    if host not in _ANYWHERE:
        return socket.gethostbyname(host)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_FAR)
        return str(probe.getsockname()[0])
