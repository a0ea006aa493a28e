"""The two houses in which Hearth is tested: the demo house, and a real Home Assistant with the same
contents.

A stage sets everything to the same first states before each dialogue, and returns all states.
"""

import json
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from assistant.app.build import App
from assistant.domain.tool_call import Tier
from integrations.demo_home import surroundings
from integrations.demo_home.almanac import CHANGING, calendar_events
from integrations.demo_home.catalogue import THINGS
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import House
from integrations.home_assistant.services import is_snapshot
from tests.home_assistant.admin import Admin
from tests.pipeline.gemini_rig import LeapingClock

LIST = "todo.shopping_list"
CALENDAR = "calendar.family"
_CALENDAR_DAYS = 40  # before and after now, in which old events are deleted
SETTLE_S = 2.0  # longest time until something that moves has arrived
_ON_ITS_WAY = frozenset({"opening", "closing", "locking", "unlocking", "returning"})
# Attributes that a real house has as the demo house has them, and that a person can change.
_SHARED = (
    "brightness",
    "color_temp_kelvin",
    "current_position",
    "humidity",
    "is_volume_muted",
    "percentage",
    "temperature",
    "volume_level",
)


@dataclass(frozen=True, slots=True)
class Shown:
    """The state and the attributes of an entity."""

    state: str
    attributes: Mapping[str, Any]


class Stage(Protocol):
    """A house whose states can be set and read."""

    @property
    def domains(self) -> set[str]: ...

    @property
    def unseen(self) -> Collection[str]:
        """Words in the expected outcomes that this house can't show."""

    async def reset(self, given: Mapping[str, str]) -> None:
        """Set everything to its first state, except for the states in `given`, and return when
        Hearth knows these states. Raises RuntimeError."""

    async def settle(self) -> None:
        """Wait until nothing moves any more."""

    async def shown(self) -> dict[str, Shown]:
        """Return everything, by entity id."""

    async def items(self) -> tuple[str, ...]:
        """Return the open items of the shopping list."""


def given_state(entity: str, first: Shown, given: Mapping[str, str]) -> Shown:
    """Return the entity's first state with the changes in `given`."""
    attributes, state = dict(first.attributes), given.get(entity, first.state)
    if state != first.state and state in ("on", "off"):
        level = {"brightness": 255, "percentage": 67, "color_mode": None}
        attributes |= {key: level[key] for key in level.keys() & attributes.keys()}
        if state == "on" and "color_mode" in attributes:
            attributes["color_mode"] = mode = attributes["supported_color_modes"][0]
            attributes |= {"color_temp_kelvin": 3500} if mode == "color_temp" else {}
    if state in ("open", "closed") and "current_position" in attributes:
        attributes["current_position"] = 100 if state == "open" else 0
    for key, value in given.items():
        if key.startswith(f"{entity}."):
            told = {"yes": True, "no": False}.get(value)
            attributes[key.removeprefix(f"{entity}.")] = int(value) if told is None else told
    return replace(first, state=state, attributes=attributes)


def _changes_by_itself(entity_id: str) -> bool:
    return entity_id.partition(".")[0] in CHANGING


def _differs(house: House, wanted: Mapping[str, Shown], keys: Collection[str] = ()) -> str:
    """Return the first entity whose state in Hearth's model is different, or "". If `keys` isn't
    empty, only these attributes count."""
    for entity_id, one in wanted.items():
        entity = house.entities.get(entity_id)
        if entity is None:
            continue
        if entity.state != one.state:
            return f"{entity_id} is {entity.state}"
        if keys and one.state == "off":
            continue  # a real fan that is off keeps its speed
        for key, value in one.attributes.items():
            if (not keys or key in keys) and not _alike(entity.attributes.get(key), value):
                return f"{entity_id}.{key} is {entity.attributes.get(key)}"
    return ""


def _alike(one: Any, other: Any) -> bool:
    """Return True for equal values. A real house rounds numbers and omits zeros."""
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= abs(other) / 100
    return bool(json.dumps(one or None) == json.dumps(other or None))


async def _known(
    client: HomeAssistant, wanted: Mapping[str, Shown], keys: Collection[str] = ()
) -> None:
    """Wait until Hearth's model of the house has the wanted states. Raises RuntimeError."""

    def knows(house: House) -> bool:
        return not _differs(house, wanted, keys)

    if not await client.wait_for(wanted.keys(), knows, SETTLE_S):
        raise RuntimeError(f"the house was not reset: {_differs(client.house, wanted, keys)}")


class HouseClock(surroundings.SystemClock):
    """The demo house's clock, which shows the same time as Hearth's."""

    def __init__(self, clock: LeapingClock) -> None:
        self._clock = clock

    def now(self) -> datetime:
        return self._clock.now()


class DemoStage:
    """The demo house, opened by Hearth."""

    unseen: Collection[str] = ()

    def __init__(self, app: App, clock: LeapingClock) -> None:
        assert app.home.demo is not None
        self._client = app.home.client
        self._house = app.home.demo.house
        self._house.clock = HouseClock(clock)
        self._first = {
            one.entity_id: Shown(one.state, one.attributes)
            for one in self._house.all()
            if not _changes_by_itself(one.entity_id)
        }

    @property
    def domains(self) -> set[str]:
        return {thing.domain for thing in self._house.things.values()}

    async def reset(self, given: Mapping[str, str]) -> None:
        self._house.stop()
        self._house.remembered.clear()
        self._house.catch_up()
        for items in self._house.todo.values():
            items.clear()
        wanted = {one: given_state(one, first, given) for one, first in self._first.items()}
        # Without this, Hearth would conclude that the lamp before it opened the door.
        self._client.expect(wanted.keys())
        for entity_id, one in wanted.items():
            self._house.write(entity_id, one.state, **one.attributes)
        await _known(self._client, wanted)

    async def settle(self) -> None:
        def rests(_: House) -> bool:
            return not any(one.state in _ON_ITS_WAY for one in self._house.all())

        await self._client.wait_for(self._first, rests, SETTLE_S)

    async def shown(self) -> dict[str, Shown]:
        return {
            one.entity_id: Shown(one.state, dict(one.attributes))
            for one in self._house.all()
            if not (is_snapshot(one.entity_id) or _changes_by_itself(one.entity_id))
        }

    async def items(self) -> tuple[str, ...]:
        return tuple(item.summary for item in self._house.todo[LIST] if not item.done)


class RealStage:
    """A real Home Assistant with the house in tests/home_assistant/real/houses/demo."""

    unseen: Collection[str] = ("media_track", "Evening jazz")  # its speakers have no tracks

    def __init__(self, app: App, clock: LeapingClock, admin: Admin, domains: set[str]) -> None:
        self._client = app.home.client
        self._clock = clock
        self._admin = admin
        self.domains = domains
        self._first = {
            one.entity_id: Shown(one.state, one.attributes)
            for one in THINGS
            if one.domain in _RESET
        }
        self._left: dict[str, Any] = {}  # what the last reset left behind
        self._today = ""

    async def reset(self, given: Mapping[str, str]) -> None:
        await self._begin_day()
        for item in await self._rows():
            await self._admin.call("todo.remove_item", entity_id=LIST, item=item["uid"])
        wanted = {one: given_state(one, first, given) for one, first in self._first.items()}
        self._client.expect(wanted.keys())
        now = await self._admin.states()
        for entity_id, one in wanted.items():
            key = [given_of(entity_id, given), now[entity_id]["last_updated"]]
            if self._left.get(entity_id) != key:
                for action, data in _RESET[entity_id.partition(".")[0]](entity_id, one):
                    await self._admin.call(action, **data)
        await _known(self._client, wanted, _SHARED)
        now = await self._admin.states()
        self._left = {one: [given_of(one, given), now[one]["last_updated"]] for one in self._first}

    async def _begin_day(self) -> None:
        """Make the forecast and the calendar begin on the day that Hearth's clock shows."""
        now = self._clock.now()
        today = now.date().isoformat()
        if today == self._today:
            return
        data = {"entity_id": "input_datetime.today", "date": today}
        await self._admin.call("input_datetime.set_datetime", **data)
        await self._write_calendar(now)
        self._today = today

    async def _write_calendar(self, now: datetime) -> None:
        start, end = now - timedelta(days=_CALENDAR_DAYS), now + timedelta(days=_CALENDAR_DAYS)
        period = {"start": start.isoformat(), "end": end.isoformat()}
        for old in await self._admin.get(f"/api/calendars/{CALENDAR}", **period):
            event = {"entity_id": CALENDAR, "uid": old["uid"]}
            await self._admin.ask("calendar/event/delete", **event)
        for one in calendar_events(now):
            row = one.row()
            when = "date" if one.all_day else "date_time"
            data = {f"start_{when}": row.pop("start"), f"end_{when}": row.pop("end"), **row}
            await self._admin.call("calendar.create_event", entity_id=CALENDAR, **data)

    async def settle(self) -> None:
        """Do nothing, because changes in this house take no time."""

    async def shown(self) -> dict[str, Shown]:
        states = await self._admin.states()
        ids = [
            thing.entity_id
            for thing in THINGS
            if thing.entity_id in states and not _changes_by_itself(thing.entity_id)
        ]
        return {one: Shown(states[one]["state"], states[one]["attributes"]) for one in ids}

    async def items(self) -> tuple[str, ...]:
        return tuple(row["summary"] for row in await self._rows() if row["status"] != "completed")

    async def _rows(self) -> list[dict[str, Any]]:
        path = "/api/services/todo/get_items?return_response"
        told = await self._admin.post(path, {"entity_id": LIST})
        rows: list[dict[str, Any]] = told["service_response"][LIST]["items"]
        return rows


def given_of(entity_id: str, given: Mapping[str, str]) -> list[str]:
    """Return the part of `given` that is about this entity."""
    return [f"{key}={value}" for key, value in given.items() if key.startswith(entity_id)]


# The actions that set an entity, by domain.

_Actions = list[tuple[str, dict[str, Any]]]


def _light(entity_id: str, wanted: Shown) -> _Actions:
    on: dict[str, Any] = {"entity_id": entity_id}
    if "brightness" in wanted.attributes:  # a light that is off remembers it
        on["brightness"] = wanted.attributes["brightness"] or 255
    if kelvin := wanted.attributes.get("color_temp_kelvin"):
        on["color_temp_kelvin"] = kelvin
    off = [] if wanted.state == "on" else [("light.turn_off", {"entity_id": entity_id})]
    return [("light.turn_on", on), *off]


def _switch(entity_id: str, wanted: Shown) -> _Actions:
    return [(f"switch.turn_{wanted.state}", {"entity_id": entity_id})]


def _fan(entity_id: str, wanted: Shown) -> _Actions:
    if wanted.state == "off":
        return [("fan.turn_off", {"entity_id": entity_id})]
    return [
        ("fan.turn_on", {"entity_id": entity_id, "percentage": wanted.attributes["percentage"]})
    ]


def _cover(entity_id: str, wanted: Shown) -> _Actions:
    position = wanted.attributes.get("current_position")
    if position is not None:
        data = {"entity_id": entity_id, "position": position}
        return [("cover.set_cover_position", data)]
    service = "open_cover" if wanted.state == "open" else "close_cover"
    return [(f"cover.{service}", {"entity_id": entity_id})]


def _lock(entity_id: str, wanted: Shown) -> _Actions:
    service = "lock" if wanted.state == "locked" else "unlock"
    return [(f"lock.{service}", {"entity_id": entity_id})]


def _climate(entity_id: str, wanted: Shown) -> _Actions:
    warm = {"entity_id": entity_id, "temperature": wanted.attributes["temperature"]}
    mode = {"entity_id": entity_id, "hvac_mode": wanted.state}
    return [("climate.set_temperature", warm), ("climate.set_hvac_mode", mode)]


def _player(entity_id: str, wanted: Shown) -> _Actions:
    name = entity_id.partition(".")[2]
    state = {"entity_id": f"input_select.{name}", "option": wanted.state}
    volume = {
        "entity_id": f"input_number.{name}_volume",
        "value": wanted.attributes["volume_level"],
    }
    mute = "on" if wanted.attributes["is_volume_muted"] else "off"
    return [
        ("input_select.select_option", state),
        ("input_number.set_value", volume),
        (f"input_boolean.turn_{mute}", {"entity_id": f"input_boolean.{name}_mute"}),
    ]


def _humidifier(entity_id: str, wanted: Shown) -> _Actions:
    wet = {"entity_id": entity_id, "humidity": wanted.attributes["humidity"]}
    return [
        ("humidifier.set_humidity", wet),
        (f"humidifier.turn_{wanted.state}", {"entity_id": entity_id}),
    ]


def _vacuum(entity_id: str, wanted: Shown) -> _Actions:
    name = entity_id.partition(".")[2]
    state = {"entity_id": f"input_select.{name}", "option": wanted.state}
    return [("input_select.select_option", state)]


_RESET = {
    "light": _light,
    "switch": _switch,
    "fan": _fan,
    "cover": _cover,
    "lock": _lock,
    "climate": _climate,
    "humidifier": _humidifier,
    "media_player": _player,
    "vacuum": _vacuum,
}


@asynccontextmanager
async def real_stage(
    app: App, clock: LeapingClock, url: str, token: str
) -> AsyncIterator[RealStage]:
    """Yield the real house at `url`, with an administrator's token."""
    # Hearth asks before it uses a switch that a template makes, until its owner has rated it.
    made = [one.entity_id for one in THINGS if one.domain in ("fan", "switch")]
    await app.home.policy_contexts.ratings.rate(dict.fromkeys(made, Tier.COMFORT))
    async with Admin(url, token) as admin:
        domains = {entity.partition(".")[0] for entity in await admin.states()}
        yield RealStage(app, clock, admin, domains)
