"""The stages of a call in the toolbox, and the outcomes of calls that aren't sent."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.records import CallRecord
from assistant.domain.tool_call import (
    CallContext,
    Decision,
    Program,
    Question,
    Status,
    Tier,
    ToolCall,
    ToolOutcome,
)
from assistant.tools.builtin.protocol import BuiltInRequest
from assistant.tools.catalog.menu import MenuEntry
from assistant.tools.execution.ledger import Entry
from assistant.tools.execution.outcomes import Sentences
from assistant.tools.house.intents import BROADCAST, INTENTS, PROCESS
from assistant.tools.house.targets import domain_of
from assistant.tools.policy.rules import PolicyDecision
from integrations.mcp.servers import HOME_ASSISTANT


@dataclass(frozen=True, slots=True)
class Request:
    """A call that has not been judged yet, with the circumstances of its turn."""

    entry: Entry  # in the ledger
    call: ToolCall
    turn_id: str
    heard: str | None
    language: str
    sentences: Sentences
    began_s: float  # on the monotonic clock
    situation: CallContext
    program: Program | None = None  # caller; None: a person
    said: tuple[str, ...] = ()  # the person's earlier sentences in this conversation

    @property
    def for_built_in(self) -> BuiltInRequest:
        return BuiltInRequest(
            self.entry.work_id,
            self.turn_id,
            self.heard,
            self.language,
            program=self.program is not None,
            situation=self.situation,
            recalls=self.program is None or self.program.rights.recalls,
            caller=self.caller,
            said=self.said,
        )

    @property
    def caller(self) -> str:
        return "" if self.program is None else self.program.caller


@dataclass(frozen=True, slots=True)
class Way:
    """The destination of a call: a tool, or Home Assistant's conversation engine."""

    server: str
    name: str  # as the server names it
    tier: Tier  # of the tool itself, before its targets are known
    sounds: bool = True  # may make a sound in a room, if its targets are unknown
    selecting: frozenset[str] = frozenset()  # arguments that select the entities to act on

    def may_sound(self, verdict: PolicyDecision) -> bool:
        if verdict.tier is Tier.READ:
            return False
        things = (*verdict.entities, *verdict.effects)
        return any(domain_of(name) not in _SILENT for name in things) if things else self.sounds


# Silent domains. A switch can control a radio, and a script or scene can play something.
_SILENT = frozenset(
    {
        *("alarm_control_panel", "climate", "cover", "fan", "humidifier", "light", "lock"),
        *("todo", "valve", "water_heater"),
    }
)
SPOKEN = Way(HOME_ASSISTANT, PROCESS, Tier.COSTLY)


def way_of(entry: MenuEntry) -> Way:
    return Way(entry.server, entry.tool.name, entry.tier, _sounds(entry), _selecting(entry))


def _selecting(entry: MenuEntry) -> frozenset[str]:
    intent = INTENTS.get(entry.suffix) if entry.of_home else None
    if intent is None or not intent.by_target:
        return frozenset()
    # The area of a vacuum is not where it is, but what it is to clean.
    places = ("area", "floor", "preferred_area_id", "preferred_floor_id") if intent.places else ()
    kinds = ("domain", "device_class") if intent.selective else ()
    return frozenset(("name", *places, *kinds))


def effect_of(way: Way, verdict: PolicyDecision) -> str:
    """Return a string that is the same for all calls of a tool that do the same.

    A model that repeats a call can name its targets in another way: "front door", or the same with
    a domain or a room.
    """
    touched = sorted({*verdict.entities, *verdict.effects}) if way.selecting else []
    rest = {
        name: value
        for name, value in verdict.arguments.items()
        if not touched or name not in way.selecting
    }
    written = json.dumps([touched, rest], sort_keys=True, ensure_ascii=False, default=str)
    return "".join(written.casefold().split())


def _sounds(entry: MenuEntry) -> bool:
    if entry.built_in is not None:
        return entry.built_in.sounds
    intent = INTENTS.get(entry.suffix) if entry.of_home else None
    notes = intent is not None and not intent.by_target
    return entry.suffix == BROADCAST or not notes


def begun(request: Request, way: Way, verdict: PolicyDecision) -> ToolOutcome:
    """Return the outcome of a call that is about to be sent, and whose result isn't known yet."""
    return ToolOutcome(
        id=request.call.id,
        server=way.server,
        name=way.name,
        arguments=dict(verdict.arguments),
        decision=verdict.decision,
        tier=verdict.tier,
        status=Status.UNKNOWN,
        observed=(),
        ms=0.0,
        sentence=request.sentences.say("tools.lost"),
        rule=verdict.rule,
        entities=(*verdict.entities, *verdict.effects),
    )


@dataclass(frozen=True, slots=True)
class Refusal:
    way: Way | None  # None: there is no such tool
    arguments: dict[str, Any]
    sentence: str
    verdict: PolicyDecision | None = None
    retryable: bool = False
    options: tuple[str, ...] = ()  # possible alternatives
    rule: str = ""  # rule that refused the call, if there is no verdict


def not_run(request: Request, refusal: Refusal, ms: float) -> ToolOutcome:
    """Return the outcome of a refused call, `ms` milliseconds after it was requested."""
    way, verdict = refusal.way, refusal.verdict
    return ToolOutcome(
        id=request.call.id,
        server=way.server if way else "",
        name=way.name if way else request.call.name,
        arguments=refusal.arguments,
        decision=Decision.DENIED if verdict or way is None else Decision.ALLOWED,
        tier=verdict.tier if verdict else way.tier if way else Tier.READ,
        status=Status.NOT_RUN,
        observed=(),
        ms=ms,
        sentence=refusal.sentence,
        retryable=refusal.retryable or bool(refusal.options),
        valid_options=refusal.options,
        rule=verdict.rule if verdict else refusal.rule,
        entities=(*verdict.entities, *verdict.effects) if verdict else (),
    )


def unsent(request: Request, ms: float) -> ToolOutcome:
    """Return the outcome of a call that was interrupted before it was sent."""
    sentence = request.sentences.say("tools.withdrawn")
    way = Way("", request.call.name, Tier.COMFORT)
    return not_run(request, Refusal(way, dict(request.call.arguments), sentence), ms)


def asked(request: Request, way: Way, verdict: PolicyDecision, ms: float) -> ToolOutcome:
    """Return the outcome that the model receives for a call that needs confirmation."""
    sentence = request.sentences.say("tools.needs_confirmation")
    outcome = not_run(request, Refusal(way, dict(verdict.arguments), sentence, verdict), ms)
    return replace(outcome, decision=Decision.NEEDS_CONFIRMATION)


def lost(call: ToolCall) -> ToolOutcome:
    """Return the outcome of a call that crashed inside Hearth. The call may have run."""
    return ToolOutcome(
        id=call.id,
        server="",
        name=call.name,
        arguments=dict(call.arguments),
        decision=Decision.ALLOWED,
        tier=Tier.COMFORT,
        status=Status.UNKNOWN,
        observed=(),
        ms=0.0,
        sentence="It is not known whether this happened.",
    )


def row_of(request: Request, outcome: ToolOutcome, clock: Clock) -> CallRecord:
    return CallRecord(
        turn_id=request.turn_id,
        id=request.entry.key,
        server=outcome.server,
        name=outcome.name,
        arguments=outcome.arguments,
        decision=outcome.decision,
        tier=outcome.tier,
        started_at=clock.now(),
    )


# The call that waits for confirmation, frozen as it was judged. It runs at most once.
EXPIRES_S = 180.0  # longer than Hearth waits for an answer; later ones are ignored


@dataclass(frozen=True, slots=True)
class Frozen:
    """A call that is waiting for confirmation, exactly as it was when the person was asked."""

    question: Question
    entry: Entry  # in the ledger
    verdict: PolicyDecision
    kind: str  # kind of call, for "always"
    left: str  # sentence after a no: "OK, I left the front door locked."
    again: Callable[
        [], PolicyDecision | None
    ]  # judges the call again; None: its arguments are no longer valid
    # Takes the person who confirmed it.
    run: Callable[[PolicyDecision, str], Awaitable[ToolOutcome]]
    refuse: Callable[[str, str], Awaitable[ToolOutcome]]  # takes a sentence and the rule's name
    loud: str  # sentence if the room was not quiet until the yes
    aloud: bool  # a spoken question about a secure call, so nothing else may sound

    def is_unchanged(self) -> bool:
        """Return True if the call would still do exactly what the person was asked about."""
        now = self.again()
        return now is not None and _what(now) == _what(self.verdict)


class Pending:
    """The call that the person is being asked about. It expires after `EXPIRES_S`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._frozen: Frozen | None = None
        self._until_s = 0.0

    @property
    def frozen(self) -> Frozen | None:
        if self._frozen is not None and self._clock.monotonic() >= self._until_s:
            self._frozen = None
        return self._frozen

    def freeze(self, frozen: Frozen) -> None:
        self._frozen = frozen
        self._until_s = self._clock.monotonic() + EXPIRES_S

    def take(self, question_id: str) -> Frozen | None:
        """Remove and return the call of this question, or return None if it isn't
        waiting any more."""
        frozen = self.frozen
        if frozen is None or frozen.question.id != question_id:
            return None
        self._frozen = None
        return frozen


def _what(verdict: PolicyDecision) -> tuple[object, ...]:
    touched = frozenset((*verdict.entities, *verdict.effects))
    return touched, dict(verdict.arguments), verdict.tier, verdict.ruling, verdict.moves
