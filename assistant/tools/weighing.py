"""What is at stake when one thing is switched one way, and what the owner has ruled of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assistant.domain.outcome import Tier
from assistant.domain.policy_context import Mode, PolicyContext
from assistant.domain.rights import Program
from assistant.tools.costly import cost
from assistant.tools.gates import (
    UNKNOWN_EFFECTS,
    UNREAD,
    directions,
    entity_or_guess,
    gate,
    is_settled,
)
from assistant.tools.intents import Action
from assistant.tools.openers import FROST_RULE, keeps_running
from assistant.tools.rules import (
    OwnerRule,
    Ruling,
    Rulings,
    Subject,
    called,
    first_match,
    names_one,
    names_program,
    stricter,
    strictness,
)
from integrations.home_assistant.house import Entity, House

CALLER = "caller"  # the rule of what a program may not do
IN_TALK = "in_talk"  # the rule of what is not done in answer to a program's words
SECURE_RULES = frozenset({"unlock", "open", "disarm", "siren", "may_open", "may_silence"})
SENTENCE = "sentence"  # the rule of a sentence of which nobody knows what it sets off
UNKNOWN = frozenset({*UNKNOWN_EFFECTS.values(), SENTENCE, UNREAD})  # rules of unknown effects
# Those of which nobody has told anything, not even a part.
_UNANSWERED = frozenset({SENTENCE, UNREAD})
_ALL = frozenset({"conversation.process", "conversation.trigger"})  # tools of many sentences
PRIVATE = frozenset({"calendar", "camera", "todo"})  # domains that are nothing for guests
_TIERS = tuple(Tier)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for what: the names of the tool, its server, the settings and the moment."""

    tools: tuple[str, ...]
    server: str
    rulings: Rulings
    moment: PolicyContext


@dataclass(frozen=True, slots=True)
class Risk:
    """How much is at stake."""

    tier: Tier
    rule: str  # what gave the tier: "unlock", "runs-on", "comfort"
    rated: bool = field(default=False, compare=False)  # the tier is the owner's rating


@dataclass(frozen=True, slots=True)
class Ruled:
    """A stake, and what is asked for before it may be."""

    stake: Risk
    ruling: Ruling
    rule: str  # what gave the ruling: the stake's rule, or the owner's ("policy.rules[0]")

    @property
    def weight(self) -> tuple[int, int, bool]:
        """What is stricter, then what is higher, then what the owner ruled comes first."""
        owners = self.rule.startswith("policy.rules")
        return strictness(self.ruling), height(self.stake.tier), owners


def height(tier: Tier) -> int:
    """0 is to read."""
    return _TIERS.index(tier)


def weigh(
    entity_id: str,
    action: Action,
    arguments: Mapping[str, Any],
    house: House,
    ratings: Mapping[str, Tier],
    *,
    follows: bool = False,
) -> Risk:
    """The stake of one thing alone, without what follows from it.

    `follows`: from a call of something else, such as a group or a scene.

    The owner's rating settles what is not known (`gates.is_settled`) and what only its name says
    must run; what is known it only raises. While the answer of Home Assistant is on its way, it may
    yet be known to open something.
    """
    entity = entity_or_guess(entity_id, house)
    rule = gate(entity, action, arguments, house)
    rating = ratings.get(entity_id)
    if rating is not None and rule is not None and _is_the_owners(entity, rule, house):
        known_as = UNKNOWN_EFFECTS[entity.domain] if rule == UNREAD else rule
        return Risk(rating, "rated" if rating is Tier.COMFORT else known_as, rated=True)
    if rule is not None:
        stake = Risk(Tier.SECURE if rule in SECURE_RULES else Tier.COSTLY, rule)
    else:
        rule = cost(entity, action, arguments)
        if rule is None:
            rule = _must_run(entity, action, arguments, house, ratings)
        if rule == FROST_RULE and follows and action is Action.TOGGLE:
            rule = None  # a scene for the evening turns the heating down, and hardly ever off
        stake = Risk(Tier.COSTLY, rule) if rule else Risk(Tier.COMFORT, "comfort")
    raised = rating is not None and height(rating) > height(stake.tier)
    if rating is not None and raised and action is not Action.STOP:
        return Risk(rating, UNKNOWN_EFFECTS.get(entity.domain, "raised"), rated=True)
    return stake


def _is_the_owners(entity: Entity, rule: str, house: House) -> bool:
    """Return whether the owner's rating settles what this rule asks about."""
    return entity.entity_id not in house.unread and not is_settled(entity, rule, house)


def _must_run(
    entity: Entity,
    action: Action,
    arguments: Mapping[str, Any],
    house: House,
    ratings: Mapping[str, Tier],
) -> str | None:
    """The rule by which it should go on; its owner may have rated it as comfort."""
    if ratings.get(entity.entity_id) is Tier.COMFORT:
        return None
    return keeps_running(entity, action, arguments, house)


def rule_thing(
    entity_id: str,
    action: Action,
    arguments: Mapping[str, Any],
    house: House,
    caller: Caller,
    *,
    follows: bool = False,
) -> Ruled:
    """What is asked for before this thing is switched so. `follows`: as of `weigh`."""
    entity = entity_or_guess(entity_id, house)
    ratings = caller.moment.ratings
    stake = weigh(entity_id, action, arguments, house, ratings, follows=follows)
    if caller.moment.mode is Mode.GUEST and entity.domain in PRIVATE:
        return Ruled(stake, Ruling.DENY, "guest")
    subject = Subject(
        caller.tools,
        caller.server,
        entity=entity,
        area=house.areas.get(entity.area_id or ""),
        directions=directions(entity, action, arguments, house),
    )
    return _rule(stake, subject, caller)


def rule_call(stake: Risk, caller: Caller) -> Ruled:
    """What is asked for before a call that touches nothing of the house that we know."""
    subject = Subject(caller.tools, caller.server, reads=stake.tier is Tier.READ)
    return _rule(stake, subject, caller)


def _rule(stake: Risk, subject: Subject, caller: Caller) -> Ruled:
    """By the owner's first rule that matches, else by the tier. No rule loosens "guest"."""
    moment, rulings = caller.moment, caller.rulings
    by_tier = Ruled(stake, rulings.of(stake.tier, moment.mode), stake.rule)
    found = first_match(rulings.rules, subject, moment)
    if found is None:
        return _for_program(_cautious(by_tier, None, caller), None, moment.program)
    by_owner = Ruled(stake, found[1].decide, called(found[0]))
    if moment.mode is Mode.GUEST and by_tier.weight > by_owner.weight:
        return _for_program(by_tier, None, moment.program)
    return _for_program(_cautious(by_owner, found[1], caller), found[1], moment.program)


def _cautious(ruled: Ruled, rule: OwnerRule | None, caller: Caller) -> Ruled:
    """Ask about an effect that is not known, or known in part: it may be to unlock a door, so that
    neither `policy.costly` nor a mode frees it where unlocking is not free.

    The owner frees it by a rating or a rule; in a turn with text from outside, and where nothing
    at all is told of it, only by a rule that names the very thing.
    """
    stake, moment = ruled.stake, caller.moment
    if stake.rule not in UNKNOWN:
        return ruled
    if moment.tainted or stake.rule in _UNANSWERED:
        every = stake.rule == SENTENCE and not moment.tainted
        freed = stake.rule != UNREAD and _names(rule, every_sentence=every)
    else:
        worst = caller.rulings.of(Tier.SECURE, moment.mode)
        freed = stake.rated or rule is not None or worst is Ruling.ALLOW
    asked = stricter(ruled.ruling, Ruling.CONFIRM)
    return ruled if freed or asked is ruled.ruling else Ruled(stake, asked, stake.rule)


def _names(rule: OwnerRule | None, *, every_sentence: bool = False) -> bool:
    """Whether the rule names the very thing or tool; `every_sentence`: or all that automations wait
    for, which its owner may free for people alone."""
    if rule is None or not names_one(rule):
        return False
    return every_sentence or rule.tool.strip().casefold() not in _ALL


def barred(program: Program) -> str:
    """The rule by which a tool is not there for it."""
    return IN_TALK if program.rights.asks else CALLER


def _for_program(ruled: Ruled, rule: OwnerRule | None, program: Program | None) -> Ruled:
    """Nothing beyond a program's rights; what a person has freed for people is not free for it."""
    if program is None:
        return ruled
    tier, rights = height(ruled.stake.tier), program.rights
    if tier > height(rights.highest):
        return Ruled(ruled.stake, Ruling.DENY, CALLER)
    meant = rule is not None and names_program(rule, program)
    if ruled.stake.rule in UNKNOWN:
        meant = meant and _names(rule)
    if ruled.ruling is Ruling.ALLOW and tier > height(rights.free) and not meant:
        return Ruled(ruled.stake, Ruling.CONFIRM, CALLER)
    return ruled
