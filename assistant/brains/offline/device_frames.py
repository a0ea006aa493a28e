"""Read commands whose words can be in any order: "a bit warmer in the bedroom".

Each frame in `_FRAMES` looks for the verbs and amounts of one class of commands, and takes the
pieces that belong to it. A frame fits only if it explains every piece, so that talk ("the kitchen
light is too bright for me") doesn't become a command.
"""

from collections.abc import Callable
from dataclasses import replace

from assistant.brains.offline.amounts import (
    LOWEST,
    is_step,
    take_amount,
    take_factor,
    take_level,
    take_way,
    take_wish,
    within,
)
from assistant.brains.offline.comfort_frames import climate, lights, media, starts_radio, volume
from assistant.brains.offline.frames import (
    Reading,
    Sentence,
    begins_question,
    command_for,
    commands,
    each,
    is_vague,
    of_room,
)
from assistant.brains.offline.lexicon import NameIndex, Piece, pieces_of
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import IMPOSSIBLE, VALUE
from assistant.brains.offline.targets import NoTarget, Scene, Target, entities_of
from assistant.tools.vocabulary import fold
from integrations.home_assistant.house import Entity

_STEP = {"cover": 20, "fan": 25, "humidifier": 5}  # percentage points of "faster", "up a little"
_HUMIDITY = "HassHumidifierSetpoint"
_SWITCHED = frozenset(
    "light switch fan media_player climate input_boolean humidifier water_heater".split()
)
_EVERYTHING = ("light", "media_player", "fan", "switch")  # what "turn off everything" switches off


Frame = Callable[[Sentence], Reading | None]


def read_loosely(
    text: str, language: str, index: NameIndex, scene: Scene
) -> tuple[Reading, float] | None:
    """Return the commands of a sentence and their confidence, or None if no frame explains it."""
    pieces = _ensured(pieces_of(text, language, index) or [])
    if not pieces or begins_question(pieces) or is_vague(pieces):
        return None
    if any(one.tag == "except" for one in pieces[0]):  # the exception's end is unknown
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


_STATES = {"be_closed": "close", "be_open": "open", "be_locked": "lock"}


def _ensured(pieces: list[list[Piece]]) -> list[list[Piece]]:
    """Return the command for "make sure the door is locked": "lock the door"."""
    if not any(one.tag == "ensure" for some in pieces for one in some):
        return pieces
    left = [some for some in pieces if not any(one.tag in ("ensure", "it_is") for one in some)]
    return [[replace(one, tag=_STATES.get(one.tag, one.tag)) for one in some] for some in left]


def _covers(sentence: Sentence) -> Reading | None:
    opening = bool(sentence.take("open"))
    closing = bool(sentence.take("close"))
    daylight = bool(sentence.take("daylight"))
    if sentence.take("glare"):
        return commands(sentence, of_room(sentence, "cover"), "HassTurnOff")
    stop = bool(sentence.take("stop"))
    way = 1.0 if daylight else take_way(sentence, "open", "close")
    word = sentence.take("position")
    amount = None if stop else take_amount(sentence)
    moves = not (opening or closing or word or sentence.has("to"))  # "up" or "down"
    step = is_step(sentence, way, amount, bare=moves)
    sentence.take("turn", "set", "the_way", "need", *(("overnight",) if closing else ()))
    targets = (
        of_room(sentence, "cover")
        if daylight
        else sentence.targets(("cover",), "cover" if opening or closing else "")
    )
    things = entities_of(targets, sentence.scene.house)
    if not things:
        raise NoTarget
    # What lets people in is opened only by its own name; the policy then asks.
    if any(map(_lets_in, things)) and not stop and not (way < 0 and amount is None):
        named = targets[0].ids or targets[0].topic == "kind_garages"
        if not (way > 0 and not daylight and named and len(things) == 1 and sentence.sure == 1.0):
            raise NoTarget
        if amount is not None or take_factor(sentence) != 1.0:
            return [command_for(things[0], sentence.text, IMPOSSIBLE)]
    if stop:
        return commands(sentence, targets, "HassStopMoving")
    if step and amount is not None:
        points = way * amount
        return each(sentence, targets, lambda one: _moved(sentence, one, points))
    if amount is not None:
        shut = closing or (way < 0 and (moves or amount in (0.0, 100.0)))
        value = within(100 - amount if shut else amount)
        if value not in (0, 100):
            return commands(sentence, targets, "HassSetPosition", position=value)
        way = 1.0 if value else -1.0
    if not way:
        return None
    if amount is None and sentence.has("bit", "more", "less"):
        points = way * take_factor(sentence) * _STEP["cover"]
        return each(sentence, targets, lambda one: _moved(sentence, one, points))
    return commands(sentence, targets, "HassTurnOn" if way > 0 else "HassTurnOff")


def _lets_in(cover: Entity) -> bool:
    return cover.device_class in ("door", "garage", "gate", "window", None)


def _moved(sentence: Sentence, cover: Entity, points: float) -> ParsedCommand | None:
    now = cover.attributes.get("current_position")
    if not isinstance(now, int | float):
        return None
    return command_for(cover, sentence.text, "HassSetPosition", position=within(now + points))


def _fans(sentence: Sentence) -> Reading | None:
    if take_wish(sentence, "hot", "cold") == "hot":  # in a room without a thermostat
        return commands(sentence, of_room(sentence, "fan"), "HassTurnOn")
    named = sentence.names("fan")
    wish = take_wish(sentence, "fast", "weak") if named and sentence.has("too") else ""
    way = {"fast": -1.0, "weak": 1.0}.get(wish) or take_way(sentence, "faster", "slower")
    amount = take_level(sentence)
    if amount is None and not way:
        return None
    step = is_step(sentence, way, amount)
    factor = take_factor(sentence)
    sentence.take("set", "turn", "speed", "on", *(("start", "need") if named else ()))
    if sentence.names_targets():
        targets = sentence.targets(("fan",), "fan" if sentence.has("faster", "slower") else "")
    else:
        targets = of_room(sentence, "fan") if sentence.has("faster", "slower") else []
    if amount is not None and not step:
        return commands(sentence, targets, "HassFanSetSpeed", percentage=within(amount))
    points = way * (amount if amount is not None else factor * _STEP["fan"])

    def changed(one: Entity) -> ParsedCommand | None:
        now = one.attributes.get("percentage") if one.state == "on" else 0
        if not isinstance(now, int | float):
            return None
        wanted = within(now + points, LOWEST)
        return command_for(one, sentence.text, "HassFanSetSpeed", percentage=wanted)

    return each(sentence, targets, changed)


def _humidifiers(sentence: Sentence) -> Reading | None:
    word = sentence.take("moisture")
    if not word and not sentence.names("humidifier"):
        return None
    way = take_way(sentence, "moister", "drier")
    amount = take_amount(sentence)
    if amount is None and not way:
        return None
    step = is_step(sentence, way, amount)
    points = way * (amount if step and amount is not None else _STEP["humidifier"])
    points *= take_factor(sentence)
    sentence.take("set", "turn", "on", "start", "need")
    targets = sentence.targets(("humidifier",), "humidifier" if word else "")

    def changed(one: Entity) -> ParsedCommand | None:
        now = one.attributes.get("humidity")
        if amount is not None and not step:
            return command_for(one, sentence.text, _HUMIDITY, humidity=within(amount))
        if not isinstance(now, int | float):
            return None
        return command_for(one, sentence.text, _HUMIDITY, humidity=within(now + points))

    return each(sentence, targets, changed)


def _robots(sentence: Sentence) -> Reading | None:
    if any("music" in fold(one.text) for some in sentence.pieces for one in some):
        return None  # "para la música y la aspiradora"
    noun = sentence.names(*_ROBOTS)
    leaves = sentence.has("send") and sentence.take("out")
    dock = None if leaves else sentence.take("dock")
    stop = None if dock or leaves else sentence.take("stop", "off", "pause")
    mows = bool(sentence.take("mow"))
    cleans = bool(sentence.take_verb("clean")) or mows
    start = None if dock or stop else leaves or sentence.take("start", "on", "play") or cleans
    if not (dock or stop or start) and sentence.take("clean"):  # "vacuum" is a verb and a noun
        start, cleans, noun = True, True, False
    if not (dock or stop or start) and sentence.has("surface", "area") and sentence.take("dirty"):
        start, cleans = True, True
        sentence.take("there_is", "it_is", "too", "on")
    if not (dock or stop or start):
        return None
    sentence.take("send", "turn", "set", "again", "to", "article")
    if cleans:
        sentence.take("surface", "need")
    if dock:
        sentence.take("on")  # "back on its dock"
    rooms = [one for some in sentence.pieces for one in some if one.tag == "area"]
    if start and cleans and rooms and not mows:
        robots = sentence.scene.house.of_domain("vacuum")
        sentence.take("area", "thing", "kind", "here")
        if len(robots) != 1:
            raise NoTarget
        return [_cleaning(sentence, rooms[0].value[0])]
    if noun or sentence.has("it"):
        targets = sentence.targets(_ROBOTS)
    elif cleans:
        targets = _robots_of_house(sentence, "lawn_mower" if mows else "vacuum")
    else:
        return None
    mower = targets[0].domain == "lawn_mower"
    if start:
        intent = "HassLawnMowerStartMowing" if mower else "HassVacuumStart"
    else:
        intent = "HassLawnMowerDock" if mower else "HassVacuumReturnToBase"
    return commands(sentence, targets, intent)


_ROBOTS = ("vacuum", "lawn_mower")


def _robots_of_house(sentence: Sentence, domain: str) -> list[Target]:
    if sentence.has("floor", "all"):
        return sentence.targets((domain,), domain)
    sentence.take("here")
    robots = [one.entity_id for one in sentence.scene.house.of_domain(domain)]
    if not robots:
        raise NoTarget
    return [Target(tuple(robots), domain)]


def _cleaning(sentence: Sentence, area_id: str) -> ParsedCommand:
    return ParsedCommand(
        "HassVacuumCleanArea", sentence.text, {"domain": "vacuum"}, area_id=area_id, area_said=True
    )


def _locks(sentence: Sentence) -> Reading | None:
    if sentence.take("let_in"):
        return commands(sentence, [_locks_of_house(sentence)], "HassTurnOff")
    unlocks = sentence.take("unlock") or (sentence.has("turn", "set") and sentence.take("open"))
    if unlocks:  # only by its own name; the policy then asks
        sentence.take("turn", "set", "up")
        if sentence.take("all"):
            sentence.take("kind")
            return commands(sentence, [_locks_of_house(sentence)], "HassTurnOff")
        targets = sentence.targets(("lock",))
        if len(targets) != 1 or len(targets[0].ids) != 1 or sentence.sure < 1.0:
            raise NoTarget
        return commands(sentence, targets, "HassTurnOff")
    if not sentence.take("lock"):
        return None
    sentence.take("up", "set", "turn", "need", "overnight")
    if not sentence.names_targets() or sentence.has("all"):
        sentence.take("all", "kind", "here")
        return commands(sentence, [Target(domain="lock", everywhere=True)], "HassTurnOn")
    return commands(sentence, sentence.targets(("lock",), "lock"), "HassTurnOn")


def _locks_of_house(sentence: Sentence) -> Target:
    locks = sentence.scene.house.of_domain("lock")
    if not locks:
        raise NoTarget
    return Target(tuple(one.entity_id for one in locks), "lock")


def _beyond(sentence: Sentence) -> Reading | None:
    """Read what devices of this kind may do, but no tool of Home Assistant can ask of them."""
    domain = next((one for tag, one in _BEYOND if sentence.take(tag)), "")
    if not domain and sentence.take("degrees") and sentence.take("number"):
        domain = "water_heater"
    if not domain:
        return None
    sentence.take("set", "turn", "on", "off", "start", "stop", "again", "overnight")
    targets = sentence.targets((domain,), domain)
    things = entities_of(targets, sentence.scene.house)
    return [command_for(one, sentence.text, IMPOSSIBLE) for one in things[:1]]


_BEYOND = (("swing", "fan"), ("arm", "alarm_control_panel"))


def _scenes(sentence: Sentence) -> Reading | None:
    sentence.take("start", "on", "turn", "scene_word", "set", "play", "article", "to")
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
    if not on and not off and not sentence.has("number", "percent", "colours"):
        on = sentence.take("put_on")  # "pon la cafetera"
    if not on and not off:
        fans = any(
            one.tag == "kind" and one.value[1] == "fan" for some in sentence.pieces for one in some
        )
        on, off = sentence.take("start"), sentence.take("stop") if fans else None
    if bool(on) == bool(off) or starts_radio(sentence):
        return None
    intent = "HassTurnOn" if on else "HassTurnOff"
    sentence.take("turn", "set", "again", "start")
    things = sentence.has("thing", "kind", "area", "floor", "it", "one", "here", "both")
    every = sentence.first("all")
    lamps = every is not None and every.text == "todas"  # "apaga todas" are the lights
    if sentence.has("all") and off and not lamps and not sentence.has("thing", "kind"):
        sentence.take("it")  # "apágalo todo"
        sentence.take("lit")
        return _everything_off(sentence)
    if not things and not lamps:
        return None
    valve = ("valve",) if off else ()
    targets = sentence.targets((*_SWITCHED, *valve), "light")
    return commands(sentence, targets, intent)


def _everything_off(sentence: Sentence) -> Reading:
    """Switch off the lights, players, fans and switches of the house or of one place. The policy
    excludes devices that have to keep running."""
    house, rest = sentence.scene.house, sentence.rest_of
    base = sentence.targets(("light",), "light")
    made: Reading = []
    for domain in (rest,) if rest in _EVERYTHING else _EVERYTHING:
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


_SMALL_TALK = {"help": "commands"} | {tag: tag for tag in ("fine", "thanks", "bye", "hello")}


def _small_talk(sentence: Sentence) -> Reading | None:
    for tag, response in _SMALL_TALK.items():
        if sentence.take(tag):
            sentence.take(*_SMALL_TALK)
            return [ParsedCommand("HassRespond", sentence.text, response=response)]
    if sentence.take("cancel"):
        return [ParsedCommand("HassNevermind", sentence.text)]
    return None


_FRAMES: tuple[Frame, ...] = (
    media,
    volume,
    climate,
    lights,
    _humidifiers,
    _fans,
    _covers,
    _locks,
    _robots,
    _beyond,
    _scenes,
    _switches,
    _small_talk,
)
