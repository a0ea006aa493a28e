"""A sentence for the home's engine as a call, and the words for what came of it."""

from assistant.domain.brain import ReplyText
from assistant.domain.call import SentenceMatch, ToolCall
from assistant.domain.outcome import Status, ToolOutcome
from assistant.tools.saying import NAME
from assistant.tools.spread import as_said, spread


def call_id(turn_id: str) -> str:
    """That of the one call of a turn."""
    return f"{turn_id}-sentence"


def call_for(match: SentenceMatch, turn_id: str) -> ToolCall:
    """The call that serves it: the sentence is said to the engine.

    Only several things for a list go to the home's tool, one by one: the engine hears no commas and
    would write them down as one.
    """
    item = match.slots.get("item")
    if isinstance(item, str):
        slots = {**match.slots, "item": as_said(item, match.text)}
        if len(spread(match.intent, slots)) > 1:
            return ToolCall(call_id(turn_id), match.intent, slots)
    return ToolCall(call_id(turn_id), NAME, {"text": match.text}, match)


def answer(outcome: ToolOutcome, own: str) -> ReplyText:
    """Home Assistant's own reply where the house shows what it says, else our sentence.

    `own`: the language of our sentences.
    """
    if outcome.name == NAME and outcome.status is Status.DONE and outcome.data:
        return ReplyText(outcome.data)
    return ReplyText(outcome.sentence, language=own)
