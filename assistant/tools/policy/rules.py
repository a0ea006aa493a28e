"""Rulings on an entity or a call, based on the owner's rules or the risk. The functions
are pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import time
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from assistant.domain.tool_call import Decision, Demand, Mode, PolicyContext, Program, Tier
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


# Verdicts on calls, and the settings for each tier.
class Ruling(StrEnum):
    """A requirement that must be met before a call runs."""

    ALLOW = "allow"
    CONFIRM = "confirm"  # a spoken or typed yes
    PIN = "pin"
    PHONE = "phone"  # a yes on the owner's phone
    DENY = "deny"


_STRICTNESS = (Ruling.ALLOW, Ruling.CONFIRM, Ruling.PHONE, Ruling.PIN, Ruling.DENY)


def strictness(ruling: Ruling) -> int:
    """Return the rank of a ruling, from 0 (ALLOW) to 4 (DENY)."""
    return _STRICTNESS.index(ruling)


def stricter(one: Ruling, other: Ruling) -> Ruling:
    return max(one, other, key=strictness)


@dataclass(frozen=True, slots=True)
class Rulings:
    """The owner's rules, and the settings for costly and security-sensitive calls."""

    costly: str = "confirm"  # `policy.costly`, a Ruling
    secure: str = "confirm"  # `policy.secure`, a Ruling
    rules: "tuple[OwnerRule, ...]" = ()  # the first match wins
    has_pin: bool = False

    def of(self, tier: Tier, mode: Mode = Mode.NORMAL) -> Ruling:
        """Return the requirement for a call of this tier if none of the owner's rules match."""
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
    decision: Decision
    tier: Tier
    rule: str
    arguments: Mapping[str, Any]  # to send, possibly corrected and narrowed
    entities: tuple[str, ...] = ()  # entities that the call itself would touch
    effects: tuple[str, ...] = ()  # consequences: members of groups and scenes
    narrowed: bool = False
    key: str = ""  # key of the sentence in the catalogue; "" if the call is allowed
    values: Mapping[str, str] = field(default_factory=dict)  # values for the sentence
    mended: tuple[MendedArgument, ...] = ()  # corrected arguments
    options: tuple[str, ...] = ()  # possible meanings, if unclear
    # CONFIRM, PIN or PHONE if the decision is NEEDS_CONFIRMATION, with `ask` and `left`.
    ruling: Ruling = Ruling.ALLOW
    ask: str = ""  # catalogue key of the question, with `values`
    left: str = ""  # catalogue key of the answer to a "no": "I left {names} locked."
    unread: tuple[str, ...] = ()  # ids of entities whose effects are yet to be reported
    unknown: bool = False  # some effect is unknown
    moves: tuple[Move, ...] = ()  # changes that a built-in tool would make itself
    # Calls to send one after another if no single call reaches exactly these entities.
    parts: tuple[Mapping[str, Any], ...] = ()
    # Names of entities that the call leaves on because they must run.
    left_on: tuple[str, ...] = ()


Direction = Literal["open", "close"]


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """A `[[policy.rules]]` table. It matches if all fields that are set match. Case is ignored, and
    `*` and `?` are wildcards."""

    decide: Ruling
    entity: str = ""
    area: str = ""  # id, name or alias
    label: str = ""  # id or name
    domain: str = ""
    tool: str = ""  # whole name, or the part after the last `__`
    server: str = ""
    direction: Direction | None = None
    begins: time | None = None  # time of day; the span may wrap around midnight
    ends: time | None = None  # exclusive; equal to `begins`: the whole day
    satellite: str = ""

    @property
    def names_tools(self) -> bool:
        return bool(self.tool or self.server)

    @property
    def names_things(self) -> bool:
        return bool(
            self.entity or self.area or self.label or self.domain or self.direction is not None
        )


@dataclass(frozen=True, slots=True)
class Subject:
    """The properties of an affected entity, or of the call itself, that the owner's rules match."""

    tools: tuple[str, ...]  # names of the tool
    server: str
    reads: bool = False  # changes nothing, so only rules that name tools apply
    entity: Entity | None = None
    area: Area | None = None  # area of the entity
    directions: frozenset[Direction] = frozenset()  # both if the direction is unknown


def first_match(
    rules: Sequence[OwnerRule], subject: Subject, moment: PolicyContext
) -> tuple[int, OwnerRule] | None:
    """Return the index of the first matching rule and the rule itself, or None."""
    for number, rule in enumerate(rules):
        if _matches(rule, subject, moment):
            return number, rule
    return None


def names_program(rule: OwnerRule, program: Program) -> bool:
    return bool(rule.satellite) and _any_like(rule.satellite, (program.name,))


def names_one(rule: OwnerRule) -> bool:
    """Return True if the rule names a single entity or tool, without wildcards."""
    return any(name and not set("*?") & set(name) for name in (rule.entity, rule.tool))


def naming(rules: Sequence[OwnerRule], tools: Sequence[str], server: str) -> int | None:
    """Return the index of the first rule that names one of these tools or their server, or None."""
    for number, rule in enumerate(rules):
        if rule.names_tools and _is_about(rule, tools, server):
            return number
    return None


def called(number: int) -> str:
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
    # A rule that allows only closing does not free an entity that may move either way.
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
    wanted = pattern.strip().casefold().replace("[", "[[]")  # "[" is not a wildcard here
    return any(fnmatchcase(name.strip().casefold(), wanted) for name in names)


CALLER = "caller"  # rule against calls that exceed a program's rights
IN_TALK = "in_talk"  # rule against calls that answer a program's sentence
UNKNOWN = frozenset({*UNKNOWN_EFFECTS.values(), SENTENCE, UNREAD})  # rules of unknown effects
# Rules for effects about which nothing is known, not even in part.
_UNANSWERED = frozenset({SENTENCE, UNREAD})
_ALL = frozenset({"conversation.process", "conversation.trigger"})  # cover all sentences
PRIVATE = frozenset({"calendar", "camera", "todo"})  # domains that are closed to guests


@dataclass(frozen=True, slots=True)
class Caller:
    """The called tool, its server, and the settings and house state that apply."""

    tools: tuple[str, ...]
    server: str
    rulings: Rulings
    moment: PolicyContext


@dataclass(frozen=True, slots=True)
class Ruled:
    stake: Risk
    ruling: Ruling
    rule: str  # reason for the ruling: the risk's rule, or the owner's ("policy.rules[0]")

    @property
    def weight(self) -> tuple[int, int, bool]:
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
    """Return the ruling on performing this action on an entity. See `weigh` for `follows`."""
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
    return _demanded(_rule(stake, subject, caller), caller.moment.demands.get(entity_id))


def _demanded(ruled: Ruled, demand: Demand | None) -> Ruled:
    """Apply the owner's rating if it demands the PIN or forbids the entity. It never makes a ruling
    looser."""
    if demand is None or ruled.stake.tier is not Tier.SECURE:
        return ruled  # stopping and locking stay free
    ruling = stricter(ruled.ruling, Ruling(demand))
    return ruled if ruling is ruled.ruling else Ruled(ruled.stake, ruling, ruled.stake.rule)


def rule_call(stake: Risk, caller: Caller) -> Ruled:
    """Return the ruling on a call that affects no known entity."""
    subject = Subject(caller.tools, caller.server, reads=stake.tier is Tier.READ)
    return _rule(stake, subject, caller)


def _rule(stake: Risk, subject: Subject, caller: Caller) -> Ruled:
    """Apply the owner's first matching rule or, if none matches, the requirement of the tier. No
    rule can loosen guest mode."""
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
    """Require a confirmation if the effect is fully or partly unknown, because it might unlock a
    door.

    The owner can waive it with a rating or a rule. If the turn is tainted or nothing is known about
    the effect, only a rule that names exactly this entity or tool can waive it.
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
    """Return True if the rule names exactly this entity or tool, without wildcards.

    `every_sentence` is True if rules that cover all sentence triggers count too.
    """
    if rule is None or not names_one(rule):
        return False
    return every_sentence or rule.tool.strip().casefold() not in _ALL


def barred(program: Program) -> str:
    """Return the name of the rule that closes a tool to this program."""
    return IN_TALK if program.rights.asks else CALLER


def _for_program(ruled: Ruled, rule: OwnerRule | None, program: Program | None) -> Ruled:
    """Limit a ruling to a program's rights, which can be narrower than a person's."""
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


# The menu as JSON, for `hearth tools --json` and the HTTP API.
def menu_json(
    servers: "Iterable[ServerState]", entries: Iterable[MenuEntry], rules: Sequence[OwnerRule] = ()
) -> dict[str, Any]:
    """Return all servers and tools as JSON. `rules` are the owner's rules."""
    return {
        "servers": [{"name": s.name, "ok": s.ok, "reason": s.reason or None} for s in servers],
        "tools": [tool_json(entry, rules) for entry in entries],
    }


def tool_json(entry: MenuEntry, rules: Sequence[OwnerRule] = ()) -> dict[str, Any]:
    """Return a tool as JSON, with a list of what its declaration omits from the server's schema."""
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
    """Return the name of the owner's rule that names the tool, or otherwise the entry's
    own rule."""
    number = naming(rules, entry.names, entry.server)
    return entry.rule if number is None else called(number)
