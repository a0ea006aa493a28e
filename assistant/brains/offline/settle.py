"""Settle which devices a parsed command means, and check that they support it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from assistant.brains.offline.frames import Ask
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import READING
from assistant.brains.offline.targets import FEW, NAMED_KINDS, Target, members
from assistant.tools.house.names import kelvin_range, spoken_place, spoken_things, stemmed
from assistant.tools.policy.words import read
from assistant.tools.vocabulary import LANGUAGES, entries, find, fold, mentions
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
    command = _in_white(_as_temperature(_with_covers_there(command, house), house), house)
    named = _named_there(command, house)
    if named is not None:
        return named
    elsewhere = _elsewhere(command, house)
    if elsewhere is not None:
        return elsewhere
    if (problem := _cannot(command, house)) is not None:
        return problem
    if (changed := _of_quiet_player(command, house) or _in_state(command, house)) is not None:
        return changed
    if (place := command.area_id if command.area_said else here) and _says_a_kind(command):
        # Even if one light is named "Lights", "the lights" means all lights in the room.
        return replace(command, entity_ids=(), name="", called="", area_id=place)
    if len(command.entity_ids) < 2 and not (command.entity_ids and command.area_said):
        return command
    entities = [house.entities[entity_id] for entity_id in command.entity_ids]
    area_id = command.area_id or here
    there = [entity for entity in entities if entity.area_id == area_id]
    if len(there) == 1:
        only = replace(command, entity_ids=(there[0].entity_id,), area_id=area_id)
        return _cannot(only, house) or only
    if command.area_said and not there and (alike := _alike_there(command, house)):
        return alike
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


def _alike_there(command: ParsedCommand, house: House) -> ParsedCommand | Ask | None:
    """Return the command for the devices of a room with a similar name: "the lamp in the dining
    room", where there is an "Ikebana lamp"."""
    domain = str(command.slots.get("domain"))
    words = {stemmed(word) for word in fold(command.name).split()}
    found = tuple(
        (one, replace(command, entity_ids=(one.entity_id,), name=one.name, called=""))
        for one in house.of_domain(domain)
        if one.area_id == command.area_id
        and any(words <= {stemmed(word) for word in fold(name).split()} for name in one.names)
    )
    return found[0][1] if len(found) == 1 else Ask(found) if found else None


def _are_twins(entities: Sequence[Entity]) -> bool:
    same = {(entity.area_id, entity.name.casefold()) for entity in entities}
    return len(same) == 1 and bool(entities[0].area_id)


_BLINDS = frozenset({"awning", "blind", "curtain", "shade", "shutter"})


def _elsewhere(command: ParsedCommand, house: House) -> ParsedCommand | Ask | None:
    """Return the command for all lights, or for a device in another room if this room has none of
    a rare kind. The area is that of this device."""
    domain = command.slots.get("domain")
    if not command.area_id or command.area_said or command.entity_ids:
        return None
    everything = mentions("everything", command.text)
    if _is_light_command(command) and everything and not mentions("here", command.text):
        return replace(command, area_id="")  # French: "toutes les lumières"
    if domain not in FEW:
        return None
    if everything:
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


def _of_quiet_player(command: ParsedCommand, house: House) -> ParsedCommand | None:
    """Return the command that sets the volume of a player that isn't playing, or None for others.

    Home Assistant's HassSetVolume accepts only players that are playing, but a volume can be
    changed by a difference at any time.
    """
    if command.intent != "HassSetVolume":
        return None
    target = Target(command.entity_ids, "media_player", command.area_id, command.floor_id)
    players = members(target, house) if command.entity_ids or command.area_id else []
    now = players[0].attributes.get("volume_level") if len(players) == 1 else None
    if not isinstance(now, int | float) or players[0].state == "playing":
        return None
    step = round(float(command.slots["volume_level"]) - now * 100)
    one = replace(command, entity_ids=(players[0].entity_id,), name=players[0].name)
    if not step:
        return replace(one, intent=READING, slots={}, response="volume")
    return replace(one, intent="HassSetVolumeRelative", slots={"volume_step": step})


# States of the players that these reach in Home Assistant.
_NEEDED = {
    "HassMediaPause": "playing",
    "HassMediaNext": "playing",
    "HassMediaPrevious": "playing",
    "HassMediaUnpause": "paused",
}


def _in_state(command: ParsedCommand, house: House) -> ParsedCommand | Problem | None:
    """Return the command for the only player that is playing, or a problem if none is. Returns None
    if the command reaches a player as it is."""
    if command.intent == "HassTurnOn" and len(command.entity_ids) == 1:
        player = house.entities[command.entity_ids[0]]
        if player.domain != "media_player" or player.state != "paused":
            return None
        return replace(command, intent="HassMediaUnpause")  # turning it on would do nothing
    wanted = _NEEDED.get(command.intent)
    target = Target(command.entity_ids, "media_player", command.area_id, command.floor_id)
    players = members(target, house) if wanted else []
    if not players or any(one.state == wanted for one in players):
        return None
    elsewhere = [one for one in house.of_domain("media_player") if one.state == wanted]
    if wanted == "playing" and len(elsewhere) == 1 and not (command.area_said or target.ids):
        one = elsewhere[0]
        return replace(command, entity_ids=(one.entity_id,), name=one.name, area_id="")
    states = {one.state for one in players}
    if states == {"playing"} or (states == {"paused"} and command.intent == "HassMediaPause"):
        return replace(command, entity_ids=tuple(one.entity_id for one in players[:1]), area_id="")
    return Problem("offline.not_playing" if wanted == "playing" else "offline.not_paused", {})


_COLOURED = frozenset({"hs", "rgb", "rgbw", "rgbww", "xy"})


def _cannot(command: ParsedCommand, house: House) -> Problem | None:
    """Return the reason why a lamp, or every lamp in a place, can't be set like this. Home
    Assistant would only switch it on."""
    wanted = command.slots.get("device_class")
    player = command.slots.get("domain") == "media_player" and isinstance(wanted, str)
    if player and not any(one.device_class == wanted for one in house.exposed()):
        return Problem("offline.none_there", {})
    if command.intent == "HassLightSet" and not command.entity_ids:
        problems = [_cannot(one, house) for one in _lamp_by_lamp(command, house)]
        first = problems[0] if problems else None
        return first if all(problems) else None
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
    kelvin = command.slots.get("temperature")
    if not isinstance(kelvin, int | float):
        return None
    if "color_temp" not in modes:
        return (
            None if _COLOURED.intersection(modes) else Problem("offline.no_white", {"what": what})
        )
    low, high = kelvin_range(lamp) or (kelvin, kelvin)
    if low <= kelvin <= high:
        return None
    return Problem("offline.kelvin_range", {"what": what, "low": f"{low:g}", "high": f"{high:g}"})


_WHITE_K = 4000


def _in_white(command: ParsedCommand, house: House) -> ParsedCommand:
    """Return the command with a white tone instead of the colour white, if the lamp has only
    these."""
    if command.slots.get("color") != "white" or len(command.entity_ids) != 1:
        return command
    modes = house.entities[command.entity_ids[0]].attributes.get("supported_color_modes") or ()
    if "color_temp" not in modes or _COLOURED.intersection(modes):
        return command
    slots = {key: value for key, value in command.slots.items() if key != "color"}
    return replace(command, slots={**slots, "temperature": _WHITE_K})


def _lamp_by_lamp(command: ParsedCommand, house: House) -> list[ParsedCommand]:
    lamps = members(Target((), "light", command.area_id, command.floor_id), house)
    return [replace(command, entity_ids=(one.entity_id,), name=one.name) for one in lamps]


def separate_commands(command: ParsedCommand, house: House) -> list[ParsedCommand]:
    """Return a separate command for each device where a single call can't set them all: for all
    thermostats of the house, and for the lamps of a room if only some support it."""
    made = _separated(command, house)
    if not made[1:] and not any(one.entity_ids for one in made):
        return made
    if not (mentions("except", command.text) or mentions("except_names", command.text)):
        return made
    # The policy leaves out what is excepted only if a call names no device.
    heard = read(house, command.text)
    return [
        one
        for one in made
        if len(one.entity_ids) != 1 or not heard.leaves(house.entities[one.entity_ids[0]], house)
    ]


def _separated(command: ParsedCommand, house: House) -> list[ParsedCommand]:
    if command.intent == "HassSetVolume" and not command.entity_ids:
        return _player_by_player(command, house)
    one_by_one = command.intent == "HassClimateSetTemperature" and not command.entity_ids
    if one_by_one and mentions("everything", command.text):
        words = [word for word in command.text.split() if stemmed(word) in NAMED_KINDS]
        area_id = command.area_id if command.area_said else ""
        every = Target((), "climate", area_id, command.floor_id, word=next(iter(words), ""))
        return [
            replace(command, entity_ids=(one.entity_id,), name=one.name, area_id="")
            for one in members(every, house)
        ]
    return _only_capable_lamps(command, house)


_SPEAKERS = re.compile(r"\b(?:speakers|altavoces|bocinas|parlantes)\b", re.IGNORECASE)


def _player_by_player(command: ParsedCommand, house: House) -> list[ParsedCommand]:
    """Return a command for each player of "all speakers" if only some of them are playing."""
    target = Target((), "media_player", command.area_id, command.floor_id)
    speakers = bool(_SPEAKERS.search(command.text))
    plural = speakers and not command.area_said
    every = members(target, house) if plural or mentions("everything", command.text) else []
    players = [one for one in every if not (speakers and one.device_class == "tv")]
    if players == every and all(one.state == "playing" for one in players):
        return [command]
    each = (replace(command, entity_ids=(p.entity_id,), name=p.name, area_id="") for p in players)
    return [_of_quiet_player(one, house) or one for one in each]


def _only_capable_lamps(command: ParsedCommand, house: House) -> list[ParsedCommand]:
    if command.intent != "HassLightSet" or command.entity_ids:
        return [command]
    each = _lamp_by_lamp(command, house)
    can = [one for one in each if _cannot(one, house) is None]
    return can if command.area_id and 0 < len(can) < len(each) else [command]


def _with_covers_there(command: ParsedCommand, house: House) -> ParsedCommand:
    # People call a shade a blind, and the templates go by the word.
    classes = str(command.slots.get("device_class"))
    placed = command.area_id or command.intent == "HassGetState"
    if command.slots.get("domain") != "cover" or not placed or classes not in _BLINDS:
        return command
    there = {
        one.device_class for one in house.of_domain("cover") if command.area_id in ("", one.area_id)
    }
    others = sorted(_BLINDS.intersection(filter(None, there)))
    if (classes in others and command.area_id) or not others:
        return command
    named = [one for one in house.exposed() if one.device_class == classes]
    if len(named) == 1 and not command.area_said:  # "the shade" is the only one in the house
        name = named[0].name
        return replace(command, area_id="", entity_ids=(named[0].entity_id,), name=name)
    return replace(command, slots={**command.slots, "device_class": others})


_OF_BRIGHTNESS = re.compile(r"bright|dim|percent|%|por ?ciento|brillo|level|nivel")
_DEGREES = range(14, 29)  # of a room, in Celsius


def _as_temperature(command: ParsedCommand, house: House) -> ParsedCommand:
    # "Set the bedroom to 20" is about its thermostat, although the templates know only lights.
    number = command.slots.get("brightness")
    if command.intent != "HassLightSet" or not command.area_said or number not in _DEGREES:
        return command
    if mentions("lights", command.text) or _OF_BRIGHTNESS.search(command.text):
        return command
    there = members(Target((), "climate", command.area_id), house)
    if len(there) != 1:
        return command
    one = there[0]
    return replace(
        command,
        intent="HassClimateSetTemperature",
        slots={"domain": "climate", "temperature": number},
        entity_ids=(one.entity_id,),
        name=one.name,
    )


def _named_there(command: ParsedCommand, house: House) -> ParsedCommand | Ask | None:
    """Return the command for a device that is called by the word with which the person named its
    kind: "the lamp upstairs", if one there is called "Lamp". "The lights upstairs" and "every lamp
    upstairs" are all of them."""
    domain = command.slots.get("domain")
    if not isinstance(domain, str) or command.entity_ids or not command.place:
        return None
    if mentions("everything", command.text):
        return None
    words = fold(command.text, marks=True).split()
    cut = find("except", command.text)
    words = [fold(word) for word in words[: cut[0] if cut else len(words)]]
    there = members(Target((), domain, command.area_id, command.floor_id), house)
    said = set(words) - _lamp_words()
    called = [one for one in there if any(fold(name) in said for name in one.names)]
    found = tuple(
        (one, replace(command, area_id="", entity_ids=(one.entity_id,), name=one.name))
        for one in called
    )
    if not found or len(called) == len(there):
        return None
    return found[0][1] if len(found) == 1 else Ask(found)


def _is_light_command(command: ParsedCommand) -> bool:
    return command.slots.get("domain") == "light" and command.intent in _OF_LIGHTS


def _says_a_kind(command: ParsedCommand) -> bool:
    return _is_light_command(command) and fold(command.name) in _lamp_words()


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
