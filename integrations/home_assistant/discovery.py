"""Discover Home Assistant on the local network by multicast DNS.

Any other device on the network can send such announcements too. A person must therefore choose one
of the results, and no token is sent before that.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from zeroconf import Error, InterfaceChoice, IPVersion, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from integrations.address import host_of, is_at_home
from integrations.cleaning import one_line

SERVICE = "_home-assistant._tcp.local."
LOOK_S = 3.0  # most answer within 1 s; a busy Raspberry Pi takes longer
_ASK_MS = 1500  # time to resolve a service's address
_MOST = 16  # longest list of homes
_NAME = 60  # characters


@dataclass(frozen=True, slots=True)
class FoundHome:
    name: str  # name in the announcement
    url: str
    version: str = ""


async def find_homes(
    seconds: float = LOOK_S, interfaces: Sequence[str] | None = None
) -> list[FoundHome]:
    """Search for `seconds` and return the homes, sorted by name. `interfaces` are the local
    addresses to search from (default: all). Returns [] if there is no network."""
    found: dict[str, FoundHome] = {}
    try:
        # All interfaces, because Home Assistant may also run on this machine.
        network = AsyncZeroconf(
            interfaces=list(interfaces) if interfaces else InterfaceChoice.All,
            ip_version=IPVersion.V4Only,
        )
    except (OSError, Error):
        return []
    names: asyncio.Queue[str] = asyncio.Queue(_MOST)

    def changed(
        zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        if state_change is ServiceStateChange.Added and not names.full():
            names.put_nowait(name)

    try:
        browser = AsyncServiceBrowser(network.zeroconf, SERVICE, handlers=[changed])
        try:
            async with asyncio.timeout(seconds):
                while True:
                    home = await _ask(network, await names.get())
                    if home is not None:
                        found.setdefault(home.url, home)
        except TimeoutError:
            pass
        finally:
            await browser.async_cancel()
    finally:
        await network.async_close()
    return sorted(found.values(), key=lambda home: (home.name.casefold(), home.url))


async def _ask(network: AsyncZeroconf, name: str) -> FoundHome | None:
    info = AsyncServiceInfo(SERVICE, name)
    if not await info.async_request(network.zeroconf, _ASK_MS):
        return None
    told = {
        key.decode(errors="replace"): (value or b"").decode(errors="replace")
        for key, value in info.properties.items()
    }
    return home_of(told, info.parsed_addresses(IPVersion.V4Only), info.port or 0)


def home_of(told: Mapping[str, str], addresses: Sequence[str], port: int) -> FoundHome | None:
    """Return the announced home, or None if the announcement contains no usable address. `told` is
    the service's text record."""
    url = told.get("internal_url") or told.get("base_url") or ""
    if not _in_this_network(url):
        if not addresses or not port:
            return None
        url = f"http://{addresses[0]}:{port}"
    return FoundHome(
        name=one_line(told.get("location_name", ""), _NAME) or "Home",
        url=url.rstrip("/"),
        version=one_line(told.get("version", ""), _NAME),
    )


def _in_this_network(url: str) -> bool:
    host = host_of(url)
    if host is None or "@" in urlsplit(url).netloc or one_line(url, len(url)) != url:
        return False
    return is_at_home(host)
