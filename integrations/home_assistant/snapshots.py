"""Scenes that Hearth makes to go back to: Home Assistant keeps how some entities are now.

They are called `scene.hearth_undo_N`. They do not live through a restart of Home Assistant, and
they are no part of the house: neither the picture nor the home's own text shows them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from integrations.home_assistant.commands import Commands
from integrations.home_assistant.context import find_list, read_row
from integrations.home_assistant.refusals import CommandRefused
from integrations.home_assistant.services import Services
from integrations.home_assistant.shapes import rows, text

NAME = "hearth_undo_"
_DOMAIN = "scene"


@dataclass(frozen=True, slots=True)
class Found:
    """A snapshot that Home Assistant has."""

    entity_id: str
    since: datetime | None  # when it was made or last restored; None: not told


def is_snapshot(entity_id: str) -> bool:
    """Whether this is a scene of Hearth's own, to be shown to nobody."""
    return entity_id.startswith(f"{_DOMAIN}.{NAME}")


def snapshot_id(number: int) -> str:
    """The entity id of the snapshot of that number."""
    return f"{_DOMAIN}.{NAME}{number}"


def without_snapshots(told: str) -> str:
    """The home's own text without them: a new scene is exposed to assistants by default."""
    if NAME not in told:
        return told
    listing = find_list(told)
    kept = [row for row in listing.rows if not (NAME in row and _is_row_of_ours(row))]
    return "".join((listing.before, *kept, listing.after))


def _is_row_of_ours(row: str) -> bool:
    shown = read_row(row)
    return (
        shown is not None
        and shown.domain == _DOMAIN
        and all(name.startswith(NAME) for name in shown.names)
    )


class Snapshots:
    """Makes, restores and deletes them. Everything here raises IntegrationError."""

    def __init__(self, home: Commands) -> None:
        """`home`: the connection (`client.HomeAssistant`)."""
        self._home = home
        self._services = Services(home)

    async def create(self, number: int, entity_ids: Sequence[str]) -> None:
        """Keep how these are at this moment, in place of what the number stood for."""
        data = {"scene_id": f"{NAME}{number}", "snapshot_entities": list(entity_ids)}
        await self._services.call(_DOMAIN, "create", data)

    async def restore(self, number: int) -> None:
        """Bring everything in it back. One that has gone is no error to Home Assistant."""
        await self._services.call(_DOMAIN, "turn_on", entities=[snapshot_id(number)])

    async def delete(self, entity_id: str) -> None:
        """Forget it; one that has gone already is fine."""
        try:
            await self._services.call(_DOMAIN, "delete", entities=[entity_id])
        except CommandRefused as error:
            if error.code != "service_validation_error":
                raise

    async def found(self) -> list[Found]:
        """All that there are, of every process and of former ones."""
        states = rows(await self._home.command("get_states"))
        return [
            Found(entity_id, _moment(text(state.get("last_updated"))))
            for state in states
            if is_snapshot(entity_id := text(state.get("entity_id")))
        ]


def _moment(written: str) -> datetime | None:
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        return None
