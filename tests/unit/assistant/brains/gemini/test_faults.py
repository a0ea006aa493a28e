"""Errors by their way of recovery."""

import pytest

from assistant.brains.gemini.calls import fault_from
from integrations import errors


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (errors.Unavailable, "unreachable", True),
        (errors.Exhausted, "quota", False),
        (errors.SignInAgain, "sign_in", False),
        (errors.Retired, "retired", False),
        (errors.Misconfigured, "refused", False),
        (errors.Refused, "refused", False),
        (errors.Stale, "unreachable", True),
        (errors.Blocked, "blocked", False),
        (errors.IntegrationError, "broken", False),
    ],
)
def test_each_error_is_its_fault(
    error: type[errors.IntegrationError], kind: str, retryable: bool
) -> None:
    fault = fault_from(error("It is so."))
    assert (fault.kind, fault.message, fault.retryable) == (kind, "It is so.", retryable)
