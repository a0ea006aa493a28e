"""`GetLiveContext`: how the exposed things are now, in Home Assistant's form.

Home Assistant has a tool of this name, which this one hides: at 5,000 entities its own answer takes
half a second and 160,000 tokens. Arguments, matching, shown attributes and errors are those of
2026.11 (`components/homeassistant/llm.py`); here the answer is capped and says what it leaves out.
"""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, Protocol

from assistant.domain.clock import Clock
from assistant.domain.outcome import Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import NO_ARGUMENTS, BuiltIn, BuiltInRequest, BuiltInResult
from assistant.tools.house.answers import HouseAnswers
from assistant.tools.house.names import brightness_percent
from assistant.tools.house.targets import find_areas, is_called, listed
from integrations import cleaning
from integrations.home_assistant.context import UNLISTED
from integrations.home_assistant.house import Entity, House

# What the tools that look at the house have in common.


MAX_TEXT = 300  # characters of one name or state


class LivePicture(Protocol):
    """The house (`integrations.home_assistant.client.HomeAssistant`)."""

    @property
    def house(self) -> House:
        """The newest picture."""
        ...

    @property
    def connected(self) -> bool:
        """Whether it is being kept up to date."""
        ...


class AgedPicture(LivePicture, Protocol):
    """The house, with the age of what is known of it."""

    async def look(self) -> float | None:
        """Seconds since it stopped being live: 0.0 while it is, None where there is none."""
        ...


def staleness(age_s: float) -> str:
    """Warning to a model that the picture is not live; "" where it is."""
    if age_s == 0:
        return ""
    minutes = int(age_s // 60)
    age = f"{minutes} minutes" if minutes > 1 else "one minute" if minutes else "under a minute"
    return (
        f"NOT LIVE. Contact with Home Assistant was lost {age} ago. These states are of that time "
        "and may be wrong by now: tell them in the past tense, with their age, never as present."
    )


def one_line(text: str) -> str:
    """A name or state as data: no line breaks, control or invisible signs, not without end."""
    return cleaning.one_line(text, MAX_TEXT)


LIVE_CONTEXT = "GetLiveContext"
MAX_RESULT = 10_000  # characters; about 2,500 tokens
OVERVIEW = "Live Context: An overview of the areas and the devices in this smart home:"
_LEFT_OUT = "({count} more are left out: narrow it by name, domain or area.)"

_SHOWN = frozenset(
    "temperature current_temperature temperature_unit brightness humidity unit_of_measurement "
    "device_class current_position percentage volume_level media_title media_artist "
    "media_album_name".split()
)
# What a YAML reader would take for something else than text.
_NOT_TEXT = re.compile(
    r"(?i)(?:|on|off|yes|no|true|false|null|~|y|n"
    r"|[-+]?[\d.][\d.:_e+-]*|\d{4}-\d\d-\d\d.*"  # numbers and dates
    r"|[-?:,\[\]{}#&*!|>'\"%@` ].*|.*(?:: | #).*|.*[: ])"  # signs of YAML's own
)


def live_context(home: AgedPicture, catalogue: Catalogue, clock: Clock) -> BuiltIn:
    """The tool. Its data is `{"result": text}` or `{"error": reason}`, as JSON; with `warning` in
    front where contact is lost."""
    answers = HouseAnswers(catalogue)

    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        age_s = await home.look()
        if age_s is None:
            sentence = catalogue.say("tools.not_live", request.language)
            return BuiltInResult(sentence, failed=True)
        house = home.house
        found, error = select(house, arguments)
        if error:
            sentence = catalogue.say("tools.failed", request.language, reason=error)
            return BuiltInResult(sentence, json.dumps({"error": error}), failed=True)
        content = {"result": overview(house, found, clock)}
        sentence = catalogue.say("tools.answered", request.language)
        warning = staleness(age_s)
        if warning:
            content = {"warning": warning, **content}
            sentence = answers.notice(request.language, age_s)
        told = json.dumps(content, ensure_ascii=False)
        return BuiltInResult(sentence, told, stale=bool(warning))

    return BuiltIn(
        name=LIVE_CONTEXT,
        description="The present state, value or mode of devices, sensors and areas of this home. "
        "Call it for questions about how something is now, and before anything that depends on it. "
        "Name, domain and area narrow it and can be combined; give at least one in a large home.",
        schema={
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "A name or alias; case does not count."},
                "domain": {
                    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
                    "description": "A domain such as light or sensor, or several.",
                },
                "area": {"type": "string", "description": "An area's name or alias."},
            },
        },
        tier=Tier.READ,
        run=run,
    )


def select(house: House, arguments: Mapping[str, Any]) -> tuple[list[Entity], str]:
    """The entities that Home Assistant would tell of, by name, or its reason why there are none."""
    found = [entity for entity in house.exposed() if entity.domain not in UNLISTED]
    name, area = (str(arguments.get(key) or "") for key in ("name", "area"))
    domains = {one.strip().casefold() for one in listed(arguments.get("domain"))} - {""}
    if domains:
        found = [entity for entity in found if entity.domain in domains]
        if not found:
            return [], f"No exposed entities found in domain(s): {', '.join(sorted(domains))}"
    if name:
        found = [entity for entity in found if is_called(entity, name)]
        if not found:
            return [], f"No exposed entities matched name '{one_line(name)}'"
    if area:
        areas = {one.area_id for one in find_areas(house, area)}
        if not areas:
            return [], f"Area '{one_line(area)}' does not exist"
        found = [entity for entity in found if entity.area_id in areas]
        if not found:
            return [], f"No exposed entities found in area '{one_line(area)}'"
    if not found:
        return [], "No entities are exposed to the assistant in Home Assistant"
    return sorted(found, key=lambda entity: entity.name), ""


def overview(house: House, entities: Iterable[Entity], clock: Clock) -> str:
    """A YAML list under a headline, of at most MAX_RESULT characters."""
    now, things = clock.now(), list(entities)
    text, room = f"{OVERVIEW}\n", MAX_RESULT - len(_LEFT_OUT) - 10
    for number, entity in enumerate(things):
        row = _row(entity, house, now)
        if len(text) + len(row) > room:
            return text + _LEFT_OUT.format(count=len(things) - number)
        text += row
    return text


def _row(entity: Entity, house: House, now: datetime) -> str:
    lines = [
        f"- names: {_scalar(', '.join(entity.names))}",
        f"  domain: {entity.domain}",
        f"  state: {_scalar(_state(entity, now))}",
    ]
    area = house.areas.get(entity.area_id or "")
    if area is not None:
        lines.append(f"  areas: {_scalar(', '.join((area.name, *sorted(area.aliases))))}")
    attributes = {key: value for key, value in entity.attributes.items() if key in _SHOWN}
    if entity.domain == "light" and attributes.get("brightness") is not None:
        attributes["brightness_pct"] = brightness_percent(entity)
    if attributes:
        lines.append("  attributes:")
        lines += [f"    {key}: {_scalar(value)}".rstrip() for key, value in attributes.items()]
    return "\n".join(lines) + "\n"


def _state(entity: Entity, now: datetime) -> str:
    """As people see it: sensors with their decimals, points in time by the local clock."""
    if entity.domain == "sensor" and entity.precision is not None:
        try:
            return f"{float(entity.state):.{entity.precision}f}"
        except ValueError:
            return entity.state
    if entity.device_class == "timestamp":
        try:
            return datetime.fromisoformat(entity.state).astimezone(now.tzinfo).isoformat()
        except ValueError:
            return entity.state
    return entity.state


def _scalar(value: Any) -> str:
    """One YAML scalar on one line: texts that read as something else are quoted, as are numbers.

    Home Assistant turns whole numbers into texts and leaves fractions as they are.
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    text = one_line(str(value.value if isinstance(value, Enum) else value))
    return "'" + text.replace("'", "''") + "'" if _NOT_TEXT.fullmatch(text) else text


# `GetDateTime`: what day and time it is, by Hearth's own clock.


DATE_AND_TIME = "GetDateTime"  # as Home Assistant calls its own, which this one replaces


def date_and_time(clock: Clock, catalogue: Catalogue) -> BuiltIn:
    """The tool. Its data is `{date, weekday, time, time_zone, utc_offset}`, to the minute."""

    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        now, language = clock.now(), request.language
        weekday = catalogue.say(f"offline.weekday_{now.isoweekday()}", language)
        offset = f"{now:%z}"  # "+0100"
        told = {
            "date": f"{now:%Y-%m-%d}",
            "weekday": weekday,
            "time": f"{now:%H:%M}",
            "time_zone": now.tzname() or "",
            "utc_offset": f"{offset[:3]}:{offset[3:5]}" if offset else "",
        }
        sentence = catalogue.say(
            "tools.date_time",
            language,
            time=told["time"],
            weekday=weekday,
            day=now.day,
            month=catalogue.say(f"offline.month_{now.month}", language),
            year=now.year,
        )
        return BuiltInResult(sentence, json.dumps(told, ensure_ascii=False))

    return BuiltIn(
        name=DATE_AND_TIME,
        description="The date, the weekday, the time of day and the time zone at this moment. "
        "Call it whenever an answer depends on now; never guess the time.",
        schema=NO_ARGUMENTS,
        tier=Tier.READ,
        run=run,
    )
