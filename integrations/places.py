"""Group connections by the place that they come from, and limit them for each place."""

import ipaddress
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

LOOPBACK = "this machine"


@lru_cache(maxsize=1024)
def place_of(host: str) -> str:
    """Return the place of an address. All addresses that one machine can have count as one place.

    Loopback addresses are this machine. An IPv6 network with a 64-bit prefix is one place, and an
    IPv4 address within IPv6 (::ffff:192.0.2.1) counts as the IPv4 address. Other names are returned
    unchanged.
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

    most: int  # maximum of all places together
    of_one: int  # maximum per place
    few: int  # a place with fewer connections counts as having few
    kept_for_few: int
    kept_for_loopback: int

    def is_left(self, place: str, held: Iterable[str]) -> bool:
        """Return True if the place may open another connection.

        `held` lists the place of each open connection.
        """
        counts = Counter(held)
        mine, kept = counts[place], 0
        if mine >= self.of_one:
            return False
        if mine >= self.few:
            kept += self.kept_for_few
        if mine >= self.few or place != LOOPBACK:
            kept += self.kept_for_loopback
        return counts.total() < self.most - kept
