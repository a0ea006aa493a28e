"""Names of the house as a question says them: data from outside, made fit to be heard."""

from collections.abc import Iterable

from assistant.speech.names import spoken_name

__all__ = ["spoken_name", "spoken_names"]

MOST = 8  # names; the rest is counted


def spoken_names(names: Iterable[str]) -> str:
    """Different names, once each, separated by commas."""
    plain = list(dict.fromkeys(filter(None, map(spoken_name, names))))
    rest = len(plain) - MOST
    told = ", ".join(plain[:MOST])
    return f"{told}, +{rest}" if rest > 0 else told
