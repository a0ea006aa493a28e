"""A house that is changed by actions and scenes, and by nothing else."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assistant.domain.tool_call import Decision, Observed, Status, Tier, ToolOutcome
from integrations.errors import Refused, Unavailable
from integrations.home_assistant.house import Area, Entity, House
from integrations.home_assistant.services import (
    Found,
    Services,
    Snapshots,
    is_snapshot,
    snapshot_id,
)
from tests.fakes.home import StillHome

PLAYER = 1 | 4 | 8 | 128 | 256 | 2048 | 4096 | 16384 | 65536


def light(name: str, state: str = "on", brightness: int = 100, **more: Any) -> Entity:
    attributes = {"brightness": brightness if state == "on" else None, "color_mode": "brightness"}
    return Entity(f"light.{name}", name.title(), state, attributes=attributes | more)


def thing(entity_id: str, state: str, /, **attributes: Any) -> Entity:
    device_class = attributes.get("device_class")
    name = entity_id.partition(".")[2].replace("_", " ").title()
    return Entity(
        entity_id,
        name,
        state,
        area_id=attributes.pop("area_id", None),
        device_class=device_class,
        attributes=attributes,
        features=attributes.get("supported_features", 0),
    )


def outcome(
    status: Status = Status.DONE,
    *,
    name: str = "HassTurnOn",
    server: str = "home_assistant",
    tier: Tier = Tier.COMFORT,
    observed: tuple[Observed, ...] = (),
    arguments: dict[str, Any] | None = None,
    entities: tuple[str, ...] = (),
) -> ToolOutcome:
    return ToolOutcome(
        "c",
        server,
        name,
        arguments or {},
        Decision.ALLOWED,
        tier,
        status,
        observed,
        1.0,
        "Done.",
        entities=entities,
    )


class FakeHome(StillHome, Snapshots, Services):
    """Live picture, snapshots and actions in one. An unknown action fails the test."""

    def __init__(self, *entities: Entity) -> None:
        areas = {"kitchen": Area("kitchen", "Kitchen"), "bedroom": Area("bedroom", "Bedroom")}
        super().__init__(House({}, areas, {entity.entity_id: entity for entity in entities}))
        self.scenes: dict[str, dict[str, Entity]] = {}
        self.done: list[str] = []  # every request, in order
        self.away = False  # every request fails while it is set
        self.stuck: set[str] = set()  # entities that do not react to scenes or actions
        self.gate: asyncio.Event | None = None  # if set, creating a scene waits for it

    # ---- the picture

    def write(self, entity_id: str, state: str | None = None, /, **attributes: Any) -> None:
        old = self.house.entities[entity_id]
        new = replace(old, state=state or old.state, attributes={**old.attributes, **attributes})
        self.house = replace(self.house, entities={**self.house.entities, entity_id: new})

    def put(self, entity: Entity) -> None:
        entities = {**self.house.entities, entity.entity_id: entity}
        self.house = replace(self.house, entities=entities)

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        await asyncio.sleep(0)
        return self.connected and predicate(self.house)

    # ---- snapshots

    async def create(self, number: int, entity_ids: Sequence[str]) -> None:
        self._request(f"create {number} {' '.join(entity_ids)}")
        kept = {name: self.house.entities[name] for name in entity_ids}
        if self.gate is not None:
            await self.gate.wait()
        self.scenes[snapshot_id(number)] = kept

    async def restore(self, number: int) -> None:
        self._request(f"restore {number}")
        for name, was in self.scenes[snapshot_id(number)].items():
            if name not in self.stuck and name in self.house.entities:
                self.write(name, was.state, **was.attributes)

    async def delete(self, entity_id: str) -> None:
        assert is_snapshot(entity_id), entity_id
        self._request(f"delete {entity_id.rpartition('_')[2]}")
        self.scenes.pop(entity_id, None)

    async def found(self) -> list[Found]:
        self._request("found")
        return [Found(name, None) for name in self.scenes]

    # ---- actions

    async def call(
        self,
        domain: str,
        service: str,
        data: Mapping[str, Any] | None = None,
        *,
        entities: Sequence[str] = (),
        answer: bool = False,
    ) -> None:
        (entity_id,) = entities
        self._request(f"{domain}.{service} {entity_id} {dict(data or {})}")
        if entity_id in self.stuck:
            raise Refused("it does not want to")
        if service in ("turn_on", "media_stop"):
            self.write(entity_id, "idle")
        elif service in ("turn_off", "media_pause", "media_play"):
            self.write(
                entity_id,
                {"turn_off": "off", "media_pause": "paused", "media_play": "playing"}[service],
            )
        else:
            assert data, service
            self.write(entity_id, **data)

    def _request(self, what: str) -> None:
        if self.away:
            raise Unavailable("the house is away")
        self.done.append(what)
