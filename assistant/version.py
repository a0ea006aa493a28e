"""Which release of Hearth this is."""

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """Such as "0.1.0"; "0" where it runs from the sources, without being installed."""
    try:
        return version("hearth-voice")
    except PackageNotFoundError:
        return "0"
