"""Text of strangers in a model's context: which turns, pieces of work and talks have read some.

A page, a calendar or a title of music may say "the person wants the door open". A model knows it as
long as the text is in its context, which a session with Gemini Live keeps over many turns. So a
talk that has read such text stays marked until the model begins one without it.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import TypeVar

from assistant.domain.outcome import Tier, ToolOutcome
from assistant.tools.builtin.protocol import HEARTH
from integrations.mcp.servers import HOME_ASSISTANT

_MOST = 1_000  # turns, pieces of work and talks that are remembered; the oldest are forgotten first
_MOST_SAID = 20  # of a talk's sentences, the newest
_MOST_CHARACTERS = 2_000  # of one
# What a house tells of its things that others write: titles of what plays, and states that are
# sentences, such as the newest message of a phone.
_TITLES = re.compile(r"\bmedia_(?:title|artist|album_name|series_title|channel)\b\W+\w")
_STATES = re.compile(r"\bstate: *'?([^\n\\]+)")
_SENTENCE = 40  # characters of a state, or as many words, that are no plain state any more
_WORDS = 5
Value = TypeVar("Value")


class Taint:
    """Kept for one process. A turn is known by its id, a talk by what its brain calls it."""

    def __init__(self) -> None:
        self._marked: dict[str, None] = {}  # ids, the oldest first
        self._talks: dict[str, str] = {}  # turn -> the talk that it belongs to
        self._said: dict[str, deque[str]] = {}  # turn or talk -> what the person said in it

    def follow(self, turn_id: str, talk: str, heard: str | None) -> None:
        """A call of this turn is asked for. `talk`: the model's context, "" where it has none."""
        if talk:
            _put(self._talks, turn_id, _name(talk))
            if turn_id in self._marked:
                self.mark(turn_id)  # it read something before the talk was known
        if heard:
            said = self._said.get(self._place(turn_id)) or deque(maxlen=_MOST_SAID)
            if heard not in said:
                said.append(heard[:_MOST_CHARACTERS])
            _put(self._said, self._place(turn_id), said)

    def mark(self, turn_id: str) -> None:
        """Text from outside, or a program's, has come into this turn, or into work begun in it,
        whose answer comes back; and into the talk to which it belongs."""
        for name in with_those_around(turn_id):
            _put(self._marked, name, None)
            talk = self._talks.get(name)
            if talk is not None:
                _put(self._marked, talk, None)

    def is_on(self, turn_id: str) -> bool:
        """True where such text may be known to whoever calls in this turn."""
        around = tuple(with_those_around(turn_id))
        talks = (self._talks.get(name, "") for name in around)
        return any(name in self._marked for name in (*around, *talks))

    def said(self, turn_id: str) -> tuple[str, ...]:
        """What the person said in this talk, as far as calls were made for it."""
        around = tuple(with_those_around(turn_id))
        return tuple(text for name in around for text in self._said.get(self._place(name), ()))

    def _place(self, turn_id: str) -> str:
        return self._talks.get(turn_id, turn_id)


def with_those_around(turn_id: str) -> Iterator[str]:
    """Itself and, of a piece of work, the turn that it belongs to."""
    while turn_id:
        yield turn_id
        turn_id = turn_id.rpartition("-")[0]  # as `ledger.Entry.work_id` puts it together


def gives_words_of_strangers(outcome: ToolOutcome) -> bool:
    """True of a reading of the house, or of Hearth's own, that holds what others wrote."""
    if outcome.outside:
        return True
    if outcome.tier is not Tier.READ or outcome.server not in (HOME_ASSISTANT, HEARTH):
        return False
    if _TITLES.search(outcome.data):
        return True
    states = (found.strip() for found in _STATES.findall(outcome.data))
    return any(len(one) >= _SENTENCE or len(one.split()) >= _WORDS for one in states)


def _name(talk: str) -> str:
    return f"talk {talk}"  # no turn is called so


def _put(kept: dict[str, Value], name: str, value: Value) -> None:
    kept.pop(name, None)
    kept[name] = value
    while len(kept) > _MOST:
        del kept[next(iter(kept))]
