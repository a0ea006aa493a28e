"""Open sessions without the parts of the set-up that the service rejects.

The service has changed without notice which parts a model supports. Without this repair, a single
rejected part would make Gemini Live unusable.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
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
            lasts = _lasts(one, now)
        except (TypeError, ValueError):
            continue
        if lasts and one.part in known:
            found[one.part] = one
    return found


def _lasts(part: RefusedPart, now: datetime) -> bool:
    # A much later time was stored while the clock was wrong.
    return now < datetime.fromisoformat(part.until) <= now + 2 * KEPT


@dataclass(slots=True)
class _Findings:
    """The findings about one model, and the search that is under way for it."""

    refused: dict[str, RefusedPart]
    reason: str | None = None  # last error of the search; None: nothing is being searched
    named: tuple[str, ...] = ()  # parts that its errors have named
    tried: set[frozenset[str]] = field(default_factory=set)  # left out without success
    hopeless_until_s: float = 0.0

    def left_out(self, now: datetime) -> frozenset[str]:
        """Return the refused parts, without those that are to be tried again."""
        for name, one in list(self.refused.items()):
            if not _lasts(one, now):
                del self.refused[name]
        return frozenset(self.refused)

    def next(self, setup: LiveSetup, left_out: frozenset[str]) -> tuple[str, ...] | None:
        """Return the parts to leave out next besides `left_out`, or None if nothing is left to
        try."""
        sent = tuple(name for name in suspects(setup) if name not in left_out)
        told = named_in(self.reason or "", sent)
        self.named += tuple(name for name in told if name not in self.named)
        named = tuple(name for name in self.named if name in sent)
        others = [name for name in sent if name not in named]
        # First without the parts that the error names, then also without each other optional part
        # in turn, and finally without any of them.
        attempts = [named, *((*named, name) for name in others), sent]
        left = (one for one in attempts if one and left_out | set(one) not in self.tried)
        return next(left, None)

    def end_search(self) -> None:
        self.reason, self.named = None, ()
        self.tried.clear()


class SetupRepair:
    """Opens sessions like LiveClient, but leaves out the parts that the service rejects.

    After a rejection it searches for a set-up that is accepted, and stores the result. If a turn's
    time limit interrupts the search, the next connect continues it. Several conversations can
    connect at once, with different models. `version` is the API version. `on_repair` is called with
    a sentence about each finding.
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
        self._findings: dict[str, _Findings] = {}  # by the model's key
        self._storing = asyncio.Lock()  # rows are read, changed and written back

    async def load(self) -> None:
        """Import Google's library. Raises IntegrationError."""
        await self._client.load()

    async def connect(
        self, setup: LiveSetup, on_event: OnEvent, timeout_s: float = CONNECT_S
    ) -> LiveSession:
        """Open a session as LiveClient does. Raises IntegrationError."""
        known = await self._known(setup)
        while True:
            left_out = known.left_out(self._clock.now())
            names: tuple[str, ...] = ()
            reason = known.reason
            if reason is not None and setup.handle is None:
                names = known.next(setup, left_out) or ()
            sent = without(setup, left_out | set(names))
            try:
                session = await self._client.connect(sent, on_event, timeout_s)
            except Refused as error:
                if not self._is_of_setup(error, setup, known):
                    raise
                found = known.left_out(self._clock.now())
                if found - left_out - set(names):
                    continue  # another conversation has found a part meanwhile
                known.reason = error.told or str(error)
                known.tried.add(left_out | set(names))
                if known.next(setup, found) is None:
                    known.hopeless_until_s = self._clock.monotonic() + HOPELESS_S
                    known.end_search()
                    raise
            else:
                # Another conversation can have found a part meanwhile, perhaps a smaller one.
                if names and not known.left_out(self._clock.now()) - left_out:
                    await self._remember(setup, known, names, reason or "")
                return session

    def _is_of_setup(self, error: Refused, setup: LiveSetup, known: _Findings) -> bool:
        # A rejected handle doesn't mean that a part was rejected.
        hopeless = self._clock.monotonic() < known.hopeless_until_s
        return type(error) is Refused and setup.handle is None and not hopeless

    async def _known(self, setup: LiveSetup) -> _Findings:
        key = self._key(setup)
        if key not in self._findings:
            try:
                stored = await self._store.kept(NAME)
            except StoreError as error:
                _log.warning("%s", error)
                stored = None
            refused = read_refused(stored, key, self._clock.now())
            self._findings.setdefault(key, _Findings(refused))  # another connect can be faster
        return self._findings[key]

    async def _remember(
        self, setup: LiveSetup, known: _Findings, names: tuple[str, ...], reason: str
    ) -> None:
        kept = KEPT if set(names) <= set(known.named) else KEPT_UNNAMED
        until = (self._clock.now() + kept).isoformat()
        for name in names:
            known.refused[name] = RefusedPart(name, reason, until)
        told = (
            "Gemini Live rejected part of the session set-up and is used without it: "
            f"{', '.join(names)}. {reason}"
        )
        _log.warning("%s", told)
        self._on_repair(told)
        known.end_search()
        known.hopeless_until_s = 0.0
        async with self._storing:
            ours = [asdict(one) for one in known.refused.values()]
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
