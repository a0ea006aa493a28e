"""`hearth ask`: one typed turn."""

import argparse

from assistant.app.build import open_app
from assistant.cli.console import keyboard
from assistant.cli.output import print_turn, show_notices
from assistant.cli.terminal import CliCommand, Failed
from assistant.config.schema import Settings
from assistant.conversation.record import joined


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="the sentence, in any configured language")
    parser.add_argument("--json", action="store_true", help="print the turn as one JSON value")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    if not arguments.text.strip():
        raise Failed('Nothing was asked; try hearth ask "what time is it"', exit_code=2)
    async with open_app(settings, player=None, hears=False, prompter=keyboard()) as app:
        show_notices(app.notices)
        await app.runner.ask(arguments.text)
        turn = joined(app.log.turns)
    return print_turn(turn, arguments.json)


COMMAND = CliCommand(
    name="ask",
    summary="one typed turn",
    example='hearth ask "turn on the kitchen light"',
    add_arguments=_arguments,
    run=_run,
)
