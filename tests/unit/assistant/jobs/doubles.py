"""A model that thinks as long as the test lets it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from assistant.domain.brain import BrainFault, Spent, Thought, Usage
from assistant.jobs.thinking import RunCall
from integrations.gemini.declarations import Declaration
from integrations.gemini.once import Picture


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as it was received."""

    question: str
    instruction: str
    declarations: tuple[str, ...]  # tool names
    call: RunCall
    rounds: int
    thinking: str


class Thinker:
    """A model that keeps every question until the test answers it."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._answers: list[asyncio.Future[Thought]] = []

    async def think(
        self,
        question: str,
        *,
        instruction: str,
        declarations: tuple[Declaration, ...],
        call: RunCall,
        rounds: int,
        thinking: str,
        spend: Callable[[Spent], Awaitable[None]],
        picture: Picture | None = None,
    ) -> Thought:
        assert picture is None
        names = tuple(one.name for one in declarations)
        self.asked.append(Asked(question, instruction, names, call, rounds, thinking))
        self._answers.append(asyncio.get_running_loop().create_future())
        answer = self._answers[-1]
        await spend(Spent(Usage(10, 5), 0.25))
        return await answer

    def answer(self, answer: str | BrainFault | Exception, number: int = -1) -> None:
        """End the thinking of that number, by default the last one."""
        if isinstance(answer, Exception):
            self._answers[number].set_exception(answer)
        elif isinstance(answer, BrainFault):
            self._answers[number].set_result(Thought("half an ans", fault=answer))
        else:
            self._answers[number].set_result(Thought(answer))
