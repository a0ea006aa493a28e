"""Where the machine of a test stands."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import tzset

import pytest


@contextmanager
def in_zone(name: str) -> Iterator[None]:
    """This process's local time is that of a zone, e.g. "Europe/Madrid"."""
    with pytest.MonkeyPatch.context() as there:
        there.setenv("TZ", name)
        tzset()
        yield
    tzset()
