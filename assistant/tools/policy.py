"""Whether a call may run, judged by what it would touch and which way.

Pure: values in, verdict out. What unlocks, opens, disarms, sounds a siren or has an unknown effect
is denied; the rest is allowed.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assistant.tools.gates import gate, is_costly, is_harmless
from assistant.tools.intents import INTENTS, Action, Intent, suffix
from assistant.tools.menu import MenuEntry, is_script
from assistant.tools.outcome import Decision, Tier
from assistant.tools.resolve import find_area, is_wildcard, listed, resolve, with_members
from integrations.home_assistant.house import Area, Floor, House

ALL_WORDS = frozenset(
    {
        *("all", "every", "everything", "everywhere", "whole", "entire", "house"),
        *("todo", "toda", "todos", "todas", "casa", "entera", "entero"),
    }
)
# In no schema, yet Home Assistant obeys them: they could move a call to another room.
_PREFERENCES = frozenset({"preferred_area_id", "preferred_floor_id"})
SECURE_RULES = frozenset({"unlock", "open", "disarm", "siren"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is decided about one call, and why."""

    decision: Decision
    tier: Tier
    rule: str
    arguments: Mapping[str, Any]  # as to be sent, possibly narrowed
    entities: tuple[str, ...] = ()  # what the call itself would touch
    effects: tuple[str, ...] = ()  # what follows from that: members of groups and scenes
    narrowed: bool = False
    key: str = ""  # of the sentence in the catalogue; empty where allowed
    values: Mapping[str, str] = field(default_factory=dict)  # its fields


def judge(
    entry: MenuEntry,
    arguments: Mapping[str, Any],
    house: House,
    heard: str | None,
    area: str,
    *,
    live: bool = True,
) -> Verdict:
    """Decide about one call. `heard`: the person's own words; `area`: this box's room, or "".

    `live`: whether `house` is up to date; an old picture may lack a door that the call would open.
    """
    arguments = {key: value for key, value in arguments.items() if key not in _PREFERENCES}
    if entry.built_in is not None:
        return Verdict(Decision.ALLOWED, entry.tier, "built-in", arguments)
    if entry.reads_only:
        return Verdict(Decision.ALLOWED, Tier.READ, "read", arguments)
    if entry.rated:
        return Verdict(Decision.ALLOWED, Tier.COMFORT, "allow", arguments)
    script = _script_behind(entry, house)
    if script:
        names = {"names": entry.tool.title or entry.tool.name}
        return _denied(Tier.COSTLY, "script", arguments, names, script)
    intent = INTENTS.get(entry.suffix) if entry.of_home else None
    if intent is None:
        return _denied(Tier.COSTLY, "unknown_tool", arguments, {"names": entry.tool.name})
    if not intent.by_target:
        return Verdict(Decision.ALLOWED, Tier.COMFORT, "note", arguments)
    return _judge_targets(entry, intent, arguments, house, heard, area, live)


def wants_words(name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether the person's own words may decide about a call: it moves things, and names none."""
    intent = INTENTS.get(suffix(name))
    if intent is None or not intent.by_target or intent.action is Action.NOTE:
        return False
    return _is_boundless(_selector(suffix(name), arguments))


def _judge_targets(
    entry: MenuEntry,
    intent: Intent,
    arguments: Mapping[str, Any],
    house: House,
    heard: str | None,
    area: str,
    live: bool,
) -> Verdict:
    """A call that selects things of the house."""
    selector = _selector(entry.suffix, arguments)
    touched = resolve(intent, selector, house)
    narrowed = False
    boundless = _is_boundless(selector) and intent.action is not Action.NOTE
    if boundless and intent.domains is None and not _has_kind(selector):
        return _denied(Tier.COMFORT, "which_thing", arguments, {})
    if boundless and intent.states:
        touched = [name for name in touched if house.entities[name].state in intent.states]
    if boundless and (len(touched) > 1 or not live):
        place = _place(house, heard, area)
        if place is None:
            rule = "which_room" if heard is not None else "not_heard"
            return _denied(Tier.COMFORT, rule, arguments, {}, touched)
        if place:
            arguments = {**arguments, **place}
            touched = resolve(intent, arguments, house)
            narrowed = True
            if not touched and live:
                where = next(iter(place.values()))
                return _denied(Tier.COMFORT, "none_here", arguments, {"names": where})
    unseen = not touched or not (live or _is_named(selector))
    if unseen and _could_open(intent, selector):
        return _denied(Tier.COMFORT, "unseen", arguments, {"names": _told(selector)})
    if not live:  # nobody knows how far a cover is open now
        house = _without_positions(house)
    return _rate(intent, arguments, house, touched, narrowed)


def _without_positions(house: House) -> House:
    entities = {
        name: replace(entity, attributes={**entity.attributes, "current_position": None})
        for name, entity in house.entities.items()
    }
    return replace(house, entities=entities)


def _could_open(intent: Intent, selector: Mapping[str, Any]) -> bool:
    """Whether the call, should it reach something that we do not see, could open it."""
    domains = listed(selector.get("domain")) or list(intent.domains or ())
    return not domains or not all(is_harmless(domain) for domain in domains)


def _rate(
    intent: Intent, arguments: Mapping[str, Any], house: House, touched: list[str], narrowed: bool
) -> Verdict:
    """The verdict by the most serious thing that is touched."""
    effects = with_members(touched, house)
    gated: dict[str, list[str]] = {}
    costly = False
    for entity_id in effects:
        entity = house.entities.get(entity_id)
        if entity is None:
            continue
        rule = gate(entity, intent.action, arguments, house)
        if rule is not None:
            gated.setdefault(rule, []).append(entity_id)
        costly = costly or is_costly(entity, intent.action, arguments)
    if gated:
        rule = next((rule for rule in gated if rule in SECURE_RULES), next(iter(gated)))
        names = {"names": _names(house, gated[rule])}
        tier = Tier.SECURE if rule in SECURE_RULES else Tier.COSTLY
        mixed = len(touched) > 1 and sum(map(len, gated.values())) < len(effects)
        key = "policy.mixed" if mixed else f"policy.{rule}"
        return _denied(tier, rule, arguments, names, touched, effects, key, narrowed)
    tier = Tier.COSTLY if costly else Tier.COMFORT
    rule = "runs-on" if costly else "comfort"
    effects = [entity_id for entity_id in effects if entity_id not in touched]
    return Verdict(
        Decision.ALLOWED, tier, rule, arguments, tuple(touched), tuple(effects), narrowed
    )


def _denied(
    tier: Tier,
    rule: str,
    arguments: Mapping[str, Any],
    values: Mapping[str, str],
    touched: Iterable[str] = (),
    effects: Iterable[str] = (),
    key: str = "",
    narrowed: bool = False,
) -> Verdict:
    entities = tuple(touched)
    return Verdict(
        Decision.DENIED,
        tier,
        rule,
        arguments,
        entities,
        tuple(entity_id for entity_id in effects if entity_id not in entities),
        narrowed,
        key or f"policy.{rule}",
        values,
    )


def _script_behind(entry: MenuEntry, house: House) -> list[str]:
    """The script that this tool is; up to 2026.7 it bears the script's bare name."""
    name = f"script.{entry.suffix}"
    bare = entry.of_home and entry.suffix == entry.tool.name and name in house.entities
    return [name] if is_script(entry.tool.name) or bare else []


def _selector(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments that choose things; a room to be cleaned is the work, not the choice."""
    if tool == "HassVacuumCleanArea":
        return {key: value for key, value in arguments.items() if key != "area"}
    return arguments


def _is_boundless(arguments: Mapping[str, Any]) -> bool:
    """Names neither thing nor place, so that it means the whole house."""
    return not (_is_named(arguments) or arguments.get("area") or arguments.get("floor"))


def _is_named(arguments: Mapping[str, Any]) -> bool:
    name = arguments.get("name")
    return isinstance(name, str) and bool(name) and not is_wildcard(name)


def _has_kind(arguments: Mapping[str, Any]) -> bool:
    return any(arguments.get(key) for key in ("name", "domain", "device_class"))


def _told(arguments: Mapping[str, Any]) -> str:
    """What the call named, for a sentence."""
    return str(
        next((arguments[key] for key in ("name", "area", "floor") if arguments.get(key)), "it")
    )


def _place(house: House, heard: str | None, area: str) -> dict[str, str] | None:
    """What to add to a boundless call: a place, nothing (all was said), or None (ask)."""
    words = _words(heard or "")
    if ALL_WORDS & set(words):
        return {}
    places = _places_in(house, words)
    if len(places) > 1:
        return {}
    if places:
        kind, place = places[0]
        return {kind: place.name}
    own = find_area(house, area) if area and heard is not None else None
    return {"area": own.name} if own is not None else None


def _places_in(house: House, words: list[str]) -> list[tuple[str, Area | Floor]]:
    """Rooms and floors that are named in the text."""
    text = f" {' '.join(words)} "
    places: list[tuple[str, Area | Floor]] = [
        *(("area", area) for area in house.areas.values()),
        *(("floor", floor) for floor in house.floors.values()),
    ]
    return [
        (kind, place)
        for kind, place in places
        if any(f" {' '.join(_words(name))} " in text for name in (place.name, *place.aliases))
    ]


def _words(text: str) -> list[str]:
    """Lower-case words without accents."""
    plain = unicodedata.normalize("NFD", text.casefold())
    return re.findall(r"\w+", "".join(c for c in plain if not unicodedata.combining(c)))


def _names(house: House, entity_ids: Iterable[str]) -> str:
    return ", ".join(house.entities[entity_id].name for entity_id in entity_ids)
