"""`hearth ask`, `hearth undo` and `hearth hear`: run one typed or spoken turn and print the result.
The answer (or, with `--json`, the whole result) goes to stdout, everything else to stderr."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from assistant.app.build import App, open_app
from assistant.cli.console import Terminal, keyboard, worded
from assistant.cli.terminal import CliCommand, Failed, add_alone, add_sentence, say, say_json
from assistant.config.schema import Settings
from assistant.conversation.record import NO_WAKE, FinishedTurn, joined, no_wake
from assistant.conversation.record import as_json as turn_object
from assistant.conversation.rules.events import AtTerminal, Prompter
from assistant.domain.records import TurnRecord
from assistant.domain.tool_call import Decision, Status, ToolOutcome
from assistant.sound.devices import open_file_player
from audio.sound_files import WavSource

_COLOURS = {"done": "green", "not_run": "yellow"}


def print_turn(turn: FinishedTurn, as_json: bool) -> int:
    """Print a finished turn as JSON or as text for people, and return the exit code. It is 1 if the
    turn failed or was not understood, or if a call failed and none succeeded."""
    if as_json:
        say_json(turn_object(turn.record, turn.outcomes))
    else:
        show_turn(turn.record, turn.outcomes)
    record = turn.record
    answered = record.understood and not record.error
    calls_failed = any(one.status in (Status.FAILED, Status.TIMEOUT) for one in turn.outcomes)
    done = any(outcome.status is Status.DONE for outcome in turn.outcomes)
    return 0 if answered and (done or not calls_failed) else 1


def show_turn(record: TurnRecord, outcomes: Sequence[ToolOutcome]) -> None:
    console = Terminal(stderr=True)
    if record.source in ("voice", "follow_up", "barge_in"):
        console.tell("[dim]heard   [/] {heard}", heard=record.heard or "(nothing)", fold=True)
    for outcome in outcomes:
        console.tell("[dim]tool    [/] {call}", call=describe(outcome))
    if record.error:
        problem = record.error.message or record.error.kind
        console.tell("[red]problem [/] {problem}", problem=problem, fold=True)
    if record.answer:
        say(" ".join(record.answer.split("\n")))  # a model's answer can have several lines
    if any(outcome.decision is Decision.NEEDS_CONFIRMATION for outcome in outcomes):
        console.print("Not done, because nobody was there to confirm it.", style="dim")


def show_notices(notices: Sequence[str]) -> None:
    console = Terminal(stderr=True, style="dim", soft_wrap=True)
    for notice in notices:
        console.print(f"hearth: {notice}")


def describe(outcome: ToolOutcome) -> Text:
    arguments = ", ".join(f"{key}={value}" for key, value in outcome.arguments.items())
    colour = _COLOURS.get(outcome.status, "red")
    seen = "; ".join(f"{o.entity_id} {o.before} → {o.after}" for o in outcome.observed)
    status = Text(outcome.status, style=colour)
    told = "{name}({arguments}) {status} {seen}" if seen else "{name}({arguments}) {status}"
    return worded(told, name=outcome.name, arguments=arguments, status=status, seen=seen)


def _ask_arguments(parser: argparse.ArgumentParser) -> None:
    add_sentence(parser, "the command, in any configured language")
    parser.add_argument("--json", action="store_true", help="print the turn as JSON")
    add_alone(parser)


def _text(arguments: argparse.Namespace) -> str:
    text = " ".join(arguments.text).strip()
    if not text:
        raise Failed("Nothing was asked. Try `hearth ask what time is it`.", exit_code=2)
    return text


async def _ask(arguments: argparse.Namespace, settings: Settings) -> int:
    text = _text(arguments)
    async with open_app(settings, player=None, hears=False, prompter=keyboard()) as app:
        show_notices(app.notices)
        await app.runner.ask(text)
        turn = joined(app.log.turns)
    return print_turn(turn, arguments.json)


async def _ask_beside(arguments: argparse.Namespace, app: App, prompter: Prompter | None) -> int:
    text = _text(arguments)
    turns = await app.runner.ask_at_terminal(text, AtTerminal(prompter))
    # A stop word ("stop") makes no turn.
    return print_turn(joined(turns), arguments.json) if turns else 0


COMMAND = CliCommand(
    name="ask",
    examples=(
        "hearth ask turn on the kitchen light",
        'hearth ask "is the front door locked?" --json',
    ),
    add_arguments=_ask_arguments,
    run=_ask,
    beside=_ask_beside,
)


# The command to undo the last action, by language (English: "undo that").
_UNDO = {
    "de": "mach das rückgängig",
    "es": "deshaz eso",
    "fr": "annule la dernière action",
    "pt": "desfaz isso",
    "vi": "hoàn tác",
}


def _undo_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the turn as JSON")
    add_alone(parser)


def _undo_text(arguments: argparse.Namespace, settings: Settings) -> argparse.Namespace:
    language = settings.assistant.languages[0].partition("-")[0]
    return argparse.Namespace(text=[_UNDO.get(language, "undo that")], json=arguments.json)


async def _undo(arguments: argparse.Namespace, settings: Settings) -> int:
    return await _ask(_undo_text(arguments, settings), settings)


async def _undo_beside(arguments: argparse.Namespace, app: App, prompter: Prompter | None) -> int:
    return await _ask_beside(_undo_text(arguments, app.settings), app, prompter)


UNDO = CliCommand(
    name="undo",
    examples=("hearth undo", "hearth undo --json"),
    add_arguments=_undo_arguments,
    run=_undo,
    beside=_undo_beside,
)


def _hear_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE.wav", help="the recording to process")
    parser.add_argument("--json", action="store_true", help="print the turn as JSON")
    pace = parser.add_mutually_exclusive_group()
    pace.add_argument("--fast", action="store_true", help="process the file as fast as possible")
    pace.add_argument(
        "--realtime", action="store_true", help="process the file in real time (default)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="ANSWER.wav", help="write the spoken answer to this file"
    )


async def _hear(arguments: argparse.Namespace, settings: Settings) -> int:
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


HEAR = CliCommand(
    name="hear",
    examples=(
        "hearth hear command.wav",
        "hearth hear command.wav --fast --json --out answer.wav",
    ),
    add_arguments=_hear_arguments,
    run=_hear,
)
