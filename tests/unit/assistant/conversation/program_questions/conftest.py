"""Fixture that waits for no further pieces of a scripted transcript."""

import pytest

from assistant.conversation import speculative_turn


@pytest.fixture(autouse=True)
def quick_transcripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speculative_turn, "PIECES_S", 0.01)
