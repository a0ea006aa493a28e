"""What happens, for automations and whoever shows it: one place that all of it passes."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

_log = logging.getLogger(__name__)

Kind = Literal[
    "wake",  # word, score, or who pressed
    "heard",  # words: the sentence
    "tool_call",  # name, status, decision, tier, entities
    "answer",  # brain, error kind; words: the answer
    "confirmation",  # asked (words), verdict; or that it waits
    "question",  # an automation's question: id, result, answer; words: the sentence
    "timer",  # id, what: set | changed | rings | heard | ended; words: its name
    "announcement",  # id, what: waits | said | left_out
    "fault",  # kind; problem: one sentence
    "command",  # caller, what
    "button",  # name
]


@dataclass(frozen=True, slots=True)
class Happening:
    """One of them. What people said is in `words` alone, so that it can be left out."""

    kind: Kind
    turn_id: str = ""  # "" where no turn had part in it
    data: Mapping[str, Any] = field(default_factory=dict)  # JSON, without anybody's words
    words: Mapping[str, str] = field(default_factory=dict)  # what was said, by whom it may concern


Follower = Callable[[Happening], None]


class Happenings:
    """Tells everybody. On the loop's thread; a follower must not block."""

    def __init__(self) -> None:
        self._followers: list[Follower] = []

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Have it told from now on; what is returned ends that."""
        self._followers.append(follower)

        def leave() -> None:
            if follower in self._followers:
                self._followers.remove(follower)

        return leave

    def tell(
        self,
        kind: Kind,
        turn_id: str = "",
        words: Mapping[str, str] | None = None,
        **data: Any,
    ) -> None:
        """It has just happened."""
        happening = Happening(kind, turn_id, data, words or {})
        for follower in tuple(self._followers):
            try:
                follower(happening)
            except Exception:
                _log.exception("a follower of events broke")  # other people's code: we go on
