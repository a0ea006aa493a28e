"""`hearth trace`: what happened in a turn, moment by moment, and how it sounded."""

import argparse
import asyncio
import json
from dataclasses import asdict

from assistant.cli.command import Command, Failed
from assistant.clock import SystemClock
from assistant.config.schema import Settings
from assistant.journal.records import TurnRecord
from assistant.journal.store import Store
from assistant.journal.trace import draw_trace
from assistant.journal.turn_object import turn_object
from assistant.output import open_outputs
from assistant.recordings import Recording, listed, path_of
from audio.frames import SAMPLE_RATE
from audio.wav import read_wav

_MOST = 1000  # rows of one turn


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("turn", nargs="?", default="last", metavar="TURN", help="its id, or last")
    parser.add_argument(
        "--play", action="store_true", help="play its sound; TURN may be a recording's name, too"
    )
    parser.add_argument("--recordings", action="store_true", help="list the sounds that were kept")
    parser.add_argument("--json", action="store_true", help="print one JSON value")


async def _run(arguments: argparse.Namespace, settings: Settings) -> int:
    recordings = listed(settings.data_folder) if arguments.recordings or arguments.play else []
    if arguments.recordings:
        _list(recordings, settings, as_json=arguments.json)
        return 0
    named = next((one for one in recordings if one.name == arguments.turn), None)
    if named is not None:
        await _play(named, settings)
        return 0
    async with Store(settings.database, SystemClock()) as store:
        if arguments.turn == "last":
            record = await store.last_turn()
        else:
            record = await store.turn(arguments.turn)
        if record is None:
            raise Failed(_missing(arguments.turn))
        calls = await store.calls(record.turn_id)
        audited = await store.audited(turn_id=record.turn_id, limit=_MOST)
    if arguments.json:
        print(json.dumps(turn_object(record, calls, audited), ensure_ascii=False))
    else:
        print(draw_trace(record, calls, audited))
    if arguments.play:
        turns = [one for one in recordings if one.turn_id == record.turn_id]
        if not turns:
            raise Failed(_silent(record, settings))
        await _play(turns[-1], settings)
    return 0


async def _play(recording: Recording, settings: Settings) -> None:
    """Through the configured loudspeaker. Raises AudioError."""
    pcm = await asyncio.to_thread(read_wav, path_of(settings.data_folder, recording))
    async with open_outputs(settings) as outputs:
        player = outputs.stream("voice")
        for start in range(0, len(pcm), 2 * SAMPLE_RATE):
            await player.play(pcm[start : start + 2 * SAMPLE_RATE], SAMPLE_RATE)
        await player.drain()


def _silent(record: TurnRecord, settings: Settings) -> str:
    if record.source not in ("voice", "follow_up", "barge_in"):
        return f"The turn {record.turn_id} was not spoken, so there is no sound of it"
    if not settings.recordings.keep:
        return (
            f"No sound of the turn {record.turn_id} was kept; "
            "set recordings.keep to keep that of the next ones"
        )
    return f"No sound of the turn {record.turn_id} is kept; see what is with --recordings"


def _list(recordings: list[Recording], settings: Settings, *, as_json: bool) -> None:
    if as_json:
        rows = [
            {**asdict(one), "file": str(path_of(settings.data_folder, one))} for one in recordings
        ]
        print(json.dumps(rows, ensure_ascii=False, default=str))
        return
    if not recordings:
        print("No sound is kept; recordings.keep says how many wakes, near misses and turns are")
    for one in recordings:
        when = one.at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        score = "" if one.score is None else f"{one.score:.2f}"
        print(f"{when}  {one.kind:4}  {one.word:16}  {score:4}  {one.seconds:5.1f} s  {one.name}")


def _missing(turn: str) -> str:
    if turn == "last":
        return 'No turn has been kept yet; make one with hearth ask "what time is it"'
    return f"There is no turn {turn}; see the last one with hearth trace last"


COMMAND = Command(
    name="trace",
    summary="show a turn's waterfall",
    example="hearth trace last",
    add_arguments=_arguments,
    run=_run,
)
