"""What is asked before a gated call, and what came back."""

from dataclasses import dataclass
from typing import Literal

from assistant.domain.outcome import Tier

How = Literal["confirm", "pin", "phone"]
# As in `--json`: "yes" is the only one that runs the call.
Verdict = Literal["yes", "no", "silence", "unclear", "new_command"]


@dataclass(frozen=True, slots=True)
class Question:
    """A call that is frozen until the person has answered; one can be pending per process."""

    id: str  # used once
    turn_id: str
    call_id: str  # as the brain gave it
    how: How
    tier: Tier
    text: str  # as it is asked, with the registry's names: "Unlock Front Door?"
    language: str
    object: str = ""  # the things' names, for "yes, the front door"


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a question ended."""

    verdict: Verdict
    by: str = ""  # who: "voice", "typed", "pin", "phone NAME"; "" where nobody said anything
    always: bool = False  # "yes, always": until midnight; never for the tier SECURE
    why: str = ""  # key of a sentence about the answer itself: a wrong PIN
