"""The list of commands, and the replies to `--help`, `--version` and unknown commands."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class Listed:
    summary: str  # begins with a verb; one line, no full stop
    module: str  # in this package; with ":NAME" if its CliCommand is not called COMMAND


COMMANDS = {
    "run": Listed("Start the assistant", "run"),
    "demo": Listed("Try Hearth without a microphone, an API key or Home Assistant", "demo"),
    "setup": Listed("Set up Hearth interactively or with flags", "setup"),
    "token": Listed("Create, list and revoke tokens for programs", "token"),
    "link": Listed("Print a one-time link that signs a browser in to the console", "link"),
    "backup": Listed("Back up or restore Hearth's settings and data", "backup"),
    "unregister": Listed("Remove this device from Home Assistant", "unregister"),
    "hear": Listed("Run one spoken command from a sound file", "ask:HEAR"),
    "ask": Listed("Run one typed command", "ask"),
    "undo": Listed("Undo the last action", "ask:UNDO"),
    "say": Listed("Speak a text", "say"),
    "tools": Listed("List the tools, and explain what is allowed", "tools"),
    "trace": Listed("Show how a turn spent its time, or list recent turns", "trace"),
    "costs": Listed("Show cloud costs by day, brain and model", "costs"),
    "eval": Listed("Run sixty spoken commands and report success, latency and cost", "eval"),
    "audit": Listed("List tool calls, with each decision and the rule behind it", "audit"),
    "doctor": Listed("Check everything and suggest fixes", "doctor"),
    "devices": Listed("List microphones and speakers, or measure the echo between them", "devices"),
    "models": Listed("List, download and check voices and wake words", "models"),
}
USAGE = 2  # exit code


def answer(words: Sequence[str]) -> int | None:
    """Reply to `--help`, `--version` or an unknown command, and return the exit code. Returns None
    if `words` names a command."""
    if not words or words[0] in ("-h", "--help", "help"):
        sys.stdout.write(
            overview().format_help()
        )  # print_help ignores write errors such as a full disk
        return 0
    if words[0] in ("-V", "--version"):
        from assistant.domain.version import own_version

        sys.stdout.write(f"hearth {own_version()}\n")
        return 0
    if words[0] in COMMANDS:
        return None
    sys.stderr.write(f"hearth: {no_such(words[0])}\n")
    return USAGE


def no_such(word: str) -> str:
    shown = word.encode("unicode_escape", "replace").decode("ascii") if not _plain(word) else word
    if word.startswith("-"):
        near = get_close_matches(word, ("--help", "--version"), 1)
        hint = f"Did you mean {near[0]}?" if near else "Options come after the command."
        return f"Unknown option {shown}. {hint} Run `hearth --help` for the commands."
    near = get_close_matches(word.lower(), COMMANDS, 1)
    if near:
        return (
            f"Unknown command '{shown}'. Did you mean `hearth {near[0]}`? "
            "Run `hearth --help` for the list."
        )
    return f"Unknown command '{shown}'. Run `hearth --help` for the list."


def _plain(word: str) -> bool:
    return word.isprintable() and len(word) < 100


def overview() -> argparse.ArgumentParser:
    """Return a parser that only serves to print the list of commands."""
    parser = argparse.ArgumentParser(
        prog="hearth",
        usage="hearth COMMAND ...",
        description="A voice assistant for Home Assistant that uses Gemini Live if you allow it, "
        "and works locally if you don't.",
        epilog="Try it without a microphone, an API key or Home Assistant: hearth demo",
        add_help=False,
    )
    commands = parser.add_subparsers(title="commands", metavar="")
    for name, listed in COMMANDS.items():
        commands.add_parser(name, help=listed.summary, add_help=False)
    general = parser.add_argument_group("options")
    general.add_argument("-h", "--help", action="store_true", help="show this help")
    general.add_argument("-V", "--version", action="store_true", help="show the version")
    return parser
