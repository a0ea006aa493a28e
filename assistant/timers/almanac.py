"""The house's time zone, and when the sun rises and sets there, as Home Assistant tells."""

from collections.abc import Callable
from datetime import datetime, tzinfo
from typing import Any, Protocol

from assistant.timers.recurrence import DARK, Rule, Sun, next_after
from integrations.home_assistant.house import House

SUN_ENTITY = "sun.sun"
_NAME = "timers.sun"


class Kept(Protocol):
    """Where small values are kept (`assistant.journal.store.Store`). Each may raise StoreError."""

    async def keep(self, name: str, value: Any) -> None:
        """Keep a JSON value; on the disk when this returns."""
        ...

    async def kept(self, name: str) -> Any | None:
        """What `keep` was given last under that name."""
        ...


class Almanac:
    """Knows what comes next. The sun is kept, so that it is known while the house is away."""

    def __init__(self, zone: tzinfo, house: Callable[[], House], store: Kept) -> None:
        self.zone = zone
        self.sun = DARK
        self._house = house
        self._store = store

    async def look(self) -> bool:
        """Whether more is known of the sun than before. Raises StoreError."""
        told = sun_of(self._house())
        if told == DARK:
            if self.sun != DARK:
                return False
            self.sun = _from(await self._store.kept(_NAME))
            return self.sun != DARK
        if told == self.sun:
            return False
        await self._store.keep(_NAME, _row(told))
        self.sun = told
        return True

    def next_after(self, rule: Rule, after: datetime) -> datetime | None:
        """As `recurrence.next_after`, here."""
        return next_after(rule, after, self.zone, self.sun)


def sun_of(house: House) -> Sun:
    """What the house tells of the sun now."""
    entity = house.entities.get(SUN_ENTITY)
    if entity is None:
        return DARK
    return Sun(
        _moment(entity.attributes.get("next_rising")),
        _moment(entity.attributes.get("next_setting")),
    )


def _row(sun: Sun) -> dict[str, str | None]:
    return {
        "sunrise": sun.sunrise.isoformat() if sun.sunrise else None,
        "sunset": sun.sunset.isoformat() if sun.sunset else None,
    }


def _from(row: Any) -> Sun:
    return DARK if not row else Sun(_moment(row["sunrise"]), _moment(row["sunset"]))


def _moment(text: Any) -> datetime | None:
    """Home Assistant's times are ISO 8601 with their offset; anything else is none."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo is not None else None
