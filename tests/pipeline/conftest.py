"""Fixtures of the pipeline's tests."""

import ctypes
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.demo.scenes import Spoken
from assistant.demo.speech import make_clip


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording: the wake word and "turn on the office lights" in one breath."""
    folder = tmp_path_factory.mktemp("command")
    return make_clip(Spoken("command", "turn on the office lights", "rms"), folder)


@pytest.fixture(scope="module", autouse=True)
def memory_given_back() -> Iterator[None]:
    """Each test loads models of its own, and a small board has to run them all: what is left of a
    module's goes back to the system, which glibc does not do by itself."""
    yield
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
