"""Each command is right, corrected, refused, misheard or failed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from assistant.domain.outcome import Decision, Status
from assistant.journal.reports import Call, CommandTurn, Share, Shares, share_of, shares_of

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DONE: Call = ("HassTurnOn", Decision.ALLOWED, Status.DONE)
FAILED: Call = ("HassTurnOn", Decision.ALLOWED, Status.FAILED)
DENIED: Call = ("HassTurnOff", Decision.DENIED, Status.NOT_RUN)
UNANSWERED: Call = ("HassTurnOff", Decision.NEEDS_CONFIRMATION, Status.NOT_RUN)
COMMAND = CommandTurn(NOW, "", "", (DONE,))


def undo(after_s: float, status: Status = Status.DONE, name: str = "undo") -> CommandTurn:
    at = NOW + timedelta(seconds=after_s)
    return CommandTurn(at, "", "", ((name, Decision.ALLOWED, status),))


@pytest.mark.parametrize(
    ("command", "share"),
    [
        (COMMAND, "right"),
        (replace(COMMAND, calls=()), "right"),
        (replace(COMMAND, mark="misheard"), "misheard"),
        (replace(COMMAND, mark="wrong", calls=(DENIED,)), "corrected"),
        (replace(COMMAND, calls=(DONE, DENIED)), "refused"),
        (replace(COMMAND, calls=(UNANSWERED,)), "refused"),
        (replace(COMMAND, calls=(FAILED,)), "failed"),
        (replace(COMMAND, calls=(FAILED, DONE)), "right"),  # the model has mended it
        (replace(COMMAND, calls=(DONE, FAILED)), "failed"),
        (replace(COMMAND, error="timeout"), "failed"),
        (replace(COMMAND, error="interrupted"), "right"),
        (replace(COMMAND, calls=(), error="not_understood"), "failed"),
    ],
)
def test_one_command(command: CommandTurn, share: Share) -> None:
    assert share_of(command, None) == share


@pytest.mark.parametrize(
    ("following", "share"),
    [
        (undo(20), "corrected"),
        (undo(20, name="correct_last"), "corrected"),
        (undo(121), "right"),
        (undo(20, Status.FAILED), "right"),  # there was nothing that it could take back
        (replace(COMMAND, at=NOW + timedelta(seconds=20)), "right"),
    ],
)
def test_the_next_command_may_take_it_back(following: CommandTurn, share: Share) -> None:
    assert share_of(COMMAND, following) == share


def test_they_add_up() -> None:
    later = [replace(COMMAND, at=NOW + timedelta(minutes=number)) for number in range(1, 4)]
    failed = replace(later[1], error="timeout")
    commands = [COMMAND, undo(20), later[0], failed, replace(later[2], mark="misheard")]
    assert shares_of(commands) == Shares(turns=5, right=2, corrected=1, misheard=1, failed=1)
    assert shares_of([]) == Shares()
