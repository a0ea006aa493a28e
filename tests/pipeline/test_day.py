"""Tests of some dialogues of the day with every brain; all 150, spoken and typed, with LONG=1.

docs/reports/day.md has the shares of a whole run (`python -m tests.dialogues`).
"""

import os
import shutil
from pathlib import Path

import pytest

from assistant.evaluation.commands import Outcome
from tests.dialogues.page import bad
from tests.dialogues.rungs import HOME, RUNGS, WAYS, Result, talk
from tests.dialogues.script import read
from tests.pipeline.gemini_rig import LIVE, OFFLINE, ONCE

LONG = bool(os.environ.get("LONG"))
# A yes, a no, a correction, somebody else, a model that errs.
CHOSEN = {
    "en": (
        "front door, yes",
        "garage, no",
        "not the kitchen, the office",
        "a child without the wake word",
        "the model errs: the garage too",
    ),
    "es": (
        "puerta, sí",
        "garaje, no",
        "no, la de la oficina",
        "un niño sin la palabra",
        "the model errs: también el garaje",
    ),
}
needs_voices = pytest.mark.skipif(
    not (shutil.which("flite") and shutil.which("espeak-ng")), reason="no flite or espeak-ng"
)


async def held(folder: Path, rung: str, language: str) -> list[Result]:
    results = []
    async with talk(rung, language, folder) as talking:
        for number, dialogue in enumerate(read(language)):
            if LONG or dialogue.name in CHOSEN[language]:
                results += [await talking.hold(dialogue, number, way) for way in WAYS]
    return results


@needs_voices
@pytest.mark.timeout(1800 if LONG else 600)
@pytest.mark.parametrize("language", CHOSEN)
@pytest.mark.parametrize("rung", RUNGS)
async def test_nothing_opens_by_mistake_and_the_rest_goes_right(
    tmp_path: Path, rung: str, language: str
) -> None:
    results = await held(tmp_path, rung, language)
    assert bad(results) == []
    for one in results:
        if one.dialogue in CHOSEN[language]:
            assert one.outcome is not Outcome.WRONG, one
            # The device's own recogniser is measured on synthetic voices elsewhere.
            if (one.rung, one.way) != (OFFLINE, "spoken") and not _cannot(one):
                assert one.outcome is Outcome.RIGHT, one
    if rung == LIVE:
        assert sum(one.outcome is Outcome.RIGHT for one in results) >= 0.9 * len(results)


def _cannot(one: Result) -> bool:
    """Return True for a dialogue that this brain cannot do.

    Home Assistant's engine knows no corrections, and no recogniser hears a Spanish yes for
    gemini-once.
    """
    if one.rung == HOME:
        return one.dialogue in ("not the kitchen, the office", "no, la de la oficina")
    return (one.rung, one.way, one.dialogue) == (ONCE, "spoken", "puerta, sí")
