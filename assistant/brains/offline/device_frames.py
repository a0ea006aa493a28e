"""Read commands whose words are in no fixed order: "a bit warmer in the bedroom".

Each frame of `_FRAMES` looks for the verbs and amounts of one class of commands, and takes the
pieces that belong to it. A frame fits only if it explains every piece, so that talk ("the kitchen
light is too bright for me") leads to nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from assistant.brains.offline.frames import (
    AMOUNTS,
    Reading,
    Sentence,
    command_for,
    commands,
    each,
    one_of,
    take_amount,
    take_factor,
    take_way,
    take_wish,
    within,
)
from assistant.brains.offline.lexicon import NameIndex, Piece, pieces_of
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import LACKING, VALUE
from assistant.brains.offline.targets import (
    TARGET_TAGS,
    NoTarget,
    Scene,
    Target,
    entities_of,
    members,
)
from assistant.tools.house.names import brightness_percent
from integrations.home_assistant.house import Entity

_STEP = {"light": 20, "cover": 20, "fan": 25}  # percentage points of "brighter", "up a little"
_DEGREES = 1.0  # of "warmer"
_LOWEST = 1  # percent; "darker" doesn't switch a lamp off
_SWITCHED = frozenset(
    "light switch fan media_player climate input_boolean humidifier water_heater".split()
)
_EVERYTHING = ("light", "media_player", "fan", "switch")  # what "turn off everything" switches off


Frame = Callable[[Sentence], Reading | None]


def read_loosely(
    text: str, language: str, index: NameIndex, scene: Scene
) -> tuple[Reading, float] | None:
    """Return the commands of a sentence and how sure they are, or None if no frame explains it."""
    pieces = pieces_of(text, language, index)
    if not pieces:
        return None
    numbers = [some for some in pieces if all(one.tag == "number" for one in some)]
    if len(numbers) > 1:  # each belongs to a part of the sentence
        return None
    for frame in _FRAMES:
        sentence = Sentence(pieces, text, scene)
        try:
            reading = frame(sentence)
        except NoTarget:
            continue
        if reading and sentence.whole:
            return reading, sentence.sure
    return None


def _lights(sentence: Sentence) -> Reading | None:
    colour = sentence.take("colours")
    white = None if colour else sentence.take("white")
    if sentence.has("kelvin") and not colour:
        sentence.take("kelvin")
        white = sentence.take("number")
    if colour or white:
        sentence.take("set", "turn", "on", "colour", "it_is")
        slots = (
            {"color": colour.value} if colour else {"temperature": int(white.value) if white else 0}
        )
        made = commands(sentence, sentence.targets(("light",), "light"), "HassLightSet", **slots)
        said = colour.text if colour else ""
        return [
            replace(one, colour=said) if isinstance(one, ParsedCommand) else one for one in made
        ]
    way = take_way(sentence, "brighten", "dim")
    word = sentence.take("brightness")
    wish = take_wish(sentence, "dark", "bright")
    if wish:
        return _wished_light(sentence, wish)
    if not (word or way or sentence.has("percent", *AMOUNTS)):
        return None
    amount = take_amount(sentence)
    factor = take_factor(sentence) if amount is None else 1.0
    by = way and amount is not None and sentence.has("number") and not sentence.has("to")
    sentence.take("set", "turn", "on", "up", "down", "by")
    if not sentence.names_targets() and not (way and (sentence.has("brighten", "dim") or word)):
        return None
    targets = sentence.targets(("light",), "light") if sentence.names_targets() else _lit(sentence)
    if sentence.take("lit"):
        on = [one for one in entities_of(targets, sentence.scene.house) if one.state == "on"]
        targets = [Target((one.entity_id,), "light") for one in on]
    if by and amount is not None:
        steps = way * amount / _STEP["light"]
        return each(sentence, targets, lambda one: _dimmed(sentence, one, steps))
    if amount is not None:
        return commands(sentence, targets, "HassLightSet", brightness=within(amount))
    if not way:
        return None
    return each(sentence, targets, lambda one: _dimmed(sentence, one, way * factor))


def _lit(sentence: Sentence) -> list[Target]:
    """Return the lamps that are on, here if there is one."""
    scene = sentence.scene
    on = [one for one in scene.house.exposed() if one.domain == "light" and one.state == "on"]
    recent = [one for one in on if one.entity_id in scene.recent]
    here = [one for one in on if scene.here and one.area_id == scene.here]
    found = recent or here or on
    if not found:
        return sentence.targets(("light",), "light") if scene.here else []
    sentence.take("here")
    if len({one.area_id for one in found}) > 1 and not (recent or here):
        return [Target(tuple(one.entity_id for one in found), "light")]
    return [Target((one.entity_id,), "light") for one in found]


def _dimmed(sentence: Sentence, light: Entity, steps: float) -> ParsedCommand | None:
    if light.attributes.get("supported_color_modes") == ["onoff"]:
        return None
    on = light.state == "on"
    now = (brightness_percent(light) or 100) if on else 0
    if not on and (steps < 0 or len(_lit_beside(sentence, light)) > 0):
        return None
    wanted = within(now + steps * _STEP["light"], _LOWEST)
    return command_for(light, sentence.text, "HassLightSet", brightness=wanted)


def _lit_beside(sentence: Sentence, light: Entity) -> list[Entity]:
    """Return the lamps that are on in this one's room. "Brighter" means those."""
    if sentence.has("thing"):
        return []
    house = sentence.scene.house
    return [
        one
        for one in house.exposed()
        if one.domain == "light" and one.area_id == light.area_id and one.state == "on"
    ]


def _wished_light(sentence: Sentence, wish: str) -> Reading:
    """Brighten or dim: "it's too dark in here"."""
    factor, house = take_factor(sentence), sentence.scene.house
    targets = _of_room(sentence, "light")
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


def _of_room(sentence: Sentence, domain: str) -> list[Target]:
    """Return the devices of the room that is meant: the one that was said, or this one."""
    if sentence.has("area", "floor", "kind", "thing", "all"):
        return sentence.targets((domain,), domain)
    sentence.take("here", "it", "one")
    recent = [one for one in sentence.scene.recent if one.startswith(f"{domain}.")]
    if recent:
        return [Target((one,), domain) for one in recent]
    here = Target(domain=domain, area_id=sentence.scene.here)
    if sentence.scene.here and members(here, sentence.scene.house):
        return [here]
    things = [one for one in sentence.scene.house.exposed() if one.domain == domain]
    return [Target(tuple(one.entity_id for one in things), domain)]


def _climate(sentence: Sentence) -> Reading | None:
    wish = take_wish(sentence, "cold", "hot")
    way = {"cold": 1.0, "hot": -1.0}.get(wish) or take_way(sentence, "warmer", "cooler")
    word = sentence.take("temperature")
    number = sentence.take("number")
    degrees = sentence.take("degrees")
    if number and sentence.take("and_half"):
        number = replace(number, value=number.value + 0.5)
    if degrees and number is None and sentence.take("half", "half_unit"):
        number = Piece("number", "", 0.5)
    named = any(
        one.tag == "kind" and one.value[1] == "climate" for some in sentence.pieces for one in some
    )
    about = wish or word or degrees or named or sentence.has("warmer", "cooler")
    if not about or not (number or way) or sentence.has("percent"):
        return None
    relative = number is None or (way and number.value < 8)
    factor = take_factor(sentence) if number is None else 1.0
    sentence.take("set", "turn", "by", "article", "on")
    targets = (
        sentence.targets(("climate",), "climate")
        if sentence.has("thing", "area", "floor", "kind", "all")
        else _of_room(sentence, "climate")
    )

    def wanted(one: Entity) -> ParsedCommand:
        now = one.attributes.get("temperature")
        if relative and not isinstance(now, int | float):
            raise NoTarget
        step = float(number.value) if number else _DEGREES * max(1.0, factor)
        value = float(now or 0) + way * step if relative else float(number.value if number else 0)
        return command_for(one, sentence.text, "HassClimateSetTemperature", temperature=value)

    return one_of(sentence, targets, wanted)


def _media(sentence: Sentence) -> Reading | None:
    for tag, intent, states in _PLAYING:
        if sentence.has(tag):
            sentence.take(tag, "turn", "set", "music_word", "again" if tag == "play" else tag)
            sentence.take("on") if tag == "play" else None
            return commands(sentence, _players(sentence, states), intent)
    music = any(one.tag == "music" for options in sentence.pieces for one in options)
    if music and sentence.has("stop", "off") and not sentence.has("percent"):
        sentence.take("stop", "off", "turn", "again")
        return commands(sentence, _players(sentence, ("playing",)), "HassMediaPause")
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


def _players(sentence: Sentence, states: Sequence[str]) -> list[Target]:
    """Return the players that were said, otherwise those in one of these states."""
    said = {one.tag for some in sentence.pieces for one in some}
    if said & {"thing", "area", "floor", "all", "both"}:
        return sentence.targets(("media_player",), "media_player")
    house, scene = sentence.scene.house, sentence.scene
    sentence.take("kind", "it", "one", "here", "music")
    every = [one for one in house.exposed() if one.domain == "media_player"]
    fitting = [one for one in every if one.state in states] or every
    here = [one for one in fitting if scene.here and one.area_id == scene.here]
    recent = [one for one in fitting if one.entity_id in scene.recent]
    if not fitting:
        raise NoTarget
    return [Target(tuple(one.entity_id for one in recent or here or fitting), "media_player")]


def _volume(sentence: Sentence) -> Reading | None:
    wish = take_wish(sentence, "loud", "quiet")
    way = {"quiet": 1.0, "loud": -1.0}.get(wish) or take_way(sentence, "louder", "quieter")
    word = sentence.take("volume")
    players = sentence.has("music") or any(
        (one.tag == "kind" and one.value[1] == "media_player")
        or (one.tag == "thing" and one.value[0].startswith("media_player."))
        for some in sentence.pieces
        for one in some
    )
    if not (word or wish or sentence.has("louder", "quieter") or players):
        recent = [one for one in sentence.scene.recent if one.startswith("media_player.")]
        if not (way and sentence.has("it") and (recent or not sentence.scene.recent)):
            return None
    amount = take_amount(sentence)
    if amount is None and not way:
        return None
    factor = take_factor(sentence) if amount is None else 1.0
    by = way and amount is not None and sentence.has("by")
    sentence.take("set", "turn", "by", "on")
    targets = _players(sentence, ("playing",))
    if amount is not None and not by:
        return commands(sentence, targets, "HassSetVolume", volume_level=within(amount))
    step = round(way * (amount if amount is not None else 10 * factor))
    return commands(sentence, targets, "HassSetVolumeRelative", volume_step=step)


def _covers(sentence: Sentence) -> Reading | None:
    opening = bool(sentence.take("open"))
    closing = bool(sentence.take("close"))
    stop = bool(sentence.take("stop"))
    way = take_way(sentence, "open", "close")
    word = sentence.take("position")
    amount = None if stop else take_amount(sentence)
    sentence.take("turn", "set", "the_way")
    targets = sentence.targets(("cover",), "cover" if opening or closing else "")
    things = entities_of(targets, sentence.scene.house)
    if not things:
        raise NoTarget
    # What lets people in is opened only by its own name, word for word; the policy then asks.
    if any(map(_lets_in, things)) and not (closing and amount is None):
        named = opening and amount is None and len(things) == 1 and sentence.sure == 1.0
        if not (named and targets[0].topic == "kind_garages"):
            raise NoTarget
    if stop:
        return commands(sentence, targets, "HassStopMoving")
    if amount is not None:
        shut = closing or (way < 0 and not word and amount in (0.0, 100.0))
        value = 100 - amount if shut else amount
        return commands(sentence, targets, "HassSetPosition", position=within(value))
    if not way:
        return None
    if sentence.has("bit", "more", "less") and (factor := take_factor(sentence)):
        return each(sentence, targets, lambda one: _moved(sentence, one, way * factor))
    intent = "HassTurnOn" if way > 0 else "HassTurnOff"
    return commands(sentence, targets, intent)


def _lets_in(cover: Entity) -> bool:
    return cover.device_class in ("door", "garage", "gate", "window", None)


def _moved(sentence: Sentence, cover: Entity, steps: float) -> ParsedCommand | None:
    now = cover.attributes.get("current_position")
    if not isinstance(now, int | float):
        return None
    wanted = within(now + steps * _STEP["cover"])
    return command_for(cover, sentence.text, "HassSetPosition", position=wanted)


def _fans(sentence: Sentence) -> Reading | None:
    way = take_way(sentence, "faster", "slower")
    if sentence.take("slower"):
        way = -1.0
    amount = take_amount(sentence)
    if amount is None and not way:
        return None
    factor = take_factor(sentence)
    sentence.take("set", "turn", "speed", "on")
    if sentence.names_targets():
        targets = sentence.targets(("fan",), "fan" if sentence.has("faster", "slower") else "")
    else:
        targets = _of_room(sentence, "fan") if sentence.has("faster", "slower") else []
    if amount is not None:
        return commands(sentence, targets, "HassFanSetSpeed", percentage=within(amount))

    def changed(one: Entity) -> ParsedCommand | None:
        now = one.attributes.get("percentage") if one.state == "on" else 0
        if not isinstance(now, int | float):
            return None
        wanted = within(now + way * factor * _STEP["fan"], _LOWEST)
        return command_for(one, sentence.text, "HassFanSetSpeed", percentage=wanted)

    return each(sentence, targets, changed)


def _robots(sentence: Sentence) -> Reading | None:
    leaves = sentence.has("send") and sentence.take("out")
    dock = None if leaves else sentence.take("dock")
    stop = None if dock or leaves else sentence.take("stop", "off")
    start = None if dock or stop else leaves or sentence.take("start", "on")
    # "vacuum" is a verb and a noun.
    start = start or (None if dock or stop else sentence.take("clean"))
    if not (dock or stop or start):
        return None
    cleans = bool(start) and sentence.has("clean") and not sentence.has("send")
    sentence.take("send", "turn")
    places = [one for some in sentence.pieces for one in some if one.tag == "area"]
    kinds = [one for some in sentence.pieces for one in some if one.tag in ("thing", "kind")]
    if cleans and start and places:
        area = places[0].value[0]
        robots = [one for one in sentence.scene.house.exposed() if one.domain == "vacuum"]
        sentence.take("area", "thing", "kind", "here")
        if len(robots) != 1:
            raise NoTarget
        return [_cleaning(sentence, area)]
    if cleans and not kinds:
        targets = _of_room(sentence, "vacuum")
    elif kinds or sentence.has("it"):
        targets = sentence.targets(("vacuum", "lawn_mower"))
    else:
        targets = []
    if not targets:
        return None
    mower = targets[0].domain == "lawn_mower"
    if start:
        intent = "HassLawnMowerStartMowing" if mower else "HassVacuumStart"
    else:
        intent = "HassLawnMowerDock" if mower else "HassVacuumReturnToBase"
    return commands(sentence, targets, intent)


def _cleaning(sentence: Sentence, area_id: str) -> ParsedCommand:
    return ParsedCommand(
        "HassVacuumCleanArea", sentence.text, {"domain": "vacuum"}, area_id=area_id, area_said=True
    )


def _locks(sentence: Sentence) -> Reading | None:
    if not sentence.take("lock"):
        return None
    sentence.take("up", "set", "turn")
    if not sentence.names_targets() or sentence.has("all"):
        sentence.take("all", "kind", "here")
        return commands(sentence, [Target(domain="lock", everywhere=True)], "HassTurnOn")
    return commands(sentence, sentence.targets(("lock",), "lock"), "HassTurnOn")


def _scenes(sentence: Sentence) -> Reading | None:
    sentence.take("start", "on", "turn", "scene_word", "set", "play", "article")
    value = None
    if sentence.has("number"):
        sentence.take("percent", "brightness")
        value = sentence.take("number")
    targets = sentence.targets(("scene", "script"))
    if any(one.placed or not one.ids for one in targets):
        return None
    given = {VALUE: value.value} if value else {}
    return commands(sentence, targets, "HassTurnOn", **given)


def _switches(sentence: Sentence) -> Reading | None:
    on, off = sentence.take("on"), sentence.take("off")
    if not on and not off:
        fans = any(
            one.tag == "kind" and one.value[1] == "fan" for some in sentence.pieces for one in some
        )
        start = None if fans else sentence.take("start")
        on, off = start, sentence.take("stop") if fans else None
    if bool(on) == bool(off):
        return None
    intent = "HassTurnOn" if on else "HassTurnOff"
    sentence.take("turn", "set", "again", "start")
    things = sentence.has("thing", "kind", "area", "floor", "it", "one", "here", "both")
    if sentence.has("all") and off and not sentence.has("thing", "kind", "it"):
        return _everything_off(sentence)
    if not things:
        return None
    valve = ("valve",) if off else ()
    targets = sentence.targets((*_SWITCHED, *valve), "light")
    return commands(sentence, targets, intent)


def _everything_off(sentence: Sentence) -> Reading:
    """Switch off the lights, players, fans and switches of the house or of one place. The policy
    leaves on what has to keep running."""
    house = sentence.scene.house
    base = sentence.targets(("light",), "light")
    made: Reading = []
    for domain in _EVERYTHING:
        targets = [
            Target(
                domain=domain,
                area_id=t.area_id,
                floor_id=t.floor_id,
                everywhere=t.everywhere,
                place=t.place,
            )
            for t in base
        ]
        if any(
            one.state not in ("off", "idle", "standby", "unavailable")
            for one in entities_of(targets, house)
        ):
            made += commands(sentence, targets, "HassTurnOff")
    return made or commands(sentence, base, "HassTurnOff")


_SMALL_TALK = {
    "help": "commands",
    "fine": "fine",
    "thanks": "thanks",
    "bye": "bye",
    "hello": "hello",
}


def _small_talk(sentence: Sentence) -> Reading | None:
    for tag, response in _SMALL_TALK.items():
        if sentence.take(tag):
            sentence.take(*_SMALL_TALK)
            return [ParsedCommand("HassRespond", sentence.text, response=response)]
    if sentence.take("cancel"):
        return [ParsedCommand("HassNevermind", sentence.text)]
    return None


_FRAMES: tuple[Frame, ...] = (
    _media,
    _volume,
    _climate,
    _lights,
    _fans,
    _covers,
    _locks,
    _robots,
    _scenes,
    _switches,
    _small_talk,
)


_VERBS = frozenset(
    {"on", "off", "open", "close", "set", "turn", "lock", "start", "dim", "brighten"}
)


def what_is_lacking(
    text: str, language: str, index: NameIndex, scene: Scene
) -> ParsedCommand | None:
    """Return a command without a target if a room lacks the kind of device in the sentence, so that
    the person hears why nothing happens."""
    pieces = pieces_of(text, language, index) or []
    tags = {one.tag for some in pieces for one in some}
    known = (
        _VERBS
        | TARGET_TAGS
        | {"nowhere", "filler", "article", "to", "number", "degrees", "percent"}
    )
    if not tags & _VERBS or any(known.isdisjoint(one.tag for one in some) for some in pieces):
        return None
    kinds = [one.value[1] for some in pieces for one in some if one.tag == "kind"]
    areas = [one.value[0] for some in pieces for one in some if one.tag == "area"]
    there = [m for kind in kinds for a in areas for m in members(Target((), kind, a), scene.house)]
    return None if there or not (kinds and areas) else ParsedCommand(LACKING, text)
