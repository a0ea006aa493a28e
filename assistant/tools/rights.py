"""What a program's turn may touch: nobody is asked for it, no person's yes counts for it."""

from dataclasses import dataclass

from assistant.tools.outcome import Tier

_KEPT = 1_000  # turns that have ended; what they left in the background goes on for 10 min at most


@dataclass(frozen=True, slots=True)
class Rights:
    """How far a turn goes that no person has asked for by voice or keyboard.

    Within them the settings, the mode and the owner's rules hold as for everybody.
    """

    highest: Tier  # nothing above it is done, whatever the settings say: rule "caller"
    asks: bool  # False: what is gated ends as `needs_confirmation`, and nobody is asked
    # Above it a yes is needed even where the settings ask for none, unless a rule of the owner's
    # names the caller.
    free: Tier = Tier.COMFORT


READ_ONLY = Rights(Tier.READ, asks=False)
CALLERS = Rights(Tier.SECURE, asks=False)  # comfort freely; the rest only by a rule that names it


@dataclass(frozen=True, slots=True)
class Program:
    """Who asks, in place of a person."""

    name: str  # as rules know it by `satellite`, and the audit too: "mcp:kitchen"
    rights: Rights


class Programs:
    """Which turns are a program's."""

    def __init__(self) -> None:
        self._of: dict[str, Program] = {}
        self._ended: dict[str, None] = {}  # the oldest first

    def restrict(self, turn_id: str, rights: Rights, caller: str) -> None:
        """All that is called in this turn, and by work begun in it, stays within these rights."""
        self._of[turn_id] = Program(caller, rights)

    def release(self, turn_id: str) -> None:
        """The turn is over. What it left in the background stays restricted."""
        if turn_id in self._of:
            self._ended[turn_id] = None
        if len(self._ended) > _KEPT:
            oldest = next(iter(self._ended))
            del self._ended[oldest], self._of[oldest]

    def of(self, turn_id: str) -> Program | None:
        """Who asks in this turn, or in the turn whose work this is; None: a person."""
        name = turn_id
        while name:
            if name in self._of:
                return self._of[name]
            name = name.rpartition("-")[0]  # as `ledger.Entry.work_id` puts it together
        return None
