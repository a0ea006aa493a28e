"""Calls of which no model may claim that they came about, and what is said of them instead. Pure.

Models say "The door is locked" of a call that timed out, and of one that waits for a person's yes.
No list of words tells a claim from an honest answer in six languages, so that from such a call on
the answer is made of our own sentences.
"""

from collections.abc import Iterable, Sequence

from assistant.domain.outcome import Decision, Status, Tier, ToolOutcome
from assistant.tools.builtin.protocol import HEARTH
from assistant.tools.guards import LIMITS
from integrations.mcp.servers import HOME_ASSISTANT

OWN_BRAINS = frozenset({"offline", "home-assistant"})  # what they say is from our catalogue
_OPEN_ENDS = frozenset({Status.NOT_OBSERVED, Status.TIMEOUT, Status.UNKNOWN})
# Tools of ours that switch things of the house, now or later.
_OURS_IN_THE_HOUSE = frozenset({"correct_last", "do_later", "undo"})
# A model meets these when it does not stop calling; they are no wish of the person's.
_FOR_MODELS = LIMITS | {"too_fast"}


def is_in_doubt(outcome: ToolOutcome) -> bool:
    """True of a change whose end nobody has seen, or that failed in the house.

    Why a tool of another server failed only the model can tell, from its data. The long work of
    Hearth's own tools is announced when it ends; one that would not do something for later, or not
    take it back, is answered by our own sentence.
    """
    if outcome.tier is Tier.READ or outcome.decision is Decision.NEEDS_CONFIRMATION:
        return False
    if outcome.status is Status.FAILED:
        return outcome.server == HOME_ASSISTANT or _is_left_by_us(outcome)
    own_work = outcome.running and outcome.server == HEARTH
    return outcome.status in _OPEN_ENDS and not own_work


def is_undone(outcome: ToolOutcome) -> bool:
    """True of a change that did not come about, or is not known to have.

    A call of a tool that does not exist is one, too: nobody knows what it was to do.
    """
    if is_in_doubt(outcome) or outcome.decision is Decision.NEEDS_CONFIRMATION:
        return True
    changes = outcome.tier is not Tier.READ or not outcome.server
    if outcome.status is Status.FAILED:
        return changes and outcome.server != HEARTH
    return changes and outcome.status is Status.NOT_RUN and outcome.rule not in _FOR_MODELS


def _is_left_by_us(outcome: ToolOutcome) -> bool:
    """True where a tool of ours that moves the house has not done so."""
    return outcome.server == HEARTH and outcome.name in _OURS_IN_THE_HOUSE


def undone(outcomes: Sequence[ToolOutcome]) -> list[ToolOutcome]:
    """The calls that did not come about, without those that a later one has put right."""
    return [
        one
        for place, one in enumerate(outcomes)
        if is_undone(one) and not any(_puts_right(later, one) for later in outcomes[place + 1 :])
    ]


def told(outcomes: Sequence[ToolOutcome]) -> list[str]:
    """What became of the changes of a turn, in our own words, each once and in order."""
    left = {id(one) for one in undone(outcomes)}
    changes = (one for one in outcomes if id(one) in left or _is_told_as_done(one))
    return list(dict.fromkeys(filter(None, _newest(changes))))


def _is_told_as_done(outcome: ToolOutcome) -> bool:
    return outcome.tier is not Tier.READ and outcome.status is Status.DONE


def _newest(outcomes: Iterable[ToolOutcome]) -> list[str]:
    """Of a thing that was switched twice, how it is now."""
    sentences: dict[tuple[str, ...], str] = {}
    for one in outcomes:
        things = one.entities or (one.id,)
        sentences.pop(things, None)
        sentences[things] = one.sentence
    return [*sentences.values()]


def _puts_right(later: ToolOutcome, failed: ToolOutcome) -> bool:
    """True where the same was tried again and done; a name that does not exist is put right by
    whatever change was made after it."""
    if later.status is not Status.DONE or later.tier is Tier.READ:
        return False
    if failed.decision is Decision.NEEDS_CONFIRMATION:
        return (later.name, later.arguments) == (failed.name, failed.arguments)
    if not failed.server:
        return True
    known = set(failed.entities)
    return later.name == failed.name and (not known or bool(known & set(later.entities)))
