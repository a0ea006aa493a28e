"""What a URL names, and how it may be shown to people."""

from urllib.parse import urlsplit, urlunsplit


def shown(url: str) -> str:
    """The URL without user, password, query and fragment; of what is none, nothing secret."""
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets that do not match
        parts = None
    if parts is None or not parts.netloc:
        return url.rpartition("@")[2].partition("?")[0].partition("#")[0]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def host_of(url: str) -> str | None:
    """The host that an http or https URL names; None of what is no such URL."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (reading it checks it)
    except ValueError:
        return None
    return parts.hostname if parts.scheme in ("http", "https") else None
