"""Sentences after a call: what was done, refused or not seen, from the catalogue."""

from assistant.brains.offline.alarms import TOOLS as ALARM_TOOLS
from assistant.brains.offline.calls import Problem
from assistant.brains.offline.memory_sentences import TOOLS as MEMORY_TOOLS
from assistant.brains.offline.own import OWN_TOOLS
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.profile_sentences import INTENT as PROFILE
from assistant.brains.offline.timers import TOOLS as TIMER_TOOLS
from assistant.brains.offline.undoing import TOOLS as UNDO_TOOLS
from assistant.domain.outcome import Decision, Status, Tier, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.tools.resolve import spoken_names
from integrations.home_assistant.house import House

ON_THE_WAY = ("opening", "closing", "locking", "unlocking")

# Intent and domain ("" is any) -> the end of the key: offline.done_<end>.
_DONE = {
    ("HassTurnOn", "cover"): "open",
    ("HassTurnOff", "cover"): "closed",
    ("HassTurnOn", "valve"): "open",
    ("HassTurnOff", "valve"): "closed",
    ("HassTurnOn", "lock"): "locked",
    ("HassTurnOff", "lock"): "unlocked",
    ("HassTurnOn", "scene"): "started",
    ("HassTurnOn", "script"): "started",
    ("HassTurnOn", ""): "on",
    ("HassTurnOff", ""): "off",
    ("HassLightSet", ""): "set",
    ("HassClimateSetTemperature", ""): "temperature",
    ("HassSetPosition", ""): "percent",
    ("HassFanSetSpeed", ""): "percent",
    ("HassSetVolume", ""): "volume",
    ("HassListAddItem", ""): "added",
    ("HassShoppingListAddItem", ""): "added",
}
# What became of these stands in the outcome's own sentence.
_TELLING = frozenset((*TIMER_TOOLS, *ALARM_TOOLS, *UNDO_TOOLS, *MEMORY_TOOLS, *OWN_TOOLS, PROFILE))
_PERCENT_SLOTS = ("position", "percentage", "volume_level", "brightness")


def answer_outcome(
    command: ParsedCommand, outcome: ToolOutcome, house: House, say: Catalogue, language: str
) -> str:
    """One sentence about what became of a command's call."""
    if outcome.decision in (Decision.DENIED, Decision.NEEDS_CONFIRMATION):
        return outcome.sentence or say.say("offline.refused", language)
    asked = outcome.tier is Tier.READ or command.intent in _TELLING
    if asked and outcome.sentence:
        return outcome.sentence  # what was asked for
    what = target_words(command, house, say, language)
    if outcome.status is Status.DONE:
        done = _done(command, outcome, what, say, language)
        left = spoken_names(outcome.left_on)
        return f"{done} {say.say('tools.left_on', language, names=left)}" if left else done
    if outcome.status in (Status.FAILED, Status.NOT_OBSERVED) and outcome.sentence:
        return outcome.sentence
    key = {
        Status.NOT_OBSERVED: "offline.not_observed",
        Status.TIMEOUT: "offline.timeout",
        Status.UNKNOWN: "offline.unknown",
    }.get(outcome.status, "offline.failed")
    return say.say(key, language, what=what)


def answer_problem(problem: Problem, say: Catalogue, language: str) -> str:
    """Why nothing was called."""
    return say.say(problem.key, language, **problem.values)


def target_words(command: ParsedCommand, house: House, say: Catalogue, language: str) -> str:
    """What was acted on, in the person's own words where they named it."""
    if command.called:
        return command.called
    domain = command.slots.get("domain")
    place = house.areas.get(command.area_id) or house.floors.get(command.floor_id)
    key = _things_key(domain if isinstance(domain, str) else "", place)
    return say.say(
        key, language, place=command.place or ("" if place is None else place.name.lower())
    )


def _things_key(domain: str, place: object) -> str:
    kind = {"light": "lights", "fan": "fans", "cover": "covers"}.get(domain, "things")
    return f"offline.{kind}_here" if place is not None else f"offline.{kind}_all"


def _done(
    command: ParsedCommand, outcome: ToolOutcome, what: str, say: Catalogue, language: str
) -> str:
    # "closing", or "closing 70 %" where it has a position
    states = {(seen.after or "").partition(" ")[0] for seen in outcome.observed}
    moving = states.intersection(ON_THE_WAY)
    if len(moving) == 1:
        return say.say(f"offline.now_{moving.pop()}", language, what=what)
    domain = command.slots.get("domain", "")
    end = _DONE.get((command.intent, domain)) or _DONE.get((command.intent, ""), "")
    values: dict[str, object] = {"what": what, "item": command.slots.get("item", "")}
    if end == "set":
        end, values = _light_done(command, values)
    elif end == "temperature":
        values["degrees"] = f"{command.slots['temperature']:g}"
    elif end in ("percent", "volume"):
        values["percent"] = _percent(command)
    return _sentence(say.say(f"offline.done_{end}" if end else "offline.done", language, **values))


def _light_done(command: ParsedCommand, values: dict[str, object]) -> tuple[str, dict[str, object]]:
    if "color" in command.slots:
        return "colour", values | {"colour": command.colour or command.slots["color"]}
    if "brightness" in command.slots:
        return "percent", values | {"percent": _percent(command)}
    return "", values


def _percent(command: ParsedCommand) -> str:
    value = next(command.slots[key] for key in _PERCENT_SLOTS if key in command.slots)
    return f"{float(value):g}"


def _sentence(text: str) -> str:
    """With a capital letter, whatever the target's name begins with."""
    return text[:1].upper() + text[1:]
