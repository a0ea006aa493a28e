"""Local time zones for tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import tzset

import pytest


@contextmanager
def in_zone(name: str) -> Iterator[None]:
    """Set this process's local time zone, e.g. "Europe/Madrid"."""
    with pytest.MonkeyPatch.context() as there:
        there.setenv("TZ", name)
        tzset()
        yield
    tzset()
