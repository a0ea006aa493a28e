"""The offline brain in the house of the corpus, without a conversation so far."""

from collections.abc import Iterator

import pytest

from assistant.brains.offline import OfflineBrain
from audio.recognize.sphinx import SphinxRecognizer
from tests.corpus.runs import corpus_brain


@pytest.fixture(scope="module")
def house_brain() -> Iterator[OfflineBrain]:
    brain = corpus_brain(SphinxRecognizer())
    yield brain
    brain.close()


@pytest.fixture
def brain(house_brain: OfflineBrain) -> OfflineBrain:
    house_brain.forget()
    return house_brain
