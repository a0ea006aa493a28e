"""`GetLiveContext` in Home Assistant's form, from the live picture."""

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import yaml

from assistant.domain.clock import VirtualClock
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.house import LIVE_CONTEXT, MAX_RESULT, OVERVIEW, live_context
from assistant.tools.builtin.protocol import BuiltInRequest
from integrations.home_assistant.house import Area, Entity, House
from tests.fakes.home import StillHome

MADRID = timezone(timedelta(hours=1), "CET")
REQUEST = BuiltInRequest("t-a", "t", None, "en")
HOUSE = House(
    {},
    {"k": Area("k", "Kitchen", ("Küche", "Cocina"))},
    {
        one.entity_id: one
        for one in (
            Entity(
                "light.z", "Zone", "on", (), "k", attributes={"brightness": 76, "icon": "mdi:lamp"}
            ),
            Entity("light.b", "Bar", "off", ("Counter",), attributes={"brightness": None}),
            Entity(
                "climate.c",
                "Heating",
                "heat",
                attributes={"temperature": 21.5, "current_temperature": 20, "media_title": "x: y"},
            ),
            Entity("sensor.p", "Power", "1234.5678", attributes={}, precision=1),
            Entity("sensor.q", "Odd power", "unavailable", attributes={}, precision=1),
            Entity("sensor.d", "Dawn", "2026-11-22T06:38:44+00:00", device_class="timestamp"),
            Entity("script.s", "Film", "off"),
            Entity("calendar.c", "Family", "off"),
            Entity("lock.x", "Cellar", "locked", exposed=False),
        )
    },
)


async def ask(home: StillHome, **arguments: Any) -> tuple[bool, dict[str, Any]]:
    tool = live_context(home, Catalogue(), VirtualClock(datetime(2026, 11, 22, 14, tzinfo=MADRID)))
    assert tool.name == LIVE_CONTEXT
    result = await tool.run(arguments, REQUEST)
    return result.failed, json.loads(result.data) if result.data else {}


async def rows(home: StillHome, **arguments: Any) -> list[dict[str, Any]]:
    failed, data = await ask(home, **arguments)
    assert not failed
    head, _, listed = data["result"].partition("\n")
    assert head == OVERVIEW
    found: list[dict[str, Any]] = yaml.safe_load(listed)
    return found


async def test_all_of_it_in_the_order_of_the_names() -> None:
    assert await rows(StillHome(HOUSE)) == [
        {
            "names": "Bar, Counter",
            "domain": "light",
            "state": "off",
            "attributes": {"brightness": None},
        },
        {"names": "Dawn", "domain": "sensor", "state": "2026-11-22T07:38:44+01:00"},
        {
            "names": "Heating",
            "domain": "climate",
            "state": "heat",
            "attributes": {
                "temperature": 21.5,
                "current_temperature": "20",
                "media_title": "x: y",
            },
        },
        {"names": "Odd power", "domain": "sensor", "state": "unavailable"},
        {"names": "Power", "domain": "sensor", "state": "1234.6"},
        {
            "names": "Zone",
            "domain": "light",
            "state": "on",
            "areas": "Kitchen, Cocina, Küche",
            "attributes": {"brightness": "76", "brightness_pct": "30"},
        },
    ]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"domain": "light"}, ["Bar, Counter", "Zone"]),
        ({"domain": ["Climate ", "lock"]}, ["Heating"]),
        ({"name": " counter "}, ["Bar, Counter"]),
        ({"name": "light.z"}, ["Zone"]),
        ({"area": "cocina"}, ["Zone"]),
        ({"area": "k", "domain": "light"}, ["Zone"]),
    ],
)
async def test_filters(arguments: dict[str, Any], names: list[str]) -> None:
    assert [row["names"] for row in await rows(StillHome(HOUSE), **arguments)] == names


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"area": "Moon"}, "Area 'Moon' does not exist"),
        ({"name": "Cellar"}, "No exposed entities matched name 'Cellar'"),
        ({"name": "a\nb"}, "No exposed entities matched name 'a b'"),
        ({"domain": "lock"}, "No exposed entities found in domain(s): lock"),
        ({"domain": "climate", "area": "Kitchen"}, "No exposed entities found in area 'Kitchen'"),
        ({"domain": "script"}, "No exposed entities found in domain(s): script"),
    ],
)
async def test_why_there_is_nothing(arguments: dict[str, Any], error: str) -> None:
    assert await ask(StillHome(HOUSE), **arguments) == (True, {"error": error})


async def test_a_large_answer_is_cut_between_rows_and_says_so() -> None:
    many = {f"light.l{one}": Entity(f"light.l{one}", f"L{one:04}", "on") for one in range(1_000)}
    _, data = await ask(StillHome(House(entities=many)))
    text = data["result"]
    assert len(text) <= MAX_RESULT
    kept = text.count("- names:")
    assert text.endswith(
        f"  state: 'on'\n({1_000 - kept} more are left out: narrow it by name, domain or area.)"
    )


AWKWARD = ["a\n- names: Door", "it's", "key: value", "# no", "on", "12", "{x}", "'q'", "1e5", "- x"]


@pytest.mark.parametrize("name", AWKWARD)
async def test_a_name_is_one_text_whatever_it_holds(name: str) -> None:
    house = House(entities={"light.e": Entity("light.e", name, name)})
    (row,) = await rows(StillHome(house))
    assert row == {"names": " ".join(name.split()), "domain": "light", "state": row["names"]}


async def test_a_picture_that_is_not_live_is_not_told_from() -> None:
    assert await ask(StillHome(HOUSE, age_s=None)) == (True, {})


async def test_an_old_picture_is_told_with_its_age() -> None:
    tool = live_context(StillHome(HOUSE, age_s=250.0), Catalogue(), VirtualClock())
    result = await tool.run({"name": "Bar"}, REQUEST)
    data = json.loads(result.data)
    assert (result.failed, result.stale, list(data)) == (False, True, ["warning", "result"])
    assert "4 minutes ago" in data["warning"]
    lost = "I lost contact with Home Assistant 4 minutes ago; this is how it was then."
    assert result.sentence == lost
