"""The calls of each turn: none is run twice, and what was sent is known at any moment."""

import asyncio
from dataclasses import dataclass
from itertools import count, islice

from assistant.domain.call import ToolCall
from assistant.domain.outcome import Tier, ToolOutcome

LEDGER_CALLS = 256  # answered calls that are remembered; the oldest go first


@dataclass(frozen=True, slots=True)
class Mutation:
    """A call that may have changed something, as it stands now."""

    call_id: str  # as the brain gave it
    name: str  # as the menu names it
    entities: tuple[str, ...]  # ids of what it touches, as far as known
    outcome: ToolOutcome | None  # None: under way


@dataclass(slots=True)
class Entry:
    """One call from its first mention on."""

    turn_id: str
    call: ToolCall
    key: str  # its id in the journal: unique in its turn
    answer: asyncio.Future[ToolOutcome]
    order: int | None = None  # among all that were sent; None: not sent
    tier: Tier = Tier.READ
    entities: tuple[str, ...] = ()
    sent: ToolOutcome | None = None  # the newest of a call that was sent, for one that is cut off
    withdrawn: bool = False  # whoever asked does not want it any more; it is not to be sent

    @property
    def work_id(self) -> str:
        """A name for it that is unique among all turns."""
        return f"{self.turn_id}-{self.key}"


class Ledger:
    """All calls of the last turns.

    A call is the same as an earlier one of its turn if id, name and arguments are the same. The
    same id with another name or other arguments is another call: when a turn goes to a second
    brain, both may count "call-1", "call-2". The journal then knows it as "call-1~2".
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], Entry] = {}  # by turn and key, the oldest first
        self._order = count()

    def claim(self, turn_id: str, call: ToolCall) -> tuple[Entry, bool]:
        """The call's entry, and whether it is new: only then it is to be run."""
        for entry in self._of(turn_id):
            if entry.call == call and not entry.withdrawn:
                return entry, False
        key, number = call.id, 1
        while (turn_id, key) in self._entries:
            number += 1
            key = f"{call.id}~{number}"
        entry = Entry(turn_id, call, key, asyncio.get_running_loop().create_future())
        self._entries[turn_id, key] = entry
        self._forget()
        return entry, True

    def send(self, entry: Entry, tier: Tier, entities: tuple[str, ...]) -> None:
        """From here on the call counts as sent."""
        entry.order, entry.tier, entry.entities = next(self._order), tier, entities

    def withdraw(self, turn_id: str) -> None:
        """Calls of the turn that were not sent yet never will be."""
        for entry in self._of(turn_id):
            if entry.order is None and not entry.answer.done():
                entry.withdrawn = True

    def mutations(self, turn_id: str) -> tuple[Mutation, ...]:
        """The turn's calls above READ that were sent, in the order of sending."""
        sent = [
            (entry.order, entry)
            for entry in self._of(turn_id)
            if entry.order is not None and entry.tier is not Tier.READ
        ]
        return tuple(
            Mutation(
                entry.call.id,
                entry.call.name,
                entry.entities,
                entry.sent,
            )
            for _, entry in sorted(sent, key=lambda pair: pair[0])
        )

    def _of(self, turn_id: str) -> list[Entry]:
        return [entry for entry in self._entries.values() if entry.turn_id == turn_id]

    def _forget(self) -> None:
        """Drop the oldest answers; what is under way is never forgotten, or it could run again."""
        spare = len(self._entries) - LEDGER_CALLS
        answered = (name for name, entry in self._entries.items() if entry.answer.done())
        for name in list(islice(answered, max(0, spare))):
            del self._entries[name]
