"""Logs a recurring problem only once an hour, with the number of repetitions."""

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

EVERY_S = 3600.0
_MOST = 500  # problems remembered; the oldest is dropped first
_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")  # ports, durations and counts vary between repetitions


@dataclass(slots=True)
class _Trouble:
    logged_at: float  # monotonic seconds
    withheld: int = 0


class RepeatHandler(logging.StreamHandler[TextIO]):
    """A stream handler that suppresses repeated warnings and errors for an hour. A record repeats
    an earlier one if its logger, level and text are the same, apart from numbers in the text."""

    def __init__(self, stream: TextIO, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(stream)
        self._now = now
        self._troubles: dict[tuple[str, int, str], _Trouble] = {}

    def emit(self, record: logging.LogRecord) -> None:
        try:
            told = record if record.levelno < logging.WARNING else self._judged(record)
        except Exception:  # the message doesn't fit its arguments; StreamHandler does the same
            self.handleError(record)
            return
        if told is not None:
            super().emit(told)

    def _judged(self, record: logging.LogRecord) -> logging.LogRecord | None:
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
    error = record.exc_info[1] if record.exc_info else None
    return f"{record.getMessage()} {type(error).__name__} {error}" if error else record.getMessage()


def _with_count(record: logging.LogRecord, count: int) -> logging.LogRecord:
    counted = logging.makeLogRecord(record.__dict__)
    times = "once more" if count == 1 else f"{count} more times"
    counted.msg, counted.args = f"{record.getMessage()} (happened {times} since last logged)", None
    return counted
