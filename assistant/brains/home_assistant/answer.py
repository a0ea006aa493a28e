"""The words for a sentence that was said to the home's engine."""

from assistant.tools.outcome import Status, ToolOutcome


def answer(outcome: ToolOutcome) -> str:
    """Home Assistant's own reply where the house shows what it says, else our sentence."""
    if outcome.status is Status.DONE and outcome.data:
        return outcome.data
    return outcome.sentence
