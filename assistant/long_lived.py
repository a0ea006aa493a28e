"""What lives as long as the process is spared the search for cycles.

Python's full search for cycles looks at every object there is, and nothing else runs meanwhile, no
frame is judged: 0.15 s in a small house and 0.3 s in one of 5,000 things (docs/scale.md), mostly
in the midst of a turn, when much is made. Nearly all of these objects are code and names that stay.
"""

import gc
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

# Have somebody told of each turn that is over, until what is returned is called.
Follow = Callable[[Callable[[Any], None]], Callable[[], None]]


class LongLived:
    """Entered when everything stands: what is there then is looked at no more, nor is what the
    first turn has brought, whose brain and recogniser are imported and loaded only then. Later
    objects are searched as ever, and all of them again once it is left.
    """

    def __init__(self, follow: Follow) -> None:
        self._follow = follow
        self._first: Callable[[], None] = _nothing

    def __enter__(self) -> Self:
        gc.freeze()
        self._first = self._follow(self._turned)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._first()
        gc.unfreeze()

    def _turned(self, turn: object) -> None:
        self._first()
        self._first = _nothing
        gc.freeze()


def _nothing() -> None:
    """Nobody is told any more."""
