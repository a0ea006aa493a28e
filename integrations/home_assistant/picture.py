"""The picture of the house as it grows: registries, states, and what is learnt from elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from integrations.home_assistant.context import Shown, exposed_by
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
from integrations.home_assistant.shapes import keyed, mapping, text
from integrations.home_assistant.snapshots import is_snapshot

_GONE = ("unavailable", None)


class Picture:
    """Keeps the newest House. A House that was given out never changes."""

    def __init__(self) -> None:
        self._registries = Registries()
        self._entities: dict[str, Entity] = {}
        self._touches: Mapping[str, frozenset[str]] = {}
        self._seen: Mapping[str, frozenset[str]] = {}  # of the same what scripts were seen to do
        self._runs = Runs()
        self._switches = Switches()
        self._house: House | None = House()  # None: build it at the next look
        # What came while loading, the newest by id; a state is None where the entity has gone.
        self._overtaking: dict[str, Mapping[str, Any] | None] | None = None
        self._shown: tuple[Shown, ...] = ()
        self._unlearnt = False  # the house changed since the list was applied
        self._pending = False  # the list came before there was a house
        self.unsearched: set[str] = set()  # whose touched entities may have changed

    @property
    def house(self) -> House:
        """The newest picture. It is made at the first look after a change, not at each change.

        Copying 5,000 entities takes some 0.03 ms, a hundredth of what reading that many states
        takes (`tests/unit/integrations/home_assistant/test_picture.py` bounds it).
        """
        if self._house is None:
            floors, areas = self._registries.floors, self._registries.areas
            seen = dict(self._switches.known)
            self._house = House(floors, areas, dict(self._entities), self._touches, seen)
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
        self._touches = {}  # any of them may have been edited meanwhile
        self._search_all()
        self._house = None

    def refresh(self, registries: Registries, entity_ids: Iterable[str] | None) -> None:
        """Newer registries, of which these entities (None: any) are touched."""
        self._registries = replace(registries, learned=self._registries.learned)
        self._unlearnt = True
        for entity_id in list(self._entities) if entity_ids is None else entity_ids:
            if entity_id in self._entities:
                entity = self._entities[entity_id]
                self._entities[entity_id] = with_registries(entity, self._registries)
        self._search_all()
        self._house = None

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
            self._touches = _without(self._touches, entity_id)  # until it is known anew
            self._seen = _without(self._seen, entity_id)
        self._switches.see(entity_id, known.state if known else "", mapping(state))
        script = self._runs.see(entity_id, mapping(state))
        if script in self._entities:
            self._seen = _with(self._seen, script, entity_id)
            self._touches = _with(self._touches, script, entity_id)
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

    def touch(self, found: Mapping[str, frozenset[str]]) -> None:
        """What some scripts, automations and scenes touch; those that are gone are forgotten.

        One that was edited since it was asked about is asked about again: its answer is void.
        """
        known = {**self._touches, **_without(found, *self.unsearched)}
        self._touches = {
            name: ids | self._seen.get(name, frozenset())
            for name, ids in known.items()
            if name in self._entities
        }
        self._house = None

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

    def _search_all(self) -> None:
        self.unsearched = {
            entity.entity_id
            for entity in self._entities.values()
            if entity.domain in SEARCHED and _members(entity) is None
        }


_PREFIXES = tuple(f"{domain}." for domain in SEARCHED)


def _updated(state: Mapping[str, Any]) -> str:
    """When, as Home Assistant writes it: such texts sort by time."""
    return text(state.get("last_updated"))


def _without(touches: Mapping[str, frozenset[str]], *item_ids: str) -> dict[str, frozenset[str]]:
    return {name: ids for name, ids in touches.items() if name not in item_ids}


def _with(
    touches: Mapping[str, frozenset[str]], item_id: str, entity_id: str
) -> dict[str, frozenset[str]]:
    return {**touches, item_id: touches.get(item_id, frozenset()) | {entity_id}}


def _members(entity: Entity) -> Any:
    """What the entity itself says it holds, as scenes mostly do."""
    return entity.attributes.get("entity_id")
