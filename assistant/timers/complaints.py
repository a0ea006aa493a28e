"""What does not work now: logged once, not at every look."""

import logging
from collections.abc import Awaitable
from typing import Any

from assistant.domain.records import StoreError

_log = logging.getLogger(__name__)


class Complaints:
    """One trouble of each kind at a time."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}

    def complain(self, kind: str, trouble: str) -> None:
        """It does not work; logged unless that was said already."""
        if self._now.get(kind) != trouble:
            _log.error("%s", trouble)
        self._now[kind] = trouble

    def over(self, kind: str) -> bool:
        """It works; whether it did not before."""
        return self._now.pop(kind, None) is not None

    async def safely(self, work: Awaitable[Any]) -> bool:
        """Whether it worked; a store that fails now may work later."""
        try:
            await work
        except StoreError as error:
            self.complain("store", f"timers cannot be read or kept: {error}")
            return False
        return True
