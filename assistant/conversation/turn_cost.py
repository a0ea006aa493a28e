"""What one turn has cost so far."""

from dataclasses import dataclass

from assistant.domain.brain import Spent, Usage


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
