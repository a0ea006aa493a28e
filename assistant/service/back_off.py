"""Starts that fail again and again come ever more slowly, but they never cease.

systemd can do that by itself from release 254 on; here a file in the service's runtime folder
counts, which is there until the service is stopped or the machine goes down.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path

LONGEST_S = 300.0
SETTLED_S = 60.0  # of work, after which a start has succeeded
_FREE = 2  # starts that wait for nothing
_FIRST_S = 2.0
_FORGOTTEN_S = 3 * LONGEST_S
_FILE = "starts"
_log = logging.getLogger(__name__)


def pause_s(failed: int) -> float:
    """How long to wait after so many starts in a row that did not succeed."""
    if failed < _FREE:
        return 0.0
    return min(LONGEST_S, _FIRST_S * 2.0 ** min(failed - _FREE, 20))


class Starts:
    """Counts them. Whatever happens to the file is no reason not to start."""

    def __init__(self, folder: Path | None, now: Callable[[], float] = time.monotonic) -> None:
        """`folder`: None: nothing is counted. `now`: a clock that all starts since boot share."""
        self._file = None if folder is None else folder / _FILE
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
