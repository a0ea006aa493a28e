"""Builds the guards of tool calls from the settings."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import time

from assistant.app.process import is_held
from assistant.config.schema import Settings
from assistant.config.tools import Policy, PolicyRule
from assistant.confirmation.witness import Quiet
from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues, StoreError
from assistant.domain.tool_call import Mode, PolicyContext
from assistant.journal.audit import Discreet
from assistant.journal.store import Store
from assistant.tools.catalog.approvals import Approvals, Consents
from assistant.tools.catalog.menu import taints
from assistant.tools.execution.guards import Breakers, CallGuards, Guards, gives_words_of_strangers
from assistant.tools.house.targets import find_area
from assistant.tools.policy.choices import ModeKeeper
from assistant.tools.policy.ratings import Ratings
from assistant.tools.policy.rules import OwnerRule, Ruling, Rulings
from assistant.tools.undo.backups import Backups, FileUndo
from assistant.tools.undo.stack import UndoStack
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.services import Services, Snapshots

LOOK_S = 5.0  # seconds between checks for changes by other processes

_log = logging.getLogger(__name__)


def rulings_of(policy: Policy) -> Rulings:
    return Rulings(
        policy.costly,
        policy.secure,
        tuple(map(_rule, policy.rules)),
        has_pin=bool(policy.pin.get_secret_value()),
    )


class PolicyContexts:
    """Provides the policy context of each call: mode, time of day, this device and the owner's
    ratings."""

    def __init__(self, kept: SmallValues, clock: Clock, settings: Settings) -> None:
        self.modes = ModeKeeper(kept, clock, Mode(settings.policy.mode))
        self.ratings = Ratings(kept)
        self._clock = clock
        names = (settings.assistant.name, settings.assistant.area)
        self._satellite = tuple(filter(None, names))

    async def load(self) -> None:
        """Load the stored mode and ratings. Raises StoreError."""
        await self.modes.load()
        await self.ratings.load()

    async def follow(self) -> None:
        """Reload the mode and the ratings every few seconds until cancelled, because other
        processes that use this data folder can change them."""
        while True:
            await self._clock.sleep(LOOK_S)
            try:
                await self.load()
            except StoreError as error:
                if not error.told:
                    _log.warning("mode and ratings cannot be read: %s", error)

    def __call__(self) -> PolicyContext:
        now = self._clock.now().time()
        ratings = self.ratings
        return PolicyContext(
            self.modes.current,
            now,
            self._satellite,
            ratings.tiers,
            demands=ratings.demands,
        )


def _rule(rule: PolicyRule) -> OwnerRule:
    return OwnerRule(
        decide=Ruling(rule.decide),
        entity=rule.entity,
        area=rule.area,
        label=rule.label,
        domain=rule.domain,
        tool=rule.tool,
        server=rule.server,
        direction=rule.direction,
        begins=time.fromisoformat(rule.from_) if rule.from_ else None,
        ends=time.fromisoformat(rule.to) if rule.to else None,
        satellite=rule.satellite,
    )


@dataclass(frozen=True, slots=True)
class Governed:
    governance: CallGuards
    undo: UndoStack
    keeps_words: Callable[[], bool]  # returns False if transcripts are not stored (guest mode)


@asynccontextmanager
async def open_governance(
    settings: Settings,
    store: Store,
    home: HomeAssistant,
    policy_contexts: PolicyContexts,
    clock: Clock,
    *,
    resident: bool,
) -> AsyncIterator[Governed]:
    """Set up the guards of tool calls. After exit, only changes in the store can still be undone.
    `resident` is True in the daemon."""
    services = Services(home)
    alone = resident or not is_held(settings.data_folder)
    backups = Backups(settings.data_folder / "backups", clock)
    await backups.clean_up(alone=alone)
    quiet = Quiet(home, services)

    def area_id() -> str:
        own = find_area(home.house, settings.assistant.area) if settings.assistant.area else None
        return own.area_id if own is not None else ""

    def keeps_words() -> bool:
        return policy_contexts.modes.current is not Mode.GUEST

    async with UndoStack(
        *(home, Snapshots(home), services, clock),
        alone=alone,
        store=store,
        tiers=lambda: policy_contexts.ratings.tiers,
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
