"""Which facts stand in a model's instruction: all while they are few, then those that fit."""

from collections.abc import Collection, Sequence

from assistant.domain.records import MemoryRecord
from assistant.memory.facts import told

MAX_BRIEFED = 40  # facts
MAX_CHARACTERS = 2_000  # of all of them; billed anew with every turn
MORE = "(More is remembered than stands here: ask for it with recall.)"


def choose(
    known: Sequence[MemoryRecord],
    found: Sequence[MemoryRecord],
    before: Collection[MemoryRecord] = (),
) -> tuple[MemoryRecord, ...]:
    """The facts to be told, the oldest first. `known`: all there are, in that order.

    Sensitive ones are never among them. Where there are too many, what was `found` for the words of
    the moment comes first, and the newest fill the rest. `before`: what was told last; it is told
    again while it holds what would be added now, since a changed instruction costs a session.
    """
    open_ones = [fact for fact in known if not fact.sensitive]
    if _fitting(open_ones) == len(open_ones):
        return tuple(open_ones)
    likely = [fact for fact in found if fact in open_ones]
    newest = open_ones[::-1]
    if before and {*likely, newest[0]} <= set(before) <= set(open_ones):
        return tuple(before)
    ranked = list(dict.fromkeys((newest[0], *likely, *newest)))
    chosen = set(ranked[: _fitting(ranked)])
    return tuple(fact for fact in open_ones if fact in chosen)


def _fitting(facts: Sequence[MemoryRecord]) -> int:
    """How many of them, from the first on, there is room for."""
    room = MAX_CHARACTERS
    for number, fact in enumerate(facts[:MAX_BRIEFED]):
        room -= len(told(fact)) + 1
        if room < 0:
            return number
    return min(len(facts), MAX_BRIEFED)
