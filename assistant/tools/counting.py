"""Every call counts against the limits of its turn, whatever becomes of it."""

import hashlib
from collections.abc import Awaitable, Callable

from assistant.domain.outcome import Status, Tier, ToolOutcome
from assistant.tools.books import Books
from assistant.tools.guards import CallGuards, likeness
from assistant.tools.request import Request


class Counting:
    """Begins a call where the limits still allow one."""

    def __init__(self, books: Books, governance: CallGuards) -> None:
        self._books = books
        self._limits = governance.limits  # None: there are none

    async def within_limits(
        self, request: Request, tier: Tier, go_on: Callable[[], Awaitable[ToolOutcome]]
    ) -> ToolOutcome:
        """What `go_on` gives, or the outcome of a call that meets a limit.

        `tier`: what it counts as; READ where it is refused or malformed."""
        limits, key = self._limits, request.entry.work_id
        if limits is None:
            return await go_on()
        alike = likeness(request.call.name, request.call.arguments)
        over = limits.begin(request.turn_id, key, tier, alike)
        if over is not None:
            return await self._books.limit(request, over, tier)
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
