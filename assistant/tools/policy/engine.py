"""The policy engine: decide whether a call is allowed, by the entities that it moves and the
direction of each move.

All functions are pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assistant.domain.tool_call import (
    PLAIN,
    Decision,
    Mode,
    PolicyContext,
    Rights,
    SentenceMatch,
    Tier,
)
from assistant.tools.builtin.protocol import BY_WORDS, BuiltIn
from assistant.tools.catalog.menu import MenuEntry
from assistant.tools.house.intents import (
    BROADCAST,
    INTENTS,
    LATER,
    PROCESS,
    TRIGGER,
    Action,
    Intent,
    suffix,
)
from assistant.tools.house.targets import domain_of, find_area, is_called, listed, reach
from assistant.tools.policy.decisions import Case, asked, decide, decide_call, decide_moves, denied
from assistant.tools.policy.risk import SENTENCE, UNREAD, Risk, entity_or_guess
from assistant.tools.policy.rules import (
    PRIVATE,
    STRICT,
    Caller,
    PolicyDecision,
    Ruling,
    Rulings,
    barred,
    stricter,
)
from assistant.tools.policy.scope import is_in, is_of_room
from assistant.tools.policy.targeting import (
    choosing,
    could_open,
    is_boundless,
    is_named,
    judge_targets,
    locks_up,
    named_in,
    nothing_there,
    script_behind,
    without_what_changes,
)
from assistant.tools.policy.words import HeardWords, read, scope
from integrations.home_assistant.effects import may_answer
from integrations.home_assistant.house import Area, Entity, House
from integrations.mcp.servers import HOME_ASSISTANT

# No schema lists these, but Home Assistant obeys them: they could move a call to another room.
_PREFERENCES = frozenset({"preferred_area_id", "preferred_floor_id"})


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
    """Decide about a call.

    `heard` is what the person said, or None. `area` is this device's room, or "". Set `live` to
    False if `house` is out of date, because a door that the call would open may then be missing
    from it.
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
    return judge_targets(case, arguments)


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
    """Decide about a sentence for Home Assistant's conversation engine, as if it were a tool call.

    The verdict's `arguments` are the sentence's slots. The sentence can't be changed, so it is
    denied if it would reach more than the person meant.
    """
    slots = {key: value for key, value in match.slots.items() if key not in _PREFERENCES}
    tool = TRIGGER if match.source == "trigger" else match.intent
    caller = Caller((tool, PROCESS), HOME_ASSISTANT, rulings, moment)
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
    # The dry run reports everything in the room, even if the intent is only for players.
    engine = tuple(
        name
        for name in match.targets
        if intent.domains is None or domain_of(name) in intent.domains
    )
    touched = engine or seen.touched or near.touched
    judged = tuple(dict.fromkeys((*touched, *seen.touched, *seen.candidates)))
    boundless = is_boundless(slots) and intent.action is not Action.NOTE
    if boundless and live and locks_up(intent, judged):
        boundless = False
    words = read(house, heard if heard is not None else match.text)
    # The engine reports the targets that it would touch; if it reports none, everything that may
    # be meant counts.
    meant_things = [entity_or_guess(name, house) for name in engine or judged]
    reached = [entity_or_guess(name, house) for name in judged]
    rule = _leaves_some(words, slots, reached, house) if intent.action is not Action.NOTE else None
    if rule is None and boundless and not (live and own and _are_in(own, reached, words)):
        rule = _is_elsewhere(words, meant_things, house, many=len(reached) > 1 or not live)
    if rule is not None:
        return denied(Tier.COMFORT, rule, slots, {}, touched)
    unseen = not judged or not (live or is_named(slots))
    if unseen and could_open(intent, slots, judged):
        return nothing_there(slots, slots, house, live)
    seen_by = house if live else without_what_changes(house)
    return decide(Case(intent, seen_by, heard, area, live, caller, {}), slots, touched, judged)


def _leaves_some(
    heard: HeardWords, slots: Mapping[str, Any], things: Sequence[Entity], house: House
) -> str | None:
    """Return a rule against the sentence if it names a place but excludes something there, or None.
    Home Assistant's engine would ignore the exception."""
    some = heard.in_part or any(heard.leaves(one, house) for one in things)
    return "which_thing" if some and not is_named(slots) else None


def _are_in(own: Area, things: Sequence[Entity], heard: HeardWords) -> bool:
    words = heard.wanted
    said = words.places or (words.lacking and not any(is_of_room(o, words.lacking) for o in things))
    return not said and all(one.area_id == own.area_id for one in things)


def _is_elsewhere(
    heard: HeardWords, things: Sequence[Entity], house: House, *, many: bool
) -> str | None:
    """Return a rule against a sentence without a place if it would do more than the person said, or
    None.

    `many` is True if the sentence can reach more than one entity.
    """
    words = heard.wanted
    if words.lacking:
        return None if any(is_of_room(one, words.lacking) for one in things) else "which_room"
    where = scope(words, None)
    if not many or (where is not None and not where.places):
        return None
    there = where is not None and all(is_in(one, where.places, house) for one in things)
    return None if there else "which_room"


def wants_words(name: str, arguments: Mapping[str, Any]) -> bool:
    """Return True if the verdict on this call can depend on what the person said."""
    if suffix(name) in BY_WORDS:
        return True
    intent = INTENTS.get(suffix(name))
    if intent is None or not intent.by_target or intent.action is Action.NOTE:
        return False
    return is_boundless(choosing(intent, arguments))


def _judge_script(
    entry: MenuEntry,
    script: str,
    arguments: Mapping[str, Any],
    house: House,
    live: bool,
    caller: Caller,
) -> PolicyDecision:
    """Judge a script by the entities that it affects and those that are named in its fields. They
    count in both directions, because the script can move them either way."""
    if not live or script not in house.entities:
        # The script's effects may have changed, and an `intent_script` never reports any.
        names = entry.tool.title or entry.suffix
        touched = (script,) if script else ()
        stake = Risk(Tier.COSTLY, UNREAD if script else "script")
        return decide_call(caller, stake, arguments, names, touched=touched)
    case = Case(INTENTS["HassToggle"], house, None, "", live, caller, {})
    return decide(case, arguments, (script,), (script, *named_in(arguments, house)))


def _judge_trigger(
    text: str, slots: Mapping[str, Any], house: House, live: bool, caller: Caller
) -> PolicyDecision:
    """Judge a sentence trigger by the effects of the automations that it matches. This requires
    that all automations are known, because Home Assistant doesn't report which one a sentence
    triggers."""
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


# Home Assistant tools that show or change lists and appointments.
_PRIVATE_TOOLS = frozenset(
    {
        *("HassShoppingListAddItem", "HassShoppingListCompleteItem", "HassShoppingListLastItems"),
        *("calendar_get_events", "get_events", "get_items", "todo_get_items"),
    }
)
_LONGEST_DETAIL = 3  # arguments in a question
_NOWHERE = House()


def judge_built_in(
    tool: BuiltIn,
    arguments: Mapping[str, Any],
    caller: Caller,
    heard: str | None = None,
    house: House = _NOWHERE,
) -> PolicyDecision:
    """Judge a built-in tool by the moves that it would make in `house` or, if it makes none, by its
    tier."""
    moves = tool.moves(arguments) if tool.moves is not None else ()
    if moves:
        return decide_moves(caller, moves, arguments, house)
    verdict = _by_tier(tool, arguments, caller)
    first = tool.asks(arguments, heard) if tool.asks is not None else None
    if first is None or verdict.decision is Decision.DENIED:
        return verdict
    question = asked(verdict, first.name, f"ask_{first.name}")
    ruling = stricter(verdict.ruling, question.ruling)
    return replace(question, ruling=ruling, values={"names": first.text})


def _by_tier(tool: BuiltIn, arguments: Mapping[str, Any], caller: Caller) -> PolicyDecision:
    if tool.stake is None:
        stake = Risk(tool.tier, "built-in")
        return decide_call(caller, stake, arguments, tool.name.replace("_", " "))
    stake = Risk(tool.stake(arguments), tool.name)
    moment, rulings = caller.moment, caller.rulings
    plain = PolicyContext().asked_by(moment.program)
    if moment.mode is Mode.GUEST and stake.tier is Tier.SECURE:
        # Guests may use the tool, but to end guest mode they need the PIN or a confirmation.
        proof = Ruling.PIN if rulings.has_pin else Ruling.CONFIRM
        secure = stricter(Ruling(rulings.secure), proof)
        caller = Caller(caller.tools, caller.server, Rulings(secure=secure), plain)
    elif stake.tier is Tier.COMFORT:
        caller = Caller(caller.tools, caller.server, rulings, plain)
    return decide_call(caller, stake, arguments, tool.name.replace("_", " "))


def judge_unknown(entry: MenuEntry, arguments: Mapping[str, Any], caller: Caller) -> PolicyDecision:
    # A Home Assistant tool may do anything: `call_action` of `/api/mcp` opens any door.
    tier = Tier.SECURE if entry.of_home else Tier.COSTLY
    names = entry.tool.title or entry.tool.name
    return decide_call(
        caller, Risk(tier, "unknown_tool"), arguments, names.replace("_", " "), _detail(arguments)
    )


def without_target(
    intent: Intent, name: str, arguments: Mapping[str, Any], caller: Caller
) -> PolicyDecision:
    """Judge a timer, a list or a query. A timer can include a command that runs when the timer
    ends, and that command could do anything."""
    if arguments.get(LATER):
        return decide_call(caller, Risk(Tier.SECURE, "later"), arguments, str(arguments[LATER]))
    if intent.action is Action.READ:
        return decide_call(caller, Risk(Tier.READ, "read"), arguments, name)
    return decide_call(caller, Risk(Tier.COMFORT, "note"), arguments, name)


def closed_to_guests(entry: MenuEntry, arguments: Mapping[str, Any], house: House) -> bool:
    """Return True if guests can't use the tool."""
    if entry.built_in is not None:
        return not entry.built_in.guests
    if not entry.of_home or entry.suffix in _PRIVATE_TOOLS:
        return True
    return _is_private(entry.suffix, arguments, house)


def closed_to_programs(entry: MenuEntry, rights: Rights) -> bool:
    """Return True if a program with these rights can't use the tool in its turns."""
    if entry.built_in is not None:
        unread = entry.built_in.words and not rights.recalls
        return unread or not entry.built_in.programs
    return entry.of_home and entry.suffix == BROADCAST


def private_sentence(match: SentenceMatch, house: House) -> bool:
    told = any(domain_of(name) in PRIVATE for name in match.targets)
    private = match.intent in _PRIVATE_TOOLS or _is_private(match.intent, match.slots, house)
    return told or private


def _is_private(suffix: str, arguments: Mapping[str, Any], house: House) -> bool:
    intent = INTENTS.get(suffix)
    if intent is not None and intent.domains is not None and intent.domains <= PRIVATE:
        return True
    if PRIVATE & set(listed(arguments.get("domain"))):
        return True
    name = arguments.get("name")
    return isinstance(name, str) and any(
        is_called(one, name) for one in house.entities.values() if one.domain in PRIVATE
    )


def _detail(arguments: Mapping[str, Any]) -> list[str]:
    texts = [str(value) for value in arguments.values() if isinstance(value, str | int | float)]
    return texts[:_LONGEST_DETAIL]
