"""The terminal's side of commands that run in the daemon; `control` is the daemon's side.

This module imports almost nothing, so that commands finish fast. The protocol has one JSON object
per line in both directions:

    {"version", "words", "config", "variables", "columns", "terminals", "environ"}   to the daemon
    {"accepted": true}  or  {"alone": true}  or  {"busy": "a sentence"}
    {"go": true}                                                                    to the daemon
    {"out": "text"}, {"error": "text"}, {"read": {"hidden": false, "wait_s": 60}}
    {"alive": true}                                                                 every ALIVE_S
    {"line": "yes"}                                                                 to the daemon
    {"exit": 0}
"""

import contextlib
import hashlib
import json
import os
import select
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

COMMANDS = frozenset({"ask", "say", "tools", "undo"})
NAME = "control.sock"  # in the data folder
ANSWER_S = 3.0  # seconds for the daemon to accept a command
ALIVE_S = 5.0  # seconds between the daemon's keep-alive messages while a command runs
SILENT_S = 20.0  # seconds without a message after which the daemon is considered hung
SYSTEM_FILE = Path("/etc/hearth/hearth.toml")
_OWN = "HEARTH_ASSISTANT__DATA"  # it only selects the daemon
# Options that only work in this process. `--config` counts only if it is abbreviated, because
# `config_file` reads just the full name.
_ALONE = ("--alone", "--help", "--debug", "--out", "--config")
# The variables from which rich decides whether to use colours.
_COLOURS = ("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")


def run_in_daemon(words: Sequence[str], environ: Mapping[str, str]) -> int | None:
    """Run a command in the daemon and return its exit code. Returns None, without having started
    anything, if the command has to run in this process."""
    if not words or words[0] not in COMMANDS or not _may_be_remote(words):
        return None
    try:
        config = config_file(words, environ)
        connection = connect(data_folder(config, environ) / NAME)
    except (OSError, ValueError, RuntimeError, TypeError):
        return None
    if connection is None:
        return None
    with connection, connection.makefile("rwb") as stream:
        return _serve(connection, stream, _request(words, config, environ))


def _may_be_remote(words: Sequence[str]) -> bool:
    if not all(map(str.isprintable, words)):
        return False  # possibly invalid in the terminal's encoding, which `main` reports
    options = [word.partition("=")[0] for word in words[1:]]
    if "--" in options:
        options = options[: options.index("--")]
    ours = {
        "approve",
        "rate",
        "-",
        "--explain=-",
    }  # the owner's decisions, and calls read from stdin
    if words[0] == "tools" and not ours.isdisjoint((*options, *words)):
        return False
    # argparse accepts abbreviated options.
    short = {one for one in options if one.startswith("--") and one != "--config"}
    return "-h" not in options and not any(
        option.startswith(one) for one in short for option in _ALONE
    )


def config_file(words: Sequence[str], environ: Mapping[str, str]) -> Path | None:
    """Return the configuration file to use, chosen as in `assistant.config.load.find_file`."""
    for word, value in zip(words, [*words[1:], ""], strict=True):
        if word == "--config":
            return Path(value).absolute()
        if word.startswith("--config="):
            return Path(word.partition("=")[2]).absolute()
    if environ.get("HEARTH_CONFIG"):
        return Path(environ["HEARTH_CONFIG"]).absolute()
    import platformdirs

    users = platformdirs.user_config_path("hearth") / "hearth.toml"
    return next((file for file in (users, SYSTEM_FILE) if file.is_file()), None)


def data_folder(config: Path | None, environ: Mapping[str, str]) -> Path:
    """Return the data folder that the environment or the configuration sets, or the default. Raises
    OSError and ValueError."""
    named: Any = environ.get("HEARTH_ASSISTANT__DATA", "")
    base = Path.cwd()
    if not named and config is not None:
        import tomllib

        table = tomllib.loads(config.read_text("utf-8")).get("assistant", {})
        named, base = table.get("data", "") if isinstance(table, dict) else "", config.parent
    if named:
        return base / Path(named).expanduser()
    import platformdirs

    state = environ.get("STATE_DIRECTORY", "").split(":")[0]
    return Path(state) if state else platformdirs.user_state_path("hearth")


@contextlib.contextmanager
def short_path(path: Path) -> Iterator[str]:
    """Yield an equivalent path that is short enough for a Unix socket (107 bytes)."""
    if len(os.fsencode(path)) < 107:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def connect(path: Path) -> socket.socket | None:
    """Connect to the daemon. Returns None if no daemon is listening there."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        connection.settimeout(ANSWER_S)
        with short_path(path) as address:
            connection.connect(address)
    except OSError:
        connection.close()
        return None
    return connection


def fingerprint(value: str) -> str:
    """Return a hash, so that both sides can compare a variable without sending its value."""
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest()


def _request(
    words: Sequence[str], config: Path | None, environ: Mapping[str, str]
) -> dict[str, Any]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        own = version("hearth-voice")
    except PackageNotFoundError:
        own = "0"
    columns, streams = 80, (sys.stdin, sys.stdout, sys.stderr)
    with contextlib.suppress(OSError, ValueError):
        columns = int(environ.get("COLUMNS") or os.get_terminal_size(2).columns)
    variables = {
        name: fingerprint(value)
        for name, value in environ.items()
        if name.startswith("HEARTH_") and "__" in name and name != _OWN
    }
    return {
        "version": own,
        "words": list(words),
        "config": None if config is None else str(config),
        "variables": variables,
        "columns": columns,
        "terminals": [stream is not None and stream.isatty() for stream in streams],
        "environ": {name: environ[name] for name in _COLOURS if name in environ},
    }


def _serve(connection: socket.socket, stream: Any, request: dict[str, Any]) -> int | None:
    try:
        _send(stream, request)
        first = json.loads(stream.readline() or "{}")
    except (OSError, ValueError):
        _complain("the running Hearth does not answer; try again, or run the command with --alone")
        return 1
    if first.get("alone"):
        return None
    if "accepted" not in first:
        _complain(first.get("busy") or "the running Hearth has just stopped; try again")
        return 1
    connection.settimeout(SILENT_S)
    try:
        _send(stream, {"go": True})  # without this the daemon doesn't start the command
    except OSError:
        _complain("the running Hearth has just stopped; try again")
        return 1
    return _follow(stream)


def _follow(stream: Any) -> int:
    while (message := _received(stream)) is not None:
        if "exit" in message:
            return int(message["exit"])
        if "out" in message:
            sys.stdout.write(message["out"])
            sys.stdout.flush()
        elif "error" in message:
            sys.stderr.write(message["error"])
            sys.stderr.flush()
        elif "read" in message:
            line = _read_line(**message["read"])
            with contextlib.suppress(OSError):  # the next read fails too
                _send(stream, {"line": line})
    return 1


def _received(stream: Any) -> dict[str, Any] | None:
    try:
        message: dict[str, Any] = json.loads(stream.readline())
        return message
    except TimeoutError:
        how = "no longer answers"
    except (OSError, ValueError):  # the connection ended, possibly within a message
        how = "stopped before the command finished"
    _complain(f"the running Hearth {how}; `hearth trace` shows what was done")
    return None


def _send(stream: Any, message: Mapping[str, Any]) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def _read_line(hidden: bool, wait_s: float) -> str:
    import termios

    stdin = sys.stdin.fileno()
    before = termios.tcgetattr(stdin)
    quiet = [*before]
    quiet[3] &= ~termios.ECHO
    try:
        termios.tcflush(stdin, termios.TCIFLUSH)
        if hidden:
            termios.tcsetattr(stdin, termios.TCSANOW, quiet)
        ready, _, _ = select.select([stdin], [], [], wait_s)
        return os.read(stdin, 4096).decode(errors="replace") if ready else ""
    finally:
        if hidden:
            termios.tcsetattr(stdin, termios.TCSANOW, before)


def _complain(sentence: str) -> None:
    sys.stderr.write(f"hearth: {sentence}\n")
