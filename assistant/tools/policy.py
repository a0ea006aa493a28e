"""Whether a call may run, judged by what it would touch and which way.

Pure: values in, verdict out. What lets somebody in, costs much or has an unknown effect is asked
about or refused, as the settings and the owner's rules say; the rest is allowed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assistant.domain.call import SentenceMatch
from assistant.domain.outcome import Decision, Tier
from assistant.domain.policy_context import PLAIN, Mode, PolicyContext
from assistant.tools.builtin.protocol import BY_WORDS
from assistant.tools.calls import (
    closed_to_guests,
    closed_to_programs,
    judge_built_in,
    judge_unknown,
    private_sentence,
    without_target,
)
from assistant.tools.deciding import Case, asked, decide, decide_call, denied, told
from assistant.tools.gates import UNREAD, entity_or_guess, is_harmless
from assistant.tools.heard import HeardWords, read, scope
from assistant.tools.intents import BROADCAST, INTENTS, Action, Intent, suffix
from assistant.tools.mend import Mended, mend
from assistant.tools.menu import MenuEntry
from assistant.tools.mixed import Meant, cut_to, meant
from assistant.tools.openers import RELAYS
from assistant.tools.resolve import (
    UNTOLD,
    Miss,
    Reach,
    can,
    domain_of,
    find_area,
    find_areas,
    find_floors,
    is_wildcard,
    listed,
    reach,
    spoken_names,
)
from assistant.tools.rules import STRICT, PolicyDecision, Rulings
from assistant.tools.scoping import Scoped, bounded, is_in, is_of_room, resumed, widened
from assistant.tools.scripts import NAME, TRIGGER, named_in, script_behind
from assistant.tools.weighing import SENTENCE, Caller, Risk, barred
from integrations.home_assistant.house import Area, Entity, House
from integrations.home_assistant.related import SEARCHED
from integrations.home_assistant.sentence_templates import may_answer
from integrations.mcp.servers import HOME_ASSISTANT

# In no schema, yet Home Assistant obeys them: they could move a call to another room.
_PREFERENCES = frozenset({"preferred_area_id", "preferred_floor_id"})
_WHOLE_HOUSE = frozenset({"light", "cover", "media_player", "climate", "fan", "switch"})


def judge(
    entry: MenuEntry,
    arguments: Mapping[str, Any],
    house: House,
    heard: str | None,
    area: str,
    *,
    live: bool = True,
    rulings: Rulings = STRICT,
    moment: PolicyContext = PLAIN,
) -> PolicyDecision:
    """Decide about one call. `heard`: the person's own words; `area`: this box's room, or "".

    `live`: whether `house` is up to date; an old picture may lack a door that the call would open.
    """
    arguments = {key: value for key, value in arguments.items() if key not in _PREFERENCES}
    caller = Caller(entry.names, entry.server, rulings, moment)
    if moment.mode is Mode.GUEST and closed_to_guests(entry, arguments, house):
        return denied(entry.tier, "guest", arguments, {})
    if moment.program is not None and closed_to_programs(entry, moment.program.rights):
        return denied(entry.tier, barred(moment.program), arguments, {})
    if entry.built_in is not None:
        return judge_built_in(entry.built_in, arguments, caller, heard, house)
    if entry.reads_only:
        return decide_call(caller, Risk(Tier.READ, "read"), arguments, entry.suffix)
    if entry.rated:
        return decide_call(caller, Risk(Tier.COMFORT, "allow"), arguments, entry.suffix)
    script = script_behind(entry, house)
    if script is not None:
        return _judge_script(entry, script, arguments, house, live, caller)
    intent = INTENTS.get(entry.suffix) if entry.of_home else None
    if intent is None:
        return judge_unknown(entry, arguments, caller)
    if not intent.by_target:
        return without_target(intent, entry.suffix, arguments, caller)
    case = Case(intent, house, heard, area, live, caller, entry.tool.input_schema)
    return _judge_targets(case, arguments)


def judge_sentence(
    match: SentenceMatch,
    house: House,
    heard: str | None,
    area: str,
    *,
    live: bool = True,
    rulings: Rulings = STRICT,
    moment: PolicyContext = PLAIN,
) -> PolicyDecision:
    """Decide about a sentence for Home Assistant's conversation engine, as about a tool call.

    `arguments` of the verdict are the sentence's slots and `narrowed` is always False: the words
    cannot be changed, so that one which names no room runs only where all of it is in this room,
    or all was said. What Home Assistant told of its targets is judged besides what we resolve.
    """
    slots = {key: value for key, value in match.slots.items() if key not in _PREFERENCES}
    tool = TRIGGER if match.source == "trigger" else match.intent
    caller = Caller((tool, NAME), HOME_ASSISTANT, rulings, moment)
    intent = INTENTS.get(match.intent)
    if moment.mode is Mode.GUEST and private_sentence(match, house):
        return denied(Tier.READ, "guest", slots, {})
    if moment.program is not None and match.intent == BROADCAST:
        return denied(Tier.COMFORT, barred(moment.program), slots, {})
    if match.source == "trigger":
        return _judge_trigger(match.text, slots, house, live, caller)
    if intent is None:
        return decide_call(caller, Risk(Tier.COSTLY, SENTENCE), slots, match.text)
    if not intent.by_target:
        return without_target(intent, match.intent, slots, caller)
    seen = reach(intent, slots, house)
    own = find_area(house, area) if area else None
    near = reach(intent, slots, house, own.area_id) if own is not None else seen
    # The dry run tells all that is in the room, also where the intent is for players alone.
    engine = tuple(
        name
        for name in match.targets
        if intent.domains is None or domain_of(name) in intent.domains
    )
    touched = engine or seen.touched or near.touched
    judged = tuple(dict.fromkeys((*touched, *seen.touched, *seen.candidates)))
    boundless = _is_boundless(slots) and intent.action is not Action.NOTE
    if boundless and live and _locks_up(intent, judged):
        boundless = False
    words = read(house, heard if heard is not None else match.text)
    # What the engine tells of its targets is what it would do; else all that may be meant.
    meant_things = [entity_or_guess(name, house) for name in engine or judged]
    reached = [entity_or_guess(name, house) for name in judged]
    rule = _leaves_some(words, slots, reached, house) if intent.action is not Action.NOTE else None
    if rule is None and boundless and not (live and own and _are_in(own, reached, words)):
        rule = _is_elsewhere(words, meant_things, house, many=len(reached) > 1 or not live)
    if rule is not None:
        return denied(Tier.COMFORT, rule, slots, {}, touched)
    unseen = not judged or not (live or _is_named(slots))
    if unseen and _could_open(intent, slots, judged):
        return _nothing_there(slots, slots, house, live)
    seen_by = house if live else _without_what_changes(house)
    return decide(Case(intent, seen_by, heard, area, live, caller, {}), slots, touched, judged)


def _leaves_some(
    heard: HeardWords, slots: Mapping[str, Any], things: Sequence[Entity], house: House
) -> str | None:
    """The rule by which a sentence for a place is not said to an engine that would leave nothing
    out, as its words do."""
    some = heard.in_part or any(heard.leaves(one, house) for one in things)
    return "which_thing" if some and not _is_named(slots) else None


def _are_in(own: Area, things: Sequence[Entity], heard: HeardWords) -> bool:
    """Whether all of it is in this room, and no other room was said."""
    words = heard.wanted
    said = words.places or (words.lacking and not any(is_of_room(o, words.lacking) for o in things))
    return not said and all(one.area_id == own.area_id for one in things)


def _is_elsewhere(
    heard: HeardWords, things: Sequence[Entity], house: House, *, many: bool
) -> str | None:
    """The rule by which a sentence without a place does more than was said; `many`: it may reach
    more than one thing."""
    words = heard.wanted
    if words.lacking:
        return None if any(is_of_room(one, words.lacking) for one in things) else "which_room"
    where = scope(words, None)
    if not many or (where is not None and not where.places):
        return None
    there = where is not None and all(is_in(one, where.places, house) for one in things)
    return None if there else "which_room"


def wants_words(name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether the person's own words may decide about a call: it moves things, and names none, or
    it changes what is remembered."""
    if suffix(name) in BY_WORDS:
        return True
    intent = INTENTS.get(suffix(name))
    if intent is None or not intent.by_target or intent.action is Action.NOTE:
        return False
    return _is_boundless(_choosing(intent, arguments))


def _judge_script(
    entry: MenuEntry,
    script: str,
    arguments: Mapping[str, Any],
    house: House,
    live: bool,
    caller: Caller,
) -> PolicyDecision:
    """A script is judged by what it touches, and by what its fields name, either way."""
    if not live or script not in house.entities:
        # What it touches may have changed since; an `intent_script` never tells.
        names = entry.tool.title or entry.suffix
        touched = (script,) if script else ()
        stake = Risk(Tier.COSTLY, UNREAD if script else "script")
        return decide_call(caller, stake, arguments, names, touched=touched)
    case = Case(INTENTS["HassToggle"], house, None, "", live, caller, {})
    return decide(case, arguments, (script,), (script, *named_in(arguments, house)))


def _judge_trigger(
    text: str, slots: Mapping[str, Any], house: House, live: bool, caller: Caller
) -> PolicyDecision:
    """A sentence that automations wait for is judged by what they do, where all automations were
    read: Home Assistant does not tell which it sets off."""
    automations = {name for name in house.entities if domain_of(name) == "automation"}
    unread = tuple(sorted(automations & house.unread)) if live else ()
    known = live and not unread and automations <= house.sentences.keys()
    set_off = [
        name
        for name, templates in house.sentences.items()
        if known and name in automations and any(may_answer(one, text) for one in templates)
    ]
    if not set_off:
        verdict = decide_call(caller, Risk(Tier.COSTLY, SENTENCE), slots, text)
        return replace(verdict, unread=unread)
    case = Case(INTENTS["HassTurnOn"], house, None, "", live, caller, {})
    return decide(case, slots, (), set_off)


def _judge_targets(case: Case, arguments: Mapping[str, Any]) -> PolicyDecision:
    """A call that selects things of the house."""
    intent, house, live = case.intent, case.house, case.live
    own = find_area(house, case.area) if case.area else None
    heard = read(house, case.heard) if case.heard is not None else None
    mended = Mended(arguments)
    if live:
        mended = mend(intent, arguments, house, own.area_id if own is not None else None)
    arguments = mended.arguments
    paused = resumed(house, arguments, heard, own) if intent.resumes and live else []
    if len(paused) == 1:
        rest = {key: value for key, value in arguments.items() if key != "area"}
        arguments = {**rest, "name": paused[0]}
    selector = _choosing(intent, arguments)
    by_place = not _is_named(selector) and intent.action is not Action.NOTE
    if by_place and live and heard is not None:
        arguments = widened(case, arguments, heard)
        selector = _choosing(intent, arguments)
    boundless = _is_boundless(selector) and intent.action is not Action.NOTE
    if boundless and intent.domains is None and not _has_kind(selector):
        return denied(Tier.COMFORT, "which_thing", arguments, {})
    seen = reach(intent, arguments, house)
    if boundless and live and _locks_up(intent, (*seen.touched, *seen.candidates)):
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
    unseen = not judged or not (live or _is_named(selector))
    if unseen and _could_open(intent, selector, judged):
        verdict = _nothing_there(selector, arguments, house, live)
        return replace(verdict, options=mended.options, mended=mended.changes)
    if not live:
        case = replace(case, house=_without_what_changes(house))
    if live and seen.reason is Miss.SEVERAL:
        verdict = decide(case, arguments, seen.touched, judged)
        if verdict.decision is not Decision.DENIED:
            verdict = _which_one(verdict, intent, selector, seen, house)
    elif live and by_place and heard is not None and judged:
        verdict = _as_meant(case, scoped, heard)
    else:
        verdict = decide(case, arguments, seen.touched, judged)
    if unheard and verdict.decision is Decision.ALLOWED:
        verdict = asked(verdict, "whole_house", _about_whole_house(verdict))
    narrowed = verdict.narrowed or scoped.narrowed
    return replace(verdict, narrowed=narrowed, mended=mended.changes)


def _as_meant(case: Case, scoped: Scoped, heard: HeardWords) -> PolicyDecision:
    """The verdict on what the words mean of a call by place, and on nothing else."""
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
    if seen.reason is Miss.EVERYTHING:  # Home Assistant refuses that; in parts it does not
        able = (one for one in seen.candidates if can(case.house.entities[one], case.intent.action))
        touched = tuple(able)
    cut = cut_to(case, arguments, touched, judged, choice.things, forced=forced)
    if cut is None and forced:
        return denied(Tier.COMFORT, "which_thing", arguments, {}, seen.touched)
    if cut is None:
        return whole
    # All of it was judged before, so this is no stricter.
    verdict = decide(case, cut.saying.arguments, cut.touched, cut.judged)
    return replace(
        verdict, narrowed=True, parts=cut.saying.parts, left_on=left_on, unread=whole.unread
    )


def _not_meant(choice: Meant, arguments: Mapping[str, Any], house: House) -> PolicyDecision:
    """Nothing of what the call reaches was meant."""
    if choice.left_on:
        names = spoken_names(one.name for one in choice.left_on)
        return denied(Tier.COMFORT, "left_on", arguments, {"names": names})
    if choice.lacking:
        verdict = _nothing_there(arguments, arguments, house, live=True)
        return replace(verdict, options=choice.options)
    return replace(denied(Tier.COMFORT, "which_thing", arguments, {}), options=choice.options)


def _denied_there(scoped: Scoped) -> PolicyDecision:
    """It is not known where, or nothing of it is there; then what there is elsewhere."""
    values = {"names": scoped.place} if scoped.place else {}
    touched = () if scoped.place else scoped.seen.touched
    verdict = denied(Tier.COMFORT, scoped.denial, scoped.arguments, values, touched)
    if not scoped.offered:
        return verdict
    values["options"] = spoken_names(scoped.offered)
    return replace(verdict, key="policy.elsewhere", values=values, options=scoped.offered)


def _reaches_many(seen: Reach, live: bool) -> bool:
    return len(seen.touched) + len(seen.candidates) > 1 or not live


def _nothing_there(
    selector: Mapping[str, Any], arguments: Mapping[str, Any], house: House, live: bool
) -> PolicyDecision:
    """The thing is not seen, or its room; or nothing of the kind is in a room that is."""
    area, floor = (str(selector.get(key) or "") for key in ("area", "floor"))
    places = find_areas(house, area) if area else find_floors(house, floor)
    if live and places and not _is_named(selector):
        return denied(Tier.COMFORT, "none_here", arguments, {"names": places[0].name})
    return denied(Tier.COMFORT, "unseen", arguments, {"names": told(selector)})


def _about_whole_house(verdict: PolicyDecision) -> str:
    """The question about one kind of thing, or about all kinds."""
    domains = {domain_of(name) for name in verdict.entities}
    kind = domains.pop() if len(domains) == 1 else ""
    return f"ask_whole_house_{kind}" if kind in _WHOLE_HOUSE else "ask_whole_house"


def _which_one(
    verdict: PolicyDecision, intent: Intent, selector: Mapping[str, Any], seen: Reach, house: House
) -> PolicyDecision:
    """Several things are meant where one is wanted: Home Assistant would refuse, so we ask."""
    places = [
        area.name
        for name in seen.candidates
        if (area := house.areas.get(house.entities[name].area_id or ""))
    ]
    clear = intent.places and len(set(places)) == len(seen.candidates)
    options = tuple(places) if clear else seen.candidates
    values = {"names": told(selector), "options": ", ".join(options)}
    rule = "which_one" if _is_named(selector) else "which_thing"
    return replace(denied(verdict.tier, rule, verdict.arguments, values), options=options)


def _without_what_changes(house: House) -> House:
    """An old picture without how far covers are open and what scripts and scenes do."""
    entities = {
        name: replace(entity, attributes=_lasting(entity))
        for name, entity in house.entities.items()
    }
    unread = frozenset(name for name in entities if domain_of(name) in SEARCHED)
    return replace(house, entities=entities, touches={}, partly={}, ways={}, unread=unread)


def _lasting(entity: Entity) -> dict[str, Any]:
    changes = {"current_position"} | ({"entity_id"} if entity.domain in UNTOLD else set())
    return {key: value for key, value in entity.attributes.items() if key not in changes}


def _could_open(intent: Intent, selector: Mapping[str, Any], judged: Collection[str]) -> bool:
    """Whether the call, should it reach something that we do not see, could open it. Where nothing
    at all is seen, a switch may be the relay of a door too."""
    domains = listed(selector.get("domain")) or list(intent.domains or ())
    relays = frozenset() if judged else RELAYS
    return not domains or not all(is_harmless(one) and one not in relays for one in domains)


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


def _locks_up(intent: Intent, judged: Collection[str]) -> bool:
    """Whether it locks doors and does nothing else: that is meant for all of them, "lock up" in the
    kitchen too, and needs no leave. One room's doors alone would leave the house open unnoticed."""
    locks = all(domain_of(name) == "lock" for name in judged)
    return intent.action is Action.ON and bool(judged) and locks


def _has_kind(arguments: Mapping[str, Any]) -> bool:
    return any(arguments.get(key) for key in ("name", "domain", "device_class"))
