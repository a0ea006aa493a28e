"""Finds what a person probably meant by a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like this one, or None if none is much like it."""
    found = get_close_matches(name.lower(), list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def one_of(names: Iterable[str]) -> str:
    """Names as a person lists them: "a, b or c"."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
