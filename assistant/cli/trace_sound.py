"""`hearth trace --recordings` and `hearth trace --play`: list and play stored recordings."""

import asyncio
from dataclasses import asdict

from assistant.cli.terminal import say, say_json
from assistant.config.schema import Settings
from assistant.domain.records import TurnRecord
from assistant.sound.devices import open_outputs
from assistant.sound.recordings import Recording, path_of
from audio.frames import SAMPLE_RATE
from audio.sound_files import read_wav


async def play(recording: Recording, settings: Settings) -> None:
    """Play a recording on the configured speaker. Raises AudioError."""
    pcm = await asyncio.to_thread(read_wav, path_of(settings.data_folder, recording))
    async with open_outputs(settings) as outputs:
        player = outputs.stream("voice")
        for start in range(0, len(pcm), 2 * SAMPLE_RATE):
            await player.play(pcm[start : start + 2 * SAMPLE_RATE], SAMPLE_RATE)
        await player.drain()


def why_silent(record: TurnRecord, settings: Settings) -> str:
    if record.source not in ("voice", "follow_up", "barge_in"):
        return f"Turn {record.turn_id} was not spoken, so it has no recording"
    if not settings.recordings.keep:
        return f"Turn {record.turn_id} was not recorded; set recordings.keep to record future turns"
    return (
        f"The recording of turn {record.turn_id} no longer exists; list the stored ones with "
        "--recordings"
    )


def print_recordings(recordings: list[Recording], settings: Settings, *, as_json: bool) -> None:
    if as_json:
        rows = [
            {**asdict(one), "file": str(path_of(settings.data_folder, one))} for one in recordings
        ]
        say_json(rows, default=str)
        return
    if not recordings:
        say(
            "There are no recordings; set recordings.keep to the number of wakes, near misses "
            "and turns to keep"
        )
    for one in recordings:
        when = one.at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        score = "" if one.score is None else f"{one.score:.2f}"
        say(f"{when}  {one.kind:4}  {one.word:16}  {score:4}  {one.seconds:5.1f} s  {one.name}")
