"""What a turn may touch that a program has a part in: its own, or a person's that it has begun."""

from dataclasses import dataclass

from assistant.domain.outcome import Tier
from assistant.domain.records import REQUEST

COMMAND = "later"  # who makes the call that people have asked for later
_KEPT = 1_000  # turns that have ended; what they left in the background goes on for 10 min at most


@dataclass(frozen=True, slots=True)
class Rights:
    """How far a turn goes that is not a person's alone.

    Within them the settings, the mode and the owner's rules hold as for everybody.
    """

    highest: Tier  # nothing above it is done, whatever the settings say: rule "caller"
    # False: no person's turn: what is gated ends as `needs_confirmation`, and nobody is asked.
    asks: bool
    # Above it a yes is needed even where the settings ask for none, unless a rule of the owner's
    # names the caller.
    free: Tier = Tier.COMFORT
    recalls: bool = False  # it may be told what people have said: what is remembered, their timers


READ_ONLY = Rights(Tier.READ, asks=False)
CALLERS = Rights(Tier.SECURE, asks=False)  # comfort freely; the rest only by a rule that names it
# A person answers what a program has said, and the model was told of it in the program's words:
# what is more than comfort may be its wish, so that the person is asked in ours.
TALK = Rights(Tier.SECURE, asks=True, recalls=True)


@dataclass(frozen=True, slots=True)
class Program:
    """Who asks in place of a person, or has begun the talk with one."""

    name: str  # as rules know it by `satellite`, and the audit too: "mcp:kitchen"
    rights: Rights

    @property
    def caller(self) -> str:
        """Its name where the turn is its own; "": people's, whatever part a program has in it."""
        return "" if self.rights.asks or self.name in (REQUEST, COMMAND) else self.name


class Programs:
    """Which turns are a program's."""

    def __init__(self) -> None:
        self._of: dict[str, Program] = {}
        self._ended: dict[str, None] = {}  # the oldest first

    def restrict(self, turn_id: str, rights: Rights, caller: str) -> None:
        """All that is called in this turn, and by work begun in it, stays within these rights."""
        self._of[turn_id] = Program(caller, rights)

    def lead(self, turn_id: str, caller: str) -> None:
        """A program's words stand before the model in this turn of a person's."""
        if self.of(turn_id) is None:
            self.restrict(turn_id, TALK, caller)
            self.release(turn_id)  # nobody tells when it is over: the newest are kept

    def release(self, turn_id: str) -> None:
        """The turn is over. What it left in the background stays restricted."""
        if turn_id in self._of:
            self._ended[turn_id] = None
        if len(self._ended) > _KEPT:
            oldest = next(iter(self._ended))
            del self._ended[oldest], self._of[oldest]

    def of(self, turn_id: str) -> Program | None:
        """Whose part this turn has, or the turn whose work this is; None: a person's alone."""
        name = turn_id
        while name:
            if name in self._of:
                return self._of[name]
            name = name.rpartition("-")[0]  # as `ledger.Entry.work_id` puts it together
        return None
