"""The PIN: compared in constant time, and closed for a while after wrong ones."""

import asyncio
import hmac
import logging
import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import SecretStr

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError

_log = logging.getLogger(__name__)

MAX_WRONG = 3  # in a row
FIRST_LOCK_S = 15 * 60.0
LONGEST_LOCK_S = 24 * 3600.0
_NAME = "pin_attempts"

Judgement = Literal["right", "wrong", "locked"]


class Kept(Protocol):
    """Where the wrong ones are counted (`assistant.journal.store.Store`). Raises StoreError."""

    async def keep(self, name: str, value: Any) -> None:
        """Keep JSON; it is on the disk when this returns."""
        ...

    async def kept(self, name: str) -> Any | None:
        """What was kept last."""
        ...


@dataclass(frozen=True, slots=True)
class _Attempts:
    """What has been tried since the last right one."""

    wrong: int = 0  # in a row, since the last lock-out
    locks: int = 0  # lock-outs so far; each is twice as long as the one before
    since: float | None = None  # start of the lock-out, seconds of the wall clock; None: open

    @property
    def lock_s(self) -> float:
        """How long this lock-out takes."""
        return min(FIRST_LOCK_S * 2.0 ** min(self.locks - 1, 16), LONGEST_LOCK_S)


class PinGuard:
    """Judges PINs. Three wrong ones in a row lock it for 15 minutes, the next three for 30, ...

    A wrong one is on the disk before it is called wrong, so a restart gives no further tries. Where
    the disk cannot be read it stays locked; where it cannot be written the count is in memory.
    """

    def __init__(self, pin: SecretStr, store: Kept, clock: Clock) -> None:
        """An empty `pin` is never right."""
        self._pin = pin
        self._store = store
        self._clock = clock
        self._attempts: _Attempts | None = None  # where the disk could not be written; else None
        self._one_at_a_time = asyncio.Lock()

    async def check(self, digits: str) -> Judgement:
        """Judge one PIN; each call with another than the right one counts as an attempt.

        While locked nothing is compared, and the right one is "locked" too. Never raises.
        """
        async with self._one_at_a_time:
            try:
                attempts = self._attempts or await self._kept()
            except StoreError as error:
                _log.error("the PIN stays locked: %s", error)
                return "locked"
            if attempts.since is not None:
                now = self._now()
                if now < attempts.since:  # the clock was set back: the whole time again
                    await self._set(_Attempts(0, attempts.locks, now))
                    return "locked"
                if now - attempts.since < attempts.lock_s:
                    return "locked"
                attempts = _Attempts(0, attempts.locks, None)
            if self._is_right(digits):
                if attempts != _Attempts():
                    await self._set(_Attempts())
                return "right"
            if attempts.wrong + 1 < MAX_WRONG:
                await self._set(_Attempts(attempts.wrong + 1, attempts.locks, None))
            else:
                await self._set(_Attempts(0, attempts.locks + 1, self._now()))
            return "wrong"

    async def _kept(self) -> _Attempts:
        """Read anew each time, for another process counts too. Raises StoreError."""
        kept = await self._store.kept(_NAME)
        attempts = _read(kept, self._now())
        if kept is not None and kept != _written(attempts):
            await self._set(attempts)  # not ours: it is locked from now on, and not for ever
        return attempts

    def _is_right(self, digits: str) -> bool:
        pin = self._pin.get_secret_value()
        return hmac.compare_digest(digits.encode(), pin.encode()) and pin != ""

    async def _set(self, attempts: _Attempts) -> None:
        try:
            await self._store.keep(_NAME, _written(attempts))
            self._attempts = None
        except StoreError as error:
            self._attempts = attempts
            _log.error("the count of wrong PINs is in memory only: %s", error)

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _written(attempts: _Attempts) -> dict[str, Any]:
    return {"wrong": attempts.wrong, "locks": attempts.locks, "since": attempts.since}


def _read(value: Any, now: float) -> _Attempts:
    """What was kept; anything that is not ours locks once."""
    if value is None:
        return _Attempts()
    if isinstance(value, dict):
        wrong, locks, since = value.get("wrong"), value.get("locks"), value.get("since")
        if isinstance(wrong, int) and isinstance(locks, int) and wrong >= 0 and locks >= 0:
            if since is None:
                return _Attempts(wrong, locks)
            if isinstance(since, int | float) and math.isfinite(since) and locks >= 1:
                return _Attempts(wrong, locks, since)
    return _Attempts(0, 1, now)
