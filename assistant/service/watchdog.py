"""Feeds systemd's watchdog for as long as everything goes on, and tells it how we stand."""

import logging
from collections.abc import Callable

from assistant.domain.clock import Clock
from assistant.service.notify import Manager

LOOK_S = 2.0  # the longest time between two looks
_STRIKES = 2  # looks in a row: a loop that was held up itself finds everything late once
_log = logging.getLogger(__name__)


class Watchdog:
    """Looks again and again.

    A blocked event loop starves it; what else is stuck is told at once, and the sentence stands in
    the log before systemd ends the process.
    """

    def __init__(
        self,
        manager: Manager,
        clock: Clock,
        problem: Callable[[], str],
        status: Callable[[], str],
    ) -> None:
        """`problem`: what is stuck, "" for nothing. `status`: how we stand, "" for no news."""
        self._manager = manager
        self._clock = clock
        self._problem = problem
        self._status = status
        self._strikes = 0

    async def watch(self) -> None:
        """Until it is cancelled."""
        limit_s = self._manager.watchdog_s
        pause_s = LOOK_S if limit_s is None else min(LOOK_S, limit_s / 4)
        while True:
            self._look()
            await self._clock.sleep(pause_s)

    def _look(self) -> None:
        problem = self._problem()
        if not problem:
            self._strikes = 0
            if self._manager.watchdog_s is not None:
                self._manager.alive()
            if status := self._status():
                self._manager.status(status)
            return
        self._strikes += 1
        if self._strikes == _STRIKES:
            _log.error("%s Hearth has to be started anew.", problem)
            if self._manager.watchdog_s is not None:
                self._manager.give_up(problem)
