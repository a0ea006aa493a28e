"""Rulings on one thing or call: by the owner's first rule that matches, else by its risk. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import time
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from assistant.domain.tool_call import Decision, Mode, PolicyContext, Program, Tier
from assistant.tools.catalog.menu import MenuEntry
from assistant.tools.house.intents import Action, Move
from assistant.tools.policy.corrections import MendedArgument
from assistant.tools.policy.risk import (
    SENTENCE,
    UNKNOWN_EFFECTS,
    UNREAD,
    Risk,
    directions,
    entity_or_guess,
    height,
    weigh,
)
from integrations.home_assistant.house import Area, Entity, House

if TYPE_CHECKING:
    from integrations.mcp.servers import ServerState


# What was decided about a call, and what the settings say of each tier.
class Ruling(StrEnum):
    """What the settings ask for before a call may run."""

    ALLOW = "allow"
    CONFIRM = "confirm"  # a spoken or typed yes
    PIN = "pin"
    PHONE = "phone"  # a yes on the owner's phone
    DENY = "deny"


_STRICTNESS = (Ruling.ALLOW, Ruling.CONFIRM, Ruling.PHONE, Ruling.PIN, Ruling.DENY)


def strictness(ruling: Ruling) -> int:
    """0 lets everything through."""
    return _STRICTNESS.index(ruling)


def stricter(one: Ruling, other: Ruling) -> Ruling:
    """The one that lets less through."""
    return max(one, other, key=strictness)


@dataclass(frozen=True, slots=True)
class Rulings:
    """What the settings say: of the gated tiers, and the owner's own rules."""

    costly: str = "confirm"  # `policy.costly`, a Ruling
    secure: str = "confirm"  # `policy.secure`, a Ruling
    rules: "tuple[OwnerRule, ...]" = ()  # the first that matches wins
    has_pin: bool = False

    def of(self, tier: Tier, mode: Mode = Mode.NORMAL) -> Ruling:
        """Return what is asked for before a call of this tier, where no rule of the owner's
        matches."""
        if tier is Tier.READ:
            return Ruling.ALLOW
        if mode is Mode.GUEST:
            return Ruling.ALLOW if tier is Tier.COMFORT else Ruling.DENY
        by_settings = {
            Tier.COMFORT: Ruling.ALLOW,
            Tier.COSTLY: Ruling.ALLOW if mode is Mode.TRUSTING else Ruling(self.costly),
            Tier.SECURE: Ruling(self.secure),
        }[tier]
        return stricter(by_settings, Ruling.CONFIRM) if mode is Mode.ASK else by_settings


STRICT = Rulings()


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """What is decided about one call, and why."""

    decision: Decision
    tier: Tier
    rule: str
    arguments: Mapping[str, Any]  # as to be sent, possibly mended and narrowed
    entities: tuple[str, ...] = ()  # what the call itself would touch
    effects: tuple[str, ...] = ()  # what follows from that: members of groups and scenes
    narrowed: bool = False
    key: str = ""  # of the sentence in the catalogue; empty where allowed
    values: Mapping[str, str] = field(default_factory=dict)  # its fields
    mended: tuple[MendedArgument, ...] = ()  # arguments that were not as the house has them
    options: tuple[str, ...] = ()  # what may have been meant, where that is not known
    # CONFIRM, PIN or PHONE where the decision is NEEDS_CONFIRMATION; then also `ask` and `left`.
    ruling: Ruling = Ruling.ALLOW
    ask: str = ""  # key of the question in the catalogue; its fields are in `values`
    left: str = ""  # key of what is said where it is not done: "I left {names} locked."
    unread: tuple[str, ...] = ()  # ids of what Home Assistant is about to tell the effect of
    unknown: bool = False  # something of it has an effect that nobody knows
    moves: tuple[Move, ...] = ()  # what one of Hearth's own tools would switch by itself
    # Sent one after another in place of `arguments`, where no single call reaches just this.
    parts: tuple[Mapping[str, Any], ...] = ()
    left_on: tuple[str, ...] = ()  # names of what a wide call leaves on because it must run


Direction = Literal["open", "close"]


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """One `[[policy.rules]]` table. What is given must all match, with `*` and `?` as wildcards;
    upper and lower case are the same."""

    decide: Ruling
    entity: str = ""
    area: str = ""  # its id, name or alias
    label: str = ""  # its id or name
    domain: str = ""
    tool: str = ""  # its whole name, or what follows the last `__`
    server: str = ""
    direction: Direction | None = None
    begins: time | None = None  # of day; the span may wrap around midnight
    ends: time | None = None  # not within the span; the same as `begins` is the whole day
    satellite: str = ""

    @property
    def names_tools(self) -> bool:
        """It is about tools, whatever they touch."""
        return bool(self.tool or self.server)

    @property
    def names_things(self) -> bool:
        """It is about things of the house alone."""
        return bool(
            self.entity or self.area or self.label or self.domain or self.direction is not None
        )


@dataclass(frozen=True, slots=True)
class Subject:
    """What a rule is held against: one thing that a call touches, or the call by itself."""

    tools: tuple[str, ...]  # the names under which the tool goes
    server: str
    reads: bool = False  # it changes nothing: only a rule that names tools is meant for it
    entity: Entity | None = None
    area: Area | None = None  # that the entity stands in
    directions: frozenset[Direction] = frozenset()  # both, where it may go either way


def first_match(
    rules: Sequence[OwnerRule], subject: Subject, moment: PolicyContext
) -> tuple[int, OwnerRule] | None:
    """The first rule that matches, and its number from 0."""
    for number, rule in enumerate(rules):
        if _matches(rule, subject, moment):
            return number, rule
    return None


def names_program(rule: OwnerRule, program: Program) -> bool:
    """Return whether the rule is about this program, by `satellite`."""
    return bool(rule.satellite) and _any_like(rule.satellite, (program.name,))


def names_one(rule: OwnerRule) -> bool:
    """Return whether the rule is about one thing or one tool, and not about all of a kind."""
    return any(name and not set("*?") & set(name) for name in (rule.entity, rule.tool))


def naming(rules: Sequence[OwnerRule], tools: Sequence[str], server: str) -> int | None:
    """The number of the first rule that names one of these tools or their server."""
    for number, rule in enumerate(rules):
        if rule.names_tools and _is_about(rule, tools, server):
            return number
    return None


def called(number: int) -> str:
    """Return what the rule of that number is called in a verdict: `policy.rules[0]`."""
    return f"policy.rules[{number}]"


def _matches(rule: OwnerRule, subject: Subject, moment: PolicyContext) -> bool:
    if subject.reads and not rule.names_tools:
        return False
    if not _is_about(rule, subject.tools, subject.server):
        return False
    if rule.satellite and not _any_like(rule.satellite, moment.satellite):
        return False
    if not _within(rule, moment.now):
        return False
    return not rule.names_things or _is_thing(rule, subject)


def _is_about(rule: OwnerRule, tools: Sequence[str], server: str) -> bool:
    return not (rule.tool and not _any_like(rule.tool, tools)) and not (
        rule.server and not _any_like(rule.server, (server,))
    )


def _is_thing(rule: OwnerRule, subject: Subject) -> bool:
    entity, area = subject.entity, subject.area
    if entity is None:
        return False
    places = (area.area_id, area.name, *area.aliases) if area else ()
    asked: list[tuple[str, Iterable[str]]] = [
        (rule.entity, (entity.entity_id,)),
        (rule.area, places),
        (rule.label, entity.labels),
        (rule.domain, (entity.domain,)),
    ]
    if not all(_any_like(pattern, names) for pattern, names in asked if pattern):
        return False
    if rule.direction is None:
        return True
    # What may go either way is not freed by a rule that only lets it be closed.
    frees = rule.decide is Ruling.ALLOW and rule.direction == "close"
    return rule.direction in subject.directions and not (frees and "open" in subject.directions)


def _within(rule: OwnerRule, now: time) -> bool:
    begins, ends = rule.begins, rule.ends
    if begins is None or ends is None:
        return True
    if begins < ends:
        return begins <= now < ends
    return now >= begins or now < ends  # around midnight, or the whole day


def _any_like(pattern: str, names: Iterable[str]) -> bool:
    wanted = pattern.strip().casefold().replace("[", "[[]")  # no wildcard here
    return any(fnmatchcase(name.strip().casefold(), wanted) for name in names)


CALLER = "caller"  # the rule of what a program may not do
IN_TALK = "in_talk"  # the rule of what is not done in answer to a program's words
UNKNOWN = frozenset({*UNKNOWN_EFFECTS.values(), SENTENCE, UNREAD})  # rules of unknown effects
# Those of which nobody has told anything, not even a part.
_UNANSWERED = frozenset({SENTENCE, UNREAD})
_ALL = frozenset({"conversation.process", "conversation.trigger"})  # tools of many sentences
PRIVATE = frozenset({"calendar", "camera", "todo"})  # domains that are nothing for guests


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for what: the names of the tool, its server, the settings and the moment."""

    tools: tuple[str, ...]
    server: str
    rulings: Rulings
    moment: PolicyContext


@dataclass(frozen=True, slots=True)
class Ruled:
    """A stake, and what is asked for before it may be."""

    stake: Risk
    ruling: Ruling
    rule: str  # what gave the ruling: the stake's rule, or the owner's ("policy.rules[0]")

    @property
    def weight(self) -> tuple[int, int, bool]:
        """Return what is stricter, then what is higher, then what the owner ruled comes first."""
        owners = self.rule.startswith("policy.rules")
        return strictness(self.ruling), height(self.stake.tier), owners


def rule_thing(
    entity_id: str,
    action: Action,
    arguments: Mapping[str, Any],
    house: House,
    caller: Caller,
    *,
    follows: bool = False,
) -> Ruled:
    """Return what is asked for before this thing is switched so. `follows`: as of `weigh`."""
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
    """Return what is asked for before a call that touches nothing of the house that we know."""
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
    """Return whether the rule names the very thing or tool; `every_sentence`: or all that
    automations wait for, which its owner may free for people alone."""
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


# The menu as JSON, as `hearth tools --json` and the HTTP interface give it.
def menu_json(
    servers: "Iterable[ServerState]", entries: Iterable[MenuEntry], rules: Sequence[OwnerRule] = ()
) -> dict[str, Any]:
    """All servers and tools. `rules`: the owner's."""
    return {
        "servers": [{"name": s.name, "ok": s.ok, "reason": s.reason or None} for s in servers],
        "tools": [tool_json(entry, rules) for entry in entries],
    }


def tool_json(entry: MenuEntry, rules: Sequence[OwnerRule] = ()) -> dict[str, Any]:
    """One tool, with what its declaration has lost."""
    return {
        "name": entry.declaration.name,
        "server": entry.server,
        "description": entry.declaration.description,
        "parameters": entry.declaration.parameters,
        "tier": entry.tier,
        "rule": rule_of(entry, rules),
        "approved": entry.approved,
        "hidden": entry.hidden,
        "losses": [
            *([f"not offered: {entry.why_hidden}"] if entry.hidden else []),
            *entry.declaration.losses,
        ],
    }


def rule_of(entry: MenuEntry, rules: Sequence[OwnerRule]) -> str:
    """Return what gave the tier; a rule of the owner's that names the tool comes first."""
    number = naming(rules, entry.names, entry.server)
    return entry.rule if number is None else called(number)
