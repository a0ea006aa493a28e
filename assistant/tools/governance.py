"""Who watches over calls beside the policy: limits, undo, consents, quiet, the audit."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from assistant.domain.outcome import ToolOutcome
from assistant.domain.records import AuditRecord
from assistant.tools.approvals import Held
from assistant.tools.guards import Guards
from assistant.tools.menu import MenuEntry
from assistant.tools.undo.file_undo import FileUndo
from integrations.mcp.servers import McpTool, ServerSpec

if TYPE_CHECKING:
    from assistant.tools.consents import Consents


class Admitting(Protocol):
    """Which servers are given a rest (`breakers.Breakers`)."""

    def admits(self, server: str) -> bool:
        """Whether it may be called now."""
        ...

    def succeeded(self, server: str) -> None:
        """It has answered."""
        ...

    def failed(self, server: str) -> None:
        """It has not."""
        ...


class Undoing(Protocol):
    """Keeps how things were (`undo.UndoStack`). Never raises."""

    async def before(self, key: str, entities: Sequence[str], turn_id: str) -> None:
        """A call that touches these is about to be sent."""
        ...

    def after(self, key: str, outcome: ToolOutcome) -> None:
        """It has ended."""
        ...


class Approving(Protocol):
    """Which tools wait for their owner (`approvals.Approvals`). Never raises."""

    async def look(self, tools: Sequence[McpTool], servers: Mapping[str, ServerSpec]) -> Held:
        """Those that are not offered until somebody has looked at them, and why."""
        ...


class Hushed(Protocol):
    """What was paused for a question."""

    @property
    def quiet(self) -> bool:
        """Nothing plays in the room, and nothing has since it was paused."""
        ...

    async def resume(self) -> None:
        """Let it play on. Never raises."""
        ...


class Auditing(Protocol):
    """Where every call is kept for good (`assistant.journal.store.Store`)."""

    async def audit(self, record: AuditRecord) -> None:
        """Add a row. Raises StoreError."""
        ...


@dataclass(frozen=True, slots=True)
class CallGuards:
    """Each may be missing, as in tests of something else; in a process of Hearth none is."""

    limits: Guards | None = None
    breakers: Admitting | None = None
    files: FileUndo | None = None  # what servers do to files can be undone
    undo: Undoing | None = None
    approvals: Approving | None = None
    consents: "Consents | None" = None
    audit: Auditing | None = None
    hush: Callable[[], Awaitable[Hushed]] | None = None  # pauses what plays in this room
    has_pin: bool = False
    satellite: str = ""  # what this box is called in the audit
    # Told of what a call is about to act on, so that nothing else is taken for its cause.
    expects: Callable[[Sequence[str]], None] | None = None
    taints: Callable[[MenuEntry], bool] = lambda entry: False  # its results are from the open world
    # This one is, or holds what others wrote.
    taints_by: Callable[[ToolOutcome], bool] = lambda outcome: False
