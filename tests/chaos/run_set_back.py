"""Run `hearth` with a wall clock that a test may set while it runs.

python -m tests.chaos.run_set_back FILE COMMAND ...      FILE: by how many seconds it is ahead
"""

import sys
from datetime import datetime, timedelta
from pathlib import Path

from assistant.cli.main import main
from assistant.domain import clock

_right = clock.SystemClock.now


def _as_set(system: clock.SystemClock) -> datetime:
    return _right(system) + timedelta(seconds=float(Path(sys.argv[1]).read_text("ascii")))


if __name__ == "__main__":
    # mypy knows no other way to a method
    setattr(clock.SystemClock, "now", _as_set)  # noqa: B010
    setattr(clock, "synchronised", lambda: False)  # noqa: B010  nobody keeps it right
    sys.exit(main(sys.argv[2:]))
