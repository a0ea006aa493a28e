"""Who watches over calls, put together by the settings."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from assistant.app.lock import is_held
from assistant.app.policy_contexts import PolicyContexts
from assistant.config.schema import Settings
from assistant.confirmation.witness import Quiet
from assistant.domain.clock import Clock
from assistant.domain.policy_context import Mode
from assistant.journal.retention import Discreet
from assistant.journal.store import Store
from assistant.tools.catalog.approvals import Approvals, Consents
from assistant.tools.catalog.menu import taints
from assistant.tools.execution.guards import Breakers, CallGuards, Guards, gives_words_of_strangers
from assistant.tools.house.targets import find_area
from assistant.tools.undo.backups import Backups
from assistant.tools.undo.file_undo import FileUndo
from assistant.tools.undo.stack import UndoStack
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.services import Services, Snapshots


@dataclass(frozen=True, slots=True)
class Governed:
    """What watches, and what people can ask of it."""

    governance: CallGuards
    undo: UndoStack
    keeps_words: Callable[[], bool]  # False: a guest's words are not written down


@asynccontextmanager
async def open_governance(
    settings: Settings,
    store: Store,
    home: HomeAssistant,
    moments: PolicyContexts,
    clock: Clock,
    *,
    resident: bool,
) -> AsyncIterator[Governed]:
    """Leaving it gives up what could be undone, and tidies up. `resident`: this is the daemon."""
    services = Services(home)
    alone = resident or not is_held(settings.data_folder)
    backups = Backups(settings.data_folder / "backups", clock)
    await backups.clean_up(alone=alone)
    quiet = Quiet(home, services)

    def area_id() -> str:
        own = find_area(home.house, settings.assistant.area) if settings.assistant.area else None
        return own.area_id if own is not None else ""

    def keeps_words() -> bool:
        return moments.modes.current is not Mode.GUEST

    async with UndoStack(
        *(home, Snapshots(home), services, clock),
        alone=alone,
        store=store,
        tiers=lambda: moments.ratings.tiers,
    ) as undo:
        governance = CallGuards(
            limits=Guards(settings.limits, clock),
            breakers=Breakers(clock),
            files=FileUndo(backups, undo),
            undo=undo,
            approvals=Approvals(store),
            consents=Consents(store, clock),
            audit=Discreet(store, keeps_words),
            hush=lambda: quiet.hush(area_id()),
            has_pin=bool(settings.policy.pin.get_secret_value()),
            satellite=settings.assistant.area or settings.assistant.name,
            expects=home.expect,
            taints=taints,
            taints_by=gives_words_of_strangers,
        )
        yield Governed(governance, undo, keeps_words)
