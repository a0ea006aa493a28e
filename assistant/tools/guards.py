"""How much may be called: in one turn, and of each tier in a while. Pure but for the clock."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.outcome import Tier

if TYPE_CHECKING:
    from assistant.config.tools import Limits


MAX_ALIKE_FAILURES = 3  # of one tool with the same arguments in one turn
MAX_REPEATED = 3  # of them that gave the same each time, with no change in between
# Rules that end a turn where the brain goes on all the same.
LIMITS = frozenset(
    {"too_many_calls", "too_many_mutations", "too_many_rounds", "too_alike", "repeated"}
)
TURNS_KEPT = 64  # the oldest are forgotten first
# How many may follow each other at once.
BURSTS: Mapping[Tier, int] = {Tier.COMFORT: 30, Tier.COSTLY: 4, Tier.SECURE: 3}


@dataclass(slots=True)
class _Turn:
    """What one turn has called."""

    calls: int = 0
    mutations: int = 0
    rounds: int = 0
    open: dict[str, str] = field(default_factory=dict)  # call key -> its likeness
    failures: dict[str, int] = field(default_factory=dict)  # likeness -> how often it failed
    # likeness -> what it gave the last time, and how often so far
    given: dict[str, tuple[str, int]] = field(default_factory=dict)
    changed_by: str = ""  # likeness of the newest change


class Guards:
    """One per process. Told of each call before it is run (or asked about) and when it has ended.

    A call that waits for a confirmation is begun when it is frozen and not once more when it runs:
    questions are what the buckets keep rare too. Calls that the policy denies or that are malformed
    are begun as READ, so that they count as calls and as nothing else.
    """

    def __init__(self, limits: "Limits", clock: Clock) -> None:
        self._limits = limits
        self._turns: dict[str, _Turn] = {}
        rates = {
            Tier.COMFORT: limits.comfort_per_minute / 60,
            Tier.COSTLY: limits.costly_per_hour / 3600,
            Tier.SECURE: limits.secure_per_hour / 3600,
        }
        most = {
            Tier.COMFORT: limits.comfort_per_minute,
            Tier.COSTLY: limits.costly_per_hour,
            Tier.SECURE: limits.secure_per_hour,
        }
        self._buckets = {
            tier: _Bucket(clock, min(BURSTS[tier], most[tier]), rate)
            for tier, rate in rates.items()
        }

    def begin(self, turn_id: str, call_key: str, tier: Tier, alike: str = "") -> str | None:
        """Let the call begin, or the name of the rule against it; its sentence is `guards.RULE`.

        `alike`: what the same call would have in common with it (`likeness`); "": not compared.
        Mutating calls that are asked while another call of the turn is open are of one round.
        A refused call uses up nothing but one of the turn's calls.
        """
        turn = self._turn(turn_id)
        if turn.calls >= self._limits.calls_per_turn:
            return "too_many_calls"
        turn.calls += 1
        if alike and turn.failures.get(alike, 0) >= MAX_ALIKE_FAILURES:
            return "too_alike"
        if alike and turn.given.get(alike, ("", 0))[1] >= MAX_REPEATED:
            return "repeated"
        if tier is not Tier.READ:
            refusal = self._begin_mutation(turn, tier)
            if refusal:
                return refusal
        turn.open[call_key] = alike
        return None

    def end(
        self,
        turn_id: str,
        call_key: str,
        failed: bool = False,
        gave: str = "",
        changed: bool = False,
    ) -> None:
        """The call has its outcome; one that was refused or is not known changes nothing.

        `gave`: what came of it, "" where that is not compared; `changed`: it was a change, after
        which the same reading may well be wanted again.
        """
        turn = self._turns.get(turn_id)
        if turn is None or call_key not in turn.open:
            return
        alike = turn.open.pop(call_key)
        if failed and alike:
            turn.failures[alike] = turn.failures.get(alike, 0) + 1
        if failed or not alike or not gave:
            return
        if changed and turn.changed_by != alike:
            turn.given.clear()
            turn.changed_by = alike
        before, times = turn.given.get(alike, ("", 0))
        turn.given[alike] = gave, times + 1 if gave == before else 1

    def _begin_mutation(self, turn: _Turn, tier: Tier) -> str | None:
        is_new_round = not turn.open or turn.rounds == 0
        if turn.mutations >= self._limits.mutations_per_turn:
            return "too_many_mutations"
        if is_new_round and turn.rounds >= self._limits.rounds_per_turn:
            return "too_many_rounds"
        if not self._buckets[tier].take():
            return "too_fast"
        turn.mutations += 1
        turn.rounds += is_new_round
        return None

    def _turn(self, turn_id: str) -> _Turn:
        if turn_id not in self._turns and len(self._turns) >= TURNS_KEPT:
            del self._turns[next(iter(self._turns))]
        return self._turns.setdefault(turn_id, _Turn())


def likeness(name: str, arguments: Mapping[str, Any]) -> str:
    """The same text for the same tool with the same arguments, whatever their order."""
    return f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"


class _Bucket:
    """Holds so many at most, and fills up again at a steady rate."""

    def __init__(self, clock: Clock, size: int, per_second: float) -> None:
        self._clock = clock
        self._size = size
        self._per_second = per_second
        self._level = float(size)
        self._at_s = clock.monotonic()

    def take(self) -> bool:
        """Take one, if there is one."""
        now = self._clock.monotonic()
        self._level = min(self._size, self._level + (now - self._at_s) * self._per_second)
        self._at_s = now
        if self._level < 1.0 - 1e-9:  # sixty sixtieths are one
            return False
        self._level -= 1.0
        return True
