"""`python -m assistant.service.ask_reload PID`: ask the service to reload its settings.

`ExecReload=` runs it. It waits for the result, so that `systemctl reload` fails and prints the
reason if the new settings are refused.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from assistant.service.notify import News, read_news
from integrations.cleaning import escaped

OUTCOME_S = 30.0  # timeout in seconds for the whole reload
WAITS_S = 5.0  # seconds to wait for a conversation to end; the reload happens when it does
_LOOK_S = 0.05


def main(words: Sequence[str]) -> int:
    """Request a reload and return the exit code: 0 if the new settings are in use or will be, 1 if
    they were refused or the service didn't answer in time, and 2 if the arguments are wrong."""
    folder = os.environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    if len(words) != 1 or not words[0].isdigit() or not folder:
        print("hearth: ask_reload is only for ExecReload in the service unit", file=sys.stderr)
        return 2
    before = read_news(Path(folder))
    os.kill(int(words[0]), signal.SIGHUP)
    news = _wait(Path(folder), before.number if before else 0)
    if news is None:
        print(f"hearth: the reload was not answered within {OUTCOME_S:g} s", file=sys.stderr)
        return 1
    print(f"hearth: {escaped(news.sentence)}", file=sys.stderr)
    return 1 if news.state == "refused" else 0


def _wait(folder: Path, before: int) -> News | None:
    started = time.monotonic()
    while (passed := time.monotonic() - started) < OUTCOME_S:
        news = read_news(folder)
        is_new = news is not None and news.number > before
        if news is not None and is_new and (news.state != "waits" or passed > WAITS_S):
            return news
        time.sleep(_LOOK_S)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
