"""What rang and nobody heard, and what was missed altogether: told once, when somebody is there."""

from datetime import datetime, tzinfo
from typing import Any, Protocol

from assistant.domain.clock import Clock
from assistant.domain.records import TimerRecord
from assistant.speech.catalogue import Catalogue
from assistant.timers.words import missed_of, unheard_of

_NAME = "timers.unheard"
_MOST = 5  # the newest; more is no news


class Kept(Protocol):
    """Where small values are kept (`assistant.journal.store.Store`)."""

    async def keep(self, name: str, value: Any) -> None:
        """Keep a JSON value; on the disk when this returns."""
        ...

    async def kept(self, name: str) -> Any | None:
        """What `keep` was given last under that name."""
        ...

    async def drop_kept(self, name: str) -> None:
        """Let go of it."""
        ...


class Speaker(Protocol):
    """Whoever says it."""

    def announce(self, text: str, language: str) -> None:
        """Say it once the conversation rests."""
        ...

    async def rest(self) -> None:
        """Return when no turn is under way."""
        ...


class Unheard:
    """Keeps them over a restart. All methods may raise StoreError."""

    def __init__(
        self, store: Kept, speaker: Speaker, catalogue: Catalogue, clock: Clock, zone: tzinfo
    ) -> None:
        self._store = store
        self._speaker = speaker
        self._catalogue = catalogue
        self._clock = clock
        self._zone = zone
        self._any = True  # as far as we know; an earlier process may have left some

    async def add(self, timer: TimerRecord, *, rang: bool = True) -> None:
        """It has rung long enough; or it has not even begun, being too late. Once for each id."""
        rows = await self._store.kept(_NAME) or []
        rows = [row for row in rows if row["id"] != timer.id]
        await self._store.keep(_NAME, [*rows, _row(timer, rang)][-_MOST:])
        self._any = True

    async def tell(self) -> None:
        """Say it behind the turn under way, and never again."""
        if not self._any:
            return
        self._any = False
        rows = await self._store.kept(_NAME)
        if not rows:
            return
        await self._speaker.rest()
        await self._store.drop_kept(_NAME)
        for row in rows:
            timer, words = _timer(row), unheard_of if row.get("rang", True) else missed_of
            told = words(timer, self._clock.now().astimezone(self._zone), self._catalogue)
            self._speaker.announce(told, self._catalogue.own(timer.language))


def _row(timer: TimerRecord, rang: bool) -> dict[str, Any]:
    return {
        "id": timer.id,
        "due": timer.due.isoformat(),
        "duration_s": timer.duration_s,
        "name": timer.name,
        "language": timer.language,
        "kind": timer.kind,
        "text": timer.text,
        "rang": rang,
    }


def _timer(row: dict[str, Any]) -> TimerRecord:
    due = datetime.fromisoformat(row["due"])
    return TimerRecord(
        row["id"],
        due,
        row["duration_s"],
        due,
        row["name"],
        row["language"],
        kind=row.get("kind", "timer"),  # an earlier version of Hearth knew timers alone
        text=row.get("text", ""),
    )
