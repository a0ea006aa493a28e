"""`python -m assistant.service.ask_reload PID`: has the service take up its settings anew.

For `ExecReload=`: it waits for the outcome, so that `systemctl reload` fails where the new settings
are refused, and the sentence that says why is printed.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from assistant.service.notify import News, read_news
from integrations.cleaning import escaped

OUTCOME_S = 30.0  # settings are read, closed and opened within that, where nothing hangs
WAITS_S = 5.0  # for a conversation to rest; after that it is taken up later
_LOOK_S = 0.05


def main(words: Sequence[str]) -> int:
    """The exit code: 0 where the settings hold or will, 1 where not."""
    folder = os.environ.get("RUNTIME_DIRECTORY", "").split(":")[0]
    if len(words) != 1 or not words[0].isdigit() or not folder:
        print("hearth: ask_reload is for the service unit's ExecReload alone", file=sys.stderr)
        return 2
    before = read_news(Path(folder))
    os.kill(int(words[0]), signal.SIGHUP)
    news = _wait(Path(folder), before.number if before else 0)
    if news is None:
        print(f"hearth: no answer to the reload within {OUTCOME_S:g} s", file=sys.stderr)
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
