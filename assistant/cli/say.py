"""`hearth say`: hear a text as Hearth would speak it."""

import argparse
from pathlib import Path

from assistant.cli.terminal import CliCommand, say, say_json
from assistant.config.schema import Settings
from assistant.sound.devices import open_outputs, spare_voices_of, voices_of
from assistant.speech.identify import TurnLanguage, languages_of
from assistant.speech.output import SpeechOutput


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="what to say, markup and all")
    parser.add_argument("--out", type=Path, metavar="FILE.wav", help="write it instead of playing")
    parser.add_argument(
        "--language", metavar="CODE", help="default: each clause's own, of the configured ones"
    )
    parser.add_argument("--json", action="store_true", help="print what was said as one JSON value")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    turn = TurnLanguage(languages_of(settings.assistant.languages))
    async with open_outputs(settings, arguments.out) as outputs:
        mouth = SpeechOutput(
            voices_of(settings), outputs, settings.voice.volume, spare_voices_of(settings)
        )
        try:
            spoken = await mouth.speak(arguments.text, arguments.language or turn.now)
        finally:
            mouth.close()
    if arguments.json:
        said = {"clauses": list(spoken.clauses), "audio_ms": round(spoken.audio_ms, 1)}
        say_json(said)
    else:
        say(" ".join(spoken.clauses), error=True)
    return 0


COMMAND = CliCommand(
    name="say",
    summary="speak a text",
    example='hearth say "It is **21.5°C** outside" --out weather.wav',
    add_arguments=_arguments,
    run=_run,
)
