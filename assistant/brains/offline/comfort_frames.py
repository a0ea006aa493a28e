"""Frames for lights, heating and media players; see `device_frames`."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from assistant.brains.offline.amounts import (
    AMOUNTS,
    LOWEST,
    is_step,
    sets_to,
    take_amount,
    take_factor,
    take_level,
    take_way,
    take_wish,
    within,
)
from assistant.brains.offline.frames import (
    Reading,
    Sentence,
    command_for,
    commands,
    each,
    of_room,
    one_of,
)
from assistant.brains.offline.lexicon import Piece
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.targets import (
    NoTarget,
    Target,
    entities_of,
    members,
    named_so,
)
from assistant.tools.house.names import brightness_percent, kelvin_range
from integrations.home_assistant.house import Entity, in_unit_of

_LIGHT_STEP = 20  # percentage points of "brighter"
_DEGREES = 1.0  # of "warmer"
_LIVED_IN = (14, 28)  # degrees; a number without a unit is then a room's temperature
_KELVIN = 1000.0  # of a warmer light
_NEUTRAL_K = 4000
_LEAST_KELVIN = 100


def lights(sentence: Sentence) -> Reading | None:
    colour = sentence.take("colours")
    white = None if colour else sentence.take("white")
    if sentence.has("kelvin") and not colour:
        sentence.take("kelvin")
        white = sentence.take("number")
        if white and white.value < _LEAST_KELVIN:  # "3,500"
            white = replace(white, value=white.value * 1000)
    if colour or white:
        sentence.take("set", "turn", "on", "colour", "shade", "again", "be_so")
        slots: dict[str, Any] = (
            {"color": colour.value} if colour else {"temperature": int(white.value) if white else 0}
        )
        if sentence.has("percent", "brightness", *AMOUNTS) and not sentence.has("kelvin"):
            sentence.take("brightness")
            amount = take_amount(sentence)
            if amount is None:
                return None
            slots |= {"brightness": within(amount)}
        made = commands(sentence, sentence.targets(("light",), "light"), "HassLightSet", **slots)
        said = colour.text if colour else ""
        return [
            replace(one, colour=said) if isinstance(one, ParsedCommand) else one for one in made
        ]
    if sentence.has("warmer", "cooler"):
        return _toned(sentence)
    way = take_way(sentence, "brighten", "dim")
    word = sentence.take("brightness")
    if sentence.take("halve"):
        return each(sentence, sentence.targets(("light",), "light"), partial(_halved, sentence))
    wish = take_wish(sentence, "dark", "bright")
    if wish:
        return _wished_light(sentence, wish)
    if not (word or way or sentence.has("percent", *AMOUNTS)) or _of_speed(sentence):
        return None
    amount = take_level(sentence)
    factor = take_factor(sentence) if amount is None else 1.0
    by = is_step(sentence, way, amount)
    sentence.take("set", "turn", "on", "up", "down", "by")
    if amount is None and not (word or sentence.has("brighten", "dim", "kind", "thing", "it")):
        return None  # "more kitchen roll"
    if not sentence.names_targets() and not (way and (sentence.has("brighten", "dim") or word)):
        return None
    targets = sentence.targets(("light",), "light") if sentence.names_targets() else _lit(sentence)
    if sentence.take("lit"):
        targets = _only_lit(sentence, targets)
    if amount is None and not word and sentence.has("on") and not sentence.has("brighten", "dim"):
        return None  # two verbs
    if by and amount is not None:
        steps = way * amount / _LIGHT_STEP
        return each(sentence, targets, lambda one: _dimmed(sentence, one, steps))
    if amount is not None:
        if way < 0 and not sentence.has("thing"):
            targets = _only_lit(sentence, targets)
        return commands(sentence, targets, "HassLightSet", brightness=within(amount))
    if not way:
        return None
    if not sentence.has("thing"):
        targets = _only_lit(sentence, targets)
    return each(sentence, targets, lambda one: _dimmed(sentence, one, way * factor))


def _only_lit(sentence: Sentence, targets: list[Target]) -> list[Target]:
    """Return the lamps that are on, or the targets if none is: dimming switches no lamp on."""
    on = [one for one in entities_of(targets, sentence.scene.house) if one.state == "on"]
    return [Target((one.entity_id,), "light") for one in on] or targets


def _of_speed(sentence: Sentence) -> bool:
    every = (one for some in sentence.pieces for one in some)
    return any(one.tag == "speed" and one.text.endswith("speed") for one in every)


def _toned(sentence: Sentence) -> Reading | None:
    """Make the light of named lamps warmer or cooler."""
    way = take_way(sentence, "warmer", "cooler")
    if not way or not sentence.names_targets():
        return None
    step = way * take_factor(sentence) * _KELVIN
    sentence.take("set", "turn", "white", "colours", "shade", "colour")

    def toned(lamp: Entity) -> ParsedCommand:
        now = lamp.attributes.get("color_temp_kelvin") or _NEUTRAL_K
        low, high = kelvin_range(lamp) or (_NEUTRAL_K, _NEUTRAL_K)
        wanted = within(now - step, low, high)
        return command_for(lamp, sentence.text, "HassLightSet", temperature=wanted)

    return each(sentence, sentence.targets(("light",), "light"), toned)


def _halved(sentence: Sentence, light: Entity) -> ParsedCommand | None:
    percent = brightness_percent(light) if light.state == "on" else None
    if percent is None:
        return None
    wanted = within(percent / 2, LOWEST)
    return command_for(light, sentence.text, "HassLightSet", brightness=wanted)


def _lit(sentence: Sentence) -> list[Target]:
    """Return the lamps that are on. Lamps of the last command count first, then those in this area,
    then all others."""
    scene = sentence.scene
    on = [one for one in scene.house.of_domain("light") if one.state == "on"]
    recent = [one for one in on if one.entity_id in scene.recent]
    here = [one for one in on if scene.here and one.area_id == scene.here]
    found = recent or here or on
    room = Target(domain="light", area_id=scene.here)
    if not (recent or here) and sentence.has("brighten", "up") and scene.here:
        return [room] if members(room, scene.house) else []
    if not found:
        return sentence.targets(("light",), "light") if scene.here else []
    sentence.take("here")
    if len({one.area_id for one in found}) > 1 and not (recent or here):
        return [Target(tuple(one.entity_id for one in found), "light")]
    return [Target((one.entity_id,), "light") for one in found]


def _dimmed(sentence: Sentence, light: Entity, steps: float) -> ParsedCommand | None:
    if light.attributes.get("supported_color_modes") == ["onoff"]:
        # `settle_target` says that a named lamp can't do this.
        impossible = command_for(light, sentence.text, "HassLightSet", brightness=LOWEST)
        return impossible if sentence.has("thing") else None
    on = light.state == "on"
    now = (brightness_percent(light) or 100) if on else 0
    if not on and (steps < 0 or len(_lit_beside(sentence, light)) > 0):
        return None
    wanted = within(now + steps * _LIGHT_STEP, LOWEST)
    return command_for(light, sentence.text, "HassLightSet", brightness=wanted)


def _lit_beside(sentence: Sentence, light: Entity) -> list[Entity]:
    """Return the lamps that are on in the same room. "Brighter" refers to them."""
    if sentence.has("thing"):
        return []
    house = sentence.scene.house
    return [
        one
        for one in house.of_domain("light")
        if one.area_id == light.area_id and one.state == "on"
    ]


def _wished_light(sentence: Sentence, wish: str) -> Reading:
    """Brighten or dim lights after a complaint such as "it's too dark in here"."""
    factor, house = take_factor(sentence), sentence.scene.house
    targets = of_room(sentence, "light")
    things = entities_of(targets, house)
    lit = [one for one in things if one.state == "on"]
    if wish == "dark" and not lit:
        return commands(sentence, targets, "HassTurnOn")
    way = factor if wish == "dark" else -factor
    changed = [_dimmed(sentence, one, way) for one in lit]
    made: Reading = [one for one in changed if one is not None]
    if not made and wish == "dark":
        return commands(sentence, targets, "HassTurnOn")
    return made


def climate(sentence: Sentence) -> Reading | None:
    wish = take_wish(sentence, "cold", "hot")
    way = {"cold": 1.0, "hot": -1.0}.get(wish) or take_way(sentence, "warmer", "cooler")
    word = sentence.take("temperature")
    number = sentence.take("number")
    degrees = sentence.take("degrees")
    if degrees and number is None and sentence.has("half", "half_unit"):
        sentence.take("half", "half_unit")
        number = Piece("number", "", 0.5)
    elif degrees and number is None and sentence.has("and_half"):
        number = Piece("number", "", 1.0)  # "a degree and a half"
    if number and sentence.take("and_half"):
        number = replace(number, value=number.value + 0.5)
    unit = _unit_of(degrees)
    named = sentence.names("climate")
    if not (wish or word or degrees or named) and sentence.has("it") and _lamps_before(sentence):
        return None  # "make it warmer" is then about the light
    about = wish or word or degrees or named or sentence.has("warmer", "cooler")
    about = about or (number is not None and _is_room_temperature(sentence, number.value))
    if not about or not (number or way) or sentence.has("percent"):
        return None
    relative = number is None or (way and number.value < 8 and not sets_to(sentence))
    factor = take_factor(sentence) if number is None else 1.0
    sentence.take("set", "turn", "by", "article", "on")
    targets = (
        sentence.targets(("climate",), "climate")
        if sentence.has("thing", "area", "floor", "kind", "all")
        else of_room(sentence, "climate")
    )

    def wanted(one: Entity) -> ParsedCommand:
        now = one.attributes.get("temperature")
        if relative and not isinstance(now, int | float):
            raise NoTarget
        step = float(number.value) if number else _DEGREES * max(1.0, factor)
        value = float(now or 0) + way * step if relative else step
        if unit and not relative:
            value = in_unit_of(sentence.scene.house.settings, value, unit)
        return command_for(one, sentence.text, "HassClimateSetTemperature", temperature=value)

    return one_of(sentence, targets, wanted)


def _lamps_before(sentence: Sentence) -> bool:
    """Return True if the last command was about lamps, and not about heating."""
    domains = {one.partition(".")[0] for one in sentence.scene.recent}
    return "light" in domains and "climate" not in domains


def _unit_of(degrees: Piece | None) -> str:
    """Return the unit that the words name, "°C" or "°F", or ""."""
    named = degrees.text.rpartition(" ")[2] if degrees else ""
    return {"fahrenheit": "°F", "celsius": "°C", "centígrados": "°C"}.get(named, "")


def _is_room_temperature(sentence: Sentence, value: float) -> bool:
    """Return True for "set the bedroom to 20", if the bedroom has a thermostat."""
    if not _LIVED_IN[0] <= value <= _LIVED_IN[1] or not sentence.has("to", "it"):
        return False
    if sentence.has("thing", "kind", "all", "brightness", "volume", "speed", "position"):
        return False
    scene = sentence.scene
    areas = [one.value[0] for some in sentence.pieces for one in some if one.tag == "area"]
    areas += [scene.here] * (sentence.has("here") and bool(scene.here))
    return bool(areas) and all(members(Target((), "climate", one), scene.house) for one in areas)


def starts_radio(sentence: Sentence) -> bool:
    """Return True for "put on the radio" in a house where nothing is called so. Speakers have no
    stations."""
    words = {one.text for some in sentence.pieces for one in some if one.tag == "kind"}
    radios = [Target(domain="media_player", word=one) for one in words if one in _RADIOS]
    starts = sentence.has("on", "play", "start", "put_on") and not sentence.has("off", "stop")
    house = sentence.scene.house
    return starts and any(not named_so(members(one, house), one.word) for one in radios)


_RADIOS = frozenset({"radio", "radios", "la radio", "las radios"})


def media(sentence: Sentence) -> Reading | None:
    if starts_radio(sentence):
        raise NoTarget
    music = sentence.has("music")
    ends = sentence.has("stop", "off", "enough") and not sentence.has("percent")
    if ends and (music or sentence.has("play")):
        sentence.take("stop", "off", "enough", "turn", "play", "again")
        return commands(sentence, _players(sentence, ("playing",)), "HassMediaPause")
    for tag, intent, states in _PLAYING:
        if sentence.has(tag):
            others = _BESIDE.get(tag, ())
            sentence.take(tag, "turn", "set", *others)
            return commands(sentence, _players(sentence, states), intent)
    if music and sentence.has("on", "turn", "start") and not sentence.has("up", "down"):
        sentence.take("on", "turn", "start", "set", "again")
        return commands(sentence, _players(sentence, ("paused",)), "HassMediaUnpause")
    return None


_PLAYING = (
    ("unmute", "HassMediaPlayerUnmute", ()),
    ("mute", "HassMediaPlayerMute", ("playing",)),
    ("pause", "HassMediaPause", ("playing",)),
    ("next", "HassMediaNext", ("playing",)),
    ("previous", "HassMediaPrevious", ("playing",)),
    ("play", "HassMediaUnpause", ("paused",)),
)
# What people add to these: "play the previous one", "pause it for a second".
_BESIDE = {
    "pause": ("moment",),
    "mute": ("moment",),
    "next": ("play", "on"),
    "previous": ("play", "again"),
    "play": ("again", "on"),
}


def _players(sentence: Sentence, states: Sequence[str]) -> list[Target]:
    """Return the media players that the sentence names. Without a name, return those in one of
    these states."""
    said = {one.tag for some in sentence.pieces for one in some}
    house, scene = sentence.scene.house, sentence.scene
    if said & {"thing", "area", "floor", "all", "both"}:
        sentence.take("music")
        targets = sentence.targets(("media_player",), "media_player")
        found = entities_of(targets, house)
        # By its name, a player that is paused is found too.
        return [Target((found[0].entity_id,), "media_player")] if len(found) == 1 else targets
    kinds = [one for some in sentence.pieces for one in some if one.tag == "kind"]
    if kinds and not any(one.value[1] == "media_player" for one in kinds):
        raise NoTarget
    if any(not members(Target(domain="media_player", word=one.text), house) for one in kinds):
        raise NoTarget  # "mute the telly"
    sentence.take("kind", "it", "one", "here", "music")
    every = house.of_domain("media_player")
    fitting = [one for one in every if one.state in states] or every
    here = [one for one in fitting if scene.here and one.area_id == scene.here]
    recent = [one for one in fitting if one.entity_id in scene.recent]
    own = [one for one in every if scene.here and one.area_id == scene.here]
    if "paused" in states and own and not recent:  # "play" never starts another room's player
        here = here or [one for one in own if one.state == "playing"] or own
    if not fitting:
        raise NoTarget
    return [Target(tuple(one.entity_id for one in recent or here or fitting), "media_player")]


def volume(sentence: Sentence) -> Reading | None:
    wish = take_wish(sentence, "loud", "quiet")
    word = sentence.first("quiet")
    if wish and word and word.text == "quiet" and not sentence.has("it_is", "too", "enough"):
        return None  # "quiet please"
    way = {"quiet": 1.0, "loud": -1.0}.get(wish) or take_way(sentence, "louder", "quieter")
    word = sentence.take("volume")
    players = sentence.has("music") or sentence.names("media_player")
    if not (word or wish or sentence.has("louder", "quieter") or players):
        recent = [one for one in sentence.scene.recent if one.startswith("media_player.")]
        it = sentence.first("it")
        blind = it is not None and it.text in (
            "enclítica",
            "enclíticas",
        )  # "súbela" can be a blind too
        anything = not sentence.scene.recent and not blind
        if not (way and it and (recent or anything)):
            return None
    amount = take_level(sentence)
    if amount is None and not way:
        return None
    if not (word or wish or amount is not None or sentence.has("louder", "quieter", "up", "down")):
        return None  # "more music" isn't louder music
    factor = take_factor(sentence) if amount is None else 1.0
    by = is_step(sentence, way, amount)
    sentence.take("set", "turn", "by", "on", "again")
    targets = _players(sentence, ("playing",))
    if amount is not None and not by:
        return commands(sentence, targets, "HassSetVolume", volume_level=within(amount))
    step = round(way * (amount if amount is not None else 10 * factor))
    return commands(sentence, targets, "HassSetVolumeRelative", volume_step=step)
