"""Words to the service manager that started us, by the protocol of sd_notify(3).

Each message is one datagram of lines `NAME=value` to the socket named in $NOTIFY_SOCKET. Who is not
started by systemd has no such socket, and then nothing is sent.
"""

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

#
# What came of a wish for other settings, in a file that whoever asked can read.
#
# It lies in the service's runtime folder. Of modules it needs next to none, because `ask_reload` is
# started for every `systemctl reload`.


_FILE = "reload"

State = Literal[
    "waits",  # the settings are good, and taken up when the conversation rests
    "done",  # they hold, or nothing was different
    "refused",  # they do not, and those before hold
]


@dataclass(frozen=True, slots=True)
class News:
    """The outcome of the newest wish."""

    number: int  # of the wish, since the process began
    state: State
    sentence: str


def write_news(folder: Path, news: News) -> None:
    """Put it in place of what is there, whole. Raises OSError."""
    new = folder / f"{_FILE}.new"
    new.write_text(json.dumps(asdict(news)), encoding="utf-8")
    new.replace(folder / _FILE)


def read_news(folder: Path) -> News | None:
    """The newest; None where nobody has wished for anything yet."""
    try:
        found = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        return News(int(found["number"]), found["state"], str(found["sentence"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


#
# Starts that fail again and again come ever more slowly, but they never cease.
#
# systemd can do that by itself from release 254 on; here a file in the service's runtime folder
# counts, which is there until the service is stopped or the machine goes down.


LONGEST_S = 300.0
SETTLED_S = 60.0  # of work, after which a start has succeeded
_FREE = 2  # starts that wait for nothing
_FIRST_S = 2.0
_FORGOTTEN_S = 3 * LONGEST_S
_STARTS_FILE = "starts"
_log = logging.getLogger(__name__)


def pause_s(failed: int) -> float:
    """Return how long to wait after so many starts in a row that did not succeed."""
    if failed < _FREE:
        return 0.0
    return min(LONGEST_S, _FIRST_S * 2.0 ** min(failed - _FREE, 20))


class Starts:
    """Counts them. Whatever happens to the file is no reason not to start."""

    def __init__(self, folder: Path | None, now: Callable[[], float] = time.monotonic) -> None:
        """`folder`: None: nothing is counted. `now`: a clock that all starts since boot share."""
        self._file = None if folder is None else folder / _STARTS_FILE
        self._now = now

    def begin(self) -> int:
        """Count this one; gives how many before it did not succeed."""
        failed = self._read()
        if self._file is not None:
            try:
                self._file.write_text(json.dumps([failed + 1, self._now()]))
            except OSError as error:
                _log.debug("starts cannot be counted: %s", error)
        return failed

    def succeed(self) -> None:
        """This one has: the next waits for nothing."""
        if self._file is not None:
            try:
                self._file.unlink(missing_ok=True)
            except OSError as error:
                _log.debug("starts cannot be counted: %s", error)

    def _read(self) -> int:
        try:
            count, at = json.loads(self._file.read_text()) if self._file else (0, 0.0)
            return int(count) if 0 <= self._now() - float(at) < _FORGOTTEN_S else 0
        except (OSError, ValueError, TypeError):
            return 0


def starts_of(environ: Mapping[str, str]) -> Starts:
    """The service's, by its environment; elsewhere nothing is counted."""
    folder = runtime_folder(environ)
    return Starts(folder)


def runtime_folder(environ: Mapping[str, str]) -> Path | None:
    """The service's runtime folder, None where there is none."""
    name = environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    return Path(name) if name else None


_LONGEST = 200  # characters of a status that `systemctl status` shows well
_MICROSECONDS = 1_000_000


class Manager:
    """The service manager. Nothing here waits; of what it does not take, a status is told again."""

    def __init__(self, address: str = "", watchdog_s: float | None = None) -> None:
        """`address`: of the socket, "@" in front for an abstract one; "": there is no manager.
        `watchdog_s`: how long it bears silence; None: for ever."""
        self.watchdog_s = watchdog_s
        # A leading zero byte is how the kernel writes the "@".
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._status = ""  # the last that it took

    @property
    def there(self) -> bool:
        """True if a service manager has started us."""
        return bool(self._address)

    def ready(self, status: str = "") -> None:
        """Report that a start or a reload is done."""
        self._send("READY=1", self._status_line(status))

    def status(self, text: str) -> None:
        """Report our state in a sentence, unless it is the last that was taken."""
        if text != self._status:
            self._send(self._status_line(text))

    def reloading(self, status: str = "") -> None:
        """Other settings are being taken up; `ready` ends it."""
        now = time.clock_gettime(time.CLOCK_MONOTONIC)
        stamp = f"MONOTONIC_USEC={int(now * _MICROSECONDS)}"
        self._send("RELOADING=1", stamp, self._status_line(status))

    def stopping(self) -> None:
        """We end, as we were told."""
        self._send("STOPPING=1", self._status_line("Ends"))

    def alive(self) -> None:
        """All goes on: the watchdog's time begins anew."""
        self._send("WATCHDOG=1")

    def give_up(self, why: str) -> None:
        """Something is stuck for good: do at once what the watchdog does."""
        self._send("WATCHDOG=trigger", self._status_line(why))

    def extend(self, seconds: float) -> None:
        """Ask for so much more time for a start or whatever is under way."""
        self._send(f"EXTEND_TIMEOUT_USEC={int(seconds * _MICROSECONDS)}")

    def _status_line(self, text: str) -> str:
        self._status = text or self._status
        # `systemctl status` shows it on a terminal.
        return "STATUS=" + escaped(" ".join(self._status.split()))[:_LONGEST]

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
        try:
            with socket.socket(socket.AF_UNIX, kind) as sender:
                sender.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:  # its queue is full, or it is gone: the next word may arrive
            _log.debug("the service manager was not told %s: %s", lines[0], error)
            self._status = ""  # so that it is told again


def service_manager(environ: Mapping[str, str]) -> Manager:
    """The one that started this process, by its environment."""
    address = environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return Manager()
    meant = environ.get("WATCHDOG_PID", "")
    period = environ.get("WATCHDOG_USEC", "")
    watched = period.isdigit() and int(period) > 0 and meant in ("", str(os.getpid()))
    return Manager(address, int(period) / _MICROSECONDS if watched else None)
