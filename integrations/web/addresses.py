"""Which addresses are out on the internet, so that a page may be asked for there.

The tables are IANA's special-purpose registries (RFC 6890 and its additions) as of 2026-11, rather
than `ipaddress.is_global`, whose answers differ between releases of Python.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

# Private, shared (CGNAT), loopback, link-local, documentation, benchmarks, relays, multicast and
# reserved.
_NOT_OUT_4 = tuple(
    ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24"),
        *("192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    )
)
# Nothing else of IPv6 is routed: not loopback, mapped (::ffff:), NAT64 (64:ff9b::), unique local,
# link-local, site-local or multicast.
_OUT_6 = ip_network("2000::/3")
# Protocol assignments with Teredo and ORCHID, documentation, 6to4, and again documentation.
_NOT_OUT_6 = tuple(
    ip_network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)


def is_out(text: str) -> bool:
    """Whether this is the literal address of a host on the internet, and of nothing nearer.

    What carries an IPv4 address within IPv6 counts as nearer, whatever that address is; so does one
    with a zone ("%eth0").
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_OUT_4)
    return _is_out_6(address)


def _is_out_6(address: IPv6Address) -> bool:
    return (
        address.scope_id is None
        and address in _OUT_6
        and not any(address in network for network in _NOT_OUT_6)
    )
