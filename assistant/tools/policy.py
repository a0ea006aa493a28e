"""Whether a call may run, judged by what it would touch and which way.

Pure: values in, verdict out. What unlocks, opens, disarms, sounds a siren or has an unknown effect
is denied unless its tier is let through; the rest is allowed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assistant.tools.call import SentenceMatch
from assistant.tools.gates import entity_or_guess, gate, is_costly, is_harmless
from assistant.tools.heard import place
from assistant.tools.intents import INTENTS, LATER, Action, Intent, suffix
from assistant.tools.mend import Mended, mend
from assistant.tools.menu import MenuEntry, is_script
from assistant.tools.outcome import Decision, Tier
from assistant.tools.resolve import (
    UNTOLD,
    WILDCARD,
    Miss,
    Reach,
    consequences,
    domain_of,
    find_area,
    find_areas,
    find_floors,
    is_wildcard,
    listed,
    reach,
)
from assistant.tools.verdict import STRICT, Rulings, Verdict
from integrations.home_assistant.house import Entity, House

# In no schema, yet Home Assistant obeys them: they could move a call to another room.
_PREFERENCES = frozenset({"preferred_area_id", "preferred_floor_id"})
SECURE_RULES = frozenset({"unlock", "open", "disarm", "siren", "later"})


def judge(
    entry: MenuEntry,
    arguments: Mapping[str, Any],
    house: House,
    heard: str | None,
    area: str,
    *,
    live: bool = True,
    rulings: Rulings = STRICT,
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
    if script is not None:
        return _judge_script(entry, script, arguments, house, live, rulings)
    intent = INTENTS.get(entry.suffix) if entry.of_home else None
    if intent is None:
        # One of the home's may do anything: `call_action` of `/api/mcp` opens whatever there is.
        tier = Tier.SECURE if entry.of_home else Tier.COSTLY
        return _ruled(tier, "unknown_tool", arguments, {"names": entry.tool.name}, rulings)
    if not intent.by_target:
        return _without_target(intent, arguments, rulings)
    case = _Case(intent, house, heard, area, live, rulings)
    return _judge_targets(case, arguments)


def judge_sentence(
    match: SentenceMatch,
    house: House,
    heard: str | None,
    area: str,
    *,
    live: bool = True,
    rulings: Rulings = STRICT,
) -> Verdict:
    """Decide about a sentence for Home Assistant's conversation engine, as about a tool call.

    `arguments` of the verdict are the sentence's slots and `narrowed` is always False: the words
    cannot be changed, so that one which names no room runs only where all of it is in this room,
    or all was said. What Home Assistant told of its targets is judged besides what we resolve.
    """
    slots = {key: value for key, value in match.slots.items() if key not in _PREFERENCES}
    intent = INTENTS.get(match.intent)
    if match.source == "trigger" or intent is None:
        return _ruled(Tier.COSTLY, "sentence", slots, {"names": match.text}, rulings)
    if not intent.by_target:
        return _without_target(intent, slots, rulings)
    seen = reach(intent, slots, house)
    own = find_area(house, area) if area else None
    near = reach(intent, slots, house, own.area_id) if own is not None else seen
    # The dry run tells all that is in the room, also where the intent is for players alone.
    told = tuple(
        name
        for name in match.targets
        if intent.domains is None or domain_of(name) in intent.domains
    )
    touched = told or seen.touched or near.touched
    judged = tuple(dict.fromkeys((*touched, *seen.touched, *seen.candidates)))
    boundless = _is_boundless(slots) and intent.action is not Action.NOTE
    if boundless and (len(judged) > 1 or not live):
        here = own is not None and all(
            (one := house.entities.get(name)) is not None and one.area_id == own.area_id
            for name in judged
        )
        said = place(house, heard if heard is not None else match.text, "")
        if said is None and not (here and live):
            return _denied(Tier.COMFORT, "which_room", slots, {}, touched)
    unseen = not judged or not (live or _is_named(slots))
    if unseen and _could_open(intent, slots):
        return _denied(Tier.COMFORT, "unseen", slots, {"names": _told(slots)})
    seen_by = house if live else _without_what_changes(house)
    case = _Case(intent, seen_by, heard, area, live, rulings)
    return _rate(case, slots, touched, judged)


def wants_words(name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether the person's own words may decide about a call: it moves things, and names none."""
    intent = INTENTS.get(suffix(name))
    if intent is None or not intent.by_target or intent.action is Action.NOTE:
        return False
    return _is_boundless(_choosing(intent, arguments))


@dataclass(frozen=True, slots=True)
class _Case:
    """All that a call is judged by, beside its arguments."""

    intent: Intent
    house: House
    heard: str | None
    area: str
    live: bool
    rulings: Rulings


def _without_target(intent: Intent, arguments: Mapping[str, Any], rulings: Rulings) -> Verdict:
    """A timer, a list, a question. A timer that ends in a sentence could say anything."""
    if arguments.get(LATER):
        return _ruled(Tier.SECURE, "later", arguments, {"names": str(arguments[LATER])}, rulings)
    if intent.action is Action.READ:
        return Verdict(Decision.ALLOWED, Tier.READ, "read", arguments)
    return Verdict(Decision.ALLOWED, Tier.COMFORT, "note", arguments)


def _judge_script(
    entry: MenuEntry,
    script: str,
    arguments: Mapping[str, Any],
    house: House,
    live: bool,
    rulings: Rulings,
) -> Verdict:
    """A script is judged by what it touches, and by what its fields name, either way."""
    if not live or script not in house.entities:
        # What it touches may have changed since; an `intent_script` never tells.
        names = {"names": entry.tool.title or entry.tool.name}
        touched = (script,) if script else ()
        return _ruled(Tier.COSTLY, "script", arguments, names, rulings, touched)
    case = _Case(INTENTS["HassToggle"], house, None, "", live, rulings)
    return _rate(case, arguments, (script,), (script, *_named_in(arguments, house)))


def _named_in(arguments: Mapping[str, Any], house: House) -> list[str]:
    """The things that a script's fields name: by id, also several in one text, as Home Assistant
    takes them (`config_validation.comp_entity_ids`), by device, area or floor, or "all" of them.
    The script may act on them."""
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
            areas = {one.area_id for one in find_areas(house, value)}
            floors = {one.floor_id for one in find_floors(house, value)}
            areas |= {one.area_id for one in house.areas.values() if one.floor_id in floors}
            found += [name for name, one in house.entities.items() if one.area_id in areas]
    return list(dict.fromkeys(found))


def _judge_targets(case: _Case, arguments: Mapping[str, Any]) -> Verdict:
    """A call that selects things of the house."""
    intent, house, live = case.intent, case.house, case.live
    own = find_area(house, case.area) if case.area else None
    mended = Mended(arguments)
    if live:
        mended = mend(intent, arguments, house, own.area_id if own is not None else None)
    arguments = mended.arguments
    selector = _choosing(intent, arguments)
    boundless = _is_boundless(selector) and intent.action is not Action.NOTE
    if boundless and intent.domains is None and not _has_kind(selector):
        return _denied(Tier.COMFORT, "which_thing", arguments, {})
    seen = reach(intent, arguments, house)
    narrowed = False
    if boundless and (len(seen.touched) + len(seen.candidates) > 1 or not live):
        where = place(house, case.heard, case.area)
        if where is None:
            rule = "which_room" if case.heard is not None else "not_heard"
            return _denied(Tier.COMFORT, rule, arguments, {}, seen.touched)
        if where:
            arguments = {**arguments, **where}
            seen = reach(intent, arguments, house)
            narrowed = True
            if not (seen.touched or seen.candidates) and live:
                names = {"names": next(iter(where.values()))}
                return _denied(Tier.COMFORT, "none_here", arguments, names)
    judged = (*seen.touched, *seen.candidates)
    unseen = not judged or not (live or _is_named(selector))
    if unseen and _could_open(intent, selector):
        names = {"names": _told(selector)}
        verdict = _denied(Tier.COMFORT, "unseen", arguments, names)
        return replace(verdict, options=mended.options, mended=mended.changes)
    if not live:
        case = replace(case, house=_without_what_changes(house))
    verdict = _rate(case, arguments, seen.touched, judged)
    if verdict.decision is Decision.ALLOWED and live and seen.reason is Miss.SEVERAL:
        verdict = _which_one(verdict, intent, selector, seen, house)
    return replace(verdict, narrowed=narrowed, mended=mended.changes)


def _which_one(
    verdict: Verdict, intent: Intent, selector: Mapping[str, Any], seen: Reach, house: House
) -> Verdict:
    """Several things are meant where one is wanted: Home Assistant would refuse, so we ask."""
    places = [
        area.name
        for name in seen.candidates
        if (area := house.areas.get(house.entities[name].area_id or ""))
    ]
    clear = intent.places and len(set(places)) == len(seen.candidates)
    options = tuple(places) if clear else seen.candidates
    values = {"names": _told(selector), "options": ", ".join(options)}
    rule = "which_one" if _is_named(selector) else "which_thing"
    return replace(_denied(verdict.tier, rule, verdict.arguments, values), options=options)


def _without_what_changes(house: House) -> House:
    """An old picture without how far covers are open and what scripts and scenes hold."""
    entities = {
        name: replace(entity, attributes=_lasting(entity))
        for name, entity in house.entities.items()
    }
    return replace(house, entities=entities, touches={})


def _lasting(entity: Entity) -> dict[str, Any]:
    changes = {"current_position"} | ({"entity_id"} if entity.domain in UNTOLD else set())
    return {key: value for key, value in entity.attributes.items() if key not in changes}


def _could_open(intent: Intent, selector: Mapping[str, Any]) -> bool:
    """Whether the call, should it reach something that we do not see, could open it."""
    domains = listed(selector.get("domain")) or list(intent.domains or ())
    return not domains or not all(is_harmless(domain) for domain in domains)


def _rate(
    case: _Case, arguments: Mapping[str, Any], touched: Sequence[str], judged: Sequence[str]
) -> Verdict:
    """The verdict by the most serious thing in `judged`; `touched` of it is told as such."""
    house, action = case.house, case.intent.action
    switched = consequences(judged, action, house)
    gated: dict[str, list[str]] = {}
    costly = False
    for entity_id, way in switched:
        entity = entity_or_guess(entity_id, house)
        rule = gate(entity, way, arguments, house)
        if rule is not None and entity_id not in gated.setdefault(rule, []):
            gated[rule].append(entity_id)
        costly = costly or is_costly(entity, way, arguments)
    effects = [name for name, _ in consequences(touched, action, house) if name not in touched]
    shown = (tuple(touched), tuple(dict.fromkeys(effects)))
    if not gated:
        tier, rule = (Tier.COSTLY, "runs-on") if costly else (Tier.COMFORT, "comfort")
        return Verdict(Decision.ALLOWED, tier, rule, arguments, *shown)
    rule = next((rule for rule in gated if rule in SECURE_RULES), next(iter(gated)))
    refused = [name for name in gated if not case.rulings.allows(_tier(name))]
    if not refused:
        return Verdict(Decision.ALLOWED, _tier(rule), rule, arguments, *shown)
    told = rule if rule in refused else refused[0]
    count = len({name for name, _ in switched})
    mixed = len(judged) > 1 and len({name for names in gated.values() for name in names}) < count
    key = "policy.mixed" if mixed else f"policy.{told}"
    names = {"names": ", ".join(entity_or_guess(name, house).name for name in gated[told])}
    verdict = _denied(_tier(rule), told, arguments, names, *shown)
    return replace(verdict, key=key)


def _tier(rule: str) -> Tier:
    return Tier.SECURE if rule in SECURE_RULES else Tier.COSTLY


def _ruled(
    tier: Tier,
    rule: str,
    arguments: Mapping[str, Any],
    values: Mapping[str, str],
    rulings: Rulings,
    touched: Iterable[str] = (),
) -> Verdict:
    """Of a gated tier: as the settings rule."""
    if rulings.allows(tier):
        return Verdict(Decision.ALLOWED, tier, rule, arguments, tuple(touched))
    return _denied(tier, rule, arguments, values, touched)


def _denied(
    tier: Tier,
    rule: str,
    arguments: Mapping[str, Any],
    values: Mapping[str, str],
    touched: Iterable[str] = (),
    effects: Iterable[str] = (),
) -> Verdict:
    return Verdict(
        Decision.DENIED,
        tier,
        rule,
        arguments,
        tuple(touched),
        tuple(effects),
        key=f"policy.{rule}",
        values=values,
    )


def is_script_tool(entry: MenuEntry, house: House) -> bool:
    """Whether this tool is someone's script."""
    return _script_behind(entry, house) is not None


def _script_behind(entry: MenuEntry, house: House) -> str | None:
    """Id of the script that this tool is; "" where it has none, None where it is no script.

    Up to Home Assistant 2026.7 the tool bears the script's bare name.
    """
    if not entry.of_home:
        return None  # another server's tool may bear any name
    name = f"script.{entry.suffix}"
    if entry.tool.name.startswith("intent_script__"):
        return ""
    bare = entry.suffix == entry.tool.name and name in house.entities
    return name if is_script(entry.tool.name) or bare else None


def _choosing(intent: Intent, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments that choose things; a room to be cleaned is the work, not the choice."""
    if intent.places:
        return arguments
    return {key: value for key, value in arguments.items() if key not in ("area", "floor")}


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
