"""Tests of synthetic speech with the offline brain: commands work, other sentences do nothing.

By default each sixth command and each twentieth other sentence in one voice; with LONG=1 the whole
corpus, as in docs/reports/offline-recognition.md, in three voices and some fifteen minutes.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.brains.offline import OfflineBrain
from audio.recognize.sphinx import SphinxRecognizer
from tests.corpus.measure import measure
from tests.corpus.runs import commands, corpus_brain, not_commands, read
from tests.corpus.speech import FLITE
from tests.corpus.stage import Stage, Wish, house_commands, house_talk, meets, raw_words
from tests.pipeline.rig import offline_settings, pipeline

LONG = bool(os.environ.get("LONG"))
needs_flite = pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")


@pytest.fixture(scope="module")
def brain() -> Iterator[OfflineBrain]:
    brain = corpus_brain(SphinxRecognizer())
    yield brain
    brain.close()


def test_the_tables_are_whole() -> None:
    assert len({sentence for sentence, _ in commands()}) == 60
    assert len(set(not_commands())) == 200


def test_what_is_held_out_is_not_among_them() -> None:
    wishes, talk = {wish.sentence for wish in house_commands()}, set(house_talk())
    assert (len(wishes), len(talk)) == (60, 100)
    assert not wishes & {sentence for sentence, _ in commands()}
    assert not talk & set(not_commands())


async def test_the_house_does_what_is_typed(tmp_path: Path) -> None:
    failures: list[str] = []
    async with pipeline(offline_settings(tmp_path)) as app:
        stage = Stage(app)
        for wish in (*house_commands(), *(Wish(text, {}, {}) for text in house_talk())):
            await stage.reset(wish.given)
            await app.runner.ask(wish.sentence)
            seen = await stage.look(app.log.turns[-1])
            if seen.calls if wish.is_talk else not meets(wish, seen, stage.now()):
                failures.append(f"{wish.sentence}: {seen}")
            failures += [f"{wish.sentence}: says {raw}" for raw in raw_words(seen.answer)]
    assert failures == []


async def test_every_typed_command_leads_to_its_call(brain: OfflineBrain) -> None:
    for sentence, wanted in commands():
        assert (await read(brain, sentence)).done == wanted


async def test_no_typed_other_sentence_causes_an_action(brain: OfflineBrain) -> None:
    acted = [sentence for sentence in not_commands() if (await read(brain, sentence)).calls]
    assert acted == []


@needs_flite
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("voice", FLITE if LONG else FLITE[:1])
async def test_spoken_commands_and_other_sentences(brain: OfflineBrain, voice: str) -> None:
    score = await measure(brain, voice, every=1 if LONG else 20, commands_every=1 if LONG else 6)
    assert score.right >= 0.9 * score.commands
    assert len(score.wrong) <= 0.02 * score.commands
    assert len(score.acted) <= (2 if LONG else 1)
