"""Decisions about the entities that a call affects: the strictest ruling, and the wording of the
question."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assistant.domain.tool_call import Decision, Mode, Tier
from assistant.speech.speakable import spoken_name
from assistant.tools.house.intents import Action, Intent, Move
from assistant.tools.house.names import has_no_article, spoken_names, spoken_things
from assistant.tools.house.targets import UNTOLD, consequences, domain_of, without_plans
from assistant.tools.policy.risk import SECURE_RULES, Risk, entity_or_guess, height
from assistant.tools.policy.rules import (
    CALLER,
    UNKNOWN,
    Caller,
    PolicyDecision,
    Ruled,
    Ruling,
    rule_call,
    rule_thing,
)
from integrations.home_assistant.house import House

_BOTH_WAYS = frozenset({"unlock", "open", "disarm"})  # a plan may also do the opposite
WITH_MORE = "_more"  # suffix of question keys that mention further effects


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that affects the judgement of a call, apart from its arguments."""

    intent: Intent
    house: House
    heard: str | None
    area: str
    live: bool
    caller: Caller
    schema: Mapping[str, Any]  # schema of the tool's arguments; empty if none can be added


def decide(
    case: Case, arguments: Mapping[str, Any], touched: Sequence[str], judged: Sequence[str]
) -> PolicyDecision:
    """Return the verdict: the strictest ruling on the entities in `judged` and their consequences.
    `touched` contains the entities that the verdict lists."""
    house, action = case.house, case.intent.action
    ruled: dict[str, Ruled] = {}
    direct = frozenset(judged)
    for entity_id, way in consequences(judged, action, house):
        follows = entity_id not in direct
        one = rule_thing(entity_id, way, arguments, house, case.caller, follows=follows)
        if entity_id not in ruled or one.weight > ruled[entity_id].weight:
            ruled[entity_id] = one
    if not ruled:
        whole = rule_call(Risk(Tier.COMFORT, "comfort"), case.caller)
        values = {"names": told_names(arguments)}
        return _verdict(whole, Tier.COMFORT, "unseen_thing", False, arguments, values, (), ())
    worst = max(ruled.values(), key=lambda one: one.weight)
    tier = max((one.stake.tier for one in ruled.values()), key=height)
    effects = [name for name, _ in consequences(touched, action, house) if name not in touched]
    named = _asked_about(ruled, worst)
    base = _base({ruled[name].stake.rule for name in named})
    others = [name for name in touched if not _holds(name, named, action, house)]
    values = {"names": _names(named, house)}
    if others:
        values["others"] = _names(others, house)
    if base == "heat":
        values["degrees"] = str(arguments.get("temperature"))
    shown = (tuple(touched), tuple(dict.fromkeys(effects)))
    verdict = _verdict(worst, tier, base, bool(others), arguments, values, *shown)
    verdict = replace(
        verdict,
        unread=tuple(name for name in ruled if name in house.unread),
        unknown=any(one.stake.rule in UNKNOWN for one in ruled.values()),
    )
    return _truly(verdict, ruled, named, touched or judged, case)


def decide_call(
    caller: Caller,
    stake: Risk,
    arguments: Mapping[str, Any],
    names: str,
    what: Iterable[str] = (),
    touched: Iterable[str] = (),
) -> PolicyDecision:
    """Return the verdict on a call whose targets are unknown. `names` is the tool's name in the
    question, and `what` summarises the arguments."""
    ruled = rule_call(stake, caller)
    others = spoken_names(what)
    values = {"names": spoken_name(names)} | ({"others": others} if others else {})
    verdict = _verdict(
        ruled, stake.tier, stake.rule, "others" in values, arguments, values, tuple(touched), ()
    )
    return replace(verdict, unknown=stake.rule in UNKNOWN)


def decide_moves(
    caller: Caller, moves: Sequence[Move], arguments: Mapping[str, Any], house: House
) -> PolicyDecision:
    """Return the verdict on several moves in different directions, such as those of an undo.

    If any move would open, unlock or disarm something or sound a siren, the whole call is denied,
    because the person didn't ask for that move.
    """
    ruled: dict[str, Ruled] = {}
    touched: list[str] = []
    degrees: dict[str, str] = {}
    for move in moves:
        for name, one in _ruled_move(move, house, caller):
            if name not in ruled or one.weight > ruled[name].weight:
                ruled[name] = one
        touched += [move.entity_id] if move.entity_id else []
        if (wanted := move.arguments.get("temperature")) is not None:
            degrees[move.entity_id] = f"{wanted:g}"
    opened = [name for name, one in ruled.items() if one.stake.rule in SECURE_RULES]
    if opened:
        values = {"names": _names(opened, house)}
        return denied(Tier.SECURE, "undo_opens", arguments, values, touched)
    worst = max(ruled.values(), key=lambda one: one.weight)
    tier = max((one.stake.tier for one in ruled.values()), key=height)
    named = _asked_about(ruled, worst)
    base = _base({ruled[name].stake.rule for name in named})
    others = [name for name in ruled if name not in named]
    values = {"names": _names(named, house)}
    if others:
        values["others"] = _names(others, house)
    if base == "heat":
        values["degrees"] = spoken_names(dict.fromkeys(degrees[name] for name in named))
    effects = tuple(name for name in ruled if name not in touched)
    verdict = _verdict(
        worst, tier, base, bool(others), arguments, values, tuple(dict.fromkeys(touched)), effects
    )
    unknown = any(one.stake.rule in UNKNOWN for one in ruled.values())
    return replace(verdict, moves=tuple(moves), unknown=unknown)


def _ruled_move(move: Move, house: House, caller: Caller) -> Iterator[tuple[str, Ruled]]:
    if move.server:
        stake = Risk(*((Tier.COMFORT, "allow") if move.rated else (Tier.COSTLY, "unknown_tool")))
        if caller.moment.mode is Mode.GUEST:  # servers' tools are closed to guests
            ruled = Ruled(stake, Ruling.DENY, "guest")
        else:
            ruled = rule_call(stake, replace(caller, tools=(move.tool,), server=move.server))
        yield move.tool.replace("_", " "), ruled
        return
    entity = house.entities.get(move.entity_id)
    if entity is not None and move.state:
        turned = replace(entity, state=move.state)
        house = replace(house, entities={**house.entities, move.entity_id: turned})
    for entity_id, way in consequences([move.entity_id], move.action, house):
        yield entity_id, rule_thing(entity_id, way, move.arguments, house, caller)


def denied(
    tier: Tier,
    rule: str,
    arguments: Mapping[str, Any],
    values: Mapping[str, str],
    touched: Iterable[str] = (),
) -> PolicyDecision:
    """Return a denial. The catalogue's sentence `policy.RULE` gives the reason."""
    return PolicyDecision(
        Decision.DENIED,
        tier,
        rule,
        arguments,
        tuple(touched),
        key=f"policy.{rule}",
        values=values,
        ruling=Ruling.DENY,
    )


def asked(verdict: PolicyDecision, rule: str, ask: str) -> PolicyDecision:
    """Return a verdict like this one that requires a confirmation, regardless of the
    call's tier."""
    return PolicyDecision(
        Decision.NEEDS_CONFIRMATION,
        verdict.tier,
        rule,
        verdict.arguments,
        verdict.entities,
        verdict.effects,
        key=f"confirm.{ask}",
        ruling=Ruling.CONFIRM,
        ask=f"confirm.{ask}",
        left=f"confirm.left_{rule}",
    )


def told(arguments: Mapping[str, Any]) -> str:
    return str(
        next((arguments[key] for key in ("name", "area", "floor") if arguments.get(key)), "it")
    )


def told_names(arguments: Mapping[str, Any]) -> str:
    """Return the named target in the form used in a sentence: "the front door"."""
    return spoken_things([told(arguments)], untitled=("it",))


def is_grave(case: Case, arguments: Mapping[str, Any], entity_id: str) -> bool:
    """Return True if acting on the entity or its consequences is ruled more strictly than switching
    a lamp."""
    moment, rulings = case.caller.moment, case.caller.rulings
    comfort = Risk(Tier.COMFORT, "comfort")
    lamp = Ruled(comfort, rulings.of(comfort.tier, moment.mode), comfort.rule)
    things = (
        rule_thing(name, way, arguments, case.house, case.caller, follows=name != entity_id)
        for name, way in consequences([entity_id], case.intent.action, case.house)
    )
    return any(one.ruling is not Ruling.ALLOW and one.weight > lamp.weight for one in things)


def _asked_about(ruled: Mapping[str, Ruled], worst: Ruled) -> list[str]:
    """Return the entities to name in the question or refusal: the denied ones, or otherwise those
    that need a confirmation and have the highest tier."""
    if worst.ruling is Ruling.DENY:
        return [name for name, one in ruled.items() if one.ruling is Ruling.DENY]
    gated = {name: one for name, one in ruled.items() if one.ruling is not Ruling.ALLOW}
    highest = max((height(one.stake.tier) for one in gated.values()), default=0)
    return [name for name, one in gated.items() if height(one.stake.tier) == highest]


def _truly(
    verdict: PolicyDecision,
    ruled: Mapping[str, Ruled],
    named: Sequence[str],
    touched: Sequence[str],
    case: Case,
) -> PolicyDecision:
    """Reword the verdict's question or refusal so that it describes what would really happen.

    It must not say in which direction a scene, script or button moves a door if that is unknown,
    nor name an entity that the call doesn't affect.
    """
    house, action = case.house, case.intent.action
    near = without_plans(touched, house)
    direct = any(name in near and domain_of(name) not in UNTOLD for name in named)
    if direct or verdict.decision is Decision.ALLOWED:
        return verdict
    plans = [name for name, _ in consequences(touched, action, house) if name in near]
    plans = [name for name in plans if domain_of(name) in UNTOLD]
    if not plans:
        values = {"names": _names(touched, house)}
        lamp = all(domain_of(name) == "light" for name in touched)
        return _worded(verdict, "alike_light" if lamp else "alike", "alike", values)
    doors = [name for name in named if name not in plans]
    rule = _base({ruled[name].stake.rule for name in doors or named})
    if not doors and rule not in SECURE_RULES and (action is not Action.OFF or rule != "script"):
        return verdict  # "Run the script Film?" says all that is known
    if action is Action.OFF:
        ask = "plan_stops" if doors else "plan_stop"
    elif doors:
        ask = _plan_for_doors(rule, doors, plans, touched, case)
    else:
        ask = "plan_opener"
    holding = [name for name in plans if _holds(name, named, action, house)] or plans
    others = [name for name in touched if not _holds(name, (*named, *holding), action, house)]
    values = {
        "plans": _names((*holding, *others), house),
        "names": _names(doors or holding, house),
    }
    return _worded(verdict, ask, "plan", values)


def _plan_for_doors(
    rule: str, doors: Sequence[str], plans: Sequence[str], touched: Sequence[str], case: Case
) -> str:
    """Return the key of the question about what scenes, scripts and the like do to doors. The
    effect can be certain only for scenes."""
    if rule not in _BOTH_WAYS:
        return "plan_several"
    ways = (
        way for name, way in consequences(touched, case.intent.action, case.house) if name in doors
    )
    sure = all(domain_of(name) == "scene" for name in plans) and Action.TOGGLE not in ways
    return f"plan_will_{rule}" if sure else f"plan_{rule}"


def _worded(
    verdict: PolicyDecision, ask: str, base: str, values: Mapping[str, str]
) -> PolicyDecision:
    if verdict.decision is Decision.DENIED:
        told = verdict.key in (*(f"policy.{rule}" for rule in SECURE_RULES), "policy.several")
        return replace(verdict, key=f"policy.{base}", values=values) if told else verdict
    key = f"confirm.ask_{ask}"
    return replace(verdict, key=key, ask=key, left=f"confirm.left_{base}", values=values)


def _said(entity_id: str, house: House) -> str:
    name = entity_or_guess(entity_id, house).name
    return name if spoken_name(name) else entity_id.partition(".")[2]


def _names(entity_ids: Iterable[str], house: House) -> str:
    said = {one: _said(one, house) for one in entity_ids}
    untitled = {name for one, name in said.items() if has_no_article(one, name)}
    known = ((one, name, house.entities.get(one)) for one, name in said.items())
    return spoken_things(
        ((name, *(() if entity is None else entity.names)) for one, name, entity in known), untitled
    )


def _base(rules: set[str]) -> str:
    return next(iter(rules)) if len(rules) == 1 else "several"


def _holds(entity_id: str, named: Sequence[str], action: Action, house: House) -> bool:
    return any(name in named for name, _ in consequences([entity_id], action, house))


def _verdict(
    ruled: Ruled,
    tier: Tier,
    base: str,
    more: bool,
    arguments: Mapping[str, Any],
    values: Mapping[str, str],
    touched: tuple[str, ...],
    effects: tuple[str, ...],
) -> PolicyDecision:
    """Build the verdict from the sentences of the rule `base`. `more` is True if the call has
    additional effects."""
    ruling = ruled.ruling
    if ruling is Ruling.ALLOW:
        return PolicyDecision(Decision.ALLOWED, tier, ruled.rule, arguments, touched, effects)
    if ruling is Ruling.DENY:
        key = ruled.rule if ruled.rule in ("guest", CALLER) else base
        key = "mixed" if more and touched else key
        return PolicyDecision(
            Decision.DENIED,
            tier,
            ruled.rule,
            arguments,
            touched,
            effects,
            key=f"policy.{key}",
            values=values,
            ruling=ruling,
        )
    ask = f"confirm.ask_{base}{WITH_MORE if more else ''}"
    return PolicyDecision(
        Decision.NEEDS_CONFIRMATION,
        tier,
        ruled.rule,
        arguments,
        touched,
        effects,
        key=ask,
        values=values,
        ruling=ruling,
        ask=ask,
        left=f"confirm.left_{base}",
    )
