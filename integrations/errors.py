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
