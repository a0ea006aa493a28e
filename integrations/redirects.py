"""Which addresses a download may follow: never from TLS to plain text."""

import ipaddress

import httpx

from integrations.errors import Refused


def next_address(current: httpx.URL, location: str, first: str) -> httpx.URL:
    """Where a redirect leads, if it may. Raises Refused."""
    try:
        url = current.join(location)
    except httpx.InvalidURL:
        raise Refused(f"{first} leads nowhere: look for another source of it.") from None
    address_allowed(str(url), first)
    return url


def address_allowed(url: str, first: str) -> None:
    """Raise Refused unless it is https; plain http only where all of it stays on this machine."""
    target = httpx.URL(url)
    plain = target.scheme == "http" and is_loopback(target.host)
    if target.scheme == "https" or (plain and is_loopback(httpx.URL(first).host)):
        return
    raise Refused(
        f"The download from {httpx.URL(first).host} leads to {target.scheme}://{target.host}, "
        "which is not encrypted: it was not followed; look for another source of it."
    )


def is_loopback(host: str) -> bool:
    """Whether a host's name or address means this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
