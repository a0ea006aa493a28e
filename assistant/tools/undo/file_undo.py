"""What calls do to files becomes a step of undoing."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from assistant.tools.house.intents import Action, Move
from assistant.tools.undo.backups import Backup, Backups
from integrations.mcp.servers import ServerSpec


class Steps(Protocol):
    """Where steps are kept until they are undone (`undo.UndoStack`)."""

    def push(self, key: str, turn_id: str, step: Backup, moves: tuple[Move, ...] = ()) -> None:
        """Add one, of the call `key` that is under way; `moves`: as what it is judged."""
        ...


class FileUndo:
    """Makes undoable what calls do to files."""

    def __init__(self, backups: Backups, steps: Steps) -> None:
        self._backups = backups
        self._steps = steps

    @asynccontextmanager
    async def around(
        self, spec: ServerSpec, tool: str, arguments: Mapping[str, Any], key: str, turn_id: str
    ) -> AsyncIterator[None]:
        """Send the call of `tool` inside; `key` and `turn_id` as `UndoStack.before` was told."""
        backup = await self._backups.before(spec, tool, arguments)
        if backup is None:
            yield
            return
        # Taken back it is the server's work once more, though Hearth does it.
        work = Move("", Action.NOTE, server=spec.name, tool=tool, rated=tool in spec.allow)
        self._steps.push(key, turn_id, backup, (work,))
        try:
            yield
        finally:
            await asyncio.shield(backup.after())
