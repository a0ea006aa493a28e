"""What can go wrong with the outside world, one class per way to recover.

IntegrationError
├── Unavailable     retry: not reachable now (network, restart, time-out)
├── SignInAgain     the credential is refused: the person must give another
├── Misconfigured   tell the person: it cannot work as it is set (host, integration, URL)
└── Refused         the service answered and said no to this one request
"""


class IntegrationError(Exception):
    """Root of this package's errors. `str(error)` is one sentence for a person, without secrets."""


class Unavailable(IntegrationError):
    """Not reachable now; the same request may work later."""


class SignInAgain(IntegrationError):
    """The credential is missing, wrong or revoked."""


class Misconfigured(IntegrationError):
    """Will not work until a setting is changed."""


class Refused(IntegrationError):
    """The service understood and declined this request."""
