"""An administrator's access to a house of the tests, over REST and websocket.

Hearth itself never has this token. The embedded house answers the REST part and what its websocket
knows.
"""

import asyncio
import time
from collections.abc import Iterable, Mapping
from typing import Any

from tests.home_assistant.line import Failed, Json, Line

_STEP_S = 0.02


class Admin(Line):
    """One connection to one house; use it as an async context manager."""

    # ---- plain requests

    async def get(self, path: str, **query: str) -> Any:
        """Return the JSON at that path. Raises httpx.HTTPStatusError."""
        answer = await self.http.get(path, params=query)
        return answer.raise_for_status().json()

    async def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the answer to a POST of JSON, None if it is empty. Raises
        httpx.HTTPStatusError."""
        answer = await self.http.post(path, json=dict(body or {}))
        return answer.raise_for_status().json() if answer.content else None

    async def delete(self, path: str) -> None:
        """Delete the path. Raises httpx.HTTPStatusError."""
        (await self.http.delete(path)).raise_for_status()

    async def ask(self, kind: str, **fields: Any) -> Any:
        """Return the result of a websocket command. Raises Failed."""
        answer = await self.answer_to(kind, **fields)
        if not answer["success"]:
            raise Failed(f"{kind}: {answer['error']['message']}")
        return answer["result"]

    async def again(self) -> None:
        """Drop the websocket, because the house was restarted."""
        if self._socket is not None:
            await self._socket.close()
            self._socket = None

    # ---- the house

    async def states(self) -> dict[str, Json]:
        """Return all states, by entity id: `state`, `attributes`."""
        return {state["entity_id"]: state for state in await self.get("/api/states")}

    async def state(self, entity_id: str) -> str:
        """Return the state of that entity."""
        return str((await self.get(f"/api/states/{entity_id}"))["state"])

    async def attribute(self, entity_id: str, name: str) -> Any:
        """Return an attribute of that entity; None if it has none of that name."""
        return (await self.get(f"/api/states/{entity_id}"))["attributes"].get(name)

    async def settles(self, entity_id: str, *wanted: str, limit_s: float = 5.0) -> str:
        """Return the entity's state once it is one of those wanted, or at the time limit."""
        deadline = time.monotonic() + limit_s
        while (state := await self.state(entity_id)) not in wanted:
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(_STEP_S)
        return state

    async def call(self, action: str, **data: Any) -> Any:
        """Run an action, named as `light.turn_on`."""
        return await self.post(f"/api/services/{action.replace('.', '/')}", data)

    async def fire(self, event: str, **data: Any) -> None:
        await self.post(f"/api/events/{event}", data)

    async def expose(self, entity_ids: Iterable[str], exposed: bool) -> None:
        """Expose entities to the assistant, or hide them."""
        await self.ask(
            "homeassistant/expose_entity",
            assistants=["conversation"],
            entity_ids=sorted(entity_ids),
            should_expose=exposed,
        )

    async def exposed(self) -> set[str]:
        """Return ids of the exposed entities. The list also remembers things that are long gone."""
        told = (await self.ask("homeassistant/expose_entity/list"))["exposed_entities"]
        there = (await self.states()).keys()
        return {entity for entity in told.keys() & there if told[entity].get("conversation")}

    async def place(self, entity_id: str, area_id: str | None) -> None:
        """Put an entity into an area; with its device, if it is the device's unnamed one."""
        device = await self._device_of_unnamed(entity_id)
        if device:
            await self.ask("config/device_registry/update", device_id=device, area_id=area_id)
        else:
            await self.ask("config/entity_registry/update", entity_id=entity_id, area_id=area_id)

    async def name(self, entity_id: str, name: str) -> None:
        """Rename an entity; its device, if it is the device's unnamed one."""
        device = await self._device_of_unnamed(entity_id)
        if device:
            await self.ask("config/device_registry/update", device_id=device, name_by_user=name)
        else:
            await self.ask("config/entity_registry/update", entity_id=entity_id, name=name)

    async def _device_of_unnamed(self, entity_id: str) -> str:
        """Return the device whose name and area are the entity's; empty if it has its own."""
        entity = await self.ask("config/entity_registry/get", entity_id=entity_id)
        return "" if entity["original_name"] else entity["device_id"] or ""

    async def add_entry(self, domain: str, answers: Mapping[str, Any] | None = None) -> str:
        """Add an integration as its page does, and return the entry's id. Raises Failed."""
        flow = await self.post("/api/config/config_entries/flow", {"handler": domain})
        if flow["type"] == "form":
            step = f"/api/config/config_entries/flow/{flow['flow_id']}"
            flow = await self.post(step, answers)
        if flow["type"] != "create_entry":
            raise Failed(f"{domain}: {flow.get('errors') or flow.get('reason') or flow['type']}")
        return str(flow["result"]["entry_id"])

    async def entries(self, domain: str) -> list[Json]:
        """Return the entries of an integration."""
        found: list[Json] = await self.get("/api/config/config_entries/entry", domain=domain)
        return found
