"""Whether what was heard in a turn wants an answer at all: not our echo, nor a mere stop word."""

from collections.abc import Callable, Sequence

from assistant.conversation.echo import is_echo
from assistant.conversation.effects import OpenTurn
from assistant.conversation.events import AsideFor
from assistant.conversation.stop_words import is_stop_word


class Judge:
    """Judges the words of one turn, by how it began."""

    def __init__(
        self, opening: OpenTurn, languages: Sequence[str], ours: Callable[[], Sequence[str]]
    ) -> None:
        """`languages`: the configured ones. `ours`: the clauses that sounded just before."""
        self._languages = languages
        self._ours = ours
        self._wake_word = opening.wake.word if opening.wake is not None else ""
        # While we spoke. What began later is the person's, whatever it repeats.
        self.may_be_echo = opening.source == "barge_in"
        self._may_be_stop = opening.over_ours or opening.source in ("follow_up", "barge_in")

    def judge(self, heard: str | None) -> AsideFor | None:
        """Why these words want no answer; None: they do, or there are none."""
        if not heard:
            return None
        if self._may_be_stop and is_stop_word(heard, self._languages, self._wake_word):
            return "stop_word"
        if self.may_be_echo and is_echo(heard, self._ours(), self._languages):
            return "echo"
        return None

    def forget(self) -> None:
        """The turn is over: what was said before it is nobody's business any more."""
        self._ours = tuple
