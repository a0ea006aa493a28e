"""A process of the benchmark of the first sound: two Piper voices that speak.

    python -m tests.benchmarks._piper_run FOLDER ROUNDS

FOLDER holds `en.onnx` and `es.onnx`. Prints one JSON value.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from assistant.config.schema import Settings
from assistant.sound.devices import voices_of
from assistant.speech.clauses import ClauseCutter
from assistant.speech.output import SpeechOutput
from audio.tts.tuned import PhraseCache
from tests.benchmarks.sound import NotingPlayer

# Answers of the everyday kind, sentence by sentence.
ANSWERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "en",
        (
            "The kitchen light is on, the hall light is off and both windows upstairs are closed.",
            "It is twenty-one degrees in the living room, a little warmer than this morning.",
        ),
    ),
    (
        "es",
        (
            "La luz de la cocina está encendida, la del pasillo está apagada y las dos "
            "ventanas de arriba están cerradas.",
            "En el salón hay veintiún grados, un poco más que esta mañana.",
        ),
    ),
    (
        "en",
        (
            "Tomorrow will be mostly sunny, with a light wind from the west and a small chance "
            "of rain late in the evening.",
            "You will not need an umbrella before dinner.",
        ),
    ),
    (
        "es",
        (
            "Mañana hará sol casi todo el día, con viento flojo del oeste y una pequeña "
            "posibilidad de lluvia al final de la tarde.",
            "No hará falta paraguas antes de la cena.",
        ),
    ),
)


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _clauses(sentences: tuple[str, ...]) -> list[str]:
    cutter = ClauseCutter()
    return [*cutter.push(" ".join(sentences)), *cutter.flush()]


async def _answer(
    mouth: SpeechOutput, player: NotingPlayer, parts: list[str], language: str
) -> Any:
    """Return one answer's ms to the first sound, and its length, work and inner silence in s."""
    player.clear()
    began = time.monotonic()
    async with mouth.answer() as answer:
        for part in parts:
            answer.say(part, language)
        await answer.finish()
    worked = time.monotonic() - began
    first = player.pieces[0].at
    until, silent, whole = first, 0.0, 0.0
    for piece in player.pieces:
        seconds = len(piece.samples) / piece.rate
        silent += max(0.0, piece.at - until)
        until = max(until, piece.at) + seconds
        whole += seconds
    return {"first_ms": (first - began) * 1000, "sound": whole, "work": worked, "silent": silent}


async def _run(folder: Path, rounds: int) -> Any:
    bare = _resident_mb()
    models = {language: str(folder / f"{language}.onnx") for language in ("en", "es")}
    settings = Settings.model_validate({"voice": {"models": models}})
    player = NotingPlayer()
    with patch("assistant.sound.devices.PhraseCache", lambda: PhraseCache(most_bytes=0)):
        mouth = SpeechOutput(voices_of(settings), player)  # nothing is to come from memory
    began = time.monotonic()
    await mouth.warm(list(models))
    warm = time.monotonic() - began
    loaded = _resident_mb()
    told: dict[str, list[Any]] = {"clauses": [], "sentences": []}
    for _ in range(rounds):
        for language, sentences in ANSWERS:
            cuts = {"clauses": _clauses(sentences), "sentences": list(sentences)}
            for name, parts in cuts.items():
                told[name].append(await _answer(mouth, player, parts, language))
    mouth.close()
    return {"bare_mb": bare, "loaded_mb": loaded, "used_mb": _resident_mb(), "warm_s": warm, **told}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_run(Path(sys.argv[1]), int(sys.argv[2])))))
