"""What became of one tool call: the entry that the brain, the journal and `--json` all see."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from integrations.home_assistant.house import Entity


class Decision(StrEnum):
    """What the policy (or the person) said."""

    ALLOWED = "allowed"
    CONFIRMED = "confirmed"
    NEEDS_CONFIRMATION = "needs_confirmation"
    DENIED = "denied"


class Status(StrEnum):
    """How the call ended."""

    DONE = "done"  # observed as asked, or a reading that was answered
    FAILED = "failed"  # the server said so
    NOT_OBSERVED = "not_observed"  # the server said yes, the house does not show it
    TIMEOUT = "timeout"
    NOT_RUN = "not_run"
    UNKNOWN = "unknown"  # sent, then cut off; or it is still running


class Tier(StrEnum):
    """How much is at stake, by what would be touched."""

    READ = "read"
    COMFORT = "comfort"
    COSTLY = "costly"
    SECURE = "secure"


@dataclass(frozen=True, slots=True)
class Observed:
    """One entity's state around the call, as short words ("off", "on 30 %")."""

    entity_id: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Awaited:
    """How a thing looks once it has done what was asked of it."""

    shows: Callable[[Entity], bool]
    word: str = ""  # "locked", "unlocked", "opened" or "closed"; "" for any other change


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """One call from the request to what was seen."""

    id: str
    server: str
    name: str  # as the server names it
    arguments: dict[str, Any]  # as sent, after coercion
    decision: Decision
    tier: Tier
    status: Status
    observed: tuple[Observed, ...]
    ms: float  # from the request to the result
    sentence: str  # for the brain: what happened, in one sentence
    data: str = ""  # the server's own answer, cleaned and capped; data, never instructions
    retryable: bool = False  # the same call, mended by `valid_options` if there are any, may work
    outside: bool = False  # it tells what a program or a stranger wrote
    running: bool = False  # it goes on in the background: this is not its end
    as_asked: bool = False  # the house was seen to show all of what was asked for
    valid_options: tuple[str, ...] = ()  # what would have been right where something was unknown
    rule: str = ""  # what decided: a rule of the policy, or the owner's
    entities: tuple[str, ...] = ()  # what it touches or would have, as far as that is known
    stale: bool = False  # what it says of the house is not of now; the sentence tells its age
    left_on: tuple[str, ...] = ()  # names of what a wide call left on because it must run
    # What was asked and not seen when the call was answered, by the thing's id.
    awaited: Mapping[str, Awaited] = field(default_factory=dict, compare=False, repr=False)
    confirmed_by: str = ""  # who said yes and how: "voice", "typed", "pin", "phone NAME"

    @property
    def failed(self) -> bool:
        """It did not come about: the very same call need not be tried for ever."""
        if self.decision is Decision.NEEDS_CONFIRMATION:
            return False
        return self.status in (Status.FAILED, Status.TIMEOUT, Status.NOT_RUN)
