"""The store without a thread of its own, for the gate.

How well two threads hand over to each other differs from one minute to the next, and many times
over beside other work.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch


class AtOnce(Executor):
    """Does its work where it is asked to."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Done, with what came of it."""
        future = Future[Any]()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def stores_without_threads() -> Iterator[None]:
    """Stores that are made in this block work at once."""
    with patch("assistant.journal.database.ThreadPoolExecutor", lambda **_: AtOnce()):
        yield
