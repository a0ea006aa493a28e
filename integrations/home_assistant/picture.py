"""The picture of the house as it grows: registries, states, and what is learnt from elsewhere."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from integrations.errors import Refused, Unavailable
from integrations.home_assistant.context import Shown, exposed_by
from integrations.home_assistant.effects import Effects
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.registry import (
    Registries,
    read_entity,
    said_exposed,
    with_registries,
    with_state,
)
from integrations.home_assistant.related import SEARCHED
from integrations.home_assistant.runs import Runs, Switches
from integrations.home_assistant.scenes import is_worth_reading
from integrations.home_assistant.services import is_snapshot
from integrations.home_assistant.shapes import keyed, mapping, text
from integrations.home_assistant.websocket import Connection, EventHandler

_GONE = ("unavailable", None)


class Picture:
    """Keeps the newest House. A House that was given out never changes."""

    def __init__(self) -> None:
        self._registries = Registries()
        self._entities: dict[str, Entity] = {}
        self._effects: dict[str, Effects] = {}  # of scripts, automations and scenes
        self._seen: dict[str, frozenset[str]] = {}  # what scripts were seen to do
        self._told: House | None = None  # a house with nothing but both; None: build it anew
        self._runs = Runs()
        self._switches = Switches()
        self._house: House | None = House()  # None: build it at the next look
        # What came while loading, the newest by id; a state is None where the entity has gone.
        self._overtaking: dict[str, Mapping[str, Any] | None] | None = None
        self._shown: tuple[Shown, ...] = ()
        self._unlearnt = False  # the house changed since the list was applied
        self._pending = False  # the list came before there was a house
        self.unsearched: set[str] = set()  # whose effects may have changed since they were read
        self._asked: set[str] = set()  # those that are being asked about

    @property
    def house(self) -> House:
        """The newest picture. It is made at the first look after a change, not at each change.

        Copying 5,000 entities takes some 0.03 ms, a hundredth of what reading that many states
        takes (`tests/unit/integrations/home_assistant/test_picture.py` bounds it).
        """
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
            )
        return self._house

    @property
    def registries(self) -> Registries:
        """As last read."""
        return self._registries

    def begin_load(self) -> None:
        """States are asked for: what changes from now on is newer than the answer may be."""
        self._overtaking = {}

    def end_load(self, registries: Registries, states: Iterable[Mapping[str, Any]]) -> None:
        """Replace everything by what was read. Raises TypeError where `states` are none."""
        found = keyed(states, "entity_id")
        found = {name: state for name, state in found.items() if not is_snapshot(name)}
        # The reader may have delivered events between the answer and this line: the newer wins.
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
        self._effects = {}  # any of them may have been edited meanwhile
        self.doubt_effects()

    def refresh(self, registries: Registries, entity_ids: Iterable[str] | None) -> None:
        """Newer registries, of which these entities (None: any) are touched."""
        self._registries = replace(registries, learned=self._registries.learned)
        self._unlearnt = True
        for entity_id in list(self._entities) if entity_ids is None else entity_ids:
            if entity_id in self._entities:
                entity = self._entities[entity_id]
                self._entities[entity_id] = with_registries(entity, self._registries)
        self.doubt_effects()

    def change(self, event: Mapping[str, Any]) -> str:
        """Take a `state_changed` event; returns whose state it is, "" for one that is no matter."""
        data = mapping(event.get("data"))
        entity_id, state = text(data.get("entity_id")), data.get("new_state")
        odd = state is not None and mapping(state).get("entity_id") != entity_id
        if not entity_id or odd or is_snapshot(entity_id):
            return ""
        known = self._entities.get(entity_id)
        if known is None or state is None:
            self._unlearnt = True  # when the same list is told again it may say more
        if self._overtaking is not None:
            self._overtaking[entity_id] = state
        if state is None:
            self._entities.pop(entity_id, None)
        else:
            self._entities[entity_id] = (
                with_state(known, state) if known else read_entity(state, self._registries)
            )
        # A script that is edited goes, or is unavailable for a moment, and comes again.
        if entity_id.startswith(_PREFIXES) and (
            (known.state if known else None) in _GONE or (state or {}).get("state") in _GONE
        ):
            self.unsearched.add(entity_id)
            self._effects.pop(entity_id, None)  # until it is known anew
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
        """What the server's own text lists as exposed, for those of whom the registry is silent.

        An entity that comes later counts as seen until the next list. True: the house has changed.
        """
        if tuple(shown) == self._shown and not self._unlearnt:
            return False
        self._shown = tuple(shown)
        self._pending = not self._entities
        return not self._pending and self._learn()

    def doubt_effects(self) -> None:
        """What scripts, automations and scenes do may have changed: read all of them anew."""
        self.unsearched = {
            entity.entity_id
            for entity in self._entities.values()
            if entity.domain in SEARCHED
            and (_members(entity) is None or (self._registries.admin and is_worth_reading(entity)))
        }
        self._told = self._house = None

    def next_unread(self, count: int) -> list[str]:
        """Up to so many of `unsearched`, which are being asked about from now on: first what the
        assistant may see, scripts before others."""

        def weight(item_id: str) -> tuple[bool, bool, str]:
            known = self._entities.get(item_id)
            return known is None or not known.exposed, not item_id.startswith("script."), item_id

        chosen = sorted(self.unsearched, key=weight)[:count]
        self.unsearched.difference_update(chosen)
        self._asked.update(chosen)
        return chosen

    def learn_effects(self, found: Mapping[str, Effects]) -> None:
        """What some scripts, automations and scenes do; those that are gone are forgotten.

        One that was edited since it was asked about is asked about again: its answer is void.
        """
        self._asked.difference_update(found)
        known = self._effects | {n: one for n, one in found.items() if n not in self.unsearched}
        self._effects = {name: one for name, one in known.items() if name in self._entities}
        self._told = self._house = None

    def forget_asked(self) -> None:
        """The connection is gone, and with it the answers that were to come."""
        self.unsearched |= self._asked
        self._asked.clear()

    def _tell(self) -> House:
        """What is known of scripts, automations and scenes, as a house without anything else."""
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
        """What switches were seen to open."""
        return self._switches

    def recall(self, known: Mapping[str, frozenset[str]]) -> None:
        """What switches were seen to open before this process began."""
        self._switches.recall(known)
        self._house = None

    def _learn(self) -> bool:
        """Apply the newest list. True: some entity's exposure has changed by it."""
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
    """When, as Home Assistant writes it: such texts sort by time."""
    return text(state.get("last_updated"))


def _has_ways(effects: Effects) -> bool:
    """Whether a scene's states were read, and tell which way something goes."""
    return any(way != "either" for way in effects.touched.values())


def _members(entity: Entity) -> Any:
    """What the entity itself says it holds, as scenes mostly do."""
    return entity.attributes.get("entity_id")


# A subscription that outlives its connection.


log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Followed:
    """What somebody wants to hear of at every connection."""

    handler: EventHandler
    kind: str
    fields: Mapping[str, Any] = field(repr=False)  # one may be a secret, such as a webhook's id
    over: bool = False
    _begun: Connection | None = None  # on which it was asked for last

    async def begin(self, connection: Connection) -> None:
        """Subscribe on this connection, once. Raises nothing: the next one is another chance."""
        if self._begun is connection or self.over:
            return
        self._begun = connection
        try:
            await connection.subscribe(self._hear, self.kind, **self.fields)
        except Refused as error:
            log.warning("%s", error)
        except Unavailable as error:
            log.info("%s", error)
        if self.over:  # ended meanwhile
            await connection.unsubscribe(self._hear)

    async def end(self, connection: Connection) -> None:
        """Unsubscribe, if it is subscribed there."""
        await connection.unsubscribe(self._hear)

    def _hear(self, event: Mapping[str, Any]) -> None:
        """Hand the event on; what fails there must not end the house's own connection."""
        if self.over:
            return
        try:
            self.handler(event)
        except Exception:
            log.exception("An event of %s could not be dealt with", self.kind)
