"""Build the House from registries, states and observations.

`Search` finds out what scripts, automations and scenes do, from their configuration or from
`search/related`, which is partial for scripts and automations.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.actions import read_automation, read_script
from integrations.home_assistant.context import Shown, exposed_by
from integrations.home_assistant.effects import (
    SEARCHED,
    Effects,
    Places,
    _id_of,
    is_worth_reading,
    read_related,
    read_scene,
)
from integrations.home_assistant.house import Entity, House, HouseSettings, keyed, mapping, text
from integrations.home_assistant.reasons import CommandRefused
from integrations.home_assistant.registry import (
    Registries,
    read_entity,
    said_exposed,
    with_registries,
    with_state,
)
from integrations.home_assistant.rest import rest_client
from integrations.home_assistant.runs import Runs, Switches
from integrations.home_assistant.services import is_snapshot
from integrations.home_assistant.websocket import Connection

_GONE = ("unavailable", None)


class Picture:
    """Builds the House and keeps it up to date. Houses that were returned never change."""

    def __init__(self) -> None:
        self._registries = Registries()
        self._entities: dict[str, Entity] = {}
        self._effects: dict[str, Effects] = {}  # by script, automation or scene
        self._seen: dict[str, frozenset[str]] = {}  # observed effects of scripts
        self._told: House | None = None  # a House with only these two; None: out of date
        self._runs = Runs()
        self._switches = Switches()
        self._house: House | None = House()  # None: rebuild on next access
        self._settings = HouseSettings()
        # State changes while loading, the newest by entity id; None if the entity was removed.
        self._overtaking: dict[str, Mapping[str, Any] | None] | None = None
        self._shown: tuple[Shown, ...] = ()
        self._unlearnt = False  # the house changed since the list was applied
        self._pending = False  # the list arrived before the first states
        # ids whose effects may have changed since they were read
        self.unsearched: set[str] = set()
        self._asked: set[str] = set()  # ids whose effects are being requested

    @property
    def house(self) -> House:
        """The newest House, which is built on the first access after a change."""
        if self._house is None:
            if self._told is None:
                self._told = self._tell()
            floors, areas = self._registries.floors, self._registries.areas
            self._house = replace(
                self._told,
                floors=floors,
                areas=areas,
                entities=dict(self._entities),
                seen_opening=dict(self._switches.known),
                settings=self._settings,
            )
        return self._house

    @property
    def registries(self) -> Registries:
        return self._registries

    def set_settings(self, settings: HouseSettings) -> bool:
        """Record the settings, and return True if they have changed."""
        changed = settings != self._settings
        if changed:
            self._settings, self._house = settings, None
        return changed

    def begin_load(self) -> None:
        """Record that states are being requested. Later changes are kept, because they can be newer
        than the result."""
        self._overtaking = {}

    def end_load(self, registries: Registries, states: Iterable[Mapping[str, Any]]) -> None:
        found = keyed(states, "entity_id")
        found = {name: state for name, state in found.items() if not is_snapshot(name)}
        # Events may have arrived while the states were being read; the newer state wins.
        for entity_id, state in (self._overtaking or {}).items():
            known = found.get(entity_id)
            if state is None:
                found.pop(entity_id, None)
            elif known is None or _updated(state) >= _updated(known):
                found[entity_id] = state
        self._overtaking = None
        self._registries = replace(registries, learned=self._registries.learned)
        self._entities = {name: read_entity(one, self._registries) for name, one in found.items()}
        if self._pending:
            self._learn()
        self._effects = {}  # any of them could have been edited
        self.doubt_effects()

    def refresh(self, registries: Registries, entity_ids: Iterable[str] | None) -> None:
        """Apply newer registries to these entities, or to all entities if `entity_ids` is None."""
        self._registries = replace(registries, learned=self._registries.learned)
        self._unlearnt = True
        for entity_id in list(self._entities) if entity_ids is None else entity_ids:
            if entity_id in self._entities:
                entity = self._entities[entity_id]
                self._entities[entity_id] = with_registries(entity, self._registries)
        self.doubt_effects()

    def change(self, event: Mapping[str, Any]) -> str:
        """Apply a `state_changed` event and return its entity id, or "" if the event is
        irrelevant."""
        data = mapping(event.get("data"))
        entity_id, state = text(data.get("entity_id")), data.get("new_state")
        odd = state is not None and mapping(state).get("entity_id") != entity_id
        if not entity_id or odd or is_snapshot(entity_id):
            return ""
        known = self._entities.get(entity_id)
        if known is None or state is None:
            self._unlearnt = True  # applying the same list again may have a different result
        if self._overtaking is not None:
            self._overtaking[entity_id] = state
        if state is None:
            self._entities.pop(entity_id, None)
        else:
            self._entities[entity_id] = (
                with_state(known, state) if known else read_entity(state, self._registries)
            )
        # When a script is edited, it is removed or becomes unavailable for a moment and then
        # returns.
        if entity_id.startswith(_PREFIXES) and (
            (known.state if known else None) in _GONE or (state or {}).get("state") in _GONE
        ):
            self.unsearched.add(entity_id)
            self._effects.pop(entity_id, None)  # until it is read again
            self._seen.pop(entity_id, None)
            self._told = None
        self._switches.see(entity_id, known.state if known else "", mapping(state))
        script = self._runs.see(entity_id, mapping(state))
        if script in self._entities:
            self._seen[script] = self._seen.get(script, frozenset()) | {entity_id}
            self._told = None
        self._house = None
        return entity_id

    def learn(self, shown: Sequence[Shown]) -> bool:
        """Apply the MCP server's list of exposed entities to those whose registry entry does not
        set their exposure. Returns True if the house has changed."""
        if tuple(shown) == self._shown and not self._unlearnt:
            return False
        self._shown = tuple(shown)
        self._pending = not self._entities
        return not self._pending and self._learn()

    def doubt_effects(self) -> None:
        """Mark the scripts, automations and scenes whose effects must be read again."""
        self.unsearched = {
            entity.entity_id
            for entity in self._entities.values()
            if entity.domain in SEARCHED
            and (_members(entity) is None or (self._registries.admin and is_worth_reading(entity)))
        }
        self._told = self._house = None

    def next_unread(self, count: int) -> list[str]:
        """Take up to `count` ids from `unsearched`, the most important ones first. The caller then
        requests their effects."""

        def weight(item_id: str) -> tuple[bool, bool, str]:
            known = self._entities.get(item_id)
            return known is None or not known.exposed, not item_id.startswith("script."), item_id

        chosen = sorted(self.unsearched, key=weight)[:count]
        self.unsearched.difference_update(chosen)
        self._asked.update(chosen)
        return chosen

    def learn_effects(self, found: Mapping[str, Effects]) -> None:
        """Store the effects of scripts, automations and scenes, except those that were edited
        during the request."""
        self._asked.difference_update(found)
        known = self._effects | {n: one for n, one in found.items() if n not in self.unsearched}
        self._effects = {name: one for name, one in known.items() if name in self._entities}
        self._told = self._house = None

    def forget_asked(self) -> None:
        """Mark unanswered requests to be sent again."""
        self.unsearched |= self._asked
        self._asked.clear()

    def _tell(self) -> House:
        touches: dict[str, frozenset[str]] = {}
        partly: dict[str, frozenset[str]] = {}
        for name in self._effects.keys() | self._seen.keys():
            one = self._effects.get(name)
            ids = frozenset(one.touched if one else ()) | self._seen.get(name, frozenset())
            (touches if one is not None and one.complete else partly)[name] = ids
        read = {name: one for name, one in self._effects.items() if one.sentences is not None}
        return House(
            touches=touches,
            partly={name: ids for name, ids in partly.items() if ids},
            ways={
                name: one.touched
                for name, one in self._effects.items()
                if one.complete and (not name.startswith("scene.") or _has_ways(one))
            },
            unread=frozenset(self.unsearched | self._asked),
            untold=frozenset(name for name, one in self._effects.items() if not one.told),
            sentences={name: one.sentences or () for name, one in read.items()},
        )

    @property
    def switches(self) -> Switches:
        return self._switches

    def recall(self, known: Mapping[str, frozenset[str]]) -> None:
        """Restore the observations of earlier runs of the process."""
        self._switches.recall(known)
        self._house = None

    def _learn(self) -> bool:
        self._unlearnt = self._pending = False
        registries = self._registries
        said = {name: said_exposed(name, registries) for name in self._entities}
        certain = {name: one for name, one in said.items() if one is not None}
        told = exposed_by(self._shown, self._entities.values(), registries.areas, certain)
        self._registries = replace(registries, learned=told)
        changed = {name for name, _ in told.items() ^ registries.learned.items()}
        for entity_id in changed & self._entities.keys():
            entity = self._entities[entity_id]
            self._entities[entity_id] = with_registries(entity, self._registries)
            self._house = None
        return self._house is None


_PREFIXES = tuple(f"{domain}." for domain in SEARCHED)


def _updated(state: Mapping[str, Any]) -> str:
    return text(state.get("last_updated"))


def _has_ways(effects: Effects) -> bool:
    return any(way != "either" for way in effects.touched.values())


def _members(entity: Entity) -> Any:
    return entity.attributes.get("entity_id")


Reach = tuple[str, str, bool, str]  # URL, token, verify_tls, ca_file
MAX_ANSWER = 200_000  # characters


async def ask_scene(reach: Reach, entity: Entity) -> Any:
    """Return a scene's configuration. Raises IntegrationError."""
    async with rest_client(*reach) as client:
        answer = await client.get(f"/api/config/scene/config/{quote(_id_of(entity), safe='')}")
        if answer.status_code != 200 or len(answer.text) > MAX_ANSWER:
            raise Unavailable(f"the scene cannot be read (HTTP {answer.status_code})")
        try:
            return answer.json()
        except (RecursionError, ValueError):
            raise Unavailable("the scene cannot be read") from None


log = logging.getLogger(__name__)

AT_ONCE = 20  # parallel requests; each takes Home Assistant a few milliseconds
REST_S = 0.5  # pause between rounds, because a single edit causes dozens of changes
UNTOLD = Effects({}, ("Home Assistant does not report it",), told=False)
HELD = Effects({}, ("the states it sets are not known",))  # for a scene that lists its members
NOT_LOADED = Effects({}, ("it is not loaded",), ())


class Search:
    """Requests the effects of scripts, automations and scenes over one connection."""

    def __init__(
        self,
        connection: Connection,
        picture: Picture,
        ask_scene: Callable[[Entity], Awaitable[Any]],
    ) -> None:
        self._connection = connection
        self._ask_scene = ask_scene
        self._picture = picture
        # True if this Home Assistant supports `search/related`; None: not tried yet
        self._tells: bool | None = None
        self._unread: set[str] = set()  # domains whose configuration this user cannot read

    async def go_on(self) -> None:
        """Request and store the effects of the next few unread scripts, automations and scenes.
        Raises Unavailable."""
        wanted = self._picture.next_unread(1 if self._tells is None else AT_ONCE)
        places = Places(self._picture.registries, self._picture.house.entities)
        answers = await asyncio.gather(*(self._effects(one, places) for one in wanted))
        self._picture.learn_effects(dict(zip(wanted, answers, strict=True)))

    async def _effects(self, item_id: str, places: Places) -> Effects:
        read = await self._read(item_id, places)
        if read is not None and read.complete:
            return read
        related = await self._related(item_id)
        if read is None or related is None:
            return related or read or (HELD if self._is_held(item_id) else UNTOLD)
        log.debug("The effects of %s are only partly known: %s", item_id, "; ".join(read.reasons))
        return Effects({**related.touched, **read.touched}, read.reasons, read.sentences)

    async def _read(self, item_id: str, places: Places) -> Effects | None:
        domain = item_id.partition(".")[0]
        if domain in self._unread or not self._picture.registries.admin:
            return None
        if domain == "scene":
            return await self._read_scene(item_id)
        try:
            answer = await self._connection.command(f"{domain}/config", entity_id=item_id)
        except CommandRefused as error:
            log.info("The configuration of %s is not known: %s", item_id, error)
            if _is_final(error):
                self._unread.add(domain)
            # An automation that is not loaded has no active trigger sentences either.
            return NOT_LOADED if error.code == "not_found" else None
        config: Any = answer.get("config") if isinstance(answer, Mapping) else None
        read = read_script if domain == "script" else read_automation
        return read(config, places)

    async def _read_scene(self, item_id: str) -> Effects | None:
        scene = self._picture.house.entities.get(item_id)
        if scene is None or not is_worth_reading(scene):
            return None
        try:
            return read_scene(await self._ask_scene(scene), scene)
        except IntegrationError as error:
            log.info("The states that %s sets are not known: %s", item_id, error)
            return None

    def _is_held(self, item_id: str) -> bool:
        scene = self._picture.house.entities.get(item_id)
        return scene is not None and scene.domain == "scene" and "entity_id" in scene.attributes

    async def _related(self, item_id: str) -> Effects | None:
        if self._tells is False:
            return None
        domain = item_id.partition(".")[0]
        try:
            answer = await self._connection.command(
                "search/related", item_type=domain, item_id=item_id
            )
        except CommandRefused as error:
            log.info("The entities that %s affects are not known: %s", item_id, error)
            self._tells = not _is_final(error)
            return None
        self._tells = True
        if not isinstance(answer, Mapping):
            return None
        picture = self._picture
        return read_related(item_id, answer, picture.registries, picture.house.entities)


def _is_final(error: CommandRefused) -> bool:
    """Return True if the same request would be refused again on this connection."""
    return error.unknown or error.code == "unauthorized"
