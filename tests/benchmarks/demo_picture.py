"""The embedded house as the assistant sees it, without a server."""

from integrations.demo_home.catalogue import AREAS, FLOORS, THINGS
from integrations.demo_home.house import Thing
from integrations.home_assistant.house import Entity, House


def demo_picture() -> House:
    """Return everything in the catalogue in its first state."""
    return House(
        {floor.floor_id: floor for floor in FLOORS},
        {area.area_id: area for area in AREAS},
        {thing.entity_id: _entity(thing) for thing in THINGS},
    )


def _entity(thing: Thing) -> Entity:
    return Entity(
        thing.entity_id,
        thing.name,
        thing.state,
        aliases=thing.aliases,
        area_id=thing.area_id,
        device_class=thing.attributes.get("device_class"),
        attributes=thing.attributes,
        exposed=thing.exposed,
    )
