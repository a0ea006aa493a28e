"""What holds at the moment of one call, beside the settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import time
from enum import StrEnum

from assistant.domain.outcome import Tier
from assistant.domain.rights import Program

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
class PolicyContext:
    """The mode, the time of day, the box that heard it, how the owner rated what, and who asks."""

    mode: Mode = Mode.NORMAL
    now: time = NOON  # of day, on the wall clock
    satellite: tuple[str, ...] = ()  # what this box is called, and its area
    ratings: Mapping[str, Tier] = field(default_factory=dict)  # by entity id
    program: Program | None = None  # that asks; None: a person
    tainted: bool = False  # text from outside may stand behind the call

    def asked_by(self, program: Program | None, tainted: bool = False) -> "PolicyContext":
        """The same for a turn of this program: rules know it by its name, and by the box's."""
        if tainted:
            return replace(self, tainted=True).asked_by(program)
        if program is None:
            return self
        return replace(self, satellite=(program.name, *self.satellite), program=program)


PLAIN = PolicyContext()
