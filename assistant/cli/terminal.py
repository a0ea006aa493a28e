"""The one way out to a terminal: what comes from outside is seen there, and gives it no orders.

Every command writes through here, so that no caller has to think of it: `say` and `say_json` for
plain lines, `Terminal` for colours and tables (`assistant.cli.console`). A line is one argument; a
line end within it came from outside and is spelled out, as are control, escape and direction signs.
"""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from integrations.cleaning import escaped, escaped_json


def say(*lines: object, error: bool = False) -> None:
    """Print each argument as one line, on stderr where `error`; none: nothing is printed."""
    stream = sys.stderr if error else sys.stdout
    for line in lines:
        print(escaped(str(line)), file=stream)
    stream.flush()


def say_json(
    value: object, *, ascii_only: bool = False, default: Callable[[Any], str] | None = None
) -> None:
    """Print one JSON value on one line of stdout. What it means is not changed by the escapes."""
    print(escaped_json(json.dumps(value, ensure_ascii=ascii_only, default=default)))


class Parser(argparse.ArgumentParser):
    """A parser whose complaints about what was typed, such as a file's name, are one line."""

    def error(self, message: str) -> NoReturn:
        """See argparse.ArgumentParser."""
        super().error(escaped(message))
