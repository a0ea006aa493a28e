"""Measure the whole of Hearth on synthetic speech that nothing was tuned on.

python -m tests.corpus.whole [--json] [voice ...]

Wake word and sentence go in as sound; what counts is what changed in the embedded house.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from audio.frames import SAMPLE_RATE
from audio.sound_files import write_wav
from tests.corpus.speech import FLITE, WAKE_WORD, Samples, say
from tests.corpus.stage import Seen, Stage, Wish, house_commands, house_talk, meets
from tests.pipeline.rig import hear, offline_settings, pipeline

_NOISE = 8.0  # int16 RMS of the room
_SILENCE_S = (0.7, 1.0)  # before the wake word and after the sentence
_WAKE_VOICE = "slt"  # says the wake word where the voice is espeak-ng's
_PAUSE_S = 0.15  # between that and the sentence

_KINDS = ("right", "not understood", "wrong", "wake word missed")


@dataclass(slots=True)
class Score:
    """One voice's figures. A failure is the sentence and what came of it."""

    voice: str
    commands: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_KINDS, 0))
    failures: list[str] = field(default_factory=list)
    talk: int = 0
    unwoken: int = 0  # of the talk
    acted: list[str] = field(default_factory=list)  # talk with a tool call, refused ones included
    answered: list[str] = field(default_factory=list)  # talk taken for a question
    seconds: float = 0.0


def clip(sentence: str, voice: str, seed: int) -> bytes:
    """Wake word and sentence in one breath in a quiet room; mono int16 at 16 kHz."""
    chance = np.random.default_rng(seed)
    around = [_still(chance.uniform(*_SILENCE_S)) for _ in range(2)]
    sound = np.concatenate([around[0], *_spoken(sentence, voice), around[1]]).astype(np.float64)
    sound += chance.normal(0.0, _NOISE, len(sound))
    return np.clip(sound, -32768, 32767).astype(np.int16).tobytes()


def _spoken(sentence: str, voice: str) -> list[Samples]:
    if voice.startswith("espeak:"):
        return [say(WAKE_WORD, _WAKE_VOICE), _still(_PAUSE_S), say(sentence, voice)]
    return [say(f"{WAKE_WORD}, {sentence}", voice)]


def _still(seconds: float) -> Samples:
    return np.zeros(round(seconds * SAMPLE_RATE), np.int16)


async def measure(
    stage: Stage, voice: str, talk: Sequence[str], console: Console, folder: Path
) -> Score:
    """Every command of the table, and the talk, in one voice."""
    score = Score(voice)
    started = time.monotonic()
    path = folder / "clip.wav"
    wishes = house_commands()
    for seed, wish in enumerate(track(wishes, f"{voice}: commands", console=console)):
        seen = await _perform(stage, wish, voice, seed, path)
        kind = _judge(wish, seen, stage)
        score.commands[kind] += 1
        if kind != _KINDS[0]:
            score.failures.append(f"{kind}: {_line(wish.sentence, seen)}")
    for seed, sentence in enumerate(track(talk, f"{voice}: talk", console=console)):
        seen = await _perform(stage, Wish(sentence, {}, {}), voice, seed, path)
        score.talk += 1
        score.unwoken += not seen.woken
        if seen.calls or seen.changed:
            score.acted.append(_line(sentence, seen))
        elif seen.woken and not _excuse(seen):
            score.answered.append(_line(sentence, seen))
    score.seconds = round(time.monotonic() - started, 1)
    return score


async def _perform(stage: Stage, wish: Wish, voice: str, seed: int, path: Path) -> Seen:
    write_wav(path, clip(wish.sentence, voice, seed), SAMPLE_RATE)
    await stage.reset(wish.given)
    return await stage.look(await hear(stage.app, path))


def _judge(wish: Wish, seen: Seen, stage: Stage) -> str:
    right, silent, wrong, missed = _KINDS
    if not seen.woken:
        return missed
    if meets(wish, seen, stage.now()):
        return right
    return silent if _excuse(seen) and not seen.calls and not seen.changed else wrong


def _excuse(seen: Seen) -> bool:
    """Return True if Hearth said nothing, or that it did not understand."""
    return not seen.answer or not seen.understood


def _line(sentence: str, seen: Seen) -> str:
    parts = (f"heard: {seen.heard}", *seen.calls, seen.answer)
    return f"{sentence} -> {' | '.join(part for part in parts if part)}"


def _show(scores: Sequence[Score], console: Console) -> None:
    table = Table("voice", *_KINDS, "talk that acted", "talk that was answered", "seconds")
    for score in scores:
        table.add_row(
            score.voice,
            *(str(score.commands[kind]) for kind in _KINDS),
            f"{len(score.acted)} of {score.talk}",
            str(len(score.answered)),
            f"{score.seconds:.0f}",
        )
    console.print(table)
    for score in scores:
        for title, lines in (
            ("failures", score.failures),
            ("talk that acted", score.acted),
            ("talk that was answered", score.answered),
        ):
            console.print(f"{score.voice}: {title}", *lines, sep="\n  ", markup=False)


async def _main(voices: Sequence[str], with_talk: bool, as_json: bool) -> None:
    console = Console(stderr=as_json, highlight=False, soft_wrap=True)
    scores: list[Score] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with pipeline(offline_settings(folder)) as app:
            stage = Stage(app)
            for voice in voices:
                talk = house_talk() if with_talk else []
                scores.append(await measure(stage, voice, talk, console, folder))
    if as_json:
        print(json.dumps([asdict(score) for score in scores], indent=2))
    else:
        _show(scores, console)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("voices", nargs="*", metavar="voice", default=[*FLITE])
    parser.add_argument("--commands-only", action="store_true", help="leave the talk out")
    parser.add_argument("--json", action="store_true", help="print one JSON value")
    arguments = parser.parse_args()
    asyncio.run(_main(arguments.voices, not arguments.commands_only, arguments.json))
