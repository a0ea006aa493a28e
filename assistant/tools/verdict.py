"""What was decided about a call, and what the settings say of each tier."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from assistant.domain.outcome import Decision, Tier
from assistant.domain.policy_context import Mode
from assistant.tools.intents import Move
from assistant.tools.mend import MendedArgument

if TYPE_CHECKING:
    from assistant.tools.rules import OwnerRule


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
