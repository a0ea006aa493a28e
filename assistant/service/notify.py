"""Words to the service manager that started us, by the protocol of sd_notify(3).

Each message is one datagram of lines `NAME=value` to the socket named in $NOTIFY_SOCKET. Who is not
started by systemd has no such socket, and then nothing is sent.
"""

import logging
import os
import socket
import time
from collections.abc import Mapping

from integrations.cleaning import escaped

_LONGEST = 200  # characters of a status that `systemctl status` shows well
_MICROSECONDS = 1_000_000
_log = logging.getLogger(__name__)


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
        """Whether one has started us."""
        return bool(self._address)

    def ready(self, status: str = "") -> None:
        """What was asked for, a start or a reload, is done."""
        self._send("READY=1", self._status_line(status))

    def status(self, text: str) -> None:
        """How we stand, in a sentence; told only where it differs from the last that was taken."""
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
        """What we are about, a start above all, may take so much longer from now on."""
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
