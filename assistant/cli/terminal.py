"""Safe terminal output: text from outside is escaped, so it can't control the terminal.

Every command prints through this module, or through `Terminal` in `assistant.cli.console`. Pass
each line as a separate argument, because a line break within an argument is escaped.
"""

import argparse
import json
import re
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from assistant.config.kinds import one_of
from assistant.config.schema import Settings
from integrations.cleaning import escaped, escaped_json

if TYPE_CHECKING:
    from assistant.app.build import App
    from assistant.conversation.rules.events import Prompter


@dataclass(frozen=True, slots=True)
class RemoteTerminal:
    """Another process's terminal, which shows the output of a command running in this process."""

    out: TextIO
    error: TextIO
    columns: int
    out_is_terminal: bool
    error_is_terminal: bool
    environ: Mapping[str, str]  # variables that decide whether to use colours


# Set in the context of a command that runs here for another process.
remote_terminal: ContextVar[RemoteTerminal | None] = ContextVar("remote_terminal", default=None)


def output(*, error: bool = False) -> TextIO:
    remote = remote_terminal.get()
    if remote is not None:
        return remote.error if error else remote.out
    return sys.stderr if error else sys.stdout


def say(*lines: object, error: bool = False) -> None:
    stream = output(error=error)
    for line in lines:
        print(escaped(str(line)), file=stream)
    stream.flush()


def say_json(
    value: object, *, ascii_only: bool = False, default: Callable[[Any], str] | None = None
) -> None:
    """Print a JSON value on one line of stdout. Control characters are written as JSON escapes."""
    text = escaped_json(json.dumps(value, ensure_ascii=ascii_only, default=default))
    print(text, file=output())


class Parser(argparse.ArgumentParser):
    """An argument parser that reports wrong usage in one line, with a suggestion."""

    sentence = ""  # name of the argument that takes any number of words

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments. A sentence's words can come before, between and after options. After
        `--`, every argument belongs to the sentence."""
        given, after = list(sys.argv[1:] if args is None else args), list[str]()
        if self.sentence and "--" in given:
            cut = given.index("--")
            given, after = given[:cut], given[cut + 1 :]
        found, unknown = super().parse_known_args(given, namespace)
        if self.sentence:
            # argparse stops at the first option; the words after it end up in `unknown`.
            words = [word for word in unknown if not word.startswith("-") or " " in word]
            unknown = [word for word in unknown if word not in words]
            setattr(found, self.sentence, [*getattr(found, self.sentence), *words, *after])
        if unknown:
            self.error(self._about_unknown(unknown[0]))
        return found, []

    def error(self, message: str) -> NoReturn:
        sentence = _in_plain_words(message)
        end = "" if sentence[-1] in ".?" else "."
        told = f"hearth: {sentence}{end} Run `{self.prog} --help` for help."
        self.exit(2, escaped(told) + "\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = [] if action.choices is None else [str(one) for one in action.choices]
        if not choices or str(value) in choices:
            super()._check_value(action, value)
            return
        near = next(iter(get_close_matches(str(value), choices, 1)), None)
        hint = f"did you mean {near}?" if near else f"use {one_of(choices)}"
        name = "/".join(action.option_strings) or action.metavar or action.dest
        # Pass no action, because only some Python versions put its name in front.
        raise argparse.ArgumentError(None, f"{name} cannot be '{value}'; {hint}")

    def _about_unknown(self, word: str) -> str:
        if not word.startswith("-"):
            return f"Unexpected argument '{word}'"
        given = word.partition("=")[0]
        near = get_close_matches(given, self._known(), 1)
        return f"Unknown option {given}" + (f"; did you mean {near[0]}?" if near else "")

    def _known(self) -> list[str]:
        found = [name for one in self._actions for name in one.option_strings if name[1] == "-"]
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for parser in action.choices.values():
                    found += parser._known()
        return found

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse's own method ignores write errors.
        if message:
            output(error=file is not sys.stdout).write(message)


_ARGPARSE_SAYS = (
    (r"argument (\S+): invalid (?:int|float) value: (.*)", r"\1 must be a number, not \2"),
    (r"argument (\S+): expected one argument", r"\1 needs a value"),
    (r"argument (\S+): not allowed with argument (\S+)", r"\1 and \2 cannot be used together"),
    (r"the following arguments are required: (.*)", r"\1 is missing"),
)


def _in_plain_words(message: str) -> str:
    for pattern, words in _ARGPARSE_SAYS:
        if found := re.fullmatch(pattern, message, re.DOTALL):
            return found.expand(words)
    return message[:1].upper() + message[1:]


def add_sentence(parser: argparse.ArgumentParser, help_text: str) -> None:
    """Accept any number of words as one sentence, so that it needs no quotes."""
    parser.add_argument("text", nargs="*", metavar="TEXT", help=help_text)
    if isinstance(parser, Parser):
        parser.sentence = "text"


Beside = Callable[[argparse.Namespace, "App", "Prompter | None"], Coroutine[Any, Any, int]]


@dataclass(frozen=True, slots=True)
class CliCommand:
    name: str
    examples: Sequence[str]  # for --help
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, Settings], Coroutine[Any, Any, int]]  # returns the exit code
    configured: bool = True  # False: run with the defaults and ignore the configuration file
    # Runs the command in the daemon for another terminal; None if it needs its own process.
    beside: "Beside | None" = None


def repeat_common_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the options that all commands share also come after a subcommand."""
    hidden = argparse.SUPPRESS
    parser.add_argument("--config", type=Path, default=hidden, help=hidden)
    parser.add_argument("--debug", action="store_true", default=hidden, help=hidden)


def add_alone(parser: argparse.ArgumentParser) -> None:
    """Add `--alone`, which prevents the command from running in the daemon."""
    parser.add_argument(
        "--alone", action="store_true", help="run in this process, even if `hearth run` is running"
    )


class Failed(Exception):
    """A command can't do its work. `str(error)` is a sentence for the user."""

    def __init__(self, sentence: str, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code
