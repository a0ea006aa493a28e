"""Log the same trouble once, then at most once an hour with a count."""

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

EVERY_S = 3600.0
_MOST = 500  # troubles remembered; the one that happened longest ago goes first
_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")  # ports, durations and counts vary in the same trouble


@dataclass(slots=True)
class _Trouble:
    logged_at: float  # monotonic seconds
    withheld: int = 0


class RepeatHandler(logging.StreamHandler[TextIO]):
    """Write records to a stream, and withhold warnings and errors that repeat an earlier one.

    Two records are the same trouble if logger, level and text are, apart from the numbers in it.
    The first record after `EVERY_S` is written with the number of those withheld in between.
    """

    def __init__(self, stream: TextIO, now: Callable[[], float] = time.monotonic) -> None:
        """`now` returns monotonic seconds."""
        super().__init__(stream)
        self._now = now
        self._troubles: dict[tuple[str, int, str], _Trouble] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record unless it repeats one. Called with the handler's lock held."""
        try:
            told = record if record.levelno < logging.WARNING else self._judged(record)
        except Exception:  # a message whose arguments do not fit it, as StreamHandler has it
            self.handleError(record)
            return
        if told is not None:
            super().emit(told)

    def _judged(self, record: logging.LogRecord) -> logging.LogRecord | None:
        """Return the record to write, with the number of suppressed repeats, or None to drop it."""
        key = (record.name, record.levelno, _NUMBER.sub("#", _text(record)))
        now = self._now()
        trouble = self._troubles.pop(key, None)
        if trouble is not None and now - trouble.logged_at < EVERY_S:
            trouble.withheld += 1
            self._troubles[key] = trouble
            return None
        self._troubles[key] = _Trouble(now)
        if len(self._troubles) > _MOST:
            del self._troubles[next(iter(self._troubles))]
        return _with_count(record, trouble.withheld) if trouble and trouble.withheld else record


def _text(record: logging.LogRecord) -> str:
    """Return the message, with the exception it carries."""
    error = record.exc_info[1] if record.exc_info else None
    return f"{record.getMessage()} {type(error).__name__} {error}" if error else record.getMessage()


def _with_count(record: logging.LogRecord, count: int) -> logging.LogRecord:
    counted = logging.makeLogRecord(record.__dict__)
    times = "once more" if count == 1 else f"{count} more times"
    counted.msg, counted.args = f"{record.getMessage()} (happened {times} since last logged)", None
    return counted
