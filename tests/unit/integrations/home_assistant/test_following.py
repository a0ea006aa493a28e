"""Changes at run time: registries, exposure, restarts, dead connections, subscriptions."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from integrations.errors import Unavailable
from integrations.home_assistant import client, registry, websocket
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.context import Shown
from integrations.home_assistant.house import House
from integrations.home_assistant.websocket import Followed
from tests.unit.integrations.home_assistant.fake_home import QUICK, FakeHome, followed, until


async def test_an_area_is_renamed_and_only_places_are_read_again(fake: FakeHome) -> None:
    async with followed(fake) as home:
        before = home.house
        fake.areas[0] |= {"name": "Cocina", "aliases": ["Kitchen"]}
        await fake.tell("area_registry_updated", action="update", area_id="k")
        await until(home, lambda house: house.areas["k"].name == "Cocina")
        assert before.areas["k"].name == "Kitchen"
        assert fake.count("get_states") == 1
        assert fake.count("config/entity_registry/get_entries") == 1


async def test_an_entity_gets_an_alias_and_is_hidden(fake: FakeHome) -> None:
    async with followed(fake) as home:
        options = {"conversation": {"should_expose": False}}
        fake.entries["light.lamp"] |= {"aliases": [None, "Leselampe"], "options": options}
        await fake.tell("entity_registry_updated", action="update", entity_id="light.lamp")
        await until(home, lambda house: not house.entities["light.lamp"].exposed)
        assert home.house.entities["light.lamp"].aliases == ("Leselampe",)
        asked = [one for one in fake.asked if one["type"].endswith("get_entries")]
        assert asked[-1]["entity_ids"] == ["light.lamp"]
        assert fake.count("get_states") == 1


@pytest.mark.parametrize("why", ["many", "refused"])
async def test_where_entities_cannot_be_asked_by_name_all_is_read_again(
    fake: FakeHome, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "many":
        monkeypatch.setattr(registry, "MAX_NAMED", 0)
    else:
        fake.refused = {"config/entity_registry/get_entries"}
    async with followed(fake) as home:
        fake.entries["light.lamp"]["area_id"] = None
        await fake.tell("entity_registry_updated", action="update", entity_id="light.lamp")
        await until(home, lambda house: house.entities["light.lamp"].area_id is None)
        assert fake.count("get_states") == 2


async def test_an_entity_that_is_renamed_is_known_by_its_new_id(fake: FakeHome) -> None:
    async with followed(fake) as home:
        fake.entries["light.new"] = {**fake.entries.pop("light.lamp"), "entity_id": "light.new"}
        fake.entity("light.new", "Lamp")
        new, old = fake.states["light.new"], "light.lamp"
        await fake.tell("state_changed", entity_id="light.lamp", new_state=None)
        await fake.tell("state_changed", entity_id="light.new", new_state=new)
        await fake.tell("entity_registry_updated", entity_id="light.new", old_entity_id=old)
        await until(home, lambda house: "light.new" in house.entities)
        await until(home, lambda house: house.entities["light.new"].area_id == "k")
        assert old not in home.house.entities


async def test_an_entity_loses_its_entry(fake: FakeHome) -> None:
    async with followed(fake) as home:
        del fake.entries["light.lamp"]
        await fake.tell("entity_registry_updated", action="remove", entity_id="light.lamp")
        await until(home, lambda house: house.entities["light.lamp"].area_id is None)


async def test_a_device_is_moved_and_its_part_with_it(fake: FakeHome) -> None:
    fake.area("h", "Hall")
    fake.devices = [
        {"id": "whole", "area_id": "k"},
        {"id": "part", "area_id": None, "parent_device_id": "whole"},
    ]
    fake.entity("switch.plug", entry={"device_id": "part"})
    async with followed(fake) as home:
        assert home.house.entities["switch.plug"].area_id == "k"
        assert home.house.entities["switch.plug"].device_id == "part"
        fake.devices[0]["area_id"] = "h"
        await fake.tell("device_registry_updated", action="update", device_id="whole")
        await until(home, lambda house: house.entities["switch.plug"].area_id == "h")


async def test_where_events_are_refused_all_is_read_again_after_a_while(
    fake: FakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "UNTOLD_S", 0.05)
    fake.refused = {"floor_registry_updated"}
    async with followed(fake) as home:
        fake.areas[0]["name"] = "Cocina"
        await until(home, lambda house: house.areas["k"].name == "Cocina")


async def test_a_home_that_was_starting_is_read_again_once_it_runs(
    fake: FakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LOOK_AGAIN_S", 0.01)
    fake.config = {"state": "NOT_RUNNING"}
    async with followed(fake) as home:
        await fake.heard("get_config", 3)
        assert fake.count("get_states") == 1
        fake.states["light.lamp"]["state"] = "off"  # its event was lost
        fake.config = {"state": "RUNNING"}
        await until(home, lambda house: house.entities["light.lamp"].state == "off")
        asked = fake.count("get_config")
        await fake.heard("get_states", 2)
        assert fake.count("get_config") == asked


async def test_a_state_that_came_while_loading_is_not_lost(fake: FakeHome) -> None:
    async with followed(fake) as home:
        newer = {**fake.states["light.lamp"], "state": "off", "last_updated": "2026-11-23"}
        await fake.tell("state_changed", entity_id="light.lamp", new_state=newer)
        await fake.tell("state_changed", entity_id="light.old", new_state=None)
        await until(home, lambda house: "light.old" not in house.entities)
        assert home.house.entities["light.lamp"].state == "off"


async def test_a_dead_connection_is_noticed(
    fake: FakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "PING_EVERY_S", 0.05)
    monkeypatch.setattr(websocket, "PONG_WITHIN_S", 0.5)
    monkeypatch.setattr(websocket, "CLOSE_WITHIN_S", 0.1)
    async with fake.serve() as url, AsyncExitStack() as stack:
        wire = Wire(url)
        through = await stack.enter_async_context(wire.open())
        home = await stack.enter_async_context(
            HomeAssistant(through, "t", pause_s=QUICK, settle_s=0.0)
        )
        assert home.connected
        wire.cut()
        async with asyncio.timeout(20):
            while home.connected:  # noqa: ASYNC110 (the client has no event for it)
                await asyncio.sleep(0.01)
        wire.mend()
        await until(home, lambda house: True)


async def test_the_limits_of_a_dead_connection() -> None:
    assert websocket.PING_EVERY_S + websocket.PONG_WITHIN_S + websocket.CLOSE_WITHIN_S <= 10


class Wire:
    """Forward bytes to a house until it is cut; later bytes are discarded."""

    def __init__(self, url: str) -> None:
        self._port = int(url.rpartition(":")[2])
        self._whole = True
        self._writers: list[asyncio.StreamWriter] = []

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            for writer in self._writers:
                writer.close()

    def cut(self) -> None:
        self._whole = False

    def mend(self) -> None:
        self._whole = True

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        house_reader, house_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers += [writer, house_writer]
        async with asyncio.TaskGroup() as group:
            group.create_task(self._pass(reader, house_writer))
            group.create_task(self._pass(house_reader, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if self._whole:
                writer.write(data)
        writer.close()


class Ear:
    def __init__(self) -> None:
        self.events: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()

    def __call__(self, event: Mapping[str, Any]) -> None:
        self.events.put_nowait(event)
        if event["data"].get("odd"):
            raise ValueError("odd")

    async def next(self) -> Mapping[str, Any]:
        async with asyncio.timeout(20):
            return await self.events.get()


async def test_a_subscription_is_made_again_until_it_is_ended(fake: FakeHome) -> None:
    async with followed(fake) as home:
        ear = Ear()
        end = home.follow(ear, "some/subscription", webhook_id="w")
        await fake.heard("some/subscription")
        await fake.tell("some/subscription", n=1)
        assert (await ear.next())["data"] == {"n": 1}
        await fake.hang_up()
        await fake.heard("some/subscription", 2)
        assert fake.asked[-1]["webhook_id"] == "w"
        await fake.tell("some/subscription", n=2)
        assert (await ear.next())["data"] == {"n": 2}
        end()
        end()
        await fake.heard("unsubscribe_events")
        assert all(one["type"] != "some/subscription" for one in fake.subscriptions.values())
        await fake.hang_up()
        await fake.heard("get_states", 3)
        assert fake.count("some/subscription") == 2


async def test_a_handler_that_fails_costs_its_event_alone(
    fake: FakeHome, caplog: pytest.LogCaptureFixture
) -> None:
    async with followed(fake) as home:
        ear = Ear()
        home.follow(ear, "some/subscription")
        await fake.heard("some/subscription")
        with caplog.at_level(logging.ERROR):
            await fake.tell("some/subscription", odd=True)
            await fake.tell("some/subscription", n=2)
            await ear.next()
            assert (await ear.next())["data"] == {"n": 2}
        assert home.connected
        assert len(caplog.records) == 1


async def test_a_refused_subscription_is_tried_at_the_next_connection(fake: FakeHome) -> None:
    fake.refused = {"some/subscription"}
    async with followed(fake) as home:
        ear = Ear()
        home.follow(ear, "some/subscription")
        await fake.heard("some/subscription")
        fake.refused = set()
        await fake.hang_up()
        await fake.heard("some/subscription", 2)
        await fake.tell("some/subscription", n=1)
        await ear.next()


async def test_a_stream_needs_a_connection() -> None:
    async with HomeAssistant("http://127.0.0.1:9", "t") as home:
        with pytest.raises(Unavailable):
            async with home.stream("assist_pipeline/run"):
                pass


async def test_exposure_is_learnt_where_the_registry_is_silent(fake: FakeHome) -> None:
    fake.entity("light.same", "Same")
    async with followed(fake) as home:
        assert all(one.exposed for one in home.house.entities.values())
        before = home.house
        home.learn_exposure(
            [Shown(("Old lamp",), "light"), Shown(("Lamp",), "light", ("Kitchen",))]
        )
        exposed = {one.entity_id for one in home.house.exposed()}
        assert exposed == {"light.old", "light.lamp"}
        assert len(before.exposed()) == 3
        fake.entity("light.new", "New")
        await fake.tell("state_changed", entity_id="light.new", new_state=fake.states["light.new"])
        assert await home.wait_for(["light.new"], lambda house: "light.new" in house.entities, 20)
        assert home.house.entities["light.new"].exposed  # until the next list
        await fake.hang_up()
        await fake.heard("get_states", 2)
        await until(home, lambda house: True)
        assert not home.house.entities["light.same"].exposed
        assert home.house.entities["light.new"].exposed
        home.learn_exposure([])
        assert all(one.exposed for one in home.house.entities.values())


async def test_a_list_that_comes_before_the_house_counts_for_it(fake: FakeHome) -> None:
    async with fake.serve() as url:
        home = HomeAssistant(url, "t", pause_s=QUICK)
        home.learn_exposure([Shown(("Lamp",), "light", ("Kitchen",))])
        async with home:
            assert [one.entity_id for one in home.house.exposed()] == ["light.lamp"]


@pytest.mark.parametrize(
    "odd", [{"entity_id": 5}, {"new_state": 5}, {"new_state": {}}, {"new_state": {"entity_id": []}}]
)
async def test_an_odd_change_costs_itself_alone(fake: FakeHome, odd: dict[str, Any]) -> None:
    async with followed(fake) as home:
        await fake.tell("state_changed", **{"entity_id": "light.lamp", "new_state": None, **odd})
        off = {**fake.states["light.old"], "state": "off"}
        await fake.tell("state_changed", entity_id="light.old", new_state=off)
        await until(home, lambda house: house.entities["light.old"].state == "off")
        assert home.house.entities["light.lamp"].state == "on"
        assert fake.count("get_states") == 1


async def test_an_odd_state_costs_itself_alone(fake: FakeHome) -> None:
    fake.states |= {"odd": {}, "odder": {"entity_id": ["x"]}}
    async with followed(fake) as home:
        assert home.house.entities.keys() == {"light.lamp", "light.old"}


def test_what_a_subscription_is_asked_with_is_not_shown() -> None:
    """The channel of a device is requested with its webhook's id, a secret."""
    followed = Followed(lambda event: None, "some/channel", {"webhook_id": "s3cret"})
    assert "s3cret" not in repr(followed)


# Labels, from the registries to the picture.


def _labels(house: House) -> Mapping[str, tuple[str, ...]]:
    return {name: one.labels for name, one in house.entities.items()}


def _home() -> FakeHome:
    fake = FakeHome()
    fake.labels = [{"label_id": "night", "name": "At night"}]
    fake.entity("light.hall", "Hall", entry={"labels": ["night"]})
    return fake


async def test_ids_and_names_of_labels_are_known() -> None:
    async with _home().serve() as url, HomeAssistant(url, "t") as home:
        assert _labels(home.house) == {"light.hall": ("At night", "night")}


async def test_a_home_that_knows_no_labels_hurts_nobody() -> None:
    fake = _home()
    fake.refused = {"config/label_registry/list", "label_registry_updated"}
    async with fake.serve() as url, HomeAssistant(url, "t") as home:
        assert home.connected
        assert _labels(home.house) == {"light.hall": ("night",)}


async def test_odd_answers_hurt_nobody() -> None:
    answers: list[Any] = [{"no": "list"}, None, [5], [{"label_id": 3}]]
    for answer in answers:
        fake = _home()
        fake.labels = answer
        async with fake.serve() as url, HomeAssistant(url, "t") as home:
            assert home.connected
            assert _labels(home.house) == {"light.hall": ("night",)}
