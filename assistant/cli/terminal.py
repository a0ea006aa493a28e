"""Safe terminal output: text from outside is escaped, so it can't control the terminal.

Every command prints through this module, or through `Terminal` in `assistant.cli.console`. Pass
each line as a separate argument, because a line break within an argument is escaped.
"""

import argparse
import json
import logging
import re
import sys
import traceback
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from pydantic import BaseModel, SecretStr

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


# In the log, secrets are masked and text from outside can't add lines: a record is one line,
# whatever names, answers and errors it quotes (see `escaped`). Only a traceback has several lines,
# and each exception's message is one of them.


STARS = "***"
ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
_CAUSED = "The above exception was the direct cause of the following exception:"
_MEANWHILE = "During handling of the above exception, another exception occurred:"
_SHORTEST = 8  # characters; masking a PIN everywhere its digits occur would reveal it


class StarredFormatter(logging.Formatter):
    """A log formatter that masks secrets in the whole record, including tracebacks."""

    def __init__(self, layout: str) -> None:
        super().__init__(layout)
        self._hidden: tuple[str, ...] = ()

    def hide(self, settings: Settings) -> None:
        """Also mask the secrets in these settings, except very short ones."""
        plain = {secret for secret in secrets_in(settings) if len(secret) >= _SHORTEST}
        forms = {
            form
            for one in plain
            for form in (one, escaped(one), repr(one)[1:-1], json.dumps(one)[1:-1])
        }
        self._hidden = tuple(sorted(forms.union(self._hidden), key=len, reverse=True))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return escaped(super().formatMessage(record))

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802
        return "\n".join(_told(ei[1])) if ei[1] is not None else ""

    def formatStack(self, stack_info: str) -> str:  # noqa: N802
        return "\n".join(map(escaped, stack_info.split("\n")))

    def format(self, record: logging.LogRecord) -> str:
        # Drop the traceback cached by another handler's formatter, because it isn't escaped.
        text = super().format(logging.makeLogRecord({**record.__dict__, "exc_text": None}))
        for secret in self._hidden:
            text = text.replace(secret, STARS)
        return text


def hide_in_logs(settings: Settings) -> None:
    """Mask the secrets in these settings in everything that this process logs."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, StarredFormatter):
            handler.formatter.hide(settings)


def secrets_in(value: object) -> Iterator[str]:
    """Yield every secret in the settings or in a part of them. For a header such as "Bearer TOKEN",
    also yields the token alone."""
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        yield from {secret, secret.rpartition(" ")[2]}
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from secrets_in(getattr(value, name))
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from secrets_in(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from secrets_in(one)


def _told(error: BaseException, seen: frozenset[int] = frozenset()) -> Iterator[str]:
    """Yield the lines of a traceback, formatted like Python's, with each message on one line."""
    seen |= {id(error)}
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _told(before, seen)
        yield _CAUSED if error.__cause__ is not None else _MEANWHILE
    if error.__traceback__ is not None:
        yield "Traceback (most recent call last):"
        for frame in traceback.format_tb(error.__traceback__):
            yield from map(escaped, frame.rstrip("\n").split("\n"))
    yield escaped(_words(error))
    for note in getattr(error, "__notes__", ()):
        yield escaped(str(note))
    if isinstance(error, BaseExceptionGroup):
        for number, part in enumerate(error.exceptions, 1):
            yield f"  +- {number} of {len(error.exceptions)}"
            yield from (f"  | {line}" for line in _told(part, seen))


def _words(error: BaseException) -> str:
    kind = type(error)
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    try:
        words = str(error)
    except Exception:  # report an exception even if its __str__ raises
        words = "<no words>"
    return f"{name}: {words}" if words else name
