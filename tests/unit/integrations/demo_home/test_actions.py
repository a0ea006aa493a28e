"""Actions with checked data, on targets; scenes made at run time; forecasts; a picture."""

import struct
import zlib
from datetime import UTC, datetime
from typing import Any

import pytest

from integrations.demo_home import actions
from integrations.demo_home.house import DemoHouse
from integrations.demo_home.scenes import SCRIPTS, run_script
from integrations.demo_home.services import (
    SERVICES,
    DataError,
    ServiceError,
    UnfitError,
    UnknownServiceError,
    call,
)
from integrations.demo_home.shapes import related
from integrations.demo_home.surroundings import HEIGHT, WIDTH, forecast, picture

THERMOSTAT = "climate.bedroom"


@pytest.mark.parametrize(
    ("target", "reached"),
    [
        ({"entity_id": "light.desk_lamp"}, ["light.desk_lamp"]),
        ({"entity_id": ["light.desk_lamp", "light.nowhere"]}, ["light.desk_lamp"]),
        ({"area_id": "office"}, ["light.office", "light.desk_lamp"]),
        ({"target": {"area_id": ["office"]}}, ["light.office", "light.desk_lamp"]),
        ({"floor_id": "upper", "entity_id": "light.garage"}, None),
    ],
)
def test_targets(house: DemoHouse, target: dict[str, Any], reached: list[str] | None) -> None:
    changed: list[str] = []
    house.listen(lambda change: changed.append(change.entity_id))
    assert actions.run(house, "light", "turn_on", target) == {}
    if reached is None:
        reached = ["light.garage", "light.bedroom", "light.bedroom_lamp", "light.office"]
        reached.append("light.desk_lamp")
    assert changed == reached


@pytest.mark.parametrize(
    ("action", "data", "error"),
    [
        ("light.explode", {"entity_id": "light.hall"}, UnknownServiceError),
        ("light.turn_on", {}, DataError),
        ("light.turn_on", {"entity_id": "light.hall", "nonsense": 1}, DataError),
        ("light.turn_on", {"entity_id": "light.kitchen", "brightness_pct": 101}, DataError),
        ("climate.set_temperature", {"entity_id": THERMOSTAT}, DataError),
        ("climate.set_temperature", {"entity_id": THERMOSTAT, "temperature": 90}, UnfitError),
        ("weather.get_forecasts", {"entity_id": "weather.home", "type": "yearly"}, DataError),
        ("weather.get_forecasts", {"entity_id": "weather.home", "type": "twice_daily"}, UnfitError),
        ("weather.get_forecasts", {"entity_id": "weather.none", "type": "daily"}, ServiceError),
        ("scene.delete", {"entity_id": "scene.good_night"}, UnfitError),
    ],
)  # fmt: skip
def test_refusals(
    house: DemoHouse, action: str, data: dict[str, Any], error: type[ServiceError]
) -> None:
    domain, service = action.split(".")
    with pytest.raises(error) as failure:
        actions.run(house, domain, service, data)
    assert type(failure.value) is error


def test_every_action_that_is_offered_can_be_run(house: DemoHouse) -> None:
    told = actions.action_list(house)
    names = {(domain, service) for domain, rows in told.items() for service in rows}
    scenes = {("scene", "create"), ("scene", "delete")}
    elsewhere = {("homeassistant", "turn_on"), ("homeassistant", "turn_off")} | scenes
    scripts = {("script", "movie_night"), ("script", "welcome_home")}
    assert names - set(SERVICES) == elsewhere | scripts
    assert set(SERVICES) <= names


def test_a_picture_of_states_and_the_way_back(house: DemoHouse) -> None:
    wanted = ["light.dining_room", "cover.living_room_blinds", "light.nowhere"]
    actions.run(house, "scene", "create", {"scene_id": "undo", "snapshot_entities": wanted})
    assert house.get("scene.undo").attributes["entity_id"] == wanted[:2]
    actions.run(house, "light", "turn_on", {"entity_id": wanted[0], "brightness_pct": 5})
    actions.run(house, "cover", "close_cover", {"entity_id": wanted[1]})
    seen: list[str] = []
    house.listen(
        lambda change: seen.append(f"{change.entity_id} {change.new and change.new.state}")
    )
    actions.run(house, "scene", "turn_on", {"entity_id": "scene.undo"})
    assert house.get(wanted[0]).attributes["brightness"] == 180
    assert house.get(wanted[1]).attributes["current_position"] == 100
    assert "cover.living_room_blinds opening" in seen
    actions.run(house, "scene", "delete", {"entity_id": "scene.undo"})
    assert "scene.undo" not in house.things


def test_a_scene_of_nothing_is_not_made(house: DemoHouse) -> None:
    data = {"scene_id": "undo", "snapshot_entities": ["light.nowhere"]}
    actions.run(house, "scene", "create", data)
    assert "scene.undo" not in house.things


def test_a_scene_leaves_alone_what_cannot_be_reached_or_has_no_way_back(house: DemoHouse) -> None:
    lamp, speaker, sensor = (
        "light.kitchen",
        "media_player.kitchen_speaker",
        "sensor.kitchen_humidity",
    )
    data = {"scene_id": "undo", "snapshot_entities": [lamp, speaker, sensor]}
    actions.run(house, "scene", "create", data)
    house.write(lamp, "unavailable")
    house.write(speaker, "playing", media_title="Evening news", volume_level=0.9)
    house.write(sensor, "60")
    actions.run(house, "scene", "turn_on", {"entity_id": "scene.undo"})
    assert (house.get(lamp).state, house.get(sensor).state) == ("unavailable", "60")
    assert house.get(speaker).state == "paused"
    assert house.get(speaker).attributes["volume_level"] == 0.3
    assert house.get(speaker).attributes["media_title"] == "Evening news"


def test_a_player_that_cannot_pause(house: DemoHouse) -> None:
    speaker = "media_player.kitchen_speaker"
    house.write(speaker, "playing", supported_features=4)
    for service in ("media_pause", "media_play"):
        with pytest.raises(UnfitError):
            actions.run(house, "media_player", service, {"entity_id": speaker})
    assert house.get(speaker).state == "playing"


def test_forecasts_begin_now() -> None:
    now = datetime(2026, 11, 21, 21, 30, tzinfo=UTC)
    days = [datetime.fromisoformat(row["datetime"]) for row in forecast("daily", now)]
    assert [day.day for day in days] == list(range(21, 28))
    hours = [datetime.fromisoformat(row["datetime"]) for row in forecast("hourly", now)]
    assert (hours[0].hour, len(hours)) == (21, 24)
    assert all(row["templow"] < row["temperature"] for row in forecast("daily", now))


def test_the_picture_is_a_whole_png() -> None:
    data = picture()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", data[16:24]) == (WIDTH, HEIGHT)
    pixels, at = b"", 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert checksum == zlib.crc32(kind + body)
        pixels += body if kind == b"IDAT" else b""
        at += 12 + length
    assert len(zlib.decompress(pixels)) == HEIGHT * (1 + 3 * WIDTH)


# Relations between scripts, scenes, areas and devices.


def test_a_script_with_fields_touches_lights_alone(house: DemoHouse) -> None:
    assert related(house, "script", "script.movie_night") == {
        "entity": ["light.living_room"],
        "device": [house.things["light.living_room"].device_id],
        "area": ["living_room"],
        "floor": ["ground"],
    }


def test_another_one_touches_a_lock(house: DemoHouse) -> None:
    touched = related(house, "script", "script.welcome_home")["entity"]
    assert touched == ["light.hall", "lock.front_door"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_touch_what_they_say(house: DemoHouse, script: str) -> None:
    changed: set[str] = set()
    house.listen(lambda change: changed.add(change.entity_id))
    run_script(house, script, {"brightness": 20}, call)
    assert changed - {script} == set(SCRIPTS[script].touches)


def test_the_scene_says_the_same_in_its_state(house: DemoHouse) -> None:
    members = house.get("scene.good_night").attributes["entity_id"]
    assert related(house, "scene", "scene.good_night")["entity"] == members


def test_from_an_entity_area_and_device_back_to_scripts(house: DemoHouse) -> None:
    light = "light.living_room"
    assert related(house, "entity", light)["script"] == ["script.movie_night"]
    assert related(house, "entity", light)["scene"] == ["scene.good_night"]
    area = related(house, "area", "living_room")
    assert light in area["entity"]
    assert area["script"] == ["script.movie_night"]
    device = house.things[light].device_id
    assert device is not None
    assert related(house, "device", device)["entity"] == [light]


@pytest.mark.parametrize("kind", ["script", "area", "device", "automation", "group"])
def test_of_nothing_there_is_nothing(house: DemoHouse, kind: str) -> None:
    assert related(house, kind, "no.such") == {}
