"""The store without a thread of its own, for the gate.

The time in which two threads hand over to each other varies from one minute to the next, and many
times over beside other work.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch


class AtOnce(Executor):
    """An executor that does its work in the calling thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do the work and return a future with its result."""
        future = Future[Any]()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def stores_without_threads() -> Iterator[None]:
    """Make stores that are created in this block work at once."""
    with patch("assistant.journal.database.ThreadPoolExecutor", lambda **_: AtOnce()):
        yield
