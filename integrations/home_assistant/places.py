"""Where things are: which entities a device, area, floor or label holds."""

from collections.abc import Collection, Iterable, Mapping

from integrations.home_assistant.house import Entity
from integrations.home_assistant.registry import Registries, read_labels
from integrations.home_assistant.shapes import text


class Places:
    """Looks into the registries. What has no state just now, but is registered, counts too: its
    integration may be about to load."""

    def __init__(self, registries: Registries, entities: Mapping[str, Entity]) -> None:
        self._registries = registries
        self._where = {name: (one.device_id, one.area_id) for name, one in entities.items()}
        for name, entry in registries.entities.items():
            if name not in entities and not entry.get("disabled_by"):
                device_id = text(entry.get("device_id"))
                device = registries.devices.get(device_id)
                area_id = text(entry.get("area_id")) or (device.area_id if device else None)
                self._where[name] = device_id or None, area_id

    @property
    def entity_ids(self) -> Collection[str]:
        """All entities."""
        return self._where.keys()

    def device(self, entity_id: str) -> str | None:
        """The id of the device that the entity belongs to."""
        return self._where.get(entity_id, (None, None))[0]

    def area(self, entity_id: str) -> str | None:
        """The id of the area that the entity is in."""
        return self._where.get(entity_id, (None, None))[1]

    def inside(self, devices: Iterable[str], areas: Iterable[str]) -> set[str]:
        """The entities of these devices and in these areas."""
        devices, areas = set(devices), set(areas)
        if not devices and not areas:
            return set()
        return {
            name
            for name, (device_id, area_id) in self._where.items()
            if device_id in devices or area_id in areas
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
        return self.inside(devices, areas) | {name for name in own if name in self._where}

    def by_registry_id(self, entry_id: str) -> str | None:
        """The entity whose registry entry has this id, which device actions name."""
        entries = self._registries.entities.items()
        return next((name for name, entry in entries if entry.get("id") == entry_id), None)

    def named(self, name: str) -> set[str]:
        """All that a name may mean: an entity, or those of a device, area, floor or label."""
        areas = {
            area.area_id
            for area in self._registries.areas.values()
            if name in (area.area_id, area.name, *area.aliases)
        }
        floors = {
            floor.floor_id
            for floor in self._registries.floors.values()
            if name in (floor.floor_id, floor.name, *floor.aliases)
        }
        known = self._registries.labels.items()
        labels = {label_id for label_id, called in known if name in (label_id, called)}
        found = self.inside((name,), areas) | self.on_floors(floors) | self.labelled(labels)
        return found | ({name.strip().lower()} & self._where.keys())
