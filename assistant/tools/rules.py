"""The owner's rules: which one is the first to match a thing that a call touches. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import time
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, Literal

from assistant.domain.outcome import Decision, Tier
from assistant.domain.policy_context import Mode, PolicyContext
from assistant.domain.rights import Program
from assistant.tools.intents import Move
from assistant.tools.mend import MendedArgument
from integrations.home_assistant.house import Area, Entity

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
        """What is asked for before a call of this tier, where no rule of the owner's matches."""
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
    """Whether the rule is about this program, by `satellite`."""
    return bool(rule.satellite) and _any_like(rule.satellite, (program.name,))


def names_one(rule: OwnerRule) -> bool:
    """Whether the rule is about one thing or one tool, and not about all of a kind."""
    return any(name and not set("*?") & set(name) for name in (rule.entity, rule.tool))


def naming(rules: Sequence[OwnerRule], tools: Sequence[str], server: str) -> int | None:
    """The number of the first rule that names one of these tools or their server."""
    for number, rule in enumerate(rules):
        if rule.names_tools and _is_about(rule, tools, server):
            return number
    return None


def called(number: int) -> str:
    """What the rule of that number is called in a verdict: `policy.rules[0]`."""
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
