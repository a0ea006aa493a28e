"""Function calls of one connection: each is answered once, or cancelled.

It is our guess that an unknown, answered or cancelled id is refused with 1007; the documentation
says only that each id is to be answered, and that cancelled ones are not.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from tests.simulators.book import Book
from tests.simulators.models import ModelRules
from tests.simulators.records import CallRecord, HeardTurn
from tests.simulators.schema import Tools
from tests.simulators.script import Call, Expected, as_declared
from tests.simulators.wire import Json, Refusal, known_fields


class Calls:
    """Open calls, and what waits for them."""

    def __init__(self, book: Book, rules: ModelRules) -> None:
        self._book = book
        self._rules = rules
        self._records: dict[str, CallRecord] = {}
        self._expected: dict[str, Expected | None] = {}
        self._settled: dict[str, asyncio.Event] = {}

    def make(self, call: Call, tools: Tools, turn: HeardTurn | None) -> CallRecord:
        """Note a call as open."""
        call = as_declared(call, [function.name for function in tools.functions])
        declared = tools.named(call.name)
        if declared is None and not call.undeclared:
            self._book.fail(f"{call.name} is called but was not declared")
        behavior = (declared and declared.behavior) or self._rules.default_behavior
        record = CallRecord(
            id=call.id or self._book.next_call_id(),
            name=call.name,
            args=dict(call.args or {}),
            behavior=behavior,
            sent_at=self._now,
        )
        self._records[record.id] = record
        self._expected[record.id] = call.answer
        self._settled[record.id] = asyncio.Event()
        if turn:
            turn.calls.append(record)
        self._book.note(f"call {record.id} {record.name} open")
        return record

    def lost(self) -> list[CallRecord]:
        """Return the open calls."""
        return [self._records[name] for name in self.open()]

    def open(self, behavior: str | None = None) -> list[str]:
        """Return the ids of calls that are neither answered nor cancelled."""
        return [
            record.id
            for record in self._records.values()
            if record.status == "open" and behavior in (None, record.behavior)
        ]

    def answer(self, response: Any) -> Json:
        """Handle a function response in camel case. Raises Refusal."""
        fields = known_fields(
            response,
            ("id", "name", "response", "scheduling", "willContinue", "parts"),
            "tool_response.function_responses",
        )
        record = self._records.get(fields.get("id") or "")
        if record is None:
            raise Refusal(f"No function call has the id {fields.get('id')!r}")
        if record.status == "cancelled" and (
            self._now < record.cancelled_at + self._book.crossing_s
        ):
            return fields
        if record.status != "open":
            raise Refusal(f"The function call {record.id} is {record.status} already")
        if fields.get("name") != record.name:
            raise Refusal(f"The function call {record.id} is of {record.name}")
        if not isinstance(fields.get("response"), dict):
            raise Refusal(f"The response to {record.id} must be an object")
        if "scheduling" in fields:
            self._check_scheduling(fields["scheduling"])
        continues = fields.get("willContinue") is True
        if continues and record.behavior == "BLOCKING":
            raise Refusal("willContinue is for NON_BLOCKING functions only")
        self._take(record, fields)
        if not continues:
            self._settle(record, "answered")
        return fields

    def cancel(self, ids: Sequence[str]) -> list[str]:
        """Cancel the calls in `ids`, or all open ones; returns their ids."""
        cancelled = [name for name in self.open() if not ids or name in ids]
        for name in cancelled:
            self._records[name].cancelled_at = self._now
            self._settle(self._records[name], "cancelled")
        return cancelled

    def forget(self, kept: int) -> None:
        """Drop the oldest settled calls, except for `kept` of them."""
        settled = [name for name, record in self._records.items() if record.status != "open"]
        for name in settled[: max(0, len(settled) - kept)]:
            for table in (self._records, self._expected, self._settled):
                del table[name]

    async def settled(self, ids: Sequence[str]) -> None:
        """Wait until these calls, or all open ones, are settled."""
        for name in ids or self.open():
            await self._settled[name].wait()

    @property
    def _now(self) -> float:
        return self._book.clock.monotonic()

    def _check_scheduling(self, scheduling: Any) -> None:
        if not self._rules.scheduling:
            raise Refusal("Function response scheduling is not supported for this model")
        if scheduling not in ("INTERRUPT", "WHEN_IDLE", "SILENT"):
            raise Refusal(f"Invalid value at 'scheduling', \"{scheduling}\"")

    def _take(self, record: CallRecord, fields: Json) -> None:
        record.response = fields["response"]
        record.scheduling = fields.get("scheduling")
        record.answered_at = self._now
        expected = self._expected[record.id]
        if expected is not None and not agrees(expected, fields["response"]):
            self._book.fail(
                f"{record.name} ({record.id}) was answered {record.response!r}, not {expected!r}"
            )

    def _settle(self, record: CallRecord, status: Any) -> None:
        record.status = status
        self._settled[record.id].set()
        self._book.note(f"call {record.id} {record.name} {status}")


def agrees(expected: Expected, response: Json) -> bool:
    """Return True if a response contains what the script expects."""
    if isinstance(expected, Mapping):
        return all(key in response and response[key] == expected[key] for key in expected)
    return expected(response)
