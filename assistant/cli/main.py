"""Parses the command line, runs the command and reports errors in one sentence. The exit code is 0
for success, 1 if the command failed or was not understood, 2 for a usage or configuration error,
and 130 after Ctrl-C."""

import argparse
import asyncio
import gc
import importlib
import logging
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from assistant.cli.commands import COMMANDS, answer
from assistant.cli.entry import cannot_write, with_ctrl_c
from assistant.cli.log_repeats import RepeatHandler
from assistant.cli.terminal import CliCommand, Failed, Parser, say
from assistant.config.errors import ConfigError
from assistant.config.load import load_settings
from assistant.config.masked_log import StarredFormatter, hide_in_logs, recent_log
from assistant.config.schema import Settings
from assistant.domain.records import StoreError
from audio.errors import AudioError
from integrations.errors import IntegrationError, unpacked

FAILED, UNUSABLE = 1, 2
NEXT_ADDRESS_S = 0.25  # before the next address is tried too, as RFC 8305 recommends
EXPECTED = (ConfigError, AudioError, IntegrationError, StoreError, Failed)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command named in `argv` (by default `sys.argv`) and return the exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    if (code := answer(words)) is not None:
        return code
    arguments = parser_of(words).parse_args(words)
    command: CliCommand = arguments.command
    _log_to_stderr(arguments.debug)
    if argv is None:  # running as the program, not called by other code
        gc.freeze()  # collecting imported objects takes a quarter of a short command's time
        sys.excepthook = _log_fault
        threading.excepthook = lambda fault: _log_fault(
            fault.exc_type, fault.exc_value, fault.exc_traceback
        )
    try:
        _check_encoding(arguments)
        configured = command.configured
        settings = load_settings(arguments.config, os.environ) if configured else Settings()
        hide_in_logs(settings)
        if argv is None:
            with_ctrl_c()  # only now, because pydantic wraps a KeyboardInterrupt in its own error
        with asyncio.Runner(loop_factory=DualStackLoop) as runner:
            return runner.run(command.run(arguments, settings))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130
    except (*EXPECTED, OSError, ImportError, ExceptionGroup) as error:
        cause = unpacked(error)
        if isinstance(cause, ImportError):  # most modules are imported when first needed
            cause = ConfigError(f"Cannot load part of Hearth ({cause}). Reinstall Hearth.")
        if isinstance(cause, OSError):
            return cannot_write(cause)
        if not isinstance(cause, EXPECTED):
            raise
        if arguments.debug:
            logging.getLogger(__name__).exception("hearth %s", command.name)
        say(f"hearth: {cause}", error=True)
        return cause.exit_code if isinstance(cause, Failed) else UNUSABLE


class DualStackLoop(asyncio.SelectorEventLoop):
    """An event loop whose connections try IPv6 and IPv4 side by side (RFC 8305). Otherwise, a
    connection over broken IPv6 would wait until its time limit. google-genai has no option for
    this, so the loop sets it."""

    async def create_connection(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("sock") is None:
            kwargs.setdefault("happy_eyeballs_delay", NEXT_ADDRESS_S)
        return await super().create_connection(*args, **kwargs)


def _check_encoding(arguments: argparse.Namespace) -> None:
    for value in vars(arguments).values():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and any("\ud800" <= sign <= "\udfff" for sign in text):
                raise Failed(
                    f"The argument '{text}' is not valid {sys.getfilesystemencoding().upper()}. "
                    "Type it again, or check the terminal's encoding.",
                    UNUSABLE,
                )


def _load(name: str) -> CliCommand:
    """Import and return a command, without the other commands' modules, some of which take a
    second."""
    module, _, attribute = COMMANDS[name].module.partition(":")
    gc.disable()  # nearly all imported objects are kept (see `main`)
    try:
        found = importlib.import_module(f"assistant.cli.{module}")
    finally:
        gc.enable()
    command: CliCommand = getattr(found, attribute or "COMMAND")
    return command


def parser_of(words: Sequence[str]) -> Parser:
    command = _load(words[0])
    summary = COMMANDS[command.name].summary
    parser = Parser(prog="hearth")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    own = commands.add_parser(
        command.name,
        description=f"{summary}.",
        epilog=_examples(command.examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="use this configuration file (default: $HEARTH_CONFIG, ~/.config/hearth/hearth.toml, "
        "/etc/hearth/hearth.toml)",
    )
    own.add_argument("--debug", action="store_true", help="log more details, including tracebacks")
    command.add_arguments(own)
    own.set_defaults(command=command)
    return parser


def _examples(examples: Sequence[str]) -> str:
    return "\n  ".join(["examples:", *examples])


def _log_fault(
    kind: type[BaseException], error: BaseException | None, where: TracebackType | None
) -> None:
    logging.getLogger(__name__).critical(
        "Hearth stopped with an internal error", exc_info=(kind, error or kind(), where)
    )


def _log_to_stderr(debug: bool) -> None:
    layout = "%(asctime)s %(levelname)s %(name)s: %(message)s" if debug else "hearth: %(message)s"
    # With --debug, repeated messages are printed too.
    handler = logging.StreamHandler(sys.stderr) if debug else RepeatHandler(sys.stderr)
    handler.setFormatter(StarredFormatter(layout))
    level = logging.DEBUG if debug else logging.WARNING
    logging.basicConfig(level=level, handlers=[handler], force=True)
    recent_log()
    for chatty in (
        "httpx",
        "httpcore",
        "httpx2",
        "httpcore2",
        "websockets",
        "uvicorn",
        "mcp",
        "asyncio",
    ):
        logging.getLogger(chatty).setLevel(logging.INFO if debug else logging.ERROR)
    for telling in ("httpx", "httpx2"):  # they log full URLs, which can contain a key
        logging.getLogger(telling).setLevel(logging.WARNING if debug else logging.ERROR)
    if not debug:  # the MCP SDK logs invalid answers with a traceback; Hearth reports them itself
        for loud in ("mcp", "client"):
            logging.getLogger(loud).setLevel(logging.CRITICAL)


if __name__ == "__main__":
    sys.exit(main())
