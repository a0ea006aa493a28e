"""What has been: turns with their sound and what was said of them, costs, shares, faults."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.records import Mark, TurnRecord
from assistant.interfaces.api.turn_sounds import TurnSounds
from assistant.journal.audit import first_midnight
from assistant.journal.trace import turn_object, turn_row
from integrations.web.box import Unknown

if TYPE_CHECKING:
    from assistant.journal.store import Store


_MOST = 1000  # rows of one turn
_NO_TURN = "There is no such turn (any more); see GET /v1/turns."
_NO_SOUND = "No sound of that turn is kept (any more)."


class History:
    """Reads the journal and the recordings. What guests say is in neither."""

    def __init__(
        self,
        store: "Store",
        sounds: TurnSounds,
        private: Callable[[], bool],
        cap_usd: float,
        clock: Clock,
    ) -> None:
        """`private`: guests are there, and hear no recordings of the house; `cap_usd`: what a day
        may cost."""
        self._store = store
        self._sounds = sounds
        self._private = private
        self._cap_usd = cap_usd
        self._clock = clock

    async def turns(self, limit: int, before: str | None) -> Sequence[dict[str, Any]]:
        """The last turns, newest first, without their calls. Raises Unknown where there is no turn
        `before`."""
        if before is not None:
            await self._known(before)
        found = await self._store.turns(limit, before)
        sounds = await self._kept_sounds()
        return [{**turn_row(one), "has_sound": one.turn_id in sounds} for one in found]

    async def turn(self, turn_id: str) -> dict[str, Any]:
        """One turn with its calls. Raises Unknown."""
        record = await self._known(turn_id)
        calls = await self._store.calls(turn_id)
        audited = await self._store.audited(turn_id=turn_id, limit=_MOST)
        sounds = await self._kept_sounds()
        return {**turn_object(record, calls, audited), "has_sound": turn_id in sounds}

    async def sound(self, turn_id: str) -> Path:
        """The WAV file of a turn. Raises Unknown."""
        path = (await self._kept_sounds()).get(turn_id)
        if path is None:
            raise Unknown(_NO_SOUND)
        return path

    async def mark(self, turn_id: str, mark: Mark) -> None:
        """Say of a turn that it was wrong or misheard; "" takes it back. Raises Unknown."""
        if not await self._store.reports.mark(turn_id, mark):
            raise Unknown(_NO_TURN)

    async def costs(self, days: int) -> dict[str, Any]:
        """By day, brain and model; today is the first of so many days."""
        rows = await self._store.reports.costs(self._since(days))
        today = self._clock.now().date()
        return {
            "days": [{**asdict(row), "day": row.day.isoformat()} for row in rows],
            "today_usd": sum(row.cost_usd for row in rows if row.day == today),
            "cap_usd": self._cap_usd,
        }

    async def shares(self, days: int) -> dict[str, Any]:
        """How many commands went right, were corrected, refused, misheard or failed."""
        return asdict(await self._store.reports.shares(self._since(days)))

    async def faults(self, days: int) -> Sequence[dict[str, Any]]:
        """What did not work, the newest first."""
        rows = await self._store.reports.faults(self._since(days))
        return [
            {
                **asdict(row),
                "began_at": row.began_at.isoformat(),
                "ended_at": None if row.ended_at is None else row.ended_at.isoformat(),
            }
            for row in rows
        ]

    async def _known(self, turn_id: str) -> TurnRecord:
        record = await self._store.turn(turn_id)
        if record is None:
            raise Unknown(_NO_TURN)
        return record

    async def _kept_sounds(self) -> Mapping[str, Path]:
        return {} if self._private() else await asyncio.to_thread(self._sounds.paths)

    def _since(self, days: int) -> datetime:
        """The midnight with which so many days begin, today among them."""
        return first_midnight(days, self._clock.now())
