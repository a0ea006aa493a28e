"""What was decided about a call, and what the settings say of each tier."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from assistant.tools.mend import Change
from assistant.tools.outcome import Decision, Tier


class Ruling(StrEnum):
    """What the settings ask for before a call may run."""

    ALLOW = "allow"
    CONFIRM = "confirm"  # a spoken or typed yes
    PIN = "pin"
    PHONE = "phone"  # a yes on the owner's phone
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Rulings:
    """What the settings say of a tier: "allow" lets it run, everything else does not."""

    costly: str = "confirm"  # `policy.costly`
    secure: str = "confirm"  # `policy.secure`

    def allows(self, tier: Tier) -> bool:
        """Whether a call of this tier may run where something in it is gated."""
        if tier is Tier.SECURE:
            return self.secure == "allow"
        return tier is Tier.COSTLY and self.costly == "allow"


STRICT = Rulings()


@dataclass(frozen=True, slots=True)
class Verdict:
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
    mended: tuple[Change, ...] = ()  # arguments that were not as the house has them
    options: tuple[str, ...] = ()  # what may have been meant, where that is not known
    # CONFIRM, PIN or PHONE where the decision is NEEDS_CONFIRMATION; then also `ask` and `left`.
    ruling: Ruling = Ruling.ALLOW
    ask: str = ""  # key of the question in the catalogue; its fields are in `values`
    left: str = ""  # key of what is said where it is not done: "I left {names} locked."
