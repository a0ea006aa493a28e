"""Guards around tool calls beside the policy: rate limits, circuit breakers, taint.

A page, a calendar or a title of music may say "the person wants the door open". A model knows it as
long as the text is in its context, which a session with Gemini Live keeps over many turns. So a
talk that has read such text stays marked until the model begins one without it.
"""

import json
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from assistant.domain.clock import Clock
from assistant.domain.tool_call import Tier, ToolOutcome
from assistant.tools.builtin.protocol import HEARTH
from assistant.tools.catalog.menu import MenuEntry
from assistant.tools.undo.backups import FileUndo
from integrations.mcp.servers import HOME_ASSISTANT

if TYPE_CHECKING:
    from assistant.config.tools import Limits
    from assistant.journal.audit import Discreet
    from assistant.tools.catalog.approvals import Approvals, Consents
    from assistant.tools.undo.stack import UndoStack


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


# Who watches over calls beside the policy: limits, undo, consents, quiet, the audit.
class Hushed(Protocol):
    """What was paused for a question."""

    @property
    def quiet(self) -> bool:
        """Nothing plays in the room, and nothing has since it was paused."""
        ...

    async def resume(self) -> None:
        """Let it play on. Never raises."""
        ...


@dataclass(frozen=True, slots=True)
class CallGuards:
    """Each may be missing, as in tests of something else; in a process of Hearth none is."""

    limits: Guards | None = None
    breakers: "Breakers | None" = None
    files: "FileUndo | None" = None  # what servers do to files can be undone
    undo: "UndoStack | None" = None
    approvals: "Approvals | None" = None
    consents: "Consents | None" = None
    audit: "Discreet | None" = None
    hush: Callable[[], Awaitable[Hushed]] | None = None  # pauses what plays in this room
    has_pin: bool = False
    satellite: str = ""  # what this box is called in the audit
    # Told of what a call is about to act on, so that nothing else is taken for its cause.
    expects: Callable[[Sequence[str]], None] | None = None
    taints: Callable[[MenuEntry], bool] = lambda entry: False  # its results are from the open world
    # This one is, or holds what others wrote.
    taints_by: Callable[[ToolOutcome], bool] = lambda outcome: False


# Remembers which server is down: it is not called again until a while has passed.
FAILURES_TO_OPEN = 3  # in a row
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 600.0
PROBE_S = 30.0  # a probe of which nothing is heard is given up


@dataclass(slots=True)
class _Breaker:
    """One server's."""

    failures: int = 0  # in a row
    pause_s: float = FIRST_PAUSE_S  # of the next opening
    until_s: float | None = None  # open until then, on the monotonic clock; None: closed
    probe_until_s: float | None = None  # one call is on its way to see; None: none


class Breakers:
    """One breaker for each server, closed at first.

    Failures are the server's own: unreachable, no answer in time, an answer that is none. A tool
    that ran and reports an error is a success here.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._breakers: dict[str, _Breaker] = {}

    def admits(self, server: str) -> bool:
        """Return whether it may be called now. After a pause one call is let through to see.

        Each call that is admitted must be followed by `succeeded`, `failed` or nothing (cancelled).
        """
        breaker = self._breakers.get(server)
        if breaker is None or breaker.until_s is None:
            return True
        now = self._clock.monotonic()
        if now < breaker.until_s:
            return False
        if breaker.probe_until_s is not None and now < breaker.probe_until_s:
            return False
        breaker.probe_until_s = now + PROBE_S
        return True

    def succeeded(self, server: str) -> None:
        """It has answered."""
        self._breakers.pop(server, None)

    def failed(self, server: str) -> None:
        """It has not. Failures of calls that were sent before it opened change nothing."""
        breaker = self._breakers.setdefault(server, _Breaker())
        if breaker.until_s is not None and breaker.probe_until_s is None:
            return
        breaker.failures += 1
        if breaker.until_s is None and breaker.failures < FAILURES_TO_OPEN:
            return
        breaker.until_s = self._clock.monotonic() + breaker.pause_s
        breaker.probe_until_s = None
        breaker.pause_s = min(2 * breaker.pause_s, LONGEST_PAUSE_S)


#
# Text of strangers in a model's context: which turns, pieces of work and talks have read some.
#
# A page, a calendar or a title of music may say "the person wants the door open". A model knows it
# as long as the text is in its context, which a session with Gemini Live keeps over many turns. So
# a talk that has read such text stays marked until the model begins one without it.
_MOST = 1_000  # turns, pieces of work and talks that are remembered; the oldest are forgotten first
_MOST_SAID = 20  # of a talk's sentences, the newest
_MOST_CHARACTERS = 2_000  # of one
# What a house tells of its things that others write: titles of what plays, and states that are
# sentences, such as the newest message of a phone.
_TITLES = re.compile(r"\bmedia_(?:title|artist|album_name|series_title|channel)\b\W+\w")
_STATES = re.compile(r"\bstate: *'?([^\n\\]+)")
_SENTENCE = 40  # characters of a state, or as many words, that are no plain state any more
_WORDS = 5
Value = TypeVar("Value")


class Taint:
    """Kept for one process. A turn is known by its id, a talk by what its brain calls it."""

    def __init__(self) -> None:
        self._marked: dict[str, None] = {}  # ids, the oldest first
        self._talks: dict[str, str] = {}  # turn -> the talk that it belongs to
        self._said: dict[str, deque[str]] = {}  # turn or talk -> what the person said in it

    def follow(self, turn_id: str, talk: str, heard: str | None) -> None:
        """A call of this turn is asked for. `talk`: the model's context, "" where it has none."""
        if talk:
            _put(self._talks, turn_id, _name(talk))
            if turn_id in self._marked:
                self.mark(turn_id)  # it read something before the talk was known
        if heard:
            said = self._said.get(self._place(turn_id)) or deque(maxlen=_MOST_SAID)
            if heard not in said:
                said.append(heard[:_MOST_CHARACTERS])
            _put(self._said, self._place(turn_id), said)

    def mark(self, turn_id: str) -> None:
        """Text from outside, or a program's, has come into this turn, or into work begun in it,
        whose answer comes back; and into the talk to which it belongs."""
        for name in with_those_around(turn_id):
            _put(self._marked, name, None)
            talk = self._talks.get(name)
            if talk is not None:
                _put(self._marked, talk, None)

    def is_on(self, turn_id: str) -> bool:
        """True where such text may be known to whoever calls in this turn."""
        around = tuple(with_those_around(turn_id))
        talks = (self._talks.get(name, "") for name in around)
        return any(name in self._marked for name in (*around, *talks))

    def said(self, turn_id: str) -> tuple[str, ...]:
        """Return what the person said in this talk, as far as calls were made for it."""
        around = tuple(with_those_around(turn_id))
        return tuple(text for name in around for text in self._said.get(self._place(name), ()))

    def _place(self, turn_id: str) -> str:
        return self._talks.get(turn_id, turn_id)


def with_those_around(turn_id: str) -> Iterator[str]:
    """Itself and, of a piece of work, the turn that it belongs to."""
    while turn_id:
        yield turn_id
        turn_id = turn_id.rpartition("-")[0]  # as `ledger.Entry.work_id` puts it together


def gives_words_of_strangers(outcome: ToolOutcome) -> bool:
    """True of a reading of the house, or of Hearth's own, that holds what others wrote."""
    if outcome.outside:
        return True
    if outcome.tier is not Tier.READ or outcome.server not in (HOME_ASSISTANT, HEARTH):
        return False
    if _TITLES.search(outcome.data):
        return True
    states = (found.strip() for found in _STATES.findall(outcome.data))
    return any(len(one) >= _SENTENCE or len(one.split()) >= _WORDS for one in states)


def _name(talk: str) -> str:
    return f"talk {talk}"  # no turn is called so


def _put(kept: dict[str, Value], name: str, value: Value) -> None:
    kept.pop(name, None)
    kept[name] = value
    while len(kept) > _MOST:
        del kept[next(iter(kept))]
