"""Nobody waits for further pieces of a scripted transcript."""

import pytest

from assistant.conversation import transcript


@pytest.fixture(autouse=True)
def quick_transcripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "PIECES_S", 0.01)
