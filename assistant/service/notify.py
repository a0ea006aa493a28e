"""Messages to systemd (sd_notify(3)), results of reload requests, and the count of failed starts.
Each message is a datagram of `NAME=value` lines, sent to the socket in $NOTIFY_SOCKET."""

import json
import logging
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from integrations.cleaning import escaped

# A reload's result is stored in a file in the service's runtime folder. Keep this module's imports
# few, because `systemctl reload` starts `ask_reload` each time.
_FILE = "reload"

State = Literal[
    "waits",  # the settings are valid and apply when the conversation ends
    "done",  # the settings are in use, or unchanged
    "refused",  # the settings were refused; the previous ones stay in use
]


@dataclass(frozen=True, slots=True)
class News:
    """Result of the latest reload request."""

    number: int  # the request's number
    state: State
    sentence: str


def write_news(folder: Path, news: News) -> None:
    """Write the result file atomically. Raises OSError."""
    new = folder / f"{_FILE}.new"
    new.write_text(json.dumps(asdict(news)), encoding="utf-8")
    new.replace(folder / _FILE)


def read_news(folder: Path) -> News | None:
    """Return the latest result, or None if there is none or it can't be read."""
    try:
        found = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        return News(int(found["number"]), found["state"], str(found["sentence"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


# Failing starts are retried with increasing delays, without a limit. systemd supports that only
# since release 254. The count is in the runtime folder, which exists until the service is stopped.
LONGEST_S = 300.0
SETTLED_S = 60.0  # a start has succeeded after this many seconds
_FREE = 2  # failed starts without a delay
_FIRST_S = 2.0
_FORGOTTEN_S = 3 * LONGEST_S
_STARTS_FILE = "starts"
_log = logging.getLogger(__name__)


def pause_s(failed: int) -> float:
    """Return the delay in seconds before the next start, after `failed` failed starts in a row."""
    if failed < _FREE:
        return 0.0
    return min(LONGEST_S, _FIRST_S * 2.0 ** min(failed - _FREE, 20))


class Starts:
    """Counter of failed starts. File errors never prevent a start."""

    def __init__(self, folder: Path | None, now: Callable[[], float] = time.monotonic) -> None:
        """If `folder` is None, nothing is counted. `now` must return seconds since boot."""
        self._file = None if folder is None else folder / _STARTS_FILE
        self._now = now

    def begin(self) -> int:
        """Count this start as failed until `succeed` is called. Returns the number of earlier
        failures."""
        failed = self._read()
        if self._file is not None:
            try:
                self._file.write_text(json.dumps([failed + 1, self._now()]))
            except OSError as error:
                _log.debug("cannot count the starts: %s", error)
        return failed

    def succeed(self) -> None:
        if self._file is not None:
            try:
                self._file.unlink(missing_ok=True)
            except OSError as error:
                _log.debug("cannot count the starts: %s", error)

    def _read(self) -> int:
        try:
            count, at = json.loads(self._file.read_text()) if self._file else (0, 0.0)
            return int(count) if 0 <= self._now() - float(at) < _FORGOTTEN_S else 0
        except (OSError, ValueError, TypeError):
            return 0


def starts_of(environ: Mapping[str, str]) -> Starts:
    """Return the service's counter. Outside the service, it counts nothing."""
    folder = runtime_folder(environ)
    return Starts(folder)


def runtime_folder(environ: Mapping[str, str]) -> Path | None:
    """Return the service's runtime folder ($RUNTIME_DIRECTORY), or None outside the service."""
    name = environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    return Path(name) if name else None


_LONGEST = 200  # maximum length of a status
_MICROSECONDS = 1_000_000


class Manager:
    """Connection to systemd. Methods never block or raise."""

    def __init__(self, address: str = "", watchdog_s: float | None = None) -> None:
        """`address` is the socket's path ("@" at the start means an abstract socket), or "" without
        systemd. `watchdog_s` is the watchdog's timeout in seconds, or None if the watchdog is off.
        """
        self.watchdog_s = watchdog_s
        # The kernel expects a leading zero byte in place of "@".
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._status = ""  # the last status sent

    @property
    def there(self) -> bool:
        return bool(self._address)

    def ready(self, status: str = "") -> None:
        self._send("READY=1", self._status_line(status))

    def status(self, text: str) -> None:
        if text != self._status:
            self._send(self._status_line(text))

    def reloading(self, status: str = "") -> None:
        """Report that a reload has started. Call `ready` when it is complete."""
        now = time.clock_gettime(time.CLOCK_MONOTONIC)
        stamp = f"MONOTONIC_USEC={int(now * _MICROSECONDS)}"
        self._send("RELOADING=1", stamp, self._status_line(status))

    def stopping(self) -> None:
        self._send("STOPPING=1", self._status_line("Ends"))

    def alive(self) -> None:
        """Reset the watchdog timer."""
        self._send("WATCHDOG=1")

    def give_up(self, why: str) -> None:
        """Trigger the watchdog immediately, so that systemd restarts Hearth."""
        self._send("WATCHDOG=trigger", self._status_line(why))

    def extend(self, seconds: float) -> None:
        """Extend the timeout of the current startup or reload."""
        self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * _MICROSECONDS)}")

    def _status_line(self, text: str) -> str:
        self._status = text or self._status
        # `systemctl status` prints it on a terminal, so escape it.
        return "STATUS=" + escaped(" ".join(self._status.split()))[:_LONGEST]

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
        try:
            with socket.socket(socket.AF_UNIX, kind) as sender:
                sender.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:  # systemd's queue is full, or systemd is gone
            _log.debug("cannot send the service manager %s: %s", lines[0], error)
            self._status = ""  # so that the status is sent again


def service_manager(environ: Mapping[str, str]) -> Manager:
    """Return the connection to systemd that the environment variables describe."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return Manager()
    meant = environ.get("WATCHDOG_PID", "")
    period = environ.get("WATCHDOG_USEC", "")
    watched = period.isdigit() and int(period) > 0 and meant in ("", str(os.getpid()))
    return Manager(address, int(period) / _MICROSECONDS if watched else None)
