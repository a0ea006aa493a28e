"""Guards on tool calls in addition to the policy: rate limits, circuit breakers and taint.

A web page, a calendar entry or a song title can contain "the person wants the door open". A model
context that has read external text therefore remains tainted until the model starts a new one.
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
MAX_REPEATED = 3  # equal calls with the same result and no change in between
# Rules that end the turn if the brain keeps making calls.
LIMITS = frozenset(
    {"too_many_calls", "too_many_mutations", "too_many_rounds", "too_alike", "repeated"}
)
TURNS_KEPT = 64  # the oldest are dropped first
# Calls that can follow each other immediately.
BURSTS: Mapping[Tier, int] = {Tier.COMFORT: 30, Tier.COSTLY: 4, Tier.SECURE: 3}


@dataclass(slots=True)
class _Turn:
    calls: int = 0
    mutations: int = 0
    rounds: int = 0
    open: dict[str, str] = field(default_factory=dict)  # call key -> its likeness
    failures: dict[str, int] = field(default_factory=dict)  # likeness -> number of failures
    # Likeness -> last result, and how often in a row.
    given: dict[str, tuple[str, int]] = field(default_factory=dict)
    changed_by: str = ""  # likeness of the newest change


class Guards:
    """The rate limits of one process.

    Call `begin` before a call runs or the person is asked about it, and `end` afterwards. Denied
    and malformed calls begin as READ, so they count only towards the number of calls.
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
        """Return None if the call can begin, or the name of the rule that refuses it.

        The catalogue has a sentence for each rule: `guards.RULE`. `alike` is the call's `likeness`,
        or "" if it isn't compared with other calls.
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
        """Record how a call ended. Refused and unknown calls are ignored.

        `gave` is a hash of the result, or "" if results aren't compared.
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
    """Return a string that is the same for all calls of a tool with the same arguments."""
    return f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"


class _Bucket:
    def __init__(self, clock: Clock, size: int, per_second: float) -> None:
        self._clock = clock
        self._size = size
        self._per_second = per_second
        self._level = float(size)
        self._at_s = clock.monotonic()

    def take(self) -> bool:
        now = self._clock.monotonic()
        self._level = min(self._size, self._level + (now - self._at_s) * self._per_second)
        self._at_s = now
        if self._level < 1.0 - 1e-9:  # tolerates rounding errors
            return False
        self._level -= 1.0
        return True


# Guards besides the policy: limits, undo, consents, quiet and the audit log.
class Hushed(Protocol):
    """The media players that were paused for a question."""

    @property
    def quiet(self) -> bool: ...

    async def resume(self) -> None:
        """Resume playback. Never raises."""
        ...


@dataclass(frozen=True, slots=True)
class CallGuards:
    """The guards of one process. Guards that are left out don't apply."""

    limits: Guards | None = None
    breakers: "Breakers | None" = None
    files: "FileUndo | None" = None  # makes changes to files undoable
    undo: "UndoStack | None" = None
    approvals: "Approvals | None" = None
    consents: "Consents | None" = None
    audit: "Discreet | None" = None
    hush: Callable[[], Awaitable[Hushed]] | None = None  # pauses playback in this room
    has_pin: bool = False
    satellite: str = ""  # name of this device in the audit
    # Receives the entities that a call is about to change, so that Hearth knows the cause.
    expects: Callable[[Sequence[str]], None] | None = None
    # True if the tool's results come from outside.
    taints: Callable[[MenuEntry], bool] = lambda entry: False
    # True if the outcome contains text from outside.
    taints_by: Callable[[ToolOutcome], bool] = lambda outcome: False


# Circuit breakers: a server that is down is not called again for a while.
FAILURES_TO_OPEN = 3  # in a row
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 600.0
PROBE_S = 30.0  # a probe without a result is given up


@dataclass(slots=True)
class _Breaker:
    failures: int = 0  # in a row
    pause_s: float = FIRST_PAUSE_S  # how long the breaker stays open next time
    until_s: float | None = None  # end of the pause on the monotonic clock; None: closed
    probe_until_s: float | None = None  # when the running probe is given up; None: no probe


class Breakers:
    """Circuit breakers, one per MCP server.

    Only failures of the server itself count. A tool that runs and reports an error counts as a
    success.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._breakers: dict[str, _Breaker] = {}

    def admits(self, server: str) -> bool:
        """Return True if the server can be called now. After a pause, one call is allowed as a
        probe.

        Report the result of each allowed call with `succeeded` or `failed`, unless the call was
        cancelled.
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
        self._breakers.pop(server, None)

    def failed(self, server: str) -> None:
        """Count a failure. Several failures in a row, or a failed probe, open the breaker."""
        breaker = self._breakers.setdefault(server, _Breaker())
        if breaker.until_s is not None and breaker.probe_until_s is None:
            return
        breaker.failures += 1
        if breaker.until_s is None and breaker.failures < FAILURES_TO_OPEN:
            return
        breaker.until_s = self._clock.monotonic() + breaker.pause_s
        breaker.probe_until_s = None
        breaker.pause_s = min(2 * breaker.pause_s, LONGEST_PAUSE_S)


# Taint: turns, background work and model contexts that have read text from outside. See the module
# docstring.
_MOST = 1_000  # turns, work and model contexts to remember; the oldest are dropped first
_MOST_SAID = 20  # newest sentences of a conversation
_MOST_CHARACTERS = 2_000  # of one sentence
# Parts of states that people outside write: media titles, and states that are whole sentences, such
# as the last message on a phone.
_TITLES = re.compile(r"\bmedia_(?:title|artist|album_name|series_title|channel)\b\W+\w")
_STATES = re.compile(r"\bstate: *'?([^\n\\]+)")
_SENTENCE = 40  # characters of a state; longer ones, or with more words, are sentences
_WORDS = 5
Value = TypeVar("Value")


class Taint:
    """The turns and model contexts of one process that have read external text."""

    def __init__(self) -> None:
        self._marked: dict[str, None] = {}  # ids, oldest first
        self._talks: dict[str, str] = {}  # turn -> its model context
        self._said: dict[str, deque[str]] = {}  # turn or context -> the person's sentences

    def follow(self, turn_id: str, talk: str, heard: str | None) -> None:
        """Record what the person said, and the model context that a turn's call comes from.

        `talk` names the model context. It is "" if no other turn shares the context.
        """
        if talk:
            _put(self._talks, turn_id, _name(talk))
            if turn_id in self._marked:
                self.mark(turn_id)  # it was tainted before its context was known
        if heard:
            said = self._said.get(self._place(turn_id)) or deque(maxlen=_MOST_SAID)
            if heard not in said:
                said.append(heard[:_MOST_CHARACTERS])
            _put(self._said, self._place(turn_id), said)

    def mark(self, turn_id: str) -> None:
        """Mark a turn and its model context as tainted, and also the turn that started it if it is
        background work."""
        for name in with_those_around(turn_id):
            _put(self._marked, name, None)
            talk = self._talks.get(name)
            if talk is not None:
                _put(self._marked, talk, None)

    def is_on(self, turn_id: str) -> bool:
        """Return True if the model may have read external text before or during this turn."""
        around = tuple(with_those_around(turn_id))
        talks = (self._talks.get(name, "") for name in around)
        return any(name in self._marked for name in (*around, *talks))

    def said(self, turn_id: str) -> tuple[str, ...]:
        """Return the person's sentences that led to calls in this conversation."""
        around = tuple(with_those_around(turn_id))
        return tuple(text for name in around for text in self._said.get(self._place(name), ()))

    def _place(self, turn_id: str) -> str:
        return self._talks.get(turn_id, turn_id)


def with_those_around(turn_id: str) -> Iterator[str]:
    """Yield this id and, for background work, the id of the turn that started it."""
    while turn_id:
        yield turn_id
        turn_id = turn_id.rpartition("-")[0]  # the format of `requests.Entry.work_id`


def gives_words_of_strangers(outcome: ToolOutcome) -> bool:
    """Return True if an outcome seems to contain text from outside the household, such as media
    titles or messages."""
    if outcome.outside:
        return True
    if outcome.tier is not Tier.READ or outcome.server not in (HOME_ASSISTANT, HEARTH):
        return False
    if _TITLES.search(outcome.data):
        return True
    states = (found.strip() for found in _STATES.findall(outcome.data))
    return any(len(one) >= _SENTENCE or len(one.split()) >= _WORDS for one in states)


def _name(talk: str) -> str:
    return f"talk {talk}"  # not a valid turn id


def _put(kept: dict[str, Value], name: str, value: Value) -> None:
    kept.pop(name, None)
    kept[name] = value
    while len(kept) > _MOST:
        del kept[next(iter(kept))]
