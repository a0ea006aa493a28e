"""The process's log.

Secrets are masked and text from outside can't add lines: a record is one line, whatever names,
answers and errors it quotes (see `escaped`). Only a traceback has several lines, and each
exception's message is one of them.
"""

import json
import logging
import traceback
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from pydantic import BaseModel, SecretStr

from assistant.config.schema import Settings
from integrations.cleaning import escaped

STARS = "***"
ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
_CAUSED = "The above exception was the direct cause of the following exception:"
_MEANWHILE = "During handling of the above exception, another exception occurred:"
_SHORTEST = 8  # characters; masking a PIN everywhere its digits occur would reveal it
_MOST_LINES = 500
_LONGEST_LINE = 2_000  # characters


class StarredFormatter(logging.Formatter):
    """A log formatter that masks secrets in the whole record, including tracebacks."""

    def __init__(self, layout: str) -> None:
        super().__init__(layout)
        self._hidden: tuple[str, ...] = ()

    def hide(self, settings: Settings) -> None:
        """Also mask the secrets in these settings, except very short ones."""
        plain = {secret for secret in secrets_in(settings) if len(secret) >= _SHORTEST}
        forms = {
            form
            for one in plain
            for form in (one, escaped(one), repr(one)[1:-1], json.dumps(one)[1:-1])
        }
        self._hidden = tuple(sorted(forms.union(self._hidden), key=len, reverse=True))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return escaped(super().formatMessage(record))

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802
        return "\n".join(_told(ei[1])) if ei[1] is not None else ""

    def formatStack(self, stack_info: str) -> str:  # noqa: N802
        return "\n".join(map(escaped, stack_info.split("\n")))

    def format(self, record: logging.LogRecord) -> str:
        # Drop the traceback cached by another handler's formatter, because it isn't escaped.
        text = super().format(logging.makeLogRecord({**record.__dict__, "exc_text": None}))
        for secret in self._hidden:
            text = text.replace(secret, STARS)
        return text


@dataclass(frozen=True, slots=True)
class LogLine:
    at: float  # seconds since the epoch
    level: str  # "DEBUG", "INFO", "WARNING", "ERROR" or "CRITICAL"
    source: str  # the logger's name
    text: str


class RecentLog(logging.Handler):
    """A log handler that keeps the newest lines in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(StarredFormatter("%(message)s"))
        self._lines: deque[LogLine] = deque(maxlen=_MOST_LINES)

    @property
    def lines(self) -> Sequence[LogLine]:
        """The newest lines, newest first."""
        return tuple(reversed(self._lines))

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.format(record)[:_LONGEST_LINE]
        except Exception:  # the message doesn't fit its arguments
            self.handleError(record)
            return
        self._lines.append(LogLine(record.created, record.levelname, record.name, text))


def recent_log() -> RecentLog:
    """Return this process's recent log, which begins with the first call."""
    root = logging.getLogger()
    found = next((one for one in root.handlers if isinstance(one, RecentLog)), None)
    if found is None:
        found = RecentLog()
        root.addHandler(found)
    return found


def hide_in_logs(settings: Settings) -> None:
    """Mask the secrets in these settings in everything that this process logs."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, StarredFormatter):
            handler.formatter.hide(settings)


def secrets_in(value: object) -> Iterator[str]:
    """Yield every secret in the settings or in a part of them. For a header such as "Bearer TOKEN",
    also yields the token alone."""
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        yield from {secret, secret.rpartition(" ")[2]}
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from secrets_in(getattr(value, name))
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from secrets_in(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from secrets_in(one)


def _told(error: BaseException, seen: frozenset[int] = frozenset()) -> Iterator[str]:
    """Yield the lines of a traceback, formatted like Python's, with each message on one line."""
    seen |= {id(error)}
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _told(before, seen)
        yield _CAUSED if error.__cause__ is not None else _MEANWHILE
    if error.__traceback__ is not None:
        yield "Traceback (most recent call last):"
        for frame in traceback.format_tb(error.__traceback__):
            yield from map(escaped, frame.rstrip("\n").split("\n"))
    yield escaped(_words(error))
    for note in getattr(error, "__notes__", ()):
        yield escaped(str(note))
    if isinstance(error, BaseExceptionGroup):
        for number, part in enumerate(error.exceptions, 1):
            yield f"  +- {number} of {len(error.exceptions)}"
            yield from (f"  | {line}" for line in _told(part, seen))


def _words(error: BaseException) -> str:
    kind = type(error)
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    try:
        words = str(error)
    except Exception:  # report an exception even if its __str__ raises
        words = "<no words>"
    return f"{name}: {words}" if words else name
