"""What each command of the program is made of."""

import argparse
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from assistant.config.schema import Settings


@dataclass(frozen=True, slots=True)
class CliCommand:
    """One word after `hearth`."""

    name: str
    summary: str  # one line for --help, lower case, no full stop
    example: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Settings], Coroutine[Any, Any, int]]  # gives the exit code
    configured: bool = True  # False: it runs on the defaults, whatever the file says


class Failed(Exception):
    """A command could not do its work. `str(error)` is one sentence for a person."""

    def __init__(self, sentence: str, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code
