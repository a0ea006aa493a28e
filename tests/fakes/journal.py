"""The journal of tool calls, in memory."""

from assistant.domain.records import AuditRecord, CallRecord
from assistant.domain.tool_call import ToolOutcome
from assistant.journal.audit import Discreet


class FakeJournal(Discreet):
    """A journal that keeps its calls in order."""

    def __init__(self) -> None:
        self.started: list[CallRecord] = []
        self.finished: list[ToolOutcome] = []
        self.turns: list[str] = []  # of finished calls
        self.rows: list[AuditRecord] = []

    async def start_call(self, call: CallRecord) -> None:
        self.started.append(call)

    async def finish_call(self, turn_id: str, outcome: ToolOutcome) -> None:
        self.turns.append(turn_id)
        self.finished.append(outcome)

    async def audit(self, record: AuditRecord) -> None:
        self.rows.append(record)
