"""Requests in the houses of the tests: the sentence, the call, and the resulting states."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Asked:
    """A sentence, the model's call for it, and the resulting states of the house."""

    name: str  # of the test
    house: str  # of ours
    text: str
    tool: str  # by the part of its name that stays
    arguments: Mapping[str, Any]
    entity: str
    shows: str | None = None  # a state
    attribute: tuple[str, Any] | None = None
    item: str = ""  # in a list, once more than before
    before: tuple[str, Mapping[str, Any]] | None = None  # an action, so that something changes
    spoken: bool = True  # a grammar of the device knows the sentence too
    rated: str = ""  # a script that its owner has rated comfort: no other token may read it

    def __str__(self) -> str:
        return self.name


def _light(entity: str, **data: Any) -> tuple[str, Mapping[str, Any]]:
    return ("light.turn_on" if data else "light.turn_off", {"entity_id": entity, **data})


def _ajar(entity: str) -> tuple[str, Mapping[str, Any]]:
    """Return a cover that is open, but a second from being closed: the demo's take ten in all."""
    return ("cover.set_cover_position", {"entity_id": entity, "position": 10})


KITCHEN = "light.kitchen_lights"
ENGLISH = [
    Asked(
        name="a light",
        house="english",
        text="turn on the kitchen lights",
        tool="HassTurnOn",
        arguments={"name": "Kitchen Lights"},
        entity=KITCHEN,
        shows="on",
        before=_light(KITCHEN),
    ),
    Asked(
        name="brightness",
        house="english",
        text="set the kitchen lights to 30 percent",
        tool="HassLightSet",
        arguments={"name": "Kitchen Lights", "brightness": 30},
        entity=KITCHEN,
        attribute=("brightness", 76),
        before=_light(KITCHEN, brightness=200),
    ),
    Asked(
        name="colour",
        house="english",
        text="set the kitchen lights to red",
        tool="HassLightSet",
        arguments={"name": "Kitchen Lights", "color": "red"},
        entity=KITCHEN,
        attribute=("rgb_color", [255, 0, 0]),
        before=_light(KITCHEN, rgb_color=[0, 0, 255]),
    ),
    Asked(
        name="climate",
        house="english",
        text="set the heatpump to 23 degrees",
        tool="HassClimateSetTemperature",
        arguments={"name": "HeatPump", "temperature": 23},
        entity="climate.heatpump",
        attribute=("temperature", 23.0),
        before=("climate.set_temperature", {"entity_id": "climate.heatpump", "temperature": 20}),
    ),
    Asked(
        name="volume",
        house="english",
        text="set the volume of walkman to 35 percent",
        tool="HassSetVolume",
        arguments={"name": "Walkman", "volume_level": 35},
        entity="media_player.walkman",
        attribute=("volume_level", 0.35),
        before=(
            "media_player.volume_set",
            {"entity_id": "media_player.walkman", "volume_level": 0.8},
        ),
    ),
    Asked(
        name="cover",
        house="english",
        text="close the living room window",
        tool="HassTurnOff",
        arguments={"name": "Living Room Window", "domain": ["cover"]},
        entity="cover.living_room_window",
        shows="closed",
        before=_ajar("cover.living_room_window"),
    ),
    Asked(
        name="list",
        house="english",
        text="add milk to the shopping list",
        tool="HassListAddItem",
        arguments={"name": "Shopping list", "item": "milk"},
        entity="todo.shopping_list",
        item="milk",
    ),
    Asked(
        name="script with a field",
        house="english",
        text="movie night at 12 percent",
        tool="movie_night",
        rated="script.movie_night",
        arguments={"brightness": 12},
        entity=KITCHEN,
        attribute=("brightness", 31),
        before=_light(KITCHEN, brightness=200),
        spoken=False,
    ),
]

_COCINA = {"name": "Luces de la cocina"}


def _spanish(name: str, english: str, text: str, **changes: Any) -> Asked:
    """Return the same for the Spanish house, whose results are those of the English one."""
    same = next(one for one in ENGLISH if one.name == english)
    return replace(same, **{"name": name, "house": "spanish", "text": text, "rated": "", **changes})


SPANISH = [
    _spanish("una luz", "a light", "enciende las luces de la cocina", arguments=_COCINA),
    _spanish(
        "brillo",
        "brightness",
        "pon las luces de la cocina al 30 por ciento",
        arguments={**_COCINA, "brightness": 30},
    ),
    _spanish(
        "color",
        "colour",
        "pon las luces de la cocina en rojo",
        arguments={**_COCINA, "color": "red"},
    ),
    _spanish(
        "clima",
        "climate",
        "pon la bomba de calor a 23 grados",
        arguments={"name": "Bomba de calor", "temperature": 23},
    ),
    _spanish("volumen", "volume", "pon el volumen de walkman al 35 por ciento"),
    _spanish(
        "persiana",
        "cover",
        "cierra la persiana del pasillo",
        arguments={"name": "Persiana del pasillo", "domain": ["cover"]},
        entity="cover.hall_window",
        before=_ajar("cover.hall_window"),
    ),
    _spanish(
        "lista",
        "list",
        "añade leche a la lista de la compra",
        arguments={"name": "Lista de la compra", "item": "leche"},
        entity="todo.lista_de_la_compra",
        item="leche",
    ),
    _spanish(
        "guion con un campo",
        "script with a field",
        "modo cine al 12 por ciento",
        tool="modo_cine",
        arguments={"brillo": 12},
    ),
    _spanish(
        "por su alias y sin acentos",
        "a light",
        "enciende el farol d'entrada",
        arguments={"name": "farol d'entrada"},
        entity="light.entrance_color_white_lights",
        before=_light("light.entrance_color_white_lights"),
        spoken=False,
    ),
]
