"""Choose who serves a sentence: Home Assistant's engine or Hearth's grammar.

If one follows the other in the order, both read the sentence before either acts:

1. A sentence that the household wrote for Home Assistant goes to the engine.
2. A sentence that only one of them understands goes to that one.
3. In a language for which the grammar has nothing but Home Assistant's own sentences, the first in
   the order serves what both understand.
4. Otherwise, the grammar serves it: it has to explain every word, it knows what was said before,
   and Hearth can correct what it did. If the grammar had to guess a word and the engine didn't, the
   engine serves the sentence.
"""

from enum import Enum

from assistant.domain.tool_call import SentenceMatch

ENGINE, GRAMMAR = "home-assistant", "offline"  # as in `brain.order`
_FREE = frozenset({"item", "message", "search_query"})  # slots that take any words


class Grasp(Enum):
    """A degree of understanding a sentence, for the grammar."""

    NONE = "none"  # or it could only say what the house lacks
    SHARED = "shared"  # by sentences that Home Assistant's engine has, too
    GUESSED = "guessed"  # a word was completed, corrected or taken as free text
    SURE = "sure"


def server(match: SentenceMatch | None, grasp: Grasp, first: str) -> str:
    """Return the brain that serves the sentence, ENGINE or GRAMMAR. `first` is the one that comes
    first in the order; it also serves what neither understands."""
    if match is None:
        return first if grasp is Grasp.NONE else GRAMMAR
    if match.source != "builtin" or grasp is Grasp.NONE:
        return ENGINE
    if grasp is Grasp.SHARED:
        return first
    sure = bool(match.targets) and not _FREE & match.slots.keys()
    return ENGINE if grasp is Grasp.GUESSED and sure else GRAMMAR
