"""`hearth hear`: one spoken turn from a file, through the whole pipeline."""

import argparse
from pathlib import Path

from assistant.app.build import open_app
from assistant.cli.output import print_turn, show_notices
from assistant.cli.terminal import CliCommand, say, say_json
from assistant.config.schema import Settings
from assistant.conversation.record import NO_WAKE, joined, no_wake
from assistant.sound.devices import open_file_player
from audio.sound_files import WavSource


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.wav", help="stands for the microphone")
    parser.add_argument("--json", action="store_true", help="print the turn as one JSON value")
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument("--fast", action="store_true", help="as fast as it can be worked out")
    pace.add_argument("--realtime", action="store_true", help="as fast as it was spoken (default)")
    parser.add_argument("--out", type=Path, metavar="ANSWER.wav", help="write the spoken answer")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    paced = not arguments.fast
    source = WavSource(arguments.file, realtime=paced)
    async with (
        open_file_player(arguments.out, paced) as player,
        open_app(settings, player, hears=True, paced=paced) as app,
    ):
        show_notices(app.notices)
        await app.runner.listen(source, turns=1)
        turn = joined(app.log.turns) if app.log.turns else None
    if turn is None:
        if arguments.json:
            say_json(no_wake())
        else:
            say(f"hearth: {NO_WAKE} in {arguments.file}", error=True)
        return 1
    return print_turn(turn, arguments.json)


COMMAND = CliCommand(
    name="hear",
    summary="one spoken turn from a sound file",
    example="hearth hear command.wav --fast --json --out answer.wav",
    add_arguments=_arguments,
    run=_run,
)
