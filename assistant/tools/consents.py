""" "Yes, always": what the person needs not be asked again until midnight."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues

_NAME = "consents"
MAX_CONSENTS = 100  # the oldest go first


def kind_of(server: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """The exact kind of call that a consent is for, as a short name that tells nothing."""
    told = json.dumps([server, tool, arguments], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:24]


class Consents:
    """Until midnight, and for the same tool with the same arguments alone."""

    def __init__(self, kept: SmallValues, clock: Clock) -> None:
        self._kept = kept
        self._clock = clock

    async def give(self, kind: str) -> None:
        """From now until midnight it is not asked again. Raises StoreError."""
        now = self._clock.now()
        midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), now.tzinfo)
        known = {**await self._known(), kind: [now.isoformat(), midnight.isoformat()]}
        await self._kept.keep(_NAME, dict(list(known.items())[-MAX_CONSENTS:]))

    async def covers(self, kind: str) -> bool:
        """Whether the person said so today. Raises StoreError."""
        span = (await self._known()).get(kind)
        if not (isinstance(span, list) and len(span) == 2):
            return False
        try:
            since, until = (datetime.fromisoformat(moment) for moment in span)
            # A clock that was set back does not make an evening longer.
            return since <= self._clock.now() < until
        except (TypeError, ValueError):
            return False

    async def _known(self) -> dict[str, Any]:
        known = await self._kept.kept(_NAME)
        return dict(known) if isinstance(known, Mapping) else {}
