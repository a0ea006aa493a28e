"""Hearth's version."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache  # reading it opens a file, which would fail if too many are open
def own_version() -> str:
    """Return the version, such as "0.1.0", or "0" if Hearth runs from source without being
    installed."""
    try:
        return version("hearth-voice")
    except PackageNotFoundError:
        return "0"
