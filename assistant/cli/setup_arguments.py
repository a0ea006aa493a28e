"""The flags of `hearth setup`: one for everything that is asked, and what they answer."""

import argparse
from pathlib import Path

from assistant.cli.command import Failed
from assistant.setup import typed
from assistant.setup.answers import EVERYWHERE, LOOPBACK, Answers
from assistant.setup.typed import Unclear

HOME = "http://homeassistant.local:8123"


def answer_arguments(parser: argparse.ArgumentParser) -> None:
    """What a person would be asked; a flag is not asked any more."""
    parser.add_argument("--url", help=f"Home Assistant's address (default: {HOME})")
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="read the access token from a file"
    )
    parser.add_argument(
        "--ca-file", type=Path, metavar="FILE", help="the authority of its own https certificate"
    )
    parser.add_argument(
        "--no-verify-tls", action="store_true", help="take its https certificate as it is"
    )
    parser.add_argument("--name", help="what Hearth calls itself")
    parser.add_argument("--area", default=None, help="the room this box stands in")
    parser.add_argument("--languages", metavar="EN,ES", help="spoken to it, the first counts most")
    parser.add_argument(
        "--voice", choices=("piper", "espeak"), help="the natural voices, or the light one"
    )
    parser.add_argument("--wake-word", metavar="WORD", help="such as okay_nabu or hey_jarvis")
    parser.add_argument("--input", metavar="NAME", help="microphone, as hearth devices names it")
    parser.add_argument("--output", metavar="NAME", help="speaker, as hearth devices names it")
    cloud = parser.add_mutually_exclusive_group()
    cloud.add_argument(
        "--accept-cloud",
        action="store_true",
        help="yes, Gemini may be used: it is told what leaves the house, and recorded",
    )
    cloud.add_argument(
        "--local-only", action="store_true", help="no: nothing goes to Google (the default)"
    )
    parser.add_argument(
        "--gemini-key-file", type=Path, metavar="FILE", help="read Gemini's key from a file"
    )
    page = parser.add_mutually_exclusive_group()
    page.add_argument(
        "--open-console", action="store_true", help="the page for the home network, with sign-in"
    )
    page.add_argument("--close-console", action="store_true", help="the page for this box alone")


def deed_arguments(parser: argparse.ArgumentParser) -> None:
    """How it is gone about."""
    parser.add_argument(
        "--non-interactive", action="store_true", help="ask nothing, take the rest as given"
    )
    parser.add_argument(
        "--force", action="store_true", help="begin a configuration anew, over the one there is"
    )
    parser.add_argument(
        "--no-sound-check", action="store_true", help="do not try microphone and speaker"
    )
    parser.add_argument(
        "--download-voices",
        action="store_true",
        help="with --non-interactive: fetch the voices that are lacking",
    )
    parser.add_argument(
        "--admin-token-file",
        type=Path,
        metavar="FILE",
        help="an administrator's token, used once and not kept: to set the device's area, or with "
        "--forget to remove it",
    )
    parser.add_argument(
        "--forget", action="store_true", help="end the registration as a device of Home Assistant"
    )


def answers_of(arguments: argparse.Namespace) -> Answers:
    """What the flags answer. Reads the files that they name. Blocking. Raises Failed."""
    try:
        languages = typed.languages(arguments.languages) if arguments.languages else None
    except Unclear as unclear:
        raise Failed(f"--languages: {unclear}", 2) from None
    return Answers(
        url=arguments.url,
        token=secret_in(arguments.token_file, "token") if arguments.token_file else None,
        verify_tls=False if arguments.no_verify_tls else None,
        ca_file=str(arguments.ca_file.absolute()) if arguments.ca_file else None,
        name=arguments.name,
        area=arguments.area,
        languages=languages,
        voice_engine=arguments.voice,
        wake_word=arguments.wake_word,
        input=arguments.input,
        output=arguments.output,
        accept_cloud=_either(arguments.accept_cloud, arguments.local_only),
        gemini_key=secret_in(arguments.gemini_key_file, "key")
        if arguments.gemini_key_file
        else None,
        console_host=_host(arguments),
    )


def secret_in(file: Path, what: str) -> str:
    """The one line of a file. `what`: "token" or "key", for sentences. Raises Failed."""
    try:
        secret = file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise Failed(f"{file} is not text; write the {what} into it", 2) from error
    except OSError as error:
        raise Failed(f"{file} cannot be read ({error.strerror})", 2) from error
    if not secret:
        raise Failed(f"{file} is empty; write the {what} into it", 2)
    if len(secret.splitlines()) > 1:
        raise Failed(f"{file} has several lines; leave only the {what}", 2)
    return secret


def _host(arguments: argparse.Namespace) -> str | None:
    wanted = _either(arguments.open_console, arguments.close_console)
    return None if wanted is None else EVERYWHERE if wanted else LOOPBACK


def _either(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None
