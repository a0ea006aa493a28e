"""What lives as long as the process is spared the search for cycles.

Python's full search for cycles looks at every object there is, and nothing else runs meanwhile, no
frame is judged: 0.15 s in a small house and 0.3 s in one of 5,000 things (docs/scale.md), mostly
in the midst of a turn, when much is made. Nearly all of these objects are code and names that stay.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

# Have somebody told of each turn that is over, until what is returned is called.
Follow = Callable[[Callable[[Any], None]], Callable[[], None]]


@contextmanager
def long_lived(follow: Follow) -> Iterator[None]:
    """Entered when everything stands: what is there then is looked at no more, nor is what the
    first turn has brought, whose brain and recogniser are imported and loaded only then. Later
    objects are searched as ever, and all of them again once it is left.
    """
    following = ExitStack()

    def turned(turn: object) -> None:
        following.close()  # the first is enough
        gc.freeze()

    gc.freeze()
    following.callback(follow(turned))
    try:
        yield
    finally:
        following.close()
        gc.unfreeze()
