"""Functions that parse URLs and remove secrets from them."""

from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

_HOME_NAMES = (".local", ".lan", ".home", ".internal", ".home.arpa")  # of local networks


def shown(url: str) -> str:
    """Return the URL without its username, password, query and fragment, which can contain secrets.
    If the text is not a valid URL, parts that look like these are removed."""
    try:
        parts = urlsplit(url)
    except ValueError:  # unmatched brackets
        parts = None
    if parts is None or not parts.netloc:
        return url.rpartition("@")[2].partition("?")[0].partition("#")[0]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def host_of(url: str) -> str | None:
    """Return the host of an http or https URL, or None for any other text."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (reading it checks it)
    except ValueError:
        return None
    return parts.hostname if parts.scheme in ("http", "https") else None


def is_at_home(host: str) -> bool:
    """Return True if a host name or address belongs to a local network or to this machine.

    The ending of a name decides. Names are never resolved, because a resolver's answer can change.
    """
    try:
        return ip_address(host).is_private
    except ValueError:
        # A number can be any address, and httpx reads other characters, such as "。", as a dot.
        plain = host.isascii() and "." not in host and host[:1].isalpha()
        return plain or host.endswith(_HOME_NAMES)
