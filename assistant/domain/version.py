"""Which release of Hearth this is."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache  # it is read from a file, and by and by there may be too many open for that
def own_version() -> str:
    """Such as "0.1.0"; "0" where it runs from the sources, without being installed."""
    try:
        return version("hearth-voice")
    except PackageNotFoundError:
        return "0"
