"""Who may talk to the simulated house: an administrator, and a person who is none."""

import secrets
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Person:
    """One user with a long-lived token."""

    name: str
    is_admin: bool
    token: str = field(repr=False)

    @property
    def user_id(self) -> str:
        """The id that Home Assistant would give."""
        return uuid.uuid5(uuid.NAMESPACE_DNS, self.name).hex


def whose(people: Iterable[Person], token: object) -> Person | None:
    """The person of that token; None for anything else."""
    if not isinstance(token, str):
        return None
    given = token.encode()
    for person in people:
        if secrets.compare_digest(given, person.token.encode()):
            return person
    return None
