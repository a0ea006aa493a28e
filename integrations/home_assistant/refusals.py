"""What Home Assistant answers, or leaves unanswered, in place of a result."""

from integrations.errors import Refused, Unavailable


class CommandRefused(Refused):
    """A command was answered with an error."""

    def __init__(self, sentence: str, code: str) -> None:
        """`code`: Home Assistant's own, such as "unknown_command" or "pipeline-not-found"."""
        super().__init__(sentence)
        self.code = code

    @property
    def unknown(self) -> bool:
        """This release, or this home without the integration, has no such command."""
        return self.code == "unknown_command"


class Unanswered(Unavailable):
    """A command was sent and no answer came: it may have been carried out."""

    def __init__(self, sentence: str, *, timed_out: bool) -> None:
        """`timed_out`: the connection still stands; else it ended meanwhile."""
        super().__init__(sentence)
        self.timed_out = timed_out
