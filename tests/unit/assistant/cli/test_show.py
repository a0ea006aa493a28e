"""Tests of how a turn is shown to a person."""

from datetime import UTC, datetime

import pytest

from assistant.cli.ask import show_turn
from assistant.domain.records import Source, TurnRecord

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("voice", True),
        ("follow_up", True),
        ("barge_in", True),
        ("text", False),
        ("announcement", False),
    ],
)
def test_what_was_heard_is_told_of_spoken_turns(
    source: Source, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    show_turn(TurnRecord("t", NOW, source, "en", answer="It is ready."), ())
    shown = capsys.readouterr()
    assert shown.out == "It is ready.\n"
    assert ("heard" in shown.err) is told
