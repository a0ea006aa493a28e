"""Who does the work of a turn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.conversation.acknowledgement import IN_WORDS, Acknowledging
from assistant.conversation.confirmation_dialog import AskingServices
from assistant.domain.brain import Brain, Spent, Usage
from assistant.speech.catalogue import Catalogue
from assistant.speech.output import SpeechOutput

if TYPE_CHECKING:
    from assistant.jobs.jobs import Patient
    from assistant.tools.execution.toolbox import Toolbox
    from assistant.tools.policy.choices import Profiles


@dataclass(frozen=True, slots=True)
class TurnVoice:
    """How a turn sounds: there from the start of the process."""

    mouth: SpeechOutput
    catalogue: Catalogue
    acknowledging: Acknowledging = IN_WORDS


@dataclass(frozen=True, slots=True)
class TurnServices:
    """The parts that do the work of a turn. They take seconds to open, so turns may wait for them
    (`Deferred`)."""

    brain: Brain
    tools: "Patient"
    # None: nobody can be asked, and what is gated stays undone.
    asking: AskingServices | None = None
    # Tells a brain, by its name and the turn's id, how much of its answer was heard.
    tell_heard: Callable[[str, str, str], None] = lambda brain, turn_id, heard: None
    profiles: "Profiles | None" = None  # None: there are none
    limits: "Toolbox | None" = None  # None: no program can have a sentence served


# What one turn has cost so far.


@dataclass(slots=True)
class TurnCost:
    """All that brains were paid for in it, those that then failed too."""

    usage: Usage | None = None  # None: nobody has told of any
    cost_usd: float = 0.0
    model: str | None = None  # that was paid for last

    def add(self, spent: Spent) -> None:
        """The turn has cost something more."""
        self.usage = spent.usage if self.usage is None else self.usage + spent.usage
        self.cost_usd += spent.cost_usd
        self.model = spent.model or self.model
