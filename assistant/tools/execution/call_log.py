"""Counting, refusing, sending and recording of tool calls."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.records import AuditRecord, StoreError
from assistant.domain.tool_call import Decision, Status, Tier, ToolOutcome
from assistant.journal.audit import audit_of
from assistant.tools.builtin.protocol import HEARTH
from assistant.tools.catalog.menu import Menu, MenuEntry
from assistant.tools.execution.guards import CallGuards, likeness
from assistant.tools.execution.ledger import Ledger
from assistant.tools.execution.requests import Refusal, Request, Way, begun, not_run, row_of, way_of
from assistant.tools.house.intents import INTENTS, suffix
from assistant.tools.house.names import nearest, nearest_in_house
from assistant.tools.policy.judge import Misfit
from assistant.tools.policy.rules import PolicyDecision

if TYPE_CHECKING:
    from assistant.journal.audit import Discreet
    from assistant.journal.store import Store
    from integrations.home_assistant.client import HomeAssistant


_log = logging.getLogger(__name__)


class CallLog:
    """Records tool calls in the journal and the audit log. If that fails, the error is logged and
    the call still returns its outcome."""

    def __init__(self, journal: "Store | Discreet", governance: CallGuards, clock: Clock) -> None:
        self._journal = journal
        self._governance = governance
        self._clock = clock

    async def start(self, request: Request, outcome: ToolOutcome) -> None:
        """Record that a call that can change something is about to be sent."""
        await self._keep(self._journal.start_call(row_of(request, outcome, self._clock)))

    async def end(self, request: Request, outcome: ToolOutcome) -> None:
        row = replace(outcome, id=request.entry.key)
        await self._keep(self._journal.finish_call(request.turn_id, row))
        if self._governance.audit is not None:
            await self._keep(self._governance.audit.audit(self._audited(request, row)))

    async def refuse(self, request: Request, refusal: Refusal) -> ToolOutcome:
        outcome = not_run(request, refusal, self.elapsed_ms(request))
        await self.end(request, outcome)
        return outcome

    async def withdrawn(self, request: Request, way: Way, arguments: dict[str, Any]) -> ToolOutcome:
        """Record a call that its brain abandoned before it was sent, and return its outcome."""
        sentence = request.sentences.say("tools.withdrawn")
        return await self.refuse(request, Refusal(way, arguments, sentence))

    async def limit(self, request: Request, rule: str, tier: Tier) -> ToolOutcome:
        """Record a call that exceeded the limit `rule`, and return its outcome."""
        way = Way("", request.call.name, tier)
        said = request.sentences.say(f"guards.{rule}")
        refusal = Refusal(way, dict(request.call.arguments), said)
        outcome = not_run(request, refusal, self.elapsed_ms(request))
        outcome = replace(outcome, decision=Decision.DENIED, rule=rule)
        await self.end(request, outcome)
        return outcome

    @property
    def now_s(self) -> float:
        return self._clock.monotonic()

    def elapsed_ms(self, request: Request) -> float:
        return round((self._clock.monotonic() - request.began_s) * 1000, 1)

    def _audited(self, request: Request, outcome: ToolOutcome) -> AuditRecord:
        satellite = request.program.name if request.program else self._governance.satellite
        return audit_of(outcome, self._clock.now(), request.turn_id, request.heard, satellite)

    async def _keep(self, writing: Coroutine[Any, Any, None]) -> None:
        try:
            await writing
        except StoreError as error:
            if not error.told:
                _log.error("%s", error)


class CallCounter:
    """Applies the rate limits to calls."""

    def __init__(self, call_log: CallLog, governance: CallGuards) -> None:
        self._call_log = call_log
        self._limits = governance.limits  # None: no limits

    async def within_limits(
        self, request: Request, tier: Tier, go_on: Callable[[], Awaitable[ToolOutcome]]
    ) -> ToolOutcome:
        """Run `go_on` and return its outcome, or return a refusal if the call exceeds a limit.

        The call counts towards the limits of `tier`. Pass READ for refused and malformed calls.
        """
        limits, key = self._limits, request.entry.work_id
        if limits is None:
            return await go_on()
        alike = likeness(request.entry.tool, request.call.arguments)
        over = limits.begin(request.turn_id, key, tier, alike)
        if over is not None:
            return await self._call_log.limit(request, over, tier)
        failed, gave, changed = False, "", False
        try:
            outcome = await go_on()
            failed = outcome.failed
            if outcome.status is Status.DONE:
                gave = hashlib.sha256(f"{outcome.sentence}\n{outcome.data}".encode()).hexdigest()
                changed = outcome.tier is not Tier.READ
        finally:
            limits.end(request.turn_id, key, failed, gave, changed)
        return outcome


class Refusals:
    """Refuses calls, each with a sentence that gives the reason.

    Refused calls count towards the limits too, so a model that repeats them in a loop is stopped.
    """

    def __init__(self, call_log: CallLog, counter: CallCounter, home: "HomeAssistant") -> None:
        self._call_log = call_log
        self._counter = counter
        self._home = home

    async def refuse(self, request: Request, refusal: Refusal) -> ToolOutcome:
        refuse = partial(self._call_log.refuse, request, refusal)
        return await self._counter.within_limits(request, Tier.READ, refuse)

    async def unknown(self, request: Request, menu: Menu) -> ToolOutcome:
        call, sentences = request.call, request.sentences
        if menu.held(call.name) is not None:
            waits = sentences.say("tools.held", name=call.name)
            return await self.refuse(request, Refusal(None, dict(call.arguments), waits))
        near = nearest(call.name, [offered.declaration.name for offered in menu.offered()])
        away = not near and not self._home.connected and suffix(call.name) in INTENTS
        sentence = (
            sentences.say("tools.unreachable")
            if away
            else sentences.with_options("tools.unknown", near, name=call.name)
        )
        rule = "unreachable" if away else "unknown_tool"
        refusal = Refusal(
            None, dict(call.arguments), sentence, retryable=away, options=near, rule=rule
        )
        return await self.refuse(request, refusal)

    async def left_out(self, request: Request, arguments: dict[str, Any]) -> ToolOutcome:
        said = request.sentences.say("tools.left_out")
        return await self.refuse(request, Refusal(None, arguments, said, rule="profile"))

    async def misfit(self, request: Request, entry: MenuEntry, misfit: Misfit) -> ToolOutcome:
        """Refuse a call with invalid arguments. The outcome says what the model must correct."""
        unsaid = [option for option in misfit.options if option not in misfit.problem]
        sentence = request.sentences.with_options(
            "tools.bad_argument", unsaid, problem=misfit.problem
        )
        refusal = Refusal(
            way_of(entry),
            misfit.arguments,
            sentence,
            retryable=True,
            options=misfit.options,
            rule="bad_argument",
        )
        return await self.refuse(request, refusal)

    async def denied(
        self, request: Request, entry: MenuEntry, verdict: PolicyDecision
    ) -> ToolOutcome:
        """Refuse a call that the policy denies, and offer alternatives if there are any."""
        meant = verdict.options
        if verdict.rule == "unseen" and not meant:
            meant = tuple(nearest_in_house(verdict.arguments, self._home.house))
        said = request.sentences.say(verdict.key, **verdict.values)
        unsaid = [option for option in meant if option not in said]
        sentence = request.sentences.with_options(verdict.key, unsaid, **verdict.values)
        arguments = dict(verdict.arguments)
        refusal = Refusal(way_of(entry), arguments, sentence, verdict, options=meant)
        return await self.refuse(request, refusal)


# The last stage of an allowed call: it is prepared for undo and sent once.
Run = Callable[[ToolOutcome], Awaitable[ToolOutcome]]  # completes an outcome
# Receives each sent call with the turn's language; it must not block.
OnOutcome = Callable[[ToolOutcome, str], None]


class Dispatcher:
    """Sends calls and records every one of them, even if it fails or is cancelled."""

    def __init__(
        self, ledger: Ledger, call_log: CallLog, governance: CallGuards, on_outcome: OnOutcome
    ) -> None:
        self._ledger = ledger
        self._call_log = call_log
        self._governance = governance
        self._on_outcome = on_outcome

    async def send(
        self, request: Request, way: Way, verdict: PolicyDecision, run: Run, confirmed_by: str = ""
    ) -> ToolOutcome:
        """Send the call once with `run`, unless its brain has withdrawn it, and return
        its outcome."""
        if confirmed_by:
            # The time that the person took to answer doesn't count as the call's duration.
            request = replace(request, began_s=self._call_log.now_s)
        if request.entry.withdrawn:
            return await self._call_log.withdrawn(request, way, dict(verdict.arguments))
        outcome = replace(begun(request, way, verdict), confirmed_by=confirmed_by)
        changes, key = verdict.tier is not Tier.READ, request.entry.work_id
        # Built-in tools undo their own changes, or make none that need it.
        undo = self._governance.undo if changes and way.server != HEARTH else None
        self._ledger.send(request.entry, verdict.tier, (*verdict.entities, *verdict.effects))
        try:
            if changes:
                await self._call_log.start(request, outcome)
            if changes and self._governance.expects is not None:
                self._governance.expects((*verdict.entities, *verdict.effects))
            if undo is not None:
                await undo.before(key, (*verdict.entities, *verdict.effects), request.turn_id)
            outcome = await run(outcome)
        finally:
            # A cancelled call may have run, so it is recorded as unknown, even while this task is
            # cancelled.
            outcome = replace(outcome, ms=self._call_log.elapsed_ms(request))
            request.entry.end(outcome)
            if undo is not None:
                undo.after(key, outcome)
            await asyncio.shield(self._call_log.end(request, outcome))
        self._on_outcome(outcome, request.language)
        return outcome
