"""What came of a wish for other settings, in a file that whoever asked can read.

It lies in the service's runtime folder. Of modules it needs next to none, because `ask_reload` is
started for every `systemctl reload`.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

_FILE = "reload"

State = Literal[
    "waits",  # the settings are good, and taken up when the conversation rests
    "done",  # they hold, or nothing was different
    "refused",  # they do not, and those before hold
]


@dataclass(frozen=True, slots=True)
class News:
    """How the newest wish stands."""

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
