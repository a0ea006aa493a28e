"""Asks a person, one question after the other, and counts what was asked."""

from collections.abc import Callable
from typing import TypeVar

from assistant.setup.ports import Person
from assistant.setup.typed import Unclear

MOST = 8  # questions of one walk

T = TypeVar("T")


class Questions:
    """A question may take several lines until it is answered; it counts once."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.asked: list[str] = []  # the titles, in order

    def begin(self, title: str) -> None:
        """A new question."""
        self.asked.append(title)
        self.person.tell("")
        self.person.tell(f"{len(self.asked)}  {title}", "bold")

    async def ask(
        self, prompt: str, read: Callable[[str], T], default: str = "", *, hidden: bool = False
    ) -> T:
        """The line as `read` understands it; asked again where that raises Unclear."""
        while True:
            line = await self.person.ask(prompt, default, hidden=hidden)
            try:
                return read(line)
            except Unclear as unclear:
                self.person.tell(str(unclear), "yellow")

    @property
    def left(self) -> int:
        """How many more may be asked."""
        return MOST - len(self.asked)
