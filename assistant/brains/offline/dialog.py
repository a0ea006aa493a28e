"""Understand sentences that continue a conversation: "and the office too", "make that 40"."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from assistant.brains.offline.frames import Reading, Sentence, commands
from assistant.brains.offline.lexicon import NameIndex, Piece, pieces_of
from assistant.brains.offline.list_frames import continue_list
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.references import says_a_step
from assistant.brains.offline.sentences import CANCEL_ALARM, SET_AN_ALARM, VALUE
from assistant.brains.offline.swap import exchanged
from assistant.brains.offline.talk import Talk, domain_of
from assistant.brains.offline.targets import NoTarget, Scene, Target, members
from integrations.home_assistant.house import House

_LENGTH_SLOTS = {"hour": "hours", "minute": "minutes", "second_unit": "seconds"}
_SIZES = ("bit", "lot", "more", "less", "also")
_NUMBERS = ("brightness", "position", "percentage", "volume_level", "temperature")
_VERBS = ("on", "off", "up", "down", "open", "close", "lock", "start", "stop", "pause", "play")
SWITCHED = frozenset(
    "light switch fan media_player climate input_boolean humidifier water_heater".split()
)


def follow_up(
    text: str,
    language: str,
    index: NameIndex,
    scene: Scene,
    talk: Talk,
    again: Callable[[str], Reading],
) -> Reading | None:
    """Return the commands of a sentence that continues the conversation, or None if it doesn't."""
    last = talk.commands[-1]
    if last.intent == SET_AN_ALARM and (moved := _another_time(text, last, again)):
        return moved
    if listed := continue_list(text, language, scene.house, talk.commands):
        return listed
    pieces = pieces_of(text, language, index)
    if not pieces:
        return None
    tags = {piece.tag for some in pieces for piece in some}
    toned = last.slots.keys() & {"color", "temperature"} and last.slots.get("domain") == "light"
    if toned and tags & {"warmer", "cooler"} and _only(pieces, {"warmer", "cooler", *_SIZES}):
        return again(f"{text} it") or None
    if talk.asks_room and (placed := _elsewhere(pieces, tags, scene, talk)):
        return placed
    timer = last.intent in ("HassStartTimer", "HassIncreaseTimer", "HassDecreaseTimer")
    if timer and (changed := _timer(pieces, tags, last)):
        return changed
    if (number := _new_value(pieces, tags)) is not None:
        return [one for said in talk.commands if (one := _with_value(said, number))] or None
    repeated = {"again", "more", "it", "bit", "also", "do", "scene_word"}
    if last.intent != "HassMediaPause":  # "play it again" then resumes
        repeated.add("play")
    if (
        tags & {"again", "more"}
        and _only(pieces, repeated)
        and again(last.text)
        and ("again" in tags or says_a_step(last.text, language, index))
    ):
        return again(last.text)
    if timer and "cancel" in tags and _only(pieces, {"cancel", "it", "timer", "also"}):
        return [ParsedCommand("HassCancelTimer", last.text)]
    colour = next((p for some in pieces for p in some if p.tag == "colours"), None)
    changes = {"colours", "set", "it", "also", "and", "no", "instead", "to", "turn", "again"}
    if colour is not None and last.slots.get("domain") == "light" and _only(pieces, changes):
        slots = {"domain": "light", "color": colour.value}
        return [
            replace(said, intent="HassLightSet", slots=slots, colour=colour.text)
            for said in talk.commands
        ]
    named = tags & {"area", "thing", "floor", "kind"}
    bare = bool(tags & {"area", "floor"}) and _only(pieces, {"area", "floor", "one", "also", "and"})
    if bare or (named and tags & {"also", "and"}):
        if (placed := _elsewhere(pieces, tags, scene, talk)) is None:
            return None
        told = exchanged(last.text, text, language, index) or text
        if says_a_step(last.text, language, index):  # "and in the bedroom" after "make it warmer"
            return again(told) or None
        return [replace(c, text=told) if isinstance(c, ParsedCommand) else c for c in placed]
    if named and tags & {"no", "not", "instead"} and (meant := _corrected(pieces, scene, talk)):
        return [meant]
    if tags & {"on", "off"} and _only(pieces, {"on", "off", "again", "also", "and", "no"}):
        return again(f"{text} it") or None
    return None


def _namesake(target: Target, last: ParsedCommand, scene: Scene) -> Target:
    # After "turn on the lamp", "the bedroom one" is the lamp there.
    if target.ids or not last.name:
        return target
    alike = [one for one in members(target, scene.house) if last.name in one.names]
    return Target((alike[0].entity_id,), target.domain) if len(alike) == 1 else target


def _corrected(pieces: Sequence[Sequence[Piece]], scene: Scene, talk: Talk) -> ParsedCommand | None:
    """Return the corrected command for "no, the one in the office" or "not that one, the bedroom
    lamp"."""
    known = {
        "no",
        "not",
        "it",
        "one",
        "instead",
        "thing",
        "area",
        "kind",
        "filler",
        "article",
        "to",
    }
    if not all(any(piece.tag in known for piece in some) for some in pieces):
        return None
    last = talk.commands[-1]
    domain = domain_of(last)
    # Of "not the kitchen, the office", the last counts.
    things = [one.value for some in pieces for one in some if one.tag == "thing"]
    areas = [one.value[0] for some in pieces for one in some if one.tag == "area"]
    says_no = any(one.tag in ("no", "instead") for some in pieces for one in some)
    ends_so = any(one.tag in ("no", "not") for one in pieces[-1]) and len(pieces) > 1
    if (ends_so or not says_no) and len(things) + len(areas) < 2:  # only what isn't meant
        return _left_out(things, areas, talk, scene.house)
    if things:
        ids = (
            tuple(i for i in things[-1] if scene.house.entities[i].area_id in areas[-1:])
            if areas
            else ()
        )
        ids = ids or tuple(things[-1])
        return ParsedCommand("HearthCorrect", last.text, {"domain": domain}, ids)
    if areas:
        return ParsedCommand("HearthCorrect", last.text, {}, area_id=areas[-1], area_said=True)
    return None


def _left_out(
    things: Sequence[Sequence[str]], areas: Sequence[str], talk: Talk, house: House
) -> ParsedCommand | None:
    """Return the command that switches one of the last devices back: "not the desk lamp"."""
    last, recent = talk.commands[-1], talk.recent(house)
    back = {"HassTurnOn": "HassTurnOff", "HassTurnOff": "HassTurnOn"}.get(last.intent)
    ids = tuple(
        one
        for one in recent
        if (things and one in things[0]) or house.entities[one].area_id in areas
    )
    others = len(recent) > 1 or any(one.intent == last.intent for one in talk.before)
    if back is None or len(ids) != 1 or not others or last.later is not None:
        return None
    slots, name = {"domain": ids[0].partition(".")[0]}, house.entities[ids[0]].name
    return ParsedCommand(back, last.text, slots, ids, name) if slots["domain"] in SWITCHED else None


_SORRY = re.compile(r"(?:no|sorry|actually|perdón|mejor|digo)[,;]? (.+)", re.I)


def _another_time(
    text: str, last: ParsedCommand, again: Callable[[str], Reading]
) -> Reading | None:
    """Return the commands that move an alarm: "no, at half past six"."""
    found, words = _SORRY.fullmatch(text.strip(" .!")), last.text.split()
    if found is None:
        return None
    for count in range(len(words) - 1, 0, -1):
        reading = again(f"{' '.join(words[:count])} {found[1]}")
        if len(reading) == 1 and getattr(reading[0], "intent", "") == SET_AN_ALARM:
            kept = {key: last.slots[key] for key in ("kind",) if key in last.slots}
            return [ParsedCommand(CANCEL_ALARM, last.text, kept), *reading]
    return None


def _only(pieces: Sequence[Sequence[Piece]], allowed: set[str]) -> bool:
    known = allowed | {"filler", "article", "and", "to"}
    return all(any(piece.tag in known for piece in some) for some in pieces)


def _timer(
    pieces: Sequence[Sequence[Piece]], tags: set[str], last: ParsedCommand
) -> Reading | None:
    number = next((p.value for some in pieces for p in some if p.tag == "number"), None)
    unit = next(
        (_LENGTH_SLOTS[p.tag] for some in pieces for p in some if p.tag in _LENGTH_SLOTS), ""
    )
    if number is None:
        return None
    allowed = {
        "number",
        "more",
        "hour",
        "minute",
        "second_unit",
        "set",
        "it",
        "no",
        "up",
        "also",
        "add",
        "timer",
        "actually",
        "instead",
        "less",
        "down",
    }
    if not _only(pieces, allowed):
        return None
    given = {key: value for key, value in last.slots.items() if key in _LENGTH_SLOTS.values()}
    unit = unit or (next(iter(given)) if len(given) == 1 else "minutes")
    if tags & {"more", "add", "less"}:
        intent = "HassDecreaseTimer" if "less" in tags else "HassIncreaseTimer"
        return [replace(last, intent=intent, slots={unit: int(number)})]
    if not tags & {"no", "it", "instead"} or last.intent != "HassStartTimer" or last.later:
        return None
    start = {f"start_{key}": value for key, value in given.items()}
    cancel = ParsedCommand("HassCancelTimer", last.text, start)
    return [cancel, replace(last, slots={unit: int(number)})]


def _new_value(pieces: Sequence[Sequence[Piece]], tags: set[str]) -> float | None:
    numbers = [p.value for some in pieces for p in some if p.tag == "number"]
    for tag, value in (("half", 50.0), ("max", 100.0)):
        if tag in tags and not numbers:
            numbers = [value]
    allowed = {
        "number",
        "set",
        "it",
        "no",
        "percent",
        "degrees",
        "instead",
        "half",
        "max",
        "and",
        "turn",
        "up",
        "down",
        "to",
    }
    if len(numbers) != 1 or not _only(pieces, allowed):
        return None
    return float(numbers[0])


_COLDEST = 5  # degrees that a room is set to
_SETTING = {
    "light": ("HassLightSet", "brightness"),
    "fan": ("HassFanSetSpeed", "percentage"),
    "cover": ("HassSetPosition", "position"),
    "media_player": ("HassSetVolume", "volume_level"),
}


def _with_value(command: ParsedCommand, value: float) -> ParsedCommand | None:
    slot = next((key for key in _NUMBERS if key in command.slots), None)
    if command.slots.get("domain") == "script":
        return replace(command, slots={**command.slots, VALUE: value})
    if slot is None:  # "50 percent" after "turn on the fan"
        domain = domain_of(command, "")
        if command.intent == "HassClimateGetTemperature" and value >= _COLDEST:
            slots = {"temperature": value}
            return replace(command, intent="HassClimateSetTemperature", slots=slots, response="")
        intent, slot = _SETTING.get(domain, ("", ""))
        if not intent:
            return None
        given = {} if domain == "media_player" else {"domain": domain}
        return replace(command, intent=intent, slots={**given, slot: int(value)})
    return replace(
        command, slots={**command.slots, slot: value if slot == "temperature" else int(value)}
    )


def _elsewhere(
    pieces: Sequence[Sequence[Piece]], tags: set[str], scene: Scene, talk: Talk
) -> Reading | None:
    """Repeat the last command for other devices: "and the office too"."""
    last = talk.commands[-1]
    if tags & set(_VERBS) - {"on", "off"} or last.intent.startswith("Hearth"):
        return None
    sentence = Sentence(pieces, last.text, scene)
    sentence.take("also", "and", "instead", "no", "one", "it")
    domain = domain_of(last)
    switched = last.intent in ("HassTurnOn", "HassTurnOff") and domain in SWITCHED
    try:
        targets = sentence.targets(SWITCHED if switched else (domain,), domain)
    except NoTarget:
        return None
    if not sentence.whole:
        return None
    targets = [_namesake(one, last, scene) for one in targets]
    slots = {k: v for k, v in last.slots.items() if k not in ("domain", "device_class")}
    return commands(sentence, targets, last.intent, **slots)
