"""Call Home Assistant actions (formerly services) over the websocket as the signed-in user."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from integrations.errors import Unavailable
from integrations.home_assistant.context import find_list, read_row
from integrations.home_assistant.house import Entity, rows, text
from integrations.home_assistant.reasons import CommandRefused
from integrations.home_assistant.websocket import Commands


class Services:
    """Calls actions. The caller must check that a call is allowed."""

    def __init__(self, home: Commands) -> None:
        self._home = home

    async def call(
        self,
        domain: str,
        service: str,
        data: Mapping[str, Any] | None = None,
        *,
        entities: Sequence[str] = (),
        answer: bool = False,
    ) -> Any:
        """Call an action. Returns its response if `answer` is set, and otherwise None. Raises
        CommandRefused if Home Assistant refuses the call, Unanswered if the action may have been
        carried out, and other IntegrationErrors."""
        fields: dict[str, Any] = {"domain": domain, "service": service}
        if data:
            fields["service_data"] = dict(data)
        if entities:
            fields["target"] = {"entity_id": list(entities)}
        if answer:
            fields["return_response"] = True
        result = await self._home.command("call_service", **fields)
        return result.get("response") if answer and isinstance(result, Mapping) else None


# Weather forecasts, from the action `weather.get_forecasts`.


# Home Assistant's `WeatherEntityFeature` bits and the `type` for each, best first.
_KINDS = ((1, "daily"), (4, "twice_daily"), (2, "hourly"))


@dataclass(frozen=True, slots=True)
class Forecast:
    """The weather for one day, half day or hour. Values that the weather service omits are None."""

    when: datetime  # start of the period, with time zone
    condition: str | None  # Home Assistant's value: "sunny", "partlycloudy"
    high: float | None  # in the entity's `temperature_unit`
    low: float | None
    rain_percent: float | None  # probability of rain
    rain: float | None  # in the entity's `precipitation_unit`


async def forecasts(home: Commands, weather: Entity) -> list[Forecast]:
    """Return a weather entity's forecasts, or [] if it has none. Raises Refused or Unavailable."""
    offered = weather.attributes.get("supported_features")
    features = offered if isinstance(offered, int) else 0
    kind = next((kind for bit, kind in _KINDS if features & bit), None)
    if kind is None:
        return []
    answer = await home.command(
        "call_service",
        domain="weather",
        service="get_forecasts",
        service_data={"type": kind},
        target={"entity_id": weather.entity_id},
        return_response=True,
    )
    try:
        rows = answer["response"][weather.entity_id]["forecast"] or ()
        return list(_weather_read(rows))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unavailable(
            f"Home Assistant sent a forecast that Hearth does not understand: {error!r}."
        ) from error


def _weather_read(rows: Iterable[Mapping[str, Any]]) -> Iterable[Forecast]:
    for row in rows:
        condition = row.get("condition")
        yield Forecast(
            when=datetime.fromisoformat(row["datetime"]),
            condition=condition if isinstance(condition, str) else None,
            high=_number(row.get("temperature")),
            low=_number(row.get("templow")),
            rain_percent=_number(row.get("precipitation_probability")),
            rain=_number(row.get("precipitation")),
        )


def _number(value: Any) -> float | None:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain else None


# Snapshots are scenes that Hearth creates to undo changes; Home Assistant saves the entities'
# states in them. They are called `scene.hearth_undo_N` and do not survive a restart of Home
# Assistant. Hearth hides them from the house and from the server's prompt.


NAME = "hearth_undo_"
_DOMAIN = "scene"


@dataclass(frozen=True, slots=True)
class Found:
    entity_id: str
    since: datetime | None  # when it was created or last restored; None if unknown


def is_snapshot(entity_id: str) -> bool:
    """Return True for one of Hearth's own scenes, which users should not see."""
    return entity_id.startswith(f"{_DOMAIN}.{NAME}")


def snapshot_id(number: int) -> str:
    return f"{_DOMAIN}.{NAME}{number}"


def without_snapshots(told: str) -> str:
    """Remove snapshots from the MCP server's prompt, where Home Assistant lists every new scene by
    default."""
    if NAME not in told:
        return told
    listing = find_list(told)
    kept = [row for row in listing.rows if not (NAME in row and _is_row_of_ours(row))]
    return "".join((listing.before, *kept, listing.after))


def _is_row_of_ours(row: str) -> bool:
    shown = read_row(row)
    return (
        shown is not None
        and shown.domain == _DOMAIN
        and all(name.startswith(NAME) for name in shown.names)
    )


class Snapshots:
    """Creates, restores and deletes snapshots, which are scenes that save the states of entities.

    All methods raise IntegrationError.
    """

    def __init__(self, home: Commands) -> None:
        self._home = home
        self._services = Services(home)

    async def create(self, number: int, entity_ids: Sequence[str]) -> None:
        """Save the entities' current states, replacing any snapshot with that number."""
        data = {"scene_id": f"{NAME}{number}", "snapshot_entities": list(entity_ids)}
        await self._services.call(_DOMAIN, "create", data)

    async def restore(self, number: int) -> None:
        """Restore the states in a snapshot. If the snapshot was deleted, Home Assistant does
        nothing and reports no error."""
        await self._services.call(_DOMAIN, "turn_on", entities=[snapshot_id(number)])

    async def delete(self, entity_id: str) -> None:
        """Delete a snapshot if it still exists."""
        try:
            await self._services.call(_DOMAIN, "delete", entities=[entity_id])
        except CommandRefused as error:
            if error.code != "service_validation_error":
                raise

    async def found(self) -> list[Found]:
        """Return all existing snapshots, including those created by other processes."""
        states = rows(await self._home.command("get_states"))
        return [
            Found(entity_id, _moment(text(state.get("last_updated"))))
            for state in states
            if is_snapshot(entity_id := text(state.get("entity_id")))
        ]


def _moment(written: str) -> datetime | None:
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        return None
