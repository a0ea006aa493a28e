"""`policy.mode` while Hearth runs: switched, kept over a restart, and back by time."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.policy_context import Mode
from assistant.domain.records import SmallValues

NAME = "policy_mode"  # under which it is kept

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Switched:
    """A mode other than the configured one, or until a time."""

    mode: Mode
    until: datetime | None  # aware; None: until it is switched again


class ModeKeeper:
    """Knows the mode of this moment. Nobody has to wait for the time at which it falls back."""

    def __init__(self, kept: SmallValues, clock: Clock, configured: Mode) -> None:
        """`configured`: `policy.mode`, to which it falls back."""
        self._kept = kept
        self._clock = clock
        self._configured = configured
        self._switched: _Switched | None = None
        self._unkept = False  # the disk does not know what holds
        self._busy = asyncio.Lock()

    async def load(self) -> None:
        """Take up what an earlier process has left, or another one has done. Raises StoreError."""
        async with self._busy:
            if not self._unkept:
                self._switched = _read(await self._kept.kept(NAME))

    @property
    def current(self) -> Mode:
        """What holds now."""
        return self._at(self._switched, self._clock.now())

    @property
    def until(self) -> datetime | None:
        """When the current mode falls back to the configured one; None: it does not."""
        if self._switched is None or self._is_over(self._switched, self._clock.now()):
            return None
        return self._switched.until

    async def set(self, mode: Mode, until: datetime | None = None) -> None:
        """Switch. `until`: aware; None: for good, which for the configured mode is as it was.

        It holds even where the disk is full, but then not over a restart. Raises StoreError.
        """
        for_good = mode is self._configured and until is None
        async with self._busy:
            self._switched = None if for_good else _Switched(mode, until)
            self._unkept = True
            if self._switched is None:
                await self._kept.drop_kept(NAME)
            else:
                told = until.isoformat() if until is not None else None
                await self._kept.keep(NAME, {"mode": str(mode), "until": told})
            self._unkept = False

    def loosens(self, mode: Mode, until: datetime | None = None) -> bool:
        """Whether at any time from now on `set` would make for more trust than there is.

        A stricter mode that ends sooner than the one that holds does, when it ends.
        """
        now, asked = self._clock.now(), _Switched(mode, until)
        times = [now, *(one for one in (self.until, until) if one is not None and one > now)]
        return any(
            self._at(asked, at).strictness < self._at(self._switched, at).strictness for at in times
        )

    def _at(self, switched: _Switched | None, at: datetime) -> Mode:
        if switched is None or self._is_over(switched, at):
            return self._configured
        return switched.mode

    def _is_over(self, switched: _Switched, at: datetime) -> bool:
        return switched.until is not None and at >= switched.until


def _read(value: Any) -> _Switched | None:
    """From the disk. What cannot be read counts as nothing, and is told."""
    if value is None:
        return None
    try:
        row: Mapping[str, Any] = value
        until = datetime.fromisoformat(row["until"]) if row["until"] else None
        if until is not None and until.tzinfo is None:
            raise ValueError("a time without its zone")
        return _Switched(Mode(row["mode"]), until)
    except (KeyError, TypeError, ValueError) as error:
        _log.warning("the mode that was kept cannot be read: %s", error)
        return None
