"""The live picture of the house: one websocket, one owner task, a House that is always at hand."""

import asyncio
import logging
import ssl
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from integrations.errors import IntegrationError, Refused, SignInAgain, Unavailable
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.registry import (
    Registries,
    read_areas,
    read_device_areas,
    read_entity,
    read_exposure,
    read_floors,
    with_state,
)
from integrations.home_assistant.websocket import Connection, open_connection
from integrations.owner import OwnedTasks
from integrations.tls import tls_context

log = logging.getLogger(__name__)

FIRST_PICTURE_S = 10.0  # how long entering waits for the first picture before going on without
SIGN_IN_PAUSE_S = 60.0  # a refused token is tried seldom: Home Assistant logs every attempt
REGISTRY_EVENTS = (
    "area_registry_updated",
    "device_registry_updated",
    "entity_registry_updated",
    "floor_registry_updated",
)


@dataclass(eq=False, slots=True)
class _Waiter:
    """Someone who waits for the house to look a certain way."""

    entity_ids: frozenset[str]
    predicate: Callable[[House], bool]
    met: asyncio.Event


class HomeAssistant:
    """Follows one Home Assistant. Enter it; then `house` is the newest picture.

    Entering never fails because Home Assistant is away: `connected` is then False, `problem` says
    why, and the owner task goes on trying with a growing pause. While the connection is down
    `house` keeps the last picture.
    """

    def __init__(
        self,
        url: str,
        token: str,
        verify_tls: bool = True,
        ca_file: str = "",
        *,
        pause_s: tuple[float, float] = (0.5, 5.0),
    ) -> None:
        """`url` is the base ("http://host:8123"), `pause_s` the least and longest retry pause."""
        self._url = url
        self._token = token
        self._verify_tls = verify_tls
        self._ca_file = ca_file
        self._pause_s = pause_s
        self._registries = Registries()
        self._entities: dict[str, Entity] = {}
        self._house: House | None = House()  # None: build it at the next look
        self._connection: Connection | None = None
        self._problem: IntegrationError | None = None
        self._settled = asyncio.Event()  # the first try is over, well or badly
        self._registries_stale = asyncio.Event()
        self._overtaking: list[Mapping[str, Any]] | None = None  # states that came while loading
        self._waiters: set[_Waiter] = set()
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        await self._owner.__aenter__()
        self._owner.start(self._own(), "home-assistant")
        try:
            async with asyncio.timeout(FIRST_PICTURE_S):
                await self._settled.wait()
        except TimeoutError:
            log.warning("Home Assistant has not answered within %.0f s; going on.", FIRST_PICTURE_S)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, traceback)

    @property
    def house(self) -> House:
        """The newest picture. A change makes a new House; the one you hold stays as it is."""
        if self._house is None:
            self._house = House(
                self._registries.floors, self._registries.areas, dict(self._entities)
            )
        return self._house

    @property
    def connected(self) -> bool:
        """Whether the picture is being kept up to date."""
        return self._connection is not None

    @property
    def problem(self) -> IntegrationError | None:
        """Why there is no connection, or None."""
        return self._problem

    async def command(self, kind: str, **fields: Any) -> Any:
        """One websocket command to Home Assistant. Raises Refused or Unavailable."""
        if self._connection is None:
            raise self._problem or Unavailable("Home Assistant is not connected.")
        return await self._connection.command(kind, **fields)

    async def wait_for(
        self, entity_ids: Collection[str], predicate: Callable[[House], bool], timeout_s: float
    ) -> bool:
        """Wait until `predicate(house)` is true, looking at each change of `entity_ids`.

        True at once where it already is; False after `timeout_s` or while not connected.
        """
        if not self.connected:
            return False
        if predicate(self.house):
            return True
        waiter = _Waiter(frozenset(entity_ids), predicate, asyncio.Event())
        self._waiters.add(waiter)
        try:
            async with asyncio.timeout(timeout_s):
                await waiter.met.wait()
        except TimeoutError:
            return False
        finally:
            self._waiters.discard(waiter)
        return True

    async def _own(self) -> None:
        """Keep a connection for ever; every failure is noted and followed by a pause."""
        pause_s = self._pause_s[0]
        while True:
            try:
                await self._follow()
            except* IntegrationError as group:
                self._problem = _first(group)
            if self.connected:
                pause_s = self._pause_s[0]
            self._connection = None
            self._settled.set()
            log.warning("%s", self._problem)
            await asyncio.sleep(
                SIGN_IN_PAUSE_S if isinstance(self._problem, SignInAgain) else pause_s
            )
            pause_s = min(pause_s * 2, self._pause_s[1])

    async def _follow(self) -> None:
        """One connection from sign-in to its end. Raises IntegrationError, alone or in a group."""
        async with (
            open_connection(self._url, self._token, self._tls()) as connection,
            asyncio.TaskGroup() as group,
        ):
            group.create_task(connection.read(), name="home-assistant-reader")
            await connection.subscribe(
                self._on_state_changed, "subscribe_events", event_type="state_changed"
            )
            for event in REGISTRY_EVENTS:
                await self._subscribe_registry(connection, event)
            await self._load(connection)
            self._connection = connection
            self._problem = None
            self._settled.set()
            while True:
                await self._registries_stale.wait()
                await self._load(connection)

    def _tls(self) -> ssl.SSLContext | None:
        if not self._url.startswith("https:"):
            return None
        return tls_context(
            verify=self._verify_tls, ca_file=self._ca_file, setting="home_assistant.ca_file"
        )

    async def _subscribe_registry(self, connection: Connection, event: str) -> None:
        try:
            await connection.subscribe(
                lambda _: self._registries_stale.set(), "subscribe_events", event_type=event
            )
        except Refused as error:
            log.info("Changes of names and rooms are seen at the next connection only: %s", error)

    async def _load(self, connection: Connection) -> None:
        """Read registries and states anew. Raises Refused or Unavailable."""
        self._registries_stale.clear()
        self._overtaking = []
        try:
            self._registries = await _registries(connection)
            states = {state["entity_id"]: state for state in await connection.command("get_states")}
        except (AttributeError, KeyError, TypeError) as error:
            raise Unavailable(
                f"Home Assistant answered in a form that Hearth does not know: {error!r}."
            ) from error
        # The reader may have delivered events between the answer and this line: the newer wins.
        for state in self._overtaking:
            known = states.get(state["entity_id"])
            if known is None or state.get("last_updated", "") >= known.get("last_updated", ""):
                states[state["entity_id"]] = state
        self._overtaking = None
        self._entities = {
            name: read_entity(state, self._registries) for name, state in states.items()
        }
        self._house = None
        self._wake(None)

    def _on_state_changed(self, event: Mapping[str, Any]) -> None:
        data = event.get("data") or {}
        entity_id, state = str(data.get("entity_id")), data.get("new_state")
        known = self._entities.get(entity_id)
        if state is None:
            self._entities.pop(entity_id, None)
        else:
            if self._overtaking is not None:
                self._overtaking.append(state)
            self._entities[entity_id] = (
                with_state(known, state) if known else read_entity(state, self._registries)
            )
        self._house = None
        self._wake(entity_id)

    def _wake(self, entity_id: str | None) -> None:
        """Let those look who wait for this entity; None: everyone."""
        for waiter in self._waiters:
            if (entity_id is None or entity_id in waiter.entity_ids) and waiter.predicate(
                self.house
            ):
                waiter.met.set()


async def _registries(connection: Connection) -> Registries:
    entries = {
        row["entity_id"]: row for row in await connection.command("config/entity_registry/list")
    }
    entries |= await _extended(connection, list(entries))
    return Registries(
        floors=read_floors(await connection.command("config/floor_registry/list")),
        areas=read_areas(await connection.command("config/area_registry/list")),
        device_areas=read_device_areas(await connection.command("config/device_registry/list")),
        entities=entries,
        exposure=read_exposure(entries, await _exposure(connection)),
    )


async def _extended(connection: Connection, entity_ids: list[str]) -> dict[str, Mapping[str, Any]]:
    """Registry entries with their aliases, where this user may read them."""
    try:
        found = await connection.command(
            "config/entity_registry/get_entries", entity_ids=entity_ids
        )
    except Refused as error:
        log.info("Aliases are not known: %s", error)
        return {}
    return {entity_id: entry for entity_id, entry in found.items() if entry}


async def _exposure(connection: Connection) -> Mapping[str, Any] | None:
    """The list of exposed entities: for admins only, so a refusal is normal."""
    try:
        answer: Mapping[str, Any] = await connection.command("homeassistant/expose_entity/list")
    except Refused:
        return None
    return answer


def _first(group: BaseExceptionGroup[IntegrationError]) -> IntegrationError:
    """The error that says most: the first one in the group, however deep."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, IntegrationError)
    return error
