"""What happens, for automations and whoever shows it: one place that all of it passes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from assistant.domain.listeners import Listeners

Kind = Literal[
    "wake",  # word, and score; or pressed and caller
    "heard",  # language, source, caller; words: heard
    "tool_call",  # name, status, decision, tier, entities
    "answer",  # brain, error kind, caller; words: answer
    "confirmation",  # waits: true, words: asked; then waits: false, verdict
    "question",  # a program's: id, caller, result, answer; words: question, sentence
    "timer",  # id, kind, what: set | changed | rings | heard | ended; words: name
    "announcement",  # id, caller, what: waits | said | left_out
    "fault",  # what, on, problem: one sentence; of a refused order what, caller, problem
    "command",  # caller, what; on of mute, mode of mode
    "button",  # name, caller: listen or stop was pressed
]


@dataclass(frozen=True, slots=True)
class Happening:
    """One of them. What people said is in `words` alone, so that it can be left out."""

    kind: Kind
    turn_id: str = ""  # "" where no turn had part in it
    data: Mapping[str, Any] = field(default_factory=dict)  # JSON, without anybody's words
    words: Mapping[str, str] = field(default_factory=dict)  # what was said, by whom it may concern


Follower = Callable[[Happening], None]


class EventBus:
    """Tells everybody. On the loop's thread; a follower must not block."""

    def __init__(self, keeps_words: Callable[[], bool] = lambda: True) -> None:
        """`keeps_words`: asked each time; what guests say is told to nobody."""
        self._keeps_words = keeps_words
        self._followers: Listeners[[Happening]] = Listeners("events")

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Have it told from now on; what is returned ends that."""
        return self._followers.add(follower)

    def tell(
        self,
        kind: Kind,
        /,
        turn_id: str = "",
        words: Mapping[str, str] | None = None,
        **data: Any,
    ) -> None:
        """It has just happened."""
        kept = words if words and self._keeps_words() else {}
        self._followers.tell(Happening(kind, turn_id, data, kept))
