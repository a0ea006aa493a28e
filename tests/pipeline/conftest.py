"""Fixtures of the pipeline's tests."""

import ctypes
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.demo.scenes import SpokenCommand, make_clip

PATIENCE_S = 60.0
# How long the program waits for a recogniser of its own box before it does without its words.
HEARING = (
    "assistant.brains.offline.listen.HEARING_S",
    "assistant.confirmation.witness.RECOGNISE_S",
    "assistant.conversation.program_turns.UNDERSTAND_S",
    "assistant.conversation.confirmation_dialog.UNDERSTAND_S",
)


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording: the wake word and "turn on the office lights" in one breath."""
    folder = tmp_path_factory.mktemp("command")
    return make_clip(SpokenCommand("command", "turn on the office lights", "rms"), folder)


@pytest.fixture(autouse=True)
def a_patient_ear(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said is heard here, however slow the machine is beside everything else that it does:
    what becomes of words that come too late has tests of its own, without a recogniser."""
    for limit in HEARING:
        monkeypatch.setattr(limit, PATIENCE_S)


@pytest.fixture(scope="module", autouse=True)
def memory_given_back() -> Iterator[None]:
    """Each test loads models of its own, and a small board has to run them all: what is left of a
    module's goes back to the system, which glibc does not do by itself."""
    yield
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
