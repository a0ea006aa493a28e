"""Which tools the turns of a profile may use: fewer than there are, never more.

The policy decides about each call of what is left as it does without a profile.
"""

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

_KEPT = 1_000  # turns; what they left in the background goes on for 10 min at most
SWITCH_PROFILE = "switch_profile"  # the way out, which is always there


def may_use(names: Collection[str], allowed: Sequence[str]) -> bool:
    """Whether a tool is among those that are allowed, by any of its names. Nothing allowed means
    all of them."""
    if not allowed or SWITCH_PROFILE in names:
        return True
    return any(fnmatchcase(name, pattern) for pattern in allowed for name in names)


class Narrowing:
    """Which turns may use which tools."""

    def __init__(self) -> None:
        self._of: dict[str, Sequence[str]] = {}  # turn -> patterns, the oldest first

    def narrow(self, turn_id: str, allowed: Sequence[str]) -> None:
        """All that is called in this turn, and by work begun in it, is among these."""
        if not allowed:
            return
        self._of[turn_id] = allowed
        if len(self._of) > _KEPT:
            del self._of[next(iter(self._of))]

    def allows(self, turn_id: str, names: Collection[str]) -> bool:
        """Whether that turn, or the turn whose work this is, may use a tool of these names."""
        name = turn_id
        while name:
            if name in self._of:
                return may_use(names, self._of[name])
            name = name.rpartition("-")[0]  # as `ledger.Entry.work_id` puts it together
        return True
