"""Settle which devices a parsed command means, and check that they support it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from assistant.brains.offline.frames import Ask
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.targets import FEW, Target, members
from assistant.tools.house.names import spoken_place, spoken_things, stemmed
from assistant.tools.vocabulary import LANGUAGES, entries, fold, mentions
from integrations.home_assistant.house import Entity, House


@dataclass(frozen=True, slots=True)
class Problem:
    """The reason why no call can be made, as a catalogue key and its values."""

    key: str
    values: Mapping[str, object]


_QUESTIONS = ("HassGetState", "HassClimateGetTemperature")


def settle_target(command: ParsedCommand, house: House, here: str) -> ParsedCommand | Problem | Ask:
    """Return the command with a single target, or a question if several devices can be meant.

    Returns a problem if the name is unknown in the room that the person named. `here` is the id of
    this device's area, or "" if it isn't set.
    """
    if command.later is not None:
        later = settle_target(command.later, house, here)
        if isinstance(later, Ask):
            return Ask(tuple((one, replace(command, later=own)) for one, own in later.choices))
        return later if isinstance(later, Problem) else replace(command, later=later)
    command = _with_covers_there(command, house)
    elsewhere = _elsewhere(command, house)
    if elsewhere is not None:
        return elsewhere
    if (problem := _cannot(command, house)) is not None:
        return problem
    if (place := command.area_id if command.area_said else here) and _says_a_kind(command):
        # Even if one light is named "Lights", "the lights" means all lights in the room.
        return replace(command, entity_ids=(), name="", called="", area_id=place)
    if len(command.entity_ids) < 2 and not (command.entity_ids and command.area_said):
        return command
    entities = [house.entities[entity_id] for entity_id in command.entity_ids]
    area_id = command.area_id or here
    there = [entity for entity in entities if entity.area_id == area_id]
    if len(there) == 1:
        return replace(command, entity_ids=(there[0].entity_id,), area_id=area_id)
    if command.area_said and not there:
        area = house.areas[command.area_id]
        place = spoken_place((area.name, *area.aliases))
        return Problem("offline.not_there", {"name": command.name, "area": place})
    chosen = there or entities
    if _are_twins(chosen) and command.intent in _QUESTIONS:
        return replace(command, entity_ids=tuple(one.entity_id for one in chosen))
    if _are_twins(chosen):  # nobody can tell them apart, so all of them are set
        return replace(command, entity_ids=(chosen[0].entity_id,), area_id=chosen[0].area_id or "")
    return Ask(tuple((one, replace(command, entity_ids=(one.entity_id,))) for one in chosen))


def _are_twins(entities: Sequence[Entity]) -> bool:
    same = {(entity.area_id, entity.name.casefold()) for entity in entities}
    return len(same) == 1 and bool(entities[0].area_id)


_BLINDS = frozenset({"awning", "blind", "curtain", "shade", "shutter"})


def _elsewhere(command: ParsedCommand, house: House) -> ParsedCommand | Ask | None:
    """Return the command for a device in another room, if this room has none of a rare kind."""
    domain = command.slots.get("domain")
    if domain not in FEW or not command.area_id or command.area_said or command.entity_ids:
        return None
    if mentions("everything", command.text):
        return replace(command, area_id="")
    if members(Target(domain=domain, area_id=command.area_id), house):
        return None
    every = members(Target(domain=domain), house)
    found = tuple(
        (one, replace(command, area_id="", entity_ids=(one.entity_id,), name=one.name))
        for one in every
    )
    if not found:
        return None
    return found[0][1] if len(found) == 1 else Ask(found)


_COLOURED = frozenset({"hs", "rgb", "rgbw", "rgbww", "xy"})


def _cannot(command: ParsedCommand, house: House) -> Problem | None:
    """Return the reason why a single lamp can't be set like this. Home Assistant would only switch
    the lamp on."""
    wanted = command.slots.get("device_class")
    player = command.slots.get("domain") == "media_player" and isinstance(wanted, str)
    if player and not any(one.device_class == wanted for one in house.exposed()):
        return Problem("offline.none_there", {})
    if command.intent != "HassLightSet" or len(command.entity_ids) != 1:
        return None
    lamp = house.entities[command.entity_ids[0]]
    modes = lamp.attributes.get("supported_color_modes")
    if not isinstance(modes, list | tuple) or lamp.domain != "light":
        return None
    what = spoken_things([lamp.names])
    if set(modes) == {"onoff"}:
        return Problem("offline.only_switched", {"what": what})
    if "color" in command.slots and not _COLOURED.intersection(modes):
        return Problem("offline.no_colours", {"what": what})
    return None


def only_capable_lamps(command: ParsedCommand, house: House) -> list[ParsedCommand]:
    """Return a separate command for each lamp in a room that supports it, if other lamps there
    don't. Otherwise, return only the command itself."""
    if command.intent != "HassLightSet" or command.entity_ids:
        return [command]
    lamps = members(Target((), "light", command.area_id, command.floor_id), house)
    each = [replace(command, entity_ids=(one.entity_id,), name=one.name) for one in lamps]
    can = [one for one in each if _cannot(one, house) is None]
    return can if command.area_id and 0 < len(can) < len(each) else [command]


def _with_covers_there(command: ParsedCommand, house: House) -> ParsedCommand:
    # People call a shade a blind, and the templates go by the word.
    classes = str(command.slots.get("device_class"))
    if command.slots.get("domain") != "cover" or not command.area_id or classes not in _BLINDS:
        return command
    there = {
        one.device_class
        for one in house.exposed()
        if one.domain == "cover" and one.area_id == command.area_id
    }
    others = sorted(_BLINDS.intersection(filter(None, there)))
    if classes in others or not others:
        return command
    return replace(command, slots={**command.slots, "device_class": others})


def _says_a_kind(command: ParsedCommand) -> bool:
    if command.slots.get("domain") != "light" or command.intent not in _OF_LIGHTS:
        return False
    return fold(command.name) in _lamp_words()


@cache
def _lamp_words() -> frozenset[str]:
    # A word is plural if the vocabulary has a shorter one with the same stem: "lights", "luces".
    return frozenset(
        fold(word)
        for words in (entries("lights", code) for code in LANGUAGES)
        for word in words
        if any(stemmed(one) == stemmed(word) and len(one) < len(word) for one in words)
    )


_OF_LIGHTS = ("HassLightSet", "HassTurnOff", "HassTurnOn")
