"""`hearth say`: speak a text, or write the speech to a file."""

import argparse
from pathlib import Path

from assistant.announcements.speaking import KEEP
from assistant.app.build import App
from assistant.cli.terminal import CliCommand, Failed, add_alone, add_sentence, say, say_json
from assistant.config.schema import Settings
from assistant.conversation.rules.events import Prompter
from assistant.domain.clock import SystemClock
from assistant.domain.records import AnnouncementRecord, TurnRecord, new_id
from assistant.sound.devices import open_outputs, spare_voices_of, voices_of
from assistant.speech.identify import TurnLanguage, languages_of
from assistant.speech.output import SpeechOutput


def _arguments(parser: argparse.ArgumentParser) -> None:
    add_sentence(parser, "the text to speak; it may contain Markdown")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE.wav",
        help="write the speech to this file instead of playing it",
    )
    parser.add_argument(
        "--language",
        metavar="CODE",
        help="the language of the text (default: detected for each clause)",
    )
    parser.add_argument("--json", action="store_true", help="print what was spoken as JSON")
    add_alone(parser)


def _text(arguments: argparse.Namespace) -> str:
    text = " ".join(arguments.text).strip()
    if not text:
        raise Failed("There is nothing to say. Try `hearth say dinner is ready`.", exit_code=2)
    return text


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    turn = TurnLanguage(languages_of(settings.assistant.languages))
    async with open_outputs(settings, arguments.out) as outputs:
        mouth = SpeechOutput(
            voices_of(settings), outputs, settings.voice.volume, spare_voices_of(settings)
        )
        try:
            spoken = await mouth.speak(_text(arguments), arguments.language or turn.now)
        finally:
            mouth.close()
    if arguments.json:
        said = {"clauses": list(spoken.clauses), "audio_ms": round(spoken.audio_ms, 1)}
        say_json(said)
    else:
        say(" ".join(spoken.clauses), error=True)
    return 0 if spoken.clauses else 1


async def _beside(arguments: argparse.Namespace, app: App, prompter: Prompter | None) -> int:
    """Have the daemon speak the text as an announcement, which waits for a pause in the
    conversation. Raises Failed if it can't be spoken."""
    assert app.daemon is not None
    announcements, now = app.daemon.announcements, SystemClock().now()
    options = {"language": arguments.language} if arguments.language else {}
    record = AnnouncementRecord(new_id(now), _text(arguments), now, now + KEEP, options)
    spoken: list[TurnRecord] = []
    unfollow = app.log.follow(lambda turn: spoken.append(turn.record))
    try:
        heard = announcements.hold(record) and await announcements.over(record.id)
    finally:
        unfollow()
        announcements.withdraw(
            record.id
        )  # in case the terminal was interrupted while the announcement was waiting
    if not heard:
        raise Failed(
            "The text was not spoken: no speaker works, or more important messages are waiting. "
            "Run `hearth doctor`, or try again later."
        )
    ours = (turn for turn in spoken if turn.source == "announcement")
    said = next((turn for turn in ours if turn.answer in (record.text, None)), None)
    audio_ms = said.audio_ms if said else 0.0
    clauses = list(said.clauses) if said else []
    if said and said.answer is None and audio_ms:
        clauses = [record.text]  # in guest mode the record contains no text
    if arguments.json:
        say_json({"clauses": clauses, "audio_ms": round(audio_ms, 1)})
    else:
        say(" ".join(clauses), error=True)
    return 0 if clauses else 1


COMMAND = CliCommand(
    name="say",
    examples=(
        "hearth say dinner is ready",
        'hearth say "It is **21.5°C** outside" --out weather.wav',
    ),
    add_arguments=_arguments,
    run=_run,
    beside=_beside,
)
