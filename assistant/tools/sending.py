"""The last stretch of a call that may run: within the limits, kept for undo, sent once."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from assistant.domain.outcome import Tier, ToolOutcome
from assistant.tools.books import Books
from assistant.tools.builtin.protocol import HEARTH
from assistant.tools.governance import CallGuards
from assistant.tools.ledger import Ledger
from assistant.tools.request import Request, Way, begun
from assistant.tools.verdict import PolicyDecision

Run = Callable[[ToolOutcome], Awaitable[ToolOutcome]]  # fills in what is known before


class Sender:
    """Sends a call and writes it down, whatever happens meanwhile."""

    def __init__(self, ledger: Ledger, books: Books, governance: CallGuards) -> None:
        self._ledger = ledger
        self._books = books
        self._governance = governance
        # Told of each call that was sent, with the turn's language; it must not block.
        self.on_outcome: Callable[[ToolOutcome, str], None] = lambda outcome, language: None

    async def send(
        self, request: Request, way: Way, verdict: PolicyDecision, run: Run, confirmed_by: str = ""
    ) -> ToolOutcome:
        """Send it once and look what happened."""
        if confirmed_by:
            # How long the person thought about it is not the call's time.
            request = replace(request, began_s=self._books.now_s)
        if request.entry.withdrawn:
            return await self._books.withdrawn(request, way, dict(verdict.arguments))
        outcome = replace(begun(request, way, verdict), confirmed_by=confirmed_by)
        changes, key = verdict.tier is not Tier.READ, request.entry.work_id
        # What Hearth's own tools change has a way back of its own, or needs none.
        undo = self._governance.undo if changes and way.server != HEARTH else None
        self._ledger.send(request.entry, verdict.tier, (*verdict.entities, *verdict.effects))
        try:
            if changes:
                await self._books.start(request, outcome)
            if changes and self._governance.expects is not None:
                self._governance.expects((*verdict.entities, *verdict.effects))
            if undo is not None:
                await undo.before(key, (*verdict.entities, *verdict.effects), request.turn_id)
            outcome = await run(outcome)
        finally:
            # A cancelled call may have run: it is kept as unknown, even as we are being cancelled.
            outcome = replace(outcome, ms=self._books.elapsed_ms(request))
            request.entry.sent = outcome
            if undo is not None:
                undo.after(key, outcome)
            await asyncio.shield(self._books.end(request, outcome))
        self.on_outcome(outcome, request.language)
        return outcome
