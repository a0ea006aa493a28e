"""Whoever wants to be told when something changes or happens."""

import logging
from collections.abc import Callable
from typing import Generic, ParamSpec

_log = logging.getLogger(__name__)
_Told = ParamSpec("_Told")


class Listeners(Generic[_Told]):
    """Tells all of them, in the order in which they came. On the loop's thread; a follower must
    not block. One that breaks is logged, and the others are told all the same."""

    def __init__(self, of: str) -> None:
        """`of`: what they follow, for the log, such as "timers"."""
        self._of = of
        self._all: dict[object, Callable[_Told, None]] = {}

    def add(self, follower: Callable[_Told, None]) -> Callable[[], None]:
        """Tell this one too from now on; what is returned ends that, and called again does
        nothing."""
        place = object()
        self._all[place] = follower

        def leave() -> None:
            self._all.pop(place, None)

        return leave

    def tell(self, *args: _Told.args, **named: _Told.kwargs) -> None:
        """It has just happened."""
        for follower in tuple(self._all.values()):
            try:
                follower(*args, **named)
            except Exception:  # other people's code: we go on
                _log.exception("a follower of %s broke", self._of)
