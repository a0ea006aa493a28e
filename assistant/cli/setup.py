"""`hearth setup`: write the configuration and register Hearth's device in Home Assistant."""

import argparse
import asyncio
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from assistant.cli.console import Terminal
from assistant.cli.secret_input import add_admin_argument, admin_asker, secret_in
from assistant.cli.setup_finish import finish
from assistant.cli.setup_flags import earlier_arguments, run_other_command, wants_other_command
from assistant.cli.setup_steps import TerminalPerson, settle_given, setup_services
from assistant.cli.terminal import CliCommand, Failed
from assistant.config.load import find_file, load_settings
from assistant.config.masked_log import hide_in_logs
from assistant.config.schema import Settings, candidate_files
from assistant.models.shelf import read_manifest
from assistant.setup.answers import (
    DEMO,
    EVERYWHERE,
    LOOPBACK,
    MOST,
    Answers,
    Gone,
    Unclear,
    Way,
    read_languages,
    way_of,
)
from assistant.setup.conversation import SetupDialog
from assistant.setup.document import begun, draft
from assistant.setup.finishing import Plan
from integrations.errors import IntegrationError

HOME = "http://homeassistant.local:8123"


def answer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add an option for each setup question. A question that an option answers is not asked."""
    parser.add_argument(
        "--url", help=f"Home Assistant's address, or demo for a simulated house (default: {HOME})"
    )
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="read the access token from a file"
    )
    parser.add_argument(
        "--ca-file",
        type=Path,
        metavar="FILE",
        help="trust this certificate authority for Home Assistant",
    )
    parser.add_argument("--no-verify-tls", action="store_true", help="accept any HTTPS certificate")
    parser.add_argument("--name", help="the assistant's name")
    parser.add_argument("--area", default=None, help="the room this device is in")
    parser.add_argument(
        "--languages", metavar="EN,ES", help="the languages you speak, most important first"
    )
    parser.add_argument(
        "--voice",
        choices=("piper", "espeak"),
        help="use natural voices (piper) or a lightweight one (espeak)",
    )
    parser.add_argument(
        "--wake-word", metavar="WORD", help="the wake word, such as okay_nabu or hey_jarvis"
    )
    parser.add_argument(
        "--input", metavar="NAME", help="the microphone, as listed by `hearth devices`"
    )
    parser.add_argument(
        "--output", metavar="NAME", help="the speaker, as listed by `hearth devices`"
    )
    cloud = parser.add_mutually_exclusive_group()
    cloud.add_argument(
        "--accept-cloud",
        action="store_true",
        help="use Gemini: print what leaves your home, and record that you agree",
    )
    cloud.add_argument(
        "--local-only", action="store_true", help="send nothing to Google (the default)"
    )
    parser.add_argument(
        "--gemini-key-file", type=Path, metavar="FILE", help="read the Gemini key from a file"
    )
    page = parser.add_mutually_exclusive_group()
    page.add_argument(
        "--open-console",
        action="store_true",
        help="make the console available on your home network",
    )
    page.add_argument(
        "--close-console",
        action="store_true",
        help="make the console available on this device only",
    )


def action_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--non-interactive",
        action="store_true",
        help="ask no questions; settings without a flag keep their current or default values",
    )
    parser.add_argument(
        "--browser",
        action="store_true",
        help="print a link to the same steps in a browser, and start Hearth at the end",
    )
    parser.add_argument(
        "--no-run", action="store_true", help="with --browser: don't start Hearth at the end"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing configuration")
    parser.add_argument(
        "--no-sound-check", action="store_true", help="skip the microphone and speaker test"
    )
    parser.add_argument(
        "--download-voices",
        action="store_true",
        help="with --non-interactive: download missing voices",
    )
    add_admin_argument(parser, "set the device's room")


def answers_of(arguments: argparse.Namespace) -> Answers:
    """Return the answers given by options and by the files they name. Blocking. Raises Failed."""
    try:
        spoken = read_languages(arguments.languages) if arguments.languages else None
    except Unclear as unclear:
        raise Failed(f"--languages: {unclear}", 2) from None
    return Answers(
        url=arguments.url,
        token=secret_in(arguments.token_file, "token") if arguments.token_file else None,
        verify_tls=False if arguments.no_verify_tls else None,
        ca_file=str(arguments.ca_file.absolute()) if arguments.ca_file else None,
        name=arguments.name,
        area=arguments.area,
        languages=spoken,
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


def _host(arguments: argparse.Namespace) -> str | None:
    wanted = _either(arguments.open_console, arguments.close_console)
    return None if wanted is None else EVERYWHERE if wanted else LOOPBACK


def _either(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None


def _arguments(parser: argparse.ArgumentParser) -> None:
    answer_arguments(parser)
    action_arguments(parser)
    earlier_arguments(parser)


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    console = Terminal(stderr=True)
    target = arguments.config or find_file(None, os.environ) or candidate_files()[0]
    if wants_other_command(arguments):
        return await run_other_command(arguments, target, console)
    return await _set_up(arguments, target, console)


async def _set_up(arguments: argparse.Namespace, target: Path, console: Terminal) -> int:
    given = await asyncio.to_thread(answers_of, arguments)
    exists = await asyncio.to_thread(target.exists) and not arguments.force
    person = not arguments.non_interactive and sys.stdin.isatty()
    if arguments.browser:
        return await _in_browser(arguments, target, given, exists, console)
    way = way_of(exists=exists, given=given.given, person=person)
    if way is Way.REFUSE:
        raise Failed(
            f"{target} already exists: change parts of it with flags, or replace it with --force",
            2,
        )
    before, present = await asyncio.to_thread(_before, target, exists)
    hide_in_logs(present)
    left = 0
    try:
        if way is Way.TALK:
            answers, left = await _talk(arguments, given, present, console)
        else:
            if way is Way.FRESH:
                given = _completed(given, arguments)
            answers = await settle_given(given, present, console)
    except IntegrationError as error:
        raise Failed(f"Nothing was written: {error}") from error
    hide_in_logs(draft(present, answers))
    plan = Plan(
        target=target,
        before=before,
        present=present,
        answers=answers,
        registers=way is not Way.CHANGE or answers.of_the_house,
        fetches=arguments.download_voices,
    )
    asked = TerminalPerson(console) if left > 0 else None
    await finish(
        plan,
        lambda spent: admin_asker(arguments, ask=left > spent and not arguments.non_interactive),
        console,
        asked,
    )
    return 0


async def _in_browser(
    arguments: argparse.Namespace, target: Path, given: Answers, exists: bool, console: Terminal
) -> int:
    # Import this only if needed, because it loads the HTTP server.
    from assistant.cli.setup_browser import set_up_in_browser

    before, present = await asyncio.to_thread(_before, target, exists)
    hide_in_logs(present)
    hide_in_logs(draft(present, given))
    plan = Plan(target, before, present, given, registers=True, fetches=False)
    again = bool(present.home_assistant.token.get_secret_value())
    return await set_up_in_browser(plan, console, again=again, runs=not arguments.no_run)


async def _talk(
    arguments: argparse.Namespace, given: Answers, present: Settings, console: Terminal
) -> tuple[Answers, int]:
    known = await asyncio.to_thread(read_manifest)
    home = draft(present, given).home_assistant
    conversation = SetupDialog(
        TerminalPerson(console),
        setup_services(console, verify_tls=home.verify_tls, ca_file=home.ca_file),
        present,
        given,
        known,
        again=bool(present.home_assistant.token.get_secret_value()),
        sound=not arguments.no_sound_check,
    )
    console.print(
        f"Setup asks at most {MOST} questions. Press Enter for the answer in [brackets]. Nothing "
        "is saved until the last answer.",
        soft_wrap=True,
    )
    try:
        answers = await conversation.hold()
    except Gone:
        raise Failed("Nothing was written: the input was closed") from None
    return answers, conversation.questions.left


def _before(target: Path, exists: bool) -> tuple[str, Settings]:
    if exists:
        settings = load_settings(
            target, os.environ
        )  # first, because it explains what is wrong in a broken file
        return begun(target.read_text(encoding="utf-8")), settings
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(begun())
        file.flush()
        return begun(), load_settings(Path(file.name), os.environ)


def _completed(given: Answers, arguments: argparse.Namespace) -> Answers:
    if given.url is None and not arguments.non_interactive:
        raise Failed("There is no terminal to ask on: use --non-interactive with --url", 2)
    if given.token is None and given.url != DEMO:
        raise Failed("The access token is missing: add it with --token-file FILE", 2)
    return replace(given, url=given.url or HOME)


COMMAND = CliCommand(
    name="setup",
    examples=("hearth setup", "hearth setup --url http://homeassistant.local:8123"),
    add_arguments=_arguments,
    run=_run,
    configured=False,
)
