"""A ledger of the calls in recent turns, which makes sure that each call is sent only once."""

import asyncio
import json
import logging
from dataclasses import dataclass, replace
from itertools import count, islice

from assistant.domain.tool_call import Tier, ToolCall, ToolOutcome
from assistant.tools.vocabulary import mentions

DONE_ALREADY = "done_already"  # rule of a call that was not sent again
_ADDING = ("HassListAddItem", "HassShoppingListAddItem")
_log = logging.getLogger(__name__)
LEDGER_CALLS = 256  # answered calls to remember; the oldest are dropped first


@dataclass(frozen=True, slots=True)
class Mutation:
    """The current status of a call that may have changed something."""

    call_id: str  # as the brain gave it
    name: str  # as in the menu
    entities: tuple[str, ...]  # ids of the entities it touches, as far as known
    outcome: ToolOutcome | None  # None: still running


@dataclass(slots=True)
class Entry:
    """A call in the ledger, from the moment a brain requests it."""

    turn_id: str
    call: ToolCall
    key: str  # its id in the journal, unique within the turn
    answer: asyncio.Future[ToolOutcome]
    tool: str  # as in the menu, where a call can name it in two ways; at first as called
    effect: str = ""  # equal for calls of the tool that do the same; "" if not known yet
    order: int | None = None  # among all sent calls; None: not sent
    tier: Tier = Tier.READ
    entities: tuple[str, ...] = ()
    sent: ToolOutcome | None = None  # newest outcome of a call that was sent, used if it is cut off
    withdrawn: bool = False  # the caller no longer wants it; it must not be sent

    @property
    def work_id(self) -> str:
        """An id of the call that is unique across all turns."""
        return f"{self.turn_id}-{self.key}"

    def resolve(self, tool: str) -> None:
        self.tool = tool

    def judge(self, effect: str) -> None:
        self.effect = effect

    def is_like(self, other: "Entry") -> bool:
        """Return True if both calls do the same, whatever they call the tool and its targets."""
        if self.tool != other.tool:
            return False
        if self.effect and self.effect == other.effect:
            return True
        return self.call.sentence is None and _plain(self.call) == _plain(other.call)

    def begin(self, order: int, tier: Tier, entities: tuple[str, ...]) -> None:
        self.order, self.tier, self.entities = order, tier, entities

    def end(self, outcome: ToolOutcome) -> None:
        self.sent = outcome

    def withdraw(self) -> None:
        """Prevent the call from being sent, unless it has already been sent or answered."""
        if self.order is None and not self.answer.done():
            self.withdrawn = True


class Ledger:
    """All calls of recent turns.

    A call with the same id as another call of the turn, but with another name or other arguments,
    is a different call, because two brains may both number their calls "call-1", "call-2" and so
    on.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], Entry] = {}  # by turn and key, oldest first
        self._order = count()

    def claim(self, turn_id: str, call: ToolCall) -> tuple[Entry, bool]:
        """Return the call's entry, and True if the call is new. Only a new call may be run."""
        for entry in self._of(turn_id):
            if entry.call == call and not entry.withdrawn:
                return entry, False
        key, number = call.id, 1
        while (turn_id, key) in self._entries:
            number += 1
            key = f"{call.id}~{number}"
        answer: asyncio.Future[ToolOutcome] = asyncio.get_running_loop().create_future()
        entry = Entry(turn_id, call, key, answer, tool=call.name)
        self._entries[turn_id, key] = entry
        self._forget()
        return entry, True

    def send(self, entry: Entry, tier: Tier, entities: tuple[str, ...]) -> None:
        entry.begin(next(self._order), tier, entities)

    def withdraw(self, turn_id: str) -> None:
        """Cancel a turn's calls that have not been sent yet."""
        for entry in self._of(turn_id):
            entry.withdraw()

    def twin(self, entry: Entry, tier: Tier, heard: str | None) -> Entry | None:
        """Return the earlier call that this one repeats under a new id, or None if it should run.

        Gemini 3.8 sometimes makes the same call two to five times (Google's migration page;
        livekit/agents #5556), which would put milk on a list several times.
        """
        if tier is Tier.READ or entry.withdrawn or entry.call.sentence is not None:
            return None
        if heard and mentions("repeatedly", heard):
            return None
        earlier = [
            one for one in self._of(entry.turn_id) if one is not entry and entry.is_like(one)
        ]
        twin = next((one for one in reversed(earlier) if one.order is not None), None)
        if twin is None or (twin.sent is not None and twin.sent.failed):
            return None
        assert twin.order is not None
        since = [one for one in self._of(entry.turn_id) if (one.order or 0) > twin.order]
        undone = any(_undoes(one, twin) for one in since)
        return None if undone else twin

    async def repeat(self, entry: Entry, twin: Entry) -> ToolOutcome:
        """Wait for the outcome of `twin`, and return it for `entry`, which is not sent."""
        first = await asyncio.shield(twin.answer)
        _log.info("%s was called again and is not repeated", entry.call.name)
        return replace(twin.sent or first, id=entry.call.id, rule=DONE_ALREADY)

    def mutations(self, turn_id: str) -> tuple[Mutation, ...]:
        """Return the turn's sent calls of any tier above READ, in the order in which they were
        sent."""
        sent = [
            (entry.order, entry)
            for entry in self._of(turn_id)
            if entry.order is not None and entry.tier is not Tier.READ
        ]
        return tuple(
            Mutation(entry.call.id, entry.call.name, entry.entities, entry.sent)
            for _, entry in sorted(sent, key=lambda pair: pair[0])
        )

    def _of(self, turn_id: str) -> list[Entry]:
        return [entry for entry in self._entries.values() if entry.turn_id == turn_id]

    def _forget(self) -> None:
        """Drop the oldest answered calls. Unanswered calls must stay, because they could run twice
        otherwise."""
        spare = len(self._entries) - LEDGER_CALLS
        answered = (name for name, entry in self._entries.items() if entry.answer.done())
        for name in list(islice(answered, max(0, spare))):
            del self._entries[name]


def _plain(call: ToolCall) -> str:
    written = json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)
    return "".join(written.casefold().split())


def _undoes(later: Entry, earlier: Entry) -> bool:
    """Return True if `later` may have changed what `earlier` did."""
    adds = later.tool == earlier.tool and later.tool.endswith(_ADDING)
    touched = not set(later.entities).isdisjoint(earlier.entities)
    return later.tier is not Tier.READ and touched and not adds
