"""The journal and the audit of calls: what is written of each, and when."""

import logging
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Protocol

from assistant.domain.clock import Clock
from assistant.domain.outcome import Decision, Tier, ToolOutcome
from assistant.domain.records import AuditRecord, CallRecord, StoreError
from assistant.journal.audit import audit_of
from assistant.tools.guards import CallGuards
from assistant.tools.request import Refusal, Request, Way, not_run, row_of

_log = logging.getLogger(__name__)


class CallJournal(Protocol):
    """Where calls are kept (`assistant.journal.store.Store`)."""

    async def start_call(self, call: CallRecord) -> None:
        """Before it is sent."""
        ...

    async def finish_call(self, turn_id: str, outcome: ToolOutcome) -> None:
        """After it ended, or instead of running it."""
        ...


class Books:
    """Writes calls down. A full disk is logged and leaves nobody in the dark."""

    def __init__(self, journal: CallJournal, governance: CallGuards, clock: Clock) -> None:
        self._journal = journal
        self._governance = governance
        self._clock = clock

    async def start(self, request: Request, outcome: ToolOutcome) -> None:
        """A call that may change something is about to be sent."""
        await self._keep(self._journal.start_call(row_of(request, outcome, self._clock)))

    async def end(self, request: Request, outcome: ToolOutcome) -> None:
        """It ended, or was decided against, under the id that is unique in its turn."""
        row = replace(outcome, id=request.entry.key)
        await self._keep(self._journal.finish_call(request.turn_id, row))
        if self._governance.audit is not None:
            await self._keep(self._governance.audit.audit(self._audited(request, row)))

    async def refuse(self, request: Request, refusal: Refusal) -> ToolOutcome:
        """The outcome of a call that is not run, written down like any other."""
        outcome = not_run(request, refusal, self.elapsed_ms(request))
        await self.end(request, outcome)
        return outcome

    async def withdrawn(self, request: Request, way: Way, arguments: dict[str, Any]) -> ToolOutcome:
        """The outcome of a call whose brain had gone before it was sent."""
        sentence = request.sentences.say("tools.withdrawn")
        return await self.refuse(request, Refusal(way, arguments, sentence))

    async def limit(self, request: Request, rule: str, tier: Tier) -> ToolOutcome:
        """The outcome of a call that meets a limit (`guards`)."""
        way = Way("", request.call.name, tier)
        said = request.sentences.say(f"guards.{rule}")
        refusal = Refusal(way, dict(request.call.arguments), said)
        outcome = not_run(request, refusal, self.elapsed_ms(request))
        outcome = replace(outcome, decision=Decision.DENIED, rule=rule)
        await self.end(request, outcome)
        return outcome

    @property
    def now_s(self) -> float:
        """On the monotonic clock."""
        return self._clock.monotonic()

    def elapsed_ms(self, request: Request) -> float:
        """Since the call was asked for."""
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
