"""Open sessions without the parts of the set-up that the service rejects.

The service has changed without notice which parts a model supports. Without this repair, a single
rejected part would make Gemini Live unusable.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError
from integrations.errors import Refused
from integrations.gemini.live import CONNECT_S, LiveClient, LiveSession, OnEvent
from integrations.gemini.setup import OPTIONAL, LiveSetup, named_in, suspects, without

if TYPE_CHECKING:
    from assistant.journal.store import Store

NAME = "gemini_refused_parts"  # key of the stored value
KEPT = timedelta(days=7)  # a rejected part is tried again after this time
KEPT_UNNAMED = timedelta(days=1)  # the same if the error didn't name it, so it could be chance
HOPELESS_S = 600.0  # seconds without another search after an unsuccessful one
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RefusedPart:
    """A part of the session set-up that the service rejected."""

    part: str  # name in `integrations.gemini.setup.OPTIONAL`
    reason: str  # the service's error
    until: str  # time of the next try, in ISO 8601


def read_refused(stored: Any, model: str, now: datetime) -> dict[str, RefusedPart]:
    """Return the parts that are currently left out for a model, given the stored value of NAME."""
    rows = stored.get(model) if isinstance(stored, Mapping) else None
    known = {part.name for part in OPTIONAL}
    found = {}
    for row in rows if isinstance(rows, list) else ():
        try:
            one = RefusedPart(**row)
            lasts = datetime.fromisoformat(one.until) > now
        except (TypeError, ValueError):
            continue
        if lasts and one.part in known:
            found[one.part] = one
    return found


class SetupRepair:
    """Opens sessions like LiveClient, but leaves out the parts that the service rejects.

    After a rejection it searches for a set-up that is accepted, and stores the result. If a turn's
    time limit interrupts the search, the next connect continues it. `version` is the API version.
    `on_repair` is called with a sentence about each finding.
    """

    def __init__(
        self,
        client: LiveClient,
        store: "Store",
        clock: Clock,
        version: str,
        on_repair: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._client = client
        self._store = store
        self._clock = clock
        self._version = version
        self._on_repair = on_repair
        self._model = ""  # key of the model that all of the following is about
        self._refused: dict[str, RefusedPart] = {}
        self._reason = ""  # last error of the current search; "" if there is none
        self._named: tuple[str, ...] = ()  # parts that its errors have named
        self._tried: set[frozenset[str]] = set()  # combinations left out without success
        self._hopeless_until_s = 0.0

    async def load(self) -> None:
        """Import Google's library. Raises IntegrationError."""
        await self._client.load()

    async def connect(
        self, setup: LiveSetup, on_event: OnEvent, timeout_s: float = CONNECT_S
    ) -> LiveSession:
        """Open a session as LiveClient does. Raises IntegrationError."""
        shaped = without(setup, await self._left_out(setup))
        names: tuple[str, ...] = ()
        if self._reason and setup.handle is None:
            names = self._next(shaped) or ()
        while True:
            try:
                session = await self._client.connect(without(shaped, names), on_event, timeout_s)
            except Refused as error:
                if not self._is_of_setup(error, setup):
                    raise
                self._reason = error.told or str(error)
                self._tried.add(frozenset(names))
                after = self._next(shaped)
                if after is None:
                    self._hopeless_until_s = self._clock.monotonic() + HOPELESS_S
                    self._end_search()
                    raise
                names = after
            else:
                if names:
                    await self._remember(setup, names)
                return session

    def _is_of_setup(self, error: Refused, setup: LiveSetup) -> bool:
        # A rejected handle doesn't mean that a part was rejected.
        hopeless = self._clock.monotonic() < self._hopeless_until_s
        return type(error) is Refused and setup.handle is None and not hopeless

    def _next(self, setup: LiveSetup) -> tuple[str, ...] | None:
        sent = suspects(setup)
        self._named += tuple(
            name for name in named_in(self._reason, sent) if name not in self._named
        )
        others = [name for name in sent if name not in self._named]
        # First without the parts that the error names, then also without each other optional part
        # in turn, and finally without any of them.
        attempts = [self._named, *((*self._named, name) for name in others), sent]
        left = (one for one in attempts if one and frozenset(one) not in self._tried)
        return next(left, None)

    def _end_search(self) -> None:
        self._reason, self._named = "", ()
        self._tried.clear()

    async def _left_out(self, setup: LiveSetup) -> frozenset[str]:
        now, model = self._clock.now(), self._key(setup)
        if model != self._model:
            try:
                stored = await self._store.kept(NAME)
            except StoreError as error:
                _log.warning("%s", error)
                stored = None
            self._model, self._refused = model, read_refused(stored, model, now)
            self._end_search()
            self._hopeless_until_s = 0.0
        self._refused = {
            name: one
            for name, one in self._refused.items()
            if datetime.fromisoformat(one.until) > now
        }
        return frozenset(self._refused)

    async def _remember(self, setup: LiveSetup, names: tuple[str, ...]) -> None:
        kept = KEPT if set(names) <= set(self._named) else KEPT_UNNAMED
        until = (self._clock.now() + kept).isoformat()
        for name in names:
            self._refused[name] = RefusedPart(name, self._reason, until)
        told = (
            "Gemini Live rejected part of the session set-up and is used without it: "
            f"{', '.join(names)}. {self._reason}"
        )
        _log.warning("%s", told)
        self._on_repair(told)
        self._end_search()
        ours = [asdict(one) for one in self._refused.values()]
        await add_stored(self._store, NAME, {self._key(setup): ours})

    def _key(self, setup: LiveSetup) -> str:
        return key_of(setup.row.name, self._version)


def key_of(model: str, version: str) -> str:
    """Return the key under which a model's rejected parts are stored. Each API version accepts
    different fields."""
    return f"{model} {version or 'default'}"


async def add_stored(store: "Store", name: str, rows: Mapping[str, Any]) -> None:
    """Add rows to those stored under `name`. If the store fails, they last until a restart."""
    try:
        stored = await store.kept(name)
        await store.keep(name, {**(stored if isinstance(stored, Mapping) else {}), **rows})
    except StoreError as error:
        if not error.told:
            _log.warning("%s", error)
