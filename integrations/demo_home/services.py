"""The effects of each action on an entity, by domain and service, as in Home Assistant 2026.11."""

from collections.abc import Callable, Mapping
from typing import Any

from integrations.demo_home import almanac, scenes
from integrations.demo_home.catalogue import COVER_FULL, PAUSE, PLAY
from integrations.demo_home.house import UNAVAILABLE, DemoHouse, TodoItem
from integrations.demo_home.scenes import SCENES, color_rgb, run_script
from integrations.demo_home.surroundings import FEATURES, forecast

Data = Mapping[str, Any]
Handler = Callable[[DemoHouse, str, Data], Mapping[str, Any] | None]


class ServiceError(Exception):
    """The action failed or was refused, for the reason in `str(error)`. `code` and `prefix` are for
    the websocket's error message."""

    code = "home_assistant_error"
    prefix = ""


class UnknownServiceError(ServiceError):
    code = "not_found"


class DataError(ServiceError):
    """The action doesn't accept this data."""

    code = "invalid_format"


class UnfitError(ServiceError):
    """The data is valid, but doesn't suit the entity or the requested response."""

    code = "service_validation_error"
    prefix = "Validation error: "


def call(
    house: DemoHouse, domain: str, service: str, entity_id: str, data: Data
) -> Mapping[str, Any] | None:
    """Run an action on an entity. Returns its response data, or None. Raises ServiceError. As in
    Home Assistant, nothing happens if the entity is unavailable."""
    own = entity_id.partition(".")[0]
    handler = SERVICES.get((own if domain == "homeassistant" else domain, service))
    if handler is None:
        raise UnknownServiceError(f"Service {service} does not support entity {entity_id}")
    if house.get(entity_id).state == UNAVAILABLE or domain not in ("homeassistant", own):
        return None
    if entity_id in house.failing:
        house.failing.discard(entity_id)
        raise ServiceError(f"{entity_id} did not answer")
    return handler(house, entity_id, data)


def _light_on(house: DemoHouse, entity_id: str, data: Data) -> None:
    """Turn a light on, ignoring settings that it doesn't support, as in Home Assistant."""
    light = house.get(entity_id)
    modes = light.attributes["supported_color_modes"]
    if modes == ["onoff"]:
        house.write(entity_id, "on", color_mode="onoff")
        return
    brightness = _brightness(data)
    if brightness == 0:
        _light_off(house, entity_id, data)
        return
    kept = house.remembered.get(entity_id, {})
    before = light.attributes["brightness"] or kept.get("brightness", 255)
    changes: dict[str, Any] = {"brightness": before if brightness is None else brightness}
    colour = _colour(data, modes)
    if colour:
        changes |= colour
    elif light.state != "on":
        changes |= {"color_mode": modes[0], **kept, "brightness": changes["brightness"]}
    house.write(entity_id, "on", **changes)


def _brightness(data: Data) -> int | None:
    if "brightness_pct" not in data:
        return data.get("brightness")
    percent = data["brightness_pct"]
    try:
        percent = float(percent)  # also "20", from a script's template
    except (TypeError, ValueError):
        raise DataError("expected float at 'brightness_pct'") from None
    if not 0 <= percent <= 100:
        raise DataError("expected a percentage between 0 and 100 at 'brightness_pct'")
    return round(percent * 255 / 100)


def _colour(data: Data, modes: list[str]) -> dict[str, Any]:
    if "rgb" in modes and ("rgb_color" in data or "color_name" in data):
        rgb = data["rgb_color"] if "rgb_color" in data else color_rgb(data["color_name"])
        return {"color_mode": "rgb", "rgb_color": list(rgb), "color_temp_kelvin": None}
    if "color_temp" in modes and "color_temp_kelvin" in data:
        colour = {"color_mode": "color_temp", "color_temp_kelvin": data["color_temp_kelvin"]}
        return colour | {"rgb_color": None} if "rgb" in modes else colour
    return {}


def _light_off(house: DemoHouse, entity_id: str, data: Data) -> None:
    light = house.get(entity_id)
    shown = ("brightness", "color_mode", "rgb_color", "color_temp_kelvin")
    own = {key: light.attributes[key] for key in shown if key in light.attributes}
    if light.state == "on":
        house.remembered[entity_id] = own
    house.write(entity_id, "off", **dict.fromkeys(own))


def _toggle(house: DemoHouse, entity_id: str, data: Data) -> None:
    service = "turn_off" if house.get(entity_id).state == "on" else "turn_on"
    SERVICES[(entity_id.partition(".")[0], service)](house, entity_id, data)


def _on(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.write(entity_id, "on")


def _off(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.write(entity_id, "off")


def _fan_on(house: DemoHouse, entity_id: str, data: Data) -> None:
    percentage = data.get("percentage", house.get(entity_id).attributes["percentage"] or 67)
    house.write(entity_id, "on" if percentage else "off", percentage=percentage)


def _fan_off(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.write(entity_id, "off", percentage=0)


def _open(house: DemoHouse, entity_id: str, data: Data) -> None:
    _move(house, entity_id, 100)


def _close(house: DemoHouse, entity_id: str, data: Data) -> None:
    _move(house, entity_id, 0)


def _set_position(house: DemoHouse, entity_id: str, data: Data) -> None:
    if house.get(entity_id).attributes["supported_features"] != COVER_FULL:
        raise ServiceError(f"Entity {entity_id} does not support action cover.set_cover_position")
    _move(house, entity_id, data["position"])


def _move(house: DemoHouse, entity_id: str, position: int) -> None:
    cover = house.get(entity_id)
    now = cover.attributes.get("current_position")
    end = "open" if position > 0 else "closed"
    if now is None:
        house.travel(entity_id, "opening" if position else "closing", end)
        return
    opening = position > now or (position == now and position > 0)
    via = "opening" if opening else "closing"
    house.travel(entity_id, via, end, current_position=position)


def _stop_cover(house: DemoHouse, entity_id: str, data: Data) -> None:
    if not house.halt(entity_id):
        return
    if "current_position" in house.get(entity_id).attributes:
        house.write(entity_id, "open", current_position=50)
    else:
        house.write(entity_id, "open")


def _lock(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.travel(entity_id, "locking", "jammed" if entity_id in house.jammed else "locked")


def _unlock(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.travel(entity_id, "unlocking", "jammed" if entity_id in house.jammed else "unlocked")


def _set_temperature(house: DemoHouse, entity_id: str, data: Data) -> None:
    thermostat = house.get(entity_id).attributes
    temperature = float(data["temperature"])
    if not thermostat["min_temp"] <= temperature <= thermostat["max_temp"]:
        low, high = thermostat["min_temp"], thermostat["max_temp"]
        raise UnfitError(
            f"Provided temperature {temperature} is not valid. Accepted range is {low} to {high}"
        )
    house.write(entity_id, temperature=temperature)


def _set_hvac_mode(house: DemoHouse, entity_id: str, data: Data) -> None:
    modes = house.get(entity_id).attributes["hvac_modes"]
    if data.get("hvac_mode") not in modes:
        raise ServiceError(f"HVAC mode {data.get('hvac_mode')} is not valid")
    house.write(entity_id, data["hvac_mode"])


def _heat(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.write(entity_id, "heat")


def _set_humidity(house: DemoHouse, entity_id: str, data: Data) -> None:
    """Set the wanted humidity, in percent. A humidifier that is off stays off."""
    known, humidity = house.get(entity_id).attributes, data["humidity"]
    low, high = known["min_humidity"], known["max_humidity"]
    if not low <= humidity <= high:
        raise UnfitError(
            f"Provided humidity {humidity} is not valid. Accepted range is {low} to {high}"
        )
    house.write(entity_id, humidity=humidity)


def _play(house: DemoHouse, entity_id: str, data: Data) -> None:
    _needs(house, entity_id, PLAY, "media_player.media_play")
    house.write(entity_id, "playing")


def _pause(house: DemoHouse, entity_id: str, data: Data) -> None:
    _needs(house, entity_id, PAUSE, "media_player.media_pause")
    house.write(entity_id, "paused")


def _needs(house: DemoHouse, entity_id: str, feature: int, action: str) -> None:
    if not house.get(entity_id).attributes.get("supported_features", 0) & feature:
        raise UnfitError(f"Entity {entity_id} does not support action {action}")


def _player_on(house: DemoHouse, entity_id: str, data: Data) -> None:
    if house.get(entity_id).state == "off":
        house.write(entity_id, "idle")


def _next(house: DemoHouse, entity_id: str, data: Data) -> None:
    _track(house, entity_id, 1)


def _previous(house: DemoHouse, entity_id: str, data: Data) -> None:
    _track(house, entity_id, -1)


def _track(house: DemoHouse, entity_id: str, step: int) -> None:
    number = house.get(entity_id).attributes.get("media_track", 1) + step
    house.write(entity_id, media_track=max(1, number))


def _volume_set(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.write(entity_id, volume_level=round(min(1.0, max(0.0, data["volume_level"])), 2))


def _volume_by(step: float) -> Handler:
    def change(house: DemoHouse, entity_id: str, data: Data) -> None:
        level = house.get(entity_id).attributes["volume_level"] + step
        _volume_set(house, entity_id, {"volume_level": level})

    return change


def _mute(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.write(entity_id, is_volume_muted=bool(data["is_volume_muted"]))


def _clean(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.halt(entity_id)
    house.write(entity_id, "cleaning")


def _return(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.travel(entity_id, "returning", "docked")


def _script(house: DemoHouse, entity_id: str, data: Data) -> Mapping[str, Any] | None:
    """Run a script and ignore its errors, as Home Assistant does."""
    try:
        return run_script(house, entity_id, data, call)
    except ServiceError:
        return None


def _script_off(house: DemoHouse, entity_id: str, data: Data) -> None:
    """Do nothing, because scripts in this house finish immediately."""


def _scene(house: DemoHouse, entity_id: str, data: Data) -> None:
    if entity_id in house.scenes:
        scenes.apply(house, entity_id)
        return
    house.write(entity_id, house.clock.now().isoformat())
    for domain, service, member in SCENES[entity_id]:
        call(house, domain, service, member, {})


def _add_item(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.todo[entity_id].append(TodoItem(data["item"]))
    house.count_todo(entity_id)


def _get_items(house: DemoHouse, entity_id: str, data: Data) -> Mapping[str, Any]:
    wanted = data.get("status", "needs_action")
    rows = [item.row() for item in house.todo[entity_id]]
    return {entity_id: {"items": [row for row in rows if row["status"] in wanted]}}


def _get_forecasts(house: DemoHouse, entity_id: str, data: Data) -> Mapping[str, Any]:
    kind = data["type"]
    if kind not in FEATURES:
        raise DataError("value must be one of ['daily', 'hourly', 'twice_daily'] at 'type'")
    if not house.get(entity_id).attributes["supported_features"] & FEATURES[kind]:
        raise UnfitError(f"Weather entity {entity_id} does not support the {kind} forecast type")
    return {entity_id: {"forecast": forecast(kind, house.clock.now())}}


def _get_events(house: DemoHouse, entity_id: str, data: Data) -> Mapping[str, Any]:
    now = house.clock.now()
    try:
        start, end = almanac.period_of(data, now)
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from error
    return {entity_id: {"events": almanac.events_between(now, start, end)}}


def _send_message(house: DemoHouse, entity_id: str, data: Data) -> None:
    house.notify(entity_id, data)


SERVICES: dict[tuple[str, str], Handler] = {
    ("light", "turn_on"): _light_on,
    ("light", "turn_off"): _light_off,
    ("light", "toggle"): _toggle,
    ("switch", "turn_on"): _on,
    ("switch", "turn_off"): _off,
    ("switch", "toggle"): _toggle,
    ("fan", "turn_on"): _fan_on,
    ("fan", "set_percentage"): _fan_on,
    ("fan", "turn_off"): _fan_off,
    ("fan", "toggle"): _toggle,
    ("cover", "open_cover"): _open,
    ("cover", "close_cover"): _close,
    ("cover", "stop_cover"): _stop_cover,
    ("cover", "set_cover_position"): _set_position,
    ("lock", "lock"): _lock,
    ("lock", "unlock"): _unlock,
    ("climate", "set_temperature"): _set_temperature,
    ("climate", "set_hvac_mode"): _set_hvac_mode,
    ("climate", "turn_on"): _heat,
    ("climate", "turn_off"): _off,
    ("humidifier", "turn_on"): _on,
    ("humidifier", "turn_off"): _off,
    ("humidifier", "toggle"): _toggle,
    ("humidifier", "set_humidity"): _set_humidity,
    ("media_player", "turn_on"): _player_on,
    ("media_player", "turn_off"): _off,
    ("media_player", "media_play"): _play,
    ("media_player", "media_pause"): _pause,
    ("media_player", "media_next_track"): _next,
    ("media_player", "media_previous_track"): _previous,
    ("media_player", "volume_set"): _volume_set,
    ("media_player", "volume_up"): _volume_by(0.1),
    ("media_player", "volume_down"): _volume_by(-0.1),
    ("media_player", "volume_mute"): _mute,
    ("vacuum", "start"): _clean,
    ("vacuum", "return_to_base"): _return,
    ("script", "turn_on"): _script,
    ("script", "turn_off"): _script_off,
    ("scene", "turn_on"): _scene,
    ("todo", "add_item"): _add_item,
    ("todo", "get_items"): _get_items,
    ("calendar", "get_events"): _get_events,
    ("weather", "get_forecasts"): _get_forecasts,
    ("notify", "send_message"): _send_message,
}
