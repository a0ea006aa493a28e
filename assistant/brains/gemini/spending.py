"""Counts what the service bills, once."""

from integrations.gemini.events import TokensUsed


class Meter:
    """Token counts from the service to the turn that tells of them.

    The service's counts are those of the interaction so far: a later one replaces an earlier one.
    What a turn could not tell any more, because it was cut off, waits for the next one.
    """

    def __init__(self) -> None:
        self._so_far: TokensUsed | None = None  # of this interaction
        self._told: TokensUsed | None = None  # of these
        self._owed: list[TokensUsed] = []  # of earlier interactions

    def begin(self) -> None:
        """A new interaction begins: what was counted before is final."""
        self._owed += self._untold()
        self._so_far = self._told = None

    def count(self, used: TokensUsed) -> None:
        """The service tells what the interaction cost so far."""
        self._so_far = used

    def take(self) -> tuple[TokensUsed, ...]:
        """All that was not told yet."""
        taken = (*self._owed, *self._untold())
        self._owed.clear()
        self._told = self._so_far
        return taken

    def _untold(self) -> list[TokensUsed]:
        if self._so_far is None or self._so_far == self._told:
            return []
        return [_less(self._so_far, self._told or TokensUsed(0, 0))]


def _less(whole: TokensUsed, part: TokensUsed) -> TokensUsed:
    """What is left; never below nothing, whatever the service counts."""
    return TokensUsed(
        max(0, whole.input_tokens - part.input_tokens),
        max(0, whole.output_tokens - part.output_tokens),
        {
            key: max(0, count - part.by_modality.get(key, 0))
            for key, count in whole.by_modality.items()
        },
    )
