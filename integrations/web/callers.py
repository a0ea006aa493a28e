"""Who uses the interfaces for programs, and what they may do."""

from dataclasses import dataclass, field
from typing import Literal

Scope = Literal[
    "speak",  # make it speak or listen: announcements, questions, conversations, timers, buttons
    "ask",  # typed turns
    "read",  # how it stands, what was said and done
    "admin",  # all of it, and what nobody else may: answer a confirmation
]


Loosening = Literal["mode", "mute", "profile"]  # more trust, an open microphone, more tools


@dataclass(frozen=True, slots=True)
class Caller:
    """A program, as the journal names it."""

    name: str  # such as "http:admin", "mqtt", "home-assistant"; never a secret
    scopes: frozenset[Scope]
    # The session it was let in by, as a hash of its id; "": by a token. Not written down.
    session: str = field(default="", repr=False)
    loosens: frozenset[Loosening] = frozenset()  # what the owner lets it do beside `admin`
    # Tells this token from an earlier one of the same name: a part of its hash, never the secret.
    token: str = field(default="", repr=False, compare=False)

    def may(self, scope: Scope) -> bool:
        """Whether it may do what needs this scope."""
        return scope in self.scopes or "admin" in self.scopes

    def may_loosen(self, what: Loosening) -> bool:
        """Whether it may take back what a person has made stricter."""
        return what in self.loosens or "admin" in self.scopes


NOBODY = Caller("", frozenset())  # who has not said yet who they are
