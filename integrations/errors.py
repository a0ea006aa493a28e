"""Errors from the outside world, one class per way to recover.

IntegrationError
├── Unavailable     cannot be reached now (network, restart, timeout): retry
├── Exhausted       a quota or budget is used up: try again much later
├── SignInAgain     the credential was rejected: ask the person for a new one
├── Misconfigured   cannot work with these settings (host, integration, URL): tell the person
│   ├── Retired     the configured model no longer exists: somebody must set another one
│   └── Barred      the service does not serve this account, key or country
└── Refused         the service declined this one request
    ├── Stale       the request refers to something that is gone, such as a session: start over
    └── Blocked     the service does not process this content: do not ask again
"""

import traceback
from collections.abc import Iterator
from typing import Literal


class IntegrationError(Exception):
    """The base class of these errors. `str(error)` is a sentence that can be shown to people and
    contains no secrets."""

    told: str = ""  # the service's whole reason, without secrets; "" if it gave none


class Unavailable(IntegrationError):
    """The service cannot be reached now. The same request may succeed later."""


class Exhausted(IntegrationError):
    """A quota or budget is used up. The same request can succeed again much later."""


class SignInAgain(IntegrationError):
    """The credential is missing, wrong or revoked."""


class AccountRejected(SignInAgain):
    """The service rejected a token or account instead of a key."""


class Misconfigured(IntegrationError):
    """Requests will keep failing until somebody changes a setting."""


class Retired(Misconfigured):
    """The configured model no longer exists or, if that isn't `certain`, is not offered to this
    account."""

    def __init__(self, sentence: str, *, certain: bool = True) -> None:
        super().__init__(sentence)
        self.certain = certain


Bar = Literal["no_region", "denied", "api_off", "key_limits"]


class Barred(Misconfigured):
    """The service rejects every request from this country, project or key."""

    def __init__(self, sentence: str, why: Bar) -> None:
        super().__init__(sentence)
        self.why = why


class Refused(IntegrationError):
    """The service understood this request and declined it."""


class Stale(Refused):
    """The request refers to something that the service no longer has, so start over.

    `differs` means that the next start will be made in another way, such as with fewer settings.
    """

    def __init__(self, sentence: str, *, differs: bool = False) -> None:
        super().__init__(sentence)
        self.differs = differs


class Blocked(Refused):
    """The service refuses to process this content."""


# Find the errors inside an error, because libraries nest the informative one deeply.


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error, the errors in its groups, and their causes, outermost first."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from causes(inner)
    cause = error.__cause__ or error.__context__
    if cause is not None:
        yield from causes(cause)


def unpacked(error: BaseException) -> BaseException:
    """Return the first error inside nested exception groups, or the error itself if it isn't a
    group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def first_of(group: BaseExceptionGroup[IntegrationError]) -> IntegrationError:
    """Return the first error in the group, at any depth."""
    error = unpacked(group)
    assert isinstance(error, IntegrationError)
    return error


def where_raised(error: BaseException) -> str:
    """Return the error's call chain on one line, outermost call first, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    return ", ".join(f"{one.name} ({one.filename}:{one.lineno})" for one in frames)
