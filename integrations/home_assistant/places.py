"""Where things are: which entities a device, area, floor or label holds."""

from collections.abc import Collection, Iterable, Mapping

from integrations.home_assistant.house import Entity
from integrations.home_assistant.registry import Registries, read_labels


class Places:
    """Looks into the registries."""

    def __init__(self, registries: Registries, entities: Mapping[str, Entity]) -> None:
        self._registries = registries
        self._entities = entities

    @property
    def entities(self) -> Mapping[str, Entity]:
        """All entities by id."""
        return self._entities

    def device(self, entity_id: str) -> str | None:
        """The id of the device that the entity belongs to."""
        entity = self._entities.get(entity_id)
        return entity.device_id if entity else None

    def area(self, entity_id: str) -> str | None:
        """The id of the area that the entity is in."""
        entity = self._entities.get(entity_id)
        return entity.area_id if entity else None

    def inside(self, devices: Iterable[str], areas: Iterable[str]) -> set[str]:
        """The entities of these devices and in these areas."""
        devices, areas = set(devices), set(areas)
        if not devices and not areas:
            return set()
        return {
            entity.entity_id
            for entity in self._entities.values()
            if entity.device_id in devices or entity.area_id in areas
        }

    def on_floors(self, floors: Collection[str]) -> set[str]:
        """The entities in the areas of these floors."""
        areas = self._registries.areas.values()
        return self.inside((), [area.area_id for area in areas if area.floor_id in floors])

    def labelled(self, labels: set[str]) -> set[str]:
        """The entities with one of these labels, or with a device or area that has it."""
        if not labels:
            return set()
        registries = self._registries
        devices = {name for name, one in registries.devices.items() if one.labels & labels}
        areas = {name for name, has in registries.area_labels.items() if has & labels}
        own = {name for name, entry in registries.entities.items() if read_labels(entry) & labels}
        return self.inside(devices, areas) | {name for name in own if name in self._entities}

    def by_registry_id(self, entry_id: str) -> str | None:
        """The entity whose registry entry has this id, which device actions name."""
        entries = self._registries.entities.items()
        return next((name for name, entry in entries if entry.get("id") == entry_id), None)

    def named(self, text: str) -> set[str]:
        """All that a text may mean: an entity, or those of a device, area, floor or label."""
        areas = {
            area.area_id
            for area in self._registries.areas.values()
            if text in (area.area_id, area.name, *area.aliases)
        }
        floors = {
            floor.floor_id
            for floor in self._registries.floors.values()
            if text in (floor.floor_id, floor.name, *floor.aliases)
        }
        labels = {key for key, name in self._registries.labels.items() if text in (key, name)}
        found = self.inside((text,), areas) | self.on_floors(floors) | self.labelled(labels)
        own = {text.strip().lower()} & self._entities.keys()
        return found | own
