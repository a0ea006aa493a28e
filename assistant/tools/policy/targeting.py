"""Verdicts on calls that select entities in the house."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assistant.domain.tool_call import Decision, Tier
from assistant.tools.catalog.menu import MenuEntry, is_script
from assistant.tools.house.intents import Action, Intent
from assistant.tools.house.names import spoken_place, spoken_things
from assistant.tools.house.targets import (
    NAMED_KINDS,
    UNTOLD,
    WILDCARD,
    Miss,
    Reach,
    can,
    domain_of,
    find_area,
    find_areas,
    find_floors,
    is_called,
    is_wildcard,
    listed,
    reach,
)
from assistant.tools.policy.corrections import Mended, mend
from assistant.tools.policy.decisions import Case, asked, decide, denied, told, told_names
from assistant.tools.policy.openers import RELAYS
from assistant.tools.policy.risk import is_harmless, is_safe_to_guess
from assistant.tools.policy.rules import PolicyDecision
from assistant.tools.policy.scope import Meant, Scoped, bounded, cut_to, meant, resumed, widened
from assistant.tools.policy.selections import arguments_for
from assistant.tools.policy.words import HeardWords, read
from integrations.home_assistant.effects import SEARCHED
from integrations.home_assistant.house import Area, Entity, House

_BLINDS = frozenset({"blind", "shade", "shutter"})  # classes that "blinds" names


# Scripts behind Home Assistant tools, and the entities named in their fields.
def script_behind(entry: MenuEntry, house: House) -> str | None:
    """Return the id of the script that the tool runs, "" for an `intent_script`, which has no
    entity, or None."""
    if not entry.of_home:
        return None  # another server's tool can have any name
    name = f"script.{entry.suffix}"
    if entry.tool.name.startswith("intent_script__"):
        return ""
    bare = entry.suffix == entry.tool.name and name in house.entities
    return name if is_script(entry.tool.name) or bare else None


def named_in(arguments: Mapping[str, Any], house: House) -> list[str]:
    """Return the entities that are named in a script's fields, because the script may
    act on them."""
    found: list[str] = []
    level = list(arguments.values())
    while level:
        value = level.pop()
        if isinstance(value, Mapping):
            level.extend(value.values())
        elif isinstance(value, list | tuple):
            level.extend(value)
        elif isinstance(value, str):
            texts = [part.strip().lower() for part in value.split(",")]
            found += house.entities if WILDCARD in texts else ()
            found += [part for part in texts if part in house.entities]
            found += [name for name, one in house.entities.items() if one.device_id == value]
            found += [name for name, one in house.entities.items() if value in one.labels]
            areas = {one.area_id for one in find_areas(house, value)}
            floors = {one.floor_id for one in find_floors(house, value)}
            areas |= {one.area_id for one in house.areas.values() if one.floor_id in floors}
            found += [name for name, one in house.entities.items() if one.area_id in areas]
    return list(dict.fromkeys(found))


_WHOLE_HOUSE = frozenset({"light", "cover", "media_player", "climate", "fan", "switch"})


def judge_targets(case: Case, arguments: Mapping[str, Any]) -> PolicyDecision:
    intent, house, live = case.intent, case.house, case.live
    own = find_area(house, case.area) if case.area else None
    heard = read(house, case.heard) if case.heard is not None else None
    mended = Mended(arguments)
    if live:
        mended = mend(
            intent, arguments, house, own.area_id if own is not None else None, _said_places(heard)
        )
    arguments = mended.arguments
    paused = resumed(house, arguments, heard, own) if intent.resumes and live else []
    if len(paused) == 1:
        rest = {key: value for key, value in arguments.items() if key != "area"}
        arguments = {**rest, "name": paused[0]}
    selector = choosing(intent, arguments)
    by_place = not is_named(selector) and intent.action is not Action.NOTE
    if by_place and live and heard is not None:
        arguments = widened(case, arguments, heard)
        selector = choosing(intent, arguments)
    boundless = is_boundless(selector) and intent.action is not Action.NOTE
    if boundless and intent.domains is None and not _has_kind(selector):
        return denied(Tier.COMFORT, "which_thing", arguments, {})
    seen = reach(intent, arguments, house)
    if boundless and live and locks_up(intent, (*seen.touched, *seen.candidates)):
        boundless = False
    unheard = boundless and heard is None and _reaches_many(seen, live)
    scoped = Scoped(arguments, seen)
    if len(paused) > 1:
        scoped = Scoped(arguments, replace(seen, touched=tuple(paused)), True, several=True)
    elif boundless and heard is not None:
        scoped = bounded(case, arguments, seen, heard, own)
        if scoped.denial:
            return _denied_there(scoped)
    arguments, seen = scoped.arguments, scoped.seen
    judged = (*seen.touched, *seen.candidates)
    unseen = not judged or not (live or is_named(selector))
    if unseen and could_open(intent, selector, judged):
        verdict = nothing_there(selector, arguments, house, live)
        return replace(verdict, options=mended.options, mended=mended.changes)
    if not live:
        case = replace(case, house=without_what_changes(house))
    if live and seen.reason is Miss.SEVERAL:
        verdict = decide(case, arguments, seen.touched, judged)
        if verdict.decision is not Decision.DENIED:
            together = _together(case, arguments, seen, own)
            verdict = together or _which_one(verdict, intent, selector, seen, house)
    elif live and by_place and heard is not None and judged:
        verdict = _as_meant(case, scoped, heard)
    else:
        verdict = decide(case, arguments, seen.touched, judged)
    if unheard and verdict.decision is Decision.ALLOWED:
        verdict = asked(verdict, "whole_house", _about_whole_house(verdict))
    narrowed = verdict.narrowed or scoped.narrowed
    return replace(verdict, narrowed=narrowed, mended=mended.changes)


def _as_meant(case: Case, scoped: Scoped, heard: HeardWords) -> PolicyDecision:
    arguments, seen = scoped.arguments, scoped.seen
    judged = (*seen.touched, *seen.candidates)
    whole = decide(case, arguments, seen.touched, judged)
    if whole.decision is Decision.DENIED and whole.rule == "guest":
        return whole
    choice = meant(case, arguments, judged, heard)
    if choice.unclear or not choice.things:
        return _not_meant(choice, arguments, case.house)
    left_on = tuple(one.name for one in choice.left_on)
    if len(choice.things) == len(judged) and not scoped.several:
        return whole
    forced = scoped.several or heard.left is not None
    touched = seen.touched
    # Home Assistant rejects the whole call, but accepts it in parts.
    if seen.reason is Miss.EVERYTHING:
        able = (one for one in seen.candidates if can(case.house.entities[one], case.intent.action))
        touched = tuple(able)
    cut = cut_to(case, arguments, touched, judged, choice.things, forced=forced)
    if cut is None and forced:
        return denied(Tier.COMFORT, "which_thing", arguments, {}, seen.touched)
    if cut is None:
        return whole
    # `whole` covers all these targets, so this verdict can't be stricter.
    verdict = decide(case, cut.saying.arguments, cut.touched, cut.judged)
    return replace(
        verdict, narrowed=True, parts=cut.saying.parts, left_on=left_on, unread=whole.unread
    )


def _not_meant(choice: Meant, arguments: Mapping[str, Any], house: House) -> PolicyDecision:
    if choice.left_on:
        names = spoken_things(one.names for one in choice.left_on)
        return denied(Tier.COMFORT, "left_on", arguments, {"names": names})
    if choice.lacking:
        verdict = nothing_there(arguments, arguments, house, live=True)
        return replace(verdict, options=choice.options)
    return replace(denied(Tier.COMFORT, "which_thing", arguments, {}), options=choice.options)


def _denied_there(scoped: Scoped) -> PolicyDecision:
    values = {"names": spoken_place(scoped.place)} if scoped.place else {}
    touched = () if scoped.place else scoped.seen.touched
    verdict = denied(Tier.COMFORT, scoped.denial, scoped.arguments, values, touched)
    if not scoped.offered:
        return _of_kind(verdict)
    values["options"] = spoken_things(scoped.offered)
    return replace(verdict, key="policy.elsewhere", values=values, options=scoped.offered)


def _reaches_many(seen: Reach, live: bool) -> bool:
    return len(seen.touched) + len(seen.candidates) > 1 or not live


def nothing_there(
    selector: Mapping[str, Any], arguments: Mapping[str, Any], house: House, live: bool
) -> PolicyDecision:
    """Return a denial because the entity or place is unknown, or the place has no such entity."""
    area, floor = (str(selector.get(key) or "") for key in ("area", "floor"))
    places = find_areas(house, area) if area else find_floors(house, floor)
    if live and places and not is_named(selector):
        return _none_in((places[0].name, *places[0].aliases), arguments)
    name = str(selector.get("name") or "")
    if live and places and any(is_called(one, name) for one in house.exposed()):
        where = spoken_place((places[0].name, *places[0].aliases))
        verdict = denied(Tier.COMFORT, "none_here", arguments, {"name": name, "area": where})
        return replace(verdict, key="offline.not_there")
    return denied(Tier.COMFORT, "unseen", arguments, {"names": told_names(selector)})


def _none_in(place: Sequence[str], arguments: Mapping[str, Any]) -> PolicyDecision:
    values = {"names": spoken_place(place)}
    return _of_kind(denied(Tier.COMFORT, "none_here", arguments, values))


def _of_kind(verdict: PolicyDecision) -> PolicyDecision:
    domains = listed(verdict.arguments.get("domain"))
    classes = listed(verdict.arguments.get("device_class"))
    if verdict.key != "policy.none_here" or not _BLINDS.issuperset(classes):
        return verdict
    named = len(domains) == 1 and domains[0] in NAMED_KINDS
    return replace(verdict, key=f"policy.none_here_{domains[0]}") if named else verdict


def _about_whole_house(verdict: PolicyDecision) -> str:
    domains = {domain_of(name) for name in verdict.entities}
    kind = domains.pop() if len(domains) == 1 else ""
    return f"ask_whole_house_{kind}" if kind in _WHOLE_HOUSE else "ask_whole_house"


# Domains whose entities are set together if nobody can tell them apart.
_ALIKE = frozenset({"climate", "fan", "humidifier", "light"})


def _together(
    case: Case, arguments: Mapping[str, Any], seen: Reach, own: Area | None
) -> PolicyDecision | None:
    """Judge a call to all lamps, or all thermostats, that share a name in a room. The decision has
    one call for each. Returns None if the person could tell them apart, or if one needs a
    confirmation."""
    things = [case.house.entities[name] for name in seen.candidates]
    if is_named(arguments) and own is not None:
        things = [one for one in things if one.area_id == own.area_id] or things
    rooms, kinds = {one.area_id for one in things}, {one.domain for one in things}
    if len(things) < 2 or len(rooms) != 1 or None in rooms or len(kinds) != 1:
        return None
    if not kinds <= _ALIKE or not all(
        is_safe_to_guess(one.entity_id, case.house) for one in things
    ):
        return None
    choice = arguments_for(case.intent, arguments, things, (), case.house, case.schema)
    if choice is None:
        return None
    names = tuple(one.entity_id for one in things)
    verdict = decide(case, choice.arguments, names, names)
    return replace(verdict, narrowed=True, parts=choice.parts)


def _said_places(heard: HeardWords | None) -> list[str]:
    """Return all names of the rooms and floors that the person said."""
    found = [] if heard is None else [one.found for one in heard.wanted.places]
    return [name for place in found for name in (place.name, *place.aliases)]


def _which_one(
    verdict: PolicyDecision, intent: Intent, selector: Mapping[str, Any], seen: Reach, house: House
) -> PolicyDecision:
    """Return a denial that asks which entity the person means. Home Assistant would reject a call
    that matches several."""
    places = [
        area.name
        for name in seen.candidates
        if (area := house.areas.get(house.entities[name].area_id or ""))
    ]
    clear = intent.places and len(set(places)) == len(seen.candidates)
    names = {house.entities[name].name: name for name in seen.candidates}
    apart = places if clear else sorted(names) if len(names) == len(seen.candidates) else ()
    values = {"names": told(selector), "options": ", ".join(apart)}
    rule = ("which_one" if is_named(selector) else "which_of") if apart else "which_thing"
    # A name that others share selects nothing, so models are given the id.
    single = [one if _is_unique(one, house) else names[one] for one in names]
    options = tuple(places) if clear else tuple(single) if apart else seen.candidates
    return replace(denied(verdict.tier, rule, verdict.arguments, values), options=options)


def _is_unique(name: str, house: House) -> bool:
    return sum(is_called(one, name) for one in house.entities.values()) == 1


def without_what_changes(house: House) -> House:
    """Return a copy of an outdated house, without positions and the effects of scripts, scenes and
    automations."""
    entities = {
        name: replace(entity, attributes=_lasting(entity))
        for name, entity in house.entities.items()
    }
    unread = frozenset(name for name in entities if domain_of(name) in SEARCHED)
    return replace(house, entities=entities, touches={}, partly={}, ways={}, unread=unread)


def _lasting(entity: Entity) -> dict[str, Any]:
    changes = {"current_position"} | ({"entity_id"} if entity.domain in UNTOLD else set())
    return {key: value for key, value in entity.attributes.items() if key not in changes}


def could_open(intent: Intent, selector: Mapping[str, Any], judged: Collection[str]) -> bool:
    """Return True if the call could open something that is missing from Hearth's copy
    of the house."""
    domains = listed(selector.get("domain")) or list(intent.domains or ())
    relays = frozenset() if judged else RELAYS
    return not domains or not all(is_harmless(one) and one not in relays for one in domains)


def choosing(intent: Intent, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments that select entities. For room cleaning and similar intents, the room
    doesn't select entities."""
    if intent.places:
        return arguments
    return {key: value for key, value in arguments.items() if key not in ("area", "floor")}


def is_boundless(arguments: Mapping[str, Any]) -> bool:
    """Return True if the call names no entity and no place, so that it would reach the
    whole house."""
    return not (is_named(arguments) or arguments.get("area") or arguments.get("floor"))


def is_named(arguments: Mapping[str, Any]) -> bool:
    name = arguments.get("name")
    return isinstance(name, str) and bool(name) and not is_wildcard(name)


def locks_up(intent: Intent, judged: Collection[str]) -> bool:
    """Return True if the call only locks doors. Such a call isn't limited to a room, because nobody
    would notice that the other doors are still unlocked."""
    locks = all(domain_of(name) == "lock" for name in judged)
    return intent.action is Action.ON and bool(judged) and locks


def _has_kind(arguments: Mapping[str, Any]) -> bool:
    return any(arguments.get(key) for key in ("name", "domain", "device_class"))
