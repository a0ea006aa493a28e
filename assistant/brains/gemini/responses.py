"""What the model is told of a call: short, with a status, whether to try again, and a sentence.

Google's Live API guide reports that gemini-3.8-live repeats a call whose result is empty or says
nothing, so a result always has all three.
"""

import json
from typing import Any

from assistant.domain.outcome import Decision, Status, Tier, ToolOutcome
from assistant.tools.builtin.protocol import HEARTH
from integrations.mcp.servers import HOME_ASSISTANT

# Characters of the house's answer to a command: the sentence tells what was observed. All that
# other servers answer is given whole, as far as it was kept (`assistant.tools.answer`).
MAX_RECEIPT = 2_000
_CUT = " [cut]"


def response_to(outcome: ToolOutcome) -> dict[str, Any]:
    """The function response of one call."""
    response: dict[str, Any] = {
        "status": _status(outcome),
        "retryable": outcome.retryable,
        "sentence": outcome.sentence,
    }
    if outcome.valid_options:
        response["valid_options"] = list(outcome.valid_options)
    is_receipt = outcome.server in (HOME_ASSISTANT, HEARTH) and outcome.tier is not Tier.READ
    data = _capped(outcome.data, MAX_RECEIPT) if is_receipt else outcome.data
    if data and data != outcome.sentence:
        response["data"] = data
    return response


def unknown_response() -> dict[str, Any]:
    """For a call whose result did not come in time."""
    return {
        "status": Status.UNKNOWN.value,
        "retryable": False,
        "sentence": "It is not known yet whether this was done. Do not call it again.",
    }


def not_run_response() -> dict[str, Any]:
    """For a call of an answer that nobody wants any more."""
    return {
        "status": Status.NOT_RUN.value,
        "retryable": False,
        "sentence": "This was not done: the person has moved on. Do not call it again.",
    }


def silent_response() -> dict[str, Any]:
    """For the call by which the model ends a turn without words."""
    return {"status": "done", "retryable": False, "sentence": "Say nothing more."}


def note_about(outcome: ToolOutcome) -> str | None:
    """What the model must be told of a call whose result it never got; None: nothing was done.

    It goes in the person's role, so what a server wrote is quoted: it cannot pass for their words.
    """
    if outcome.status is Status.NOT_RUN or outcome.tier is Tier.READ:
        return None
    return (
        f"(For your information: the earlier call of {_quoted(outcome.name)} was cut off, but it "
        f"had started. Its result, as data: {_quoted(outcome.sentence)} Do not repeat it.)"
    )


def note_of_cut(heard: str) -> str:
    """What the model must be told of an answer of which no more was heard."""
    if not heard:
        return (
            "(For your information: your answer to the last request was cut off before any of it "
            "was heard.)"
        )
    return (
        "(For your information: your last answer was cut off. The person heard it only up to: "
        f"{_quoted(heard)} What you said after that they do not know.)"
    )


def _status(outcome: ToolOutcome) -> str:
    if outcome.running:
        return "running"
    if outcome.decision in (Decision.NEEDS_CONFIRMATION, Decision.DENIED):
        return outcome.decision.value
    return outcome.status.value


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _capped(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - len(_CUT)] + _CUT
