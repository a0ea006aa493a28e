"""Origins of connections, and connection limits for each origin."""

import ipaddress
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

LOOPBACK = "this machine"


@lru_cache(maxsize=1024)
def place_of(host: str) -> str:
    """Return an address's place. Addresses that one machine can hold count as the same place.

    127.0.0.0/8 and ::1 are this machine, a 64-bit IPv6 network is one place, and an IPv4 address
    within IPv6 (::ffff:192.0.2.1) is that IPv4 address. Other names are returned unchanged.
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
    """A connection limit that no single place can use up.

    The last connections are reserved for places that hold only a few, and the very last for this
    machine, so that the owner can still connect when other places have reached their limits.
    """

    most: int  # of all places together
    of_one: int  # of one place
    few: int  # up to this many of one place are few
    kept_for_few: int
    kept_for_loopback: int

    def is_left(self, place: str, held: Iterable[str]) -> bool:
        """Return True if the place can have another connection. `held`: the open ones' places."""
        counts = Counter(held)
        mine, kept = counts[place], 0
        if mine >= self.of_one:
            return False
        if mine >= self.few:
            kept += self.kept_for_few
        if mine >= self.few or place != LOOPBACK:
            kept += self.kept_for_loopback
        return counts.total() < self.most - kept
