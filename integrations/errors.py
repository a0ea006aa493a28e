"""What can go wrong with the outside world, one class per way to recover.

IntegrationError
├── Unavailable     retry: not reachable now (network, restart, time-out)
├── Exhausted       wait: a quota or the money is used up; later it works again
├── SignInAgain     the credential is refused: the person must give another
├── Misconfigured   tell the person: it cannot work as it is set (host, integration, URL)
│   └── Retired     the model that is set is gone; another one must be set
└── Refused         the service answered and said no to this one request
    ├── Stale       what the request stands on (a session) is gone: begin afresh
    └── Blocked     it declines to deal with this content: do not ask again
"""

import traceback
from collections.abc import Iterator


class IntegrationError(Exception):
    """Root of this package's errors. `str(error)` is one sentence for a person, without secrets."""


class Unavailable(IntegrationError):
    """Not reachable now; the same request may work later."""


class Exhausted(IntegrationError):
    """A quota or the money is used up; the same request works again much later."""


class SignInAgain(IntegrationError):
    """The credential is missing, wrong or revoked."""


class Misconfigured(IntegrationError):
    """Will not work until a setting is changed."""


class Retired(Misconfigured):
    """The model that is set does not exist any more."""


class Refused(IntegrationError):
    """The service understood and declined this request."""


class Stale(Refused):
    """The request stands on something that the service has forgotten: begin afresh."""


class Blocked(Refused):
    """The service declines to deal with this content."""


# What an error holds and what caused it: libraries pack the telling one deep.


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error, what it holds and what caused it, outermost first."""
    yield error
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from causes(inner)
    cause = error.__cause__ or error.__context__
    if cause is not None:
        yield from causes(cause)


def unpacked(error: BaseException) -> BaseException:
    """The error that came first of those in task groups, which wrap what their tasks raise."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def first_of(group: BaseExceptionGroup[IntegrationError]) -> IntegrationError:
    """The error that came first, however deep it is packed."""
    error = unpacked(group)
    assert isinstance(error, IntegrationError)
    return error


def where_raised(error: BaseException) -> str:
    """The calls that led to an error, outermost first, on one line and without its own words."""
    frames = traceback.extract_tb(error.__traceback__)
    return ", ".join(f"{one.name} ({one.filename}:{one.lineno})" for one in frames)
