"""What holds at the moment of one call, beside the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import time
from enum import StrEnum

from assistant.tools.outcome import Tier

NOON = time(12, 0)


class Mode(StrEnum):
    """How much is done without asking, the most trusting first (`policy.mode`)."""

    TRUSTING = "trusting"  # what is costly is not asked about
    NORMAL = "normal"  # as `policy.costly` and `policy.secure` say
    ASK = "ask"  # comfort is asked about too
    GUEST = "guest"  # comfort and timers only

    @property
    def strictness(self) -> int:
        """0 is the most trusting."""
        return tuple(Mode).index(self)


@dataclass(frozen=True, slots=True)
class Moment:
    """The mode, the time of day, the box that heard it, and how the owner rated what."""

    mode: Mode = Mode.NORMAL
    now: time = NOON  # of day, on the wall clock
    satellite: tuple[str, ...] = ()  # what this box is called, and its area
    ratings: Mapping[str, Tier] = field(default_factory=dict)  # by entity id


PLAIN = Moment()
