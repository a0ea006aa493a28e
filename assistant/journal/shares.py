"""How many commands went right, were corrected, refused, misheard or failed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from assistant.domain.outcome import Decision, Status
from assistant.domain.records import Mark

CORRECTING = {"undo", "correct_last"}  # tools of ours
_CORRECTED_WITHIN = timedelta(minutes=2)
GATED = {Decision.DENIED, Decision.NEEDS_CONFIRMATION}
_NO_FAULT = {"", "interrupted"}  # to talk over an answer is no complaint

Share = Literal["right", "corrected", "refused", "misheard", "failed"]
Call = tuple[str, Decision, Status]  # the tool's name, and what became of it


@dataclass(frozen=True, slots=True)
class Command:
    """A turn in which a person asked for something, as far as it is judged by."""

    at: datetime
    mark: Mark
    error: str  # its kind, "" for none
    calls: tuple[Call, ...]  # that have ended, in their order


@dataclass(frozen=True, slots=True)
class Shares:
    """A count of commands. Each is in one of the five: `turns` is their sum.

    A command is a turn that a person began, by voice or typed, with something said in it; not a
    program's, not one that was our own echo, and not "that was wrong" itself. Of it is, in this
    order:

    - misheard: it was marked so ("you misheard me");
    - corrected: it was marked wrong, or the person's next command, within two minutes, undid or
      corrected it;
    - refused: a call of it was denied, by the policy, by a rule or by the person's no, or waited
      for a yes that did not come;
    - failed: it ended in an error, nothing was made of its words, or the last call of it did not
      come about (`failed`, `timeout`, `not_observed`, `unknown`, or never sent);
    - right: all others. Nobody has said anything against it: that is all that can be known.
    """

    turns: int = 0
    right: int = 0
    corrected: int = 0
    refused: int = 0
    misheard: int = 0
    failed: int = 0


def shares_of(commands: Sequence[Command]) -> Shares:
    """Count commands, given in the order in which they began."""
    following = [*commands[1:], None]
    count: Counter[str] = Counter(map(share_of, commands, following))
    return Shares(turns=len(commands), **count)


def share_of(command: Command, following: Command | None) -> Share:
    """How it went. `following`: the person's next command, if there was one."""
    if command.mark == "misheard":
        return "misheard"
    if command.mark == "wrong" or (following is not None and _corrects(following, command)):
        return "corrected"
    if any(decision in GATED for _, decision, _ in command.calls):
        return "refused"
    if command.error not in _NO_FAULT or _came_to_nothing(command.calls):
        return "failed"
    return "right"


def _corrects(following: Command, command: Command) -> bool:
    """Whether it took back what the one before had done."""
    soon = following.at - command.at <= _CORRECTED_WITHIN
    return soon and any(
        name in CORRECTING and status is Status.DONE for name, _, status in following.calls
    )


def _came_to_nothing(calls: Sequence[Call]) -> bool:
    """Whether the last one failed; those before it may have been mended by it."""
    return bool(calls) and calls[-1][2] is not Status.DONE
