"""Prints how the brain does on made speech: `python -m tests.corpus.measure [voice ...]`."""

import asyncio
import sys
import time
from dataclasses import dataclass, field

from assistant.brains.offline import OfflineBrain
from audio.recognize.sphinx import SphinxRecognizer
from tests.corpus.runs import commands, corpus_brain, hear, not_commands
from tests.corpus.speech import FLITE, HELD_OUT, one_breath


@dataclass(slots=True)
class Score:
    """One voice's figures."""

    commands: int = 0
    right: int = 0
    silent: int = 0  # commands that were not understood
    wrong: list[str] = field(default_factory=list)  # commands that did something else
    acted: list[str] = field(default_factory=list)  # other sentences that caused an action
    answered: list[str] = field(default_factory=list)  # other sentences that got an answer


async def measure(
    brain: OfflineBrain, voice: str, every: int = 1, commands_every: int = 1
) -> Score:
    """Both tables in one voice, or each n-th sentence of them."""
    score = Score()
    for number, (sentence, wanted) in enumerate(commands()[::commands_every]):
        score.commands += 1
        turn = await hear(brain, one_breath(sentence, voice, seed=number))
        if turn.done == wanted:
            score.right += 1
        elif turn.done:
            score.wrong.append(f"{sentence} -> {turn.done}")
        else:
            score.silent += 1
    for number, sentence in enumerate(not_commands()[::every]):
        turn = await hear(brain, one_breath(sentence, voice, seed=number))
        if turn.calls:
            score.acted.append(f"{sentence} -> {turn.heard}")
        elif turn.done:
            score.answered.append(f"{sentence} -> {turn.heard}")
    return score


async def _main(voices: list[str]) -> None:
    brain = corpus_brain(SphinxRecognizer())
    for voice in voices:
        started = time.monotonic()
        score = await measure(brain, voice)
        print(f"{voice}: {score.right}/{score.commands} right, {score.silent} not understood")
        for kind, lines in (
            ("did something else", score.wrong),
            ("action without command", score.acted),
            ("answer without question", score.answered),
        ):
            print(f"  {kind}: {len(lines)}", *lines, sep="\n    ")
        print(f"  {time.monotonic() - started:.0f} s", flush=True)
    brain.close()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1:] or [*FLITE, *HELD_OUT]))
