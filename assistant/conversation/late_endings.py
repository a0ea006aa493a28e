"""The judge of pauses that is not there before somebody speaks.

The one that goes by words brings a recogniser and a language's sentences with it, a third of what
an idle process may hold. It is made when a wake word is heard for the first time, and is then told
what it has missed of that sentence.
"""

from collections.abc import Callable

from assistant.conversation.endpointing import Endings, PlainEndings

MOST = 2_000  # things it may have missed, 20 s; beyond, that sentence goes without

_Missed = Callable[[Endings], object]


class LateEndings:
    """Endings by how much was said, until those that know more are there."""

    def __init__(self, make: Callable[[], None]) -> None:
        """`make` begins to make the others; called once, on the ear's thread; must not block."""
        self._make: Callable[[], None] | None = make
        self._now: Endings = PlainEndings()
        self._next: Endings | None = None  # set by any thread
        self._missed: list[_Missed] = []  # of the sentence under way
        self._goes = False  # one is under way

    def become(self, endings: Endings) -> None:
        """These judge from now on; from any thread."""
        self._next = endings

    def begin(self, after: int) -> None:
        """See Endings."""
        self._take_over()
        make, self._make = self._make, None
        self._goes = True
        self._missed.clear()
        self._note(lambda endings: endings.begin(after))
        self._now.begin(after)
        if make is not None:
            make()

    def hear(self, pcm: bytes, end: int) -> None:
        """See Endings."""
        self._take_over()
        self._note(lambda endings: endings.hear(pcm, end))
        self._now.hear(pcm, end)

    def hang_over_ms(self, now: int, last_voiced: int | None) -> int:
        """See Endings."""
        self._take_over()
        self._note(lambda endings: endings.hang_over_ms(now, last_voiced))
        return self._now.hang_over_ms(now, last_voiced)

    def end(self) -> None:
        """See Endings."""
        self._goes = False
        self._missed.clear()
        self._now.end()

    def _note(self, missed: _Missed) -> None:
        if isinstance(self._now, PlainEndings) and self._goes and len(self._missed) <= MOST:
            self._missed.append(missed)

    def _take_over(self) -> None:
        """Those that have come take up the sentence where they can know all of it."""
        coming, self._next = self._next, None
        if coming is None:
            return
        if self._goes and len(self._missed) <= MOST:
            for missed in self._missed:
                missed(coming)
        self._missed.clear()
        self._now.end()
        self._now = coming
