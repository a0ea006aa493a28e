"""A client's error, by its way of recovery, as the fault that a brain yields."""

from assistant.domain.brain import BrainFault, FaultKind
from integrations.errors import (
    Blocked,
    Exhausted,
    IntegrationError,
    Misconfigured,
    Refused,
    Retired,
    SignInAgain,
    Stale,
    Unavailable,
)

# The subclasses stand before their base. Whether the same brain may try again at once, too.
_FAULTS: tuple[tuple[type[IntegrationError], FaultKind, bool], ...] = (
    (Unavailable, "unreachable", True),
    (Exhausted, "quota", False),
    (SignInAgain, "sign_in", False),
    (Retired, "retired", False),
    (Misconfigured, "refused", False),
    (Stale, "unreachable", True),  # the next attempt begins afresh
    (Blocked, "blocked", False),
    (Refused, "refused", False),
)


def fault_from(error: IntegrationError) -> BrainFault:
    """The fault that tells of `error`."""
    for kind_of_error, kind, retryable in _FAULTS:
        if isinstance(error, kind_of_error):
            return BrainFault(kind, str(error), retryable)
    return BrainFault("broken", str(error), retryable=False)
