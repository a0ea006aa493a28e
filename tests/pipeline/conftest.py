import ctypes
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.demo.scenes import SpokenCommand, make_clip

PATIENCE_S = 60.0
# The program's longest wait for its own recogniser, before it goes on without the words.
HEARING = (
    "assistant.brains.offline.listen.HEARING_S",
    "assistant.confirmation.witness.RECOGNISE_S",
    "assistant.conversation.program_turns.UNDERSTAND_S",
    "assistant.conversation.confirmation_dialog.UNDERSTAND_S",
)


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording: the wake word and "turn on the office lights" in one breath."""
    folder = tmp_path_factory.mktemp("command")
    return make_clip(SpokenCommand("command", "turn on the office lights", "rms"), folder)


@pytest.fixture(autouse=True)
def a_patient_ear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the recogniser however slow the machine is.

    Words that come too late have tests without a recogniser.
    """
    for limit in HEARING:
        monkeypatch.setattr(limit, PATIENCE_S)


@pytest.fixture(scope="module", autouse=True)
def memory_given_back() -> Iterator[None]:
    """Return freed memory to the system after each module, which glibc does not do by itself.

    Each test loads its own models, and a small board has to run them all.
    """
    yield
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
