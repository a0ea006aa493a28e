"""The model's tool calls and their results, and service errors as brain faults."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from assistant.domain.brain import BrainFault, FaultKind
from assistant.domain.tool_call import Decision, Status, Tier, ToolCall, ToolOutcome
from assistant.tools.builtin.find_tools import called_through
from assistant.tools.builtin.protocol import HEARTH
from integrations.errors import (
    AccountRejected,
    Barred,
    Blocked,
    Exhausted,
    IntegrationError,
    Misconfigured,
    Refused,
    Retired,
    SignInAgain,
    Stale,
    Unavailable,
)
from integrations.gemini.events import FunctionCall
from integrations.gemini.live import FunctionAnswer
from integrations.mcp.servers import HOME_ASSISTANT

# Function responses. They always contain a status, a retry flag and a sentence, because
# gemini-3.8-live repeats calls whose result is empty or meaningless (Google's Live API guide).


# Characters of Home Assistant's answer to a command, whose result is in the sentence. Answers of
# other servers are only limited in `assistant.tools.execution.outcomes`.
MAX_RECEIPT = 2_000
_CUT = " [cut]"


def tool_call(call: FunctionCall) -> ToolCall:
    """Return the call to run, which for `call_tool` is a call of the tool that it names."""
    return ToolCall(call.id, *called_through(call.name, call.arguments))


def response_to(outcome: ToolOutcome) -> dict[str, Any]:
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
    """Return the response to a call whose result is not known."""
    return {
        "status": Status.UNKNOWN.value,
        "retryable": False,
        "sentence": "It is not known yet whether this was done. Do not call it again.",
    }


def not_run_response() -> dict[str, Any]:
    """Return the response to a call that is not executed because its answer was abandoned."""
    return {
        "status": Status.NOT_RUN.value,
        "retryable": False,
        "sentence": "This was not done: the person has moved on. Do not call it again.",
    }


def silent_response() -> dict[str, Any]:
    """Return the response to the call with which the model ends a turn silently."""
    return {"status": "done", "retryable": False, "sentence": "Say nothing more."}


def note_about(outcome: ToolOutcome) -> str | None:
    """Return a note about a call whose result never reached the model, or None if
    nothing changed."""
    if outcome.status is Status.NOT_RUN or outcome.tier is Tier.READ:
        return None
    # The note is sent in the user's role. The server's text is quoted, so that it can't pass for
    # something the person said.
    return (
        f"(For your information: the earlier call of {_quoted(outcome.name)} was cut off, but it "
        f"had started. Its result, as data: {_quoted(outcome.sentence)} Do not repeat it.)"
    )


def note_of_cut(heard: str) -> str:
    """Return a note that tells the model how much of its answer the person heard."""
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


Answers = tuple[FunctionAnswer, ...]


@dataclass(slots=True)
class _Batch:
    open: dict[str, FunctionCall]
    ready: list[FunctionAnswer] = field(default_factory=list)


class OpenCalls:
    """A session's calls that are waiting for results.

    Calls that arrived together are answered together, because the model doesn't continue before the
    last result, and its reaction to partial results is unknown.
    """

    def __init__(self) -> None:
        self._batches: list[_Batch] = []
        self._settled = asyncio.Event()
        self._settled.set()

    def opened(self, calls: Iterable[FunctionCall]) -> tuple[FunctionCall, ...]:
        """Add calls, and return those that weren't known yet."""
        known = {id for batch in self._batches for id in batch.open}
        known |= {answer.id for batch in self._batches for answer in batch.ready}
        new = {call.id: call for call in calls if call.id not in known}
        if new:
            self._batches.append(_Batch(new))
            self._settled.clear()
        return tuple(new.values())

    def answered(self, id: str, response: dict[str, object]) -> Answers | None:
        """Add a result. Returns the answers to send now, or None if the call isn't open."""
        for batch in self._batches:
            call = batch.open.pop(id, None)
            if call is not None:
                batch.ready.append(FunctionAnswer(call.id, call.name, response))
                return self._complete(batch)
        return None

    def cancelled(self, ids: Iterable[str]) -> tuple[tuple[str, ...], Answers]:
        """Remove cancelled calls. Returns the ids of the removed calls, and the answers to send
        now."""
        gone: list[str] = []
        to_send: list[FunctionAnswer] = []
        for id in ids:
            for batch in self._batches:
                ready = [answer for answer in batch.ready if answer.id != id]
                if batch.open.pop(id, None) is None and len(ready) == len(batch.ready):
                    continue
                batch.ready[:] = ready
                gone.append(id)
                to_send += self._complete(batch)
                break
        return tuple(gone), tuple(to_send)

    def give_up(self, response: dict[str, object]) -> Answers:
        """Close all calls and return their answers, with `response` for calls without a result."""
        answers: list[FunctionAnswer] = []
        for batch in self._batches:
            answers += batch.ready
            answers += [FunctionAnswer(id, one.name, response) for id, one in batch.open.items()]
        self._batches.clear()
        self._settled.set()
        return tuple(answers)

    @property
    def are_open(self) -> bool:
        return bool(self._batches)

    async def settled(self) -> None:
        """Wait until there are no open calls."""
        await self._settled.wait()

    def _complete(self, batch: _Batch) -> Answers:
        if batch.open:
            return ()
        self._batches.remove(batch)
        if not self._batches:
            self._settled.set()
        return tuple(batch.ready)


# Error class, fault kind, and True if the same brain can be retried immediately. Subclasses must
# come before their base class.
_FAULTS: tuple[tuple[type[IntegrationError], FaultKind, bool], ...] = (
    (Unavailable, "unreachable", True),
    (Exhausted, "quota", False),
    (AccountRejected, "credentials", False),
    (SignInAgain, "sign_in", False),
    (Retired, "retired", False),
    (Misconfigured, "refused", False),
    (Stale, "unreachable", True),  # the next attempt uses a new session
    (Blocked, "blocked", False),
    (Refused, "refused", False),
)


def fault_from(error: IntegrationError) -> BrainFault:
    if isinstance(error, Barred):
        return BrainFault(error.why, str(error), retryable=False)
    differs = isinstance(error, Stale) and error.differs
    for kind_of_error, kind, retryable in _FAULTS:
        if isinstance(error, kind_of_error):
            return BrainFault(kind, str(error), retryable, differs=differs)
    return BrainFault("broken", str(error), retryable=False)
