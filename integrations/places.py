"""Places from which connections come, and limits for each place."""

import ipaddress
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

LOOPBACK = "this machine"


@lru_cache(maxsize=1024)
def place_of(host: str) -> str:
    """Return the place of an address; many addresses that one machine can have count as one.

    127.0.0.0/8 and ::1 are this machine, an IPv6 network of 64 bits is one place, and an IPv4
    address within IPv6 (::ffff:192.0.2.1) is that address. Other names are returned unchanged.
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
    """A limit for connections, of which no place may take all.

    The last ones are reserved for places that hold few so far, and the very last for this machine,
    so that the owner can connect while others hold all that they may.
    """

    most: int  # of all places together
    of_one: int  # of one place
    few: int  # up to this many of one place are few
    kept_for_few: int
    kept_for_loopback: int

    def is_left(self, place: str, held: Iterable[str]) -> bool:
        """Return True if the place may have another; `held` has the place of each open
        connection."""
        counts = Counter(held)
        mine, kept = counts[place], 0
        if mine >= self.of_one:
            return False
        if mine >= self.few:
            kept += self.kept_for_few
        if mine >= self.few or place != LOOPBACK:
            kept += self.kept_for_loopback
        return counts.total() < self.most - kept
