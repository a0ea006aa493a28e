"""What a program says on its standard error: to our log at debug, cut and without its secrets."""

import logging
import time

from integrations.mcp.flow import Allowance
from integrations.mcp.servers import ServerSpec

_log = logging.getLogger(__name__)

MAX_LINE = 300  # characters that are logged of one line
_LINES = (200, 10)  # at once, and each second from then on
_SHORTEST_SECRET = 4  # characters; "1" or "yes" would star half of every line


class Chatter:
    """Takes the program's standard error in pieces and keeps no more than one cut line."""

    def __init__(self, spec: ServerSpec) -> None:
        self._name = spec.name
        self._secrets = secrets_of(spec)
        # A secret that the cut would go through must still be known as one.
        self._keep = MAX_LINE + max((len(secret) for secret in self._secrets), default=0)
        self._line = bytearray()
        self._lines = Allowance(*_LINES)

    def feed(self, part: bytes) -> None:
        """The next piece."""
        *ended, rest = part.split(b"\n")
        for line in ended:
            self._add(line)
            self.end()
        self._add(rest)

    def end(self) -> None:
        """The line is over; so is the program, if none follows."""
        if self._line and self._lines.take(1, time.monotonic()):
            text = self._line.decode(errors="replace")
            _log.debug("%s: %s", self._name, shown_line(text, self._secrets))
        self._line.clear()

    def _add(self, more: bytes) -> None:
        self._line += more[: max(0, 4 * self._keep - len(self._line))]  # UTF-8: 4 bytes at most


def secrets_of(spec: ServerSpec) -> tuple[str, ...]:
    """What must not be shown of this server, the longest first."""
    arguments = [argument.rpartition("=")[2] for argument in spec.args]
    found = {*spec.env.values(), *spec.headers.values(), *spec.args, *arguments}
    return tuple(sorted((one for one in found if len(one) >= _SHORTEST_SECRET), key=len)[::-1])


def shown_line(text: str, secrets: tuple[str, ...]) -> str:
    """One cut line with stars for secrets; the log spells out what would act in it."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text.strip()[:MAX_LINE]
