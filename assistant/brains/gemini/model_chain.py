"""Choose the Live model: the first one of `gemini.model` that the service still offers."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from assistant.brains.gemini.repair import add_stored, key_of
from assistant.domain.clock import Clock
from assistant.domain.records import StoreError
from integrations.errors import Retired
from integrations.gemini.models import ModelRow

if TYPE_CHECKING:
    from assistant.journal.store import Store

NAME = "gemini_gone_models"  # key of the stored value
# A model is tried again after this time.
KEPT = timedelta(days=7)
KEPT_UNCERTAIN = timedelta(hours=1)  # if the account may only lack access to it
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GoneModel:
    """A model that the service no longer offers for Live sessions."""

    reason: str  # the service's error
    until: str  # time of the next try, in ISO 8601

    @property
    def ends(self) -> datetime:
        return datetime.fromisoformat(self.until)


class ModelChain:
    """The models that can be used, in order of preference, and those that are gone.

    A model counts as gone only if the service says so. It is then skipped for KEPT, or for
    KEPT_UNCERTAIN if the account possibly only lacks access to it, even after a restart. The last
    remaining model is never skipped. `version` is the API version; models differ between versions.
    `on_change` is called with a sentence about each model that Hearth starts to skip.
    """

    def __init__(
        self,
        rows: Sequence[ModelRow],
        store: "Store",
        clock: Clock,
        version: str,
        on_change: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.rows = tuple(rows)
        self._store = store
        self._clock = clock
        self._version = version
        self._on_change = on_change
        self._gone: dict[str, GoneModel] = {}  # by the model's name

    async def load(self) -> None:
        """Read from the store which models are gone."""
        try:
            stored = await self._store.kept(NAME) or {}
        except StoreError as error:
            _log.warning("%s", error)
            return
        for row in self.rows:
            try:
                one = GoneModel(**stored[self._key(row)])
                if one.ends > self._clock.now():
                    self._gone[row.name] = one
            except (KeyError, TypeError, ValueError):
                continue  # nothing is stored, or by another version

    @property
    def gone(self) -> Mapping[str, GoneModel]:
        """The models that are currently skipped, by name."""
        now = self._clock.now()
        return {name: one for name, one in self._gone.items() if one.ends > now}

    @property
    def row(self) -> ModelRow:
        """The properties of the model to use now."""
        left = self._left()
        return left[0] if left else self.rows[-1]

    async def give_up(self, row: ModelRow, error: Retired) -> bool:
        """Skip a model that the service no longer offers. Returns False if no model is left."""
        if row not in self._left():
            return self.row != row  # another conversation was faster
        if len(self._left()) == 1:
            return False
        until = self._clock.now() + (KEPT if error.certain else KEPT_UNCERTAIN)
        known = row.name in self._gone and not error.certain  # the same as an hour ago
        self._gone[row.name] = GoneModel(error.told or str(error), until.isoformat())
        told = (
            f"Google does not offer the model {row.name} for Gemini Live, so {self.row.name} is "
            f"used. {error.told}"
        ).strip()
        if not known:
            _log.warning("%s", told)
            self._on_change(told)
        rows = [each for each in self.rows if each.name in self._gone]
        ours = {self._key(each): asdict(self._gone[each.name]) for each in rows}
        await add_stored(self._store, NAME, ours)
        return True

    def _left(self) -> list[ModelRow]:
        gone = self.gone
        return [row for row in self.rows if row.name not in gone]

    def _key(self, row: ModelRow) -> str:
        return key_of(row.name, self._version)
