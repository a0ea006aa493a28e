"""Run `hearth` with the wall clock set ahead by some seconds, as after a time without power.

python -m tests.pipeline.run_ahead SECONDS COMMAND ...
"""

import sys
from datetime import datetime, timedelta

from assistant.cli.main import main
from assistant.domain.clock import SystemClock

_right = SystemClock.now


def _ahead(clock: SystemClock) -> datetime:
    return _right(clock) + timedelta(seconds=float(sys.argv[1]))


if __name__ == "__main__":
    setattr(SystemClock, "now", _ahead)  # noqa: B010  (mypy knows no other way to a method)
    sys.exit(main(sys.argv[2:]))
