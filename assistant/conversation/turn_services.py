"""Who does the work of a turn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from assistant.conversation.acknowledgement import IN_WORDS, Acknowledging
from assistant.conversation.confirmation_dialog import AskingServices
from assistant.domain.brain import Brain, Spent, Usage
from assistant.domain.call import ToolCall
from assistant.domain.call_context import CALM, CallContext
from assistant.domain.outcome import ToolOutcome
from assistant.domain.question import Question, Settlement
from assistant.domain.rights import Rights
from assistant.speech.catalogue import Catalogue
from assistant.speech.output import SpeechOutput


class ToolRunner(Protocol):
    """The one path that every brain's every call takes."""

    async def call(
        self,
        call: ToolCall,
        turn_id: str,
        heard: str | None,
        language: str,
        situation: CallContext = CALM,
    ) -> ToolOutcome:
        """Judge, run, verify and journal one call.

        Never raises for what the call itself does; raises when it cannot be journalled.
        """
        ...

    def question(self, turn_id: str, call_id: str) -> Question | None:
        """What the person is to be asked for a call that needs a confirmation."""
        ...

    async def settle(self, question: Question, settlement: Settlement | None) -> ToolOutcome | None:
        """The person has answered, or has not. None: too late, or nobody could be asked."""
        ...

    async def next_question(
        self, turn_id: str, settlement: Settlement | None
    ) -> Question | ToolOutcome | None:
        """What is asked next in this turn; an outcome where that call is not asked about."""
        ...

    def leave(self, turn_id: str) -> None:
        """The person cut this turn off: work that was begun only for its answer may end."""
        ...


class ProgramLimits(Protocol):
    """Keeps what the turns of programs may touch (`assistant.tools.execution.toolbox.Toolbox`)."""

    def restrict(self, turn_id: str, rights: Rights, caller: str) -> None:
        """From now on all calls of this turn stay within these rights."""
        ...

    def release(self, turn_id: str) -> None:
        """The turn is over."""
        ...


class Profiles(Protocol):
    """What a profile changes about a turn (`assistant.tools.policy.choices.Profiles`)."""

    def begin(self, turn_id: str, profile: str) -> str:
        """A turn begins with it, "" for none: its voice speaks, and its tools are all that the
        turn may use. Gives the language to assume, "" for the first configured one."""
        ...


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
    tools: ToolRunner
    # None: nobody can be asked, and what is gated stays undone.
    asking: AskingServices | None = None
    # Tells a brain, by its name and the turn's id, how much of its answer was heard.
    tell_heard: Callable[[str, str, str], None] = lambda brain, turn_id, heard: None
    profiles: Profiles | None = None  # None: there are none
    limits: ProgramLimits | None = None  # None: no program can have a sentence served


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
