"""Determine where connections come from, and limit the number from each origin."""

import ipaddress
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

LOOPBACK = "this machine"


@lru_cache(maxsize=1024)
def place_of(host: str) -> str:
    """Return the origin of a connection with this client address.

    Loopback addresses count as LOOPBACK, and all addresses in an IPv6 network with a 64-bit prefix
    count as one. Host names are returned unchanged.
    """
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_loopback:
        return LOOPBACK
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.ip_network((address, 64), strict=False))


@dataclass(frozen=True, slots=True)
class ConnectionRoom:
    """A limit on open connections that no single origin can use up.

    The last connections are reserved for origins that have only a few connections, and the very
    last for this machine.
    """

    most: int  # maximum of all origins together
    of_one: int  # maximum per origin
    few: int  # an origin with fewer connections counts as holding few
    kept_for_few: int
    kept_for_loopback: int

    def is_left(self, place: str, held: Iterable[str]) -> bool:
        """Return True if the origin `place` may open another connection. `held` lists the origin of
        each open connection."""
        counts = Counter(held)
        mine, kept = counts[place], 0
        if mine >= self.of_one:
            return False
        if mine >= self.few:
            kept += self.kept_for_few
        if mine >= self.few or place != LOOPBACK:
            kept += self.kept_for_loopback
        return counts.total() < self.most - kept
