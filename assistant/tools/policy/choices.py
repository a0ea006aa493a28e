"""Choices that people make while Hearth runs: the mode and a turn's profile. Also what was seen to
open something, which ends a rating."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from assistant.config.schema import Settings
from assistant.config.sections import Profile
from assistant.config.sound import VoiceModel
from assistant.domain.clock import Clock
from assistant.domain.records import SmallValues, StoreError
from assistant.domain.tool_call import Mode
from assistant.journal.store import Store
from assistant.speech.synthesis import Voices
from assistant.tools.policy.ratings import Ratings
from integrations.home_assistant.client import HomeAssistant
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from assistant.speech.output import SpeechOutput


POLICY_MODE = "policy_mode"  # key in the store
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Switched:
    mode: Mode
    until: datetime | None  # aware; None: until someone switches it again


class ModeKeeper:
    """Stores the current mode. A temporary mode expires without a background task."""

    def __init__(self, kept: SmallValues, clock: Clock, configured: Mode) -> None:
        self._kept = kept
        self._clock = clock
        self._configured = configured
        self._switched: _Switched | None = None
        self._unkept = False  # True while the store has a different mode
        self._busy = asyncio.Lock()

    async def load(self) -> None:
        """Load the stored mode. Raises StoreError."""
        async with self._busy:
            if not self._unkept:
                self._switched = _read(await self._kept.kept(POLICY_MODE))

    @property
    def current(self) -> Mode:
        return self._at(self._switched, self._clock.now())

    @property
    def until(self) -> datetime | None:
        """The time at which the configured mode applies again, or None if the mode
        doesn't expire."""
        if self._switched is None or self._is_over(self._switched, self._clock.now()):
            return None
        return self._switched.until

    async def set(self, mode: Mode, until: datetime | None = None) -> None:
        """Switch the mode. `until` must have a time zone; None means that the mode doesn't expire.

        Raises StoreError if the mode can't be stored. It then applies only until Hearth restarts.
        """
        for_good = mode is self._configured and until is None
        async with self._busy:
            self._switched = None if for_good else _Switched(mode, until)
            self._unkept = True
            if self._switched is None:
                await self._kept.drop_kept(POLICY_MODE)
            else:
                told = until.isoformat() if until is not None else None
                await self._kept.keep(POLICY_MODE, {"mode": str(mode), "until": told})
            self._unkept = False

    def loosens(self, mode: Mode, until: datetime | None = None) -> bool:
        """Return True if this change of mode would allow more than the current mode does, now or
        later."""
        now, asked = self._clock.now(), _Switched(mode, until)
        times = [now, *(one for one in (self.until, until) if one is not None and one > now)]
        return any(
            self._at(asked, at).strictness < self._at(self._switched, at).strictness for at in times
        )

    def _at(self, switched: _Switched | None, at: datetime) -> Mode:
        if switched is None or self._is_over(switched, at):
            return self._configured
        return switched.mode

    def _is_over(self, switched: _Switched, at: datetime) -> bool:
        return switched.until is not None and at >= switched.until


def _read(value: Any) -> _Switched | None:
    if value is None:
        return None
    try:
        row: Mapping[str, Any] = value
        until = datetime.fromisoformat(row["until"]) if row["until"] else None
        if until is not None and until.tzinfo is None:
            raise ValueError("a time without its zone")
        return _Switched(Mode(row["mode"]), until)
    except (KeyError, TypeError, ValueError) as error:
        _log.warning("the saved mode cannot be read: %s", error)
        return None


# A profile sets a turn's voice, language and tools here. Its persona, thinking level and model
# voice are applied by the briefing, its brains by the fallback chain.
MakeVoices = Callable[[Settings], Voices]
Narrow = Callable[[str, Sequence[str]], None]  # as `Toolbox.narrow`


class Profiles:
    """Applies a profile to each turn. All voices are created in advance, so that `begin` loads
    nothing."""

    def __init__(
        self, settings: Settings, mouth: "SpeechOutput", narrow: Narrow, make_voices: MakeVoices
    ) -> None:
        self._profiles = settings.profiles
        self._mouth: SpeechOutput | None = mouth
        self._narrow = narrow
        self._voices = {
            name: make_voices(_with_voice(settings, profile))
            for name, profile in settings.profiles.items()
            if profile.local_voice
        }

    def without_voices(self) -> "Profiles":
        """Return the same profiles for a conversation that doesn't choose its voice."""
        other = copy(self)
        other._mouth = None
        return other

    def begin(self, turn_id: str, profile: str) -> str:
        """Start a turn with a profile, or with "" for none. Returns the language to assume, or ""
        for the first configured language."""
        chosen = self._profiles.get(profile) or Profile()
        if self._mouth is not None:
            self._mouth.use(self._voices.get(profile))
        self._narrow(turn_id, chosen.tools)
        return chosen.language


def widens(settings: Settings, present: str, wanted: str) -> bool:
    """Return True if the profile `wanted` allows tools or brains that `present` doesn't. "" means
    no profile."""
    now = settings.profiles.get(present) or Profile()
    then = settings.profiles.get(wanted) or Profile()
    more_tools = bool(now.tools) and not (then.tools and set(then.tools) <= set(now.tools))
    return more_tools or not _elsewhere(settings, then) <= _elsewhere(settings, now)


def _elsewhere(settings: Settings, profile: Profile) -> frozenset[str]:
    return frozenset(profile.brain or settings.brain.order) - {"offline"}


def _with_voice(settings: Settings, profile: Profile) -> Settings:
    language = profile.language or settings.assistant.languages[0]
    models = {**settings.voice.models, language: VoiceModel(model=profile.local_voice)}
    voice = settings.voice.model_copy(update={"models": models})
    return settings.model_copy(update={"voice": voice})


# Per-profile tool allowlists. The policy judges calls of the allowed tools as usual.
_KEPT = 1_000  # turns to remember; their background work ends within 10 min


def may_use(names: Collection[str], allowed: Sequence[str]) -> bool:
    """Return True if any of the tool's names is allowed. An empty list allows every tool."""
    return not allowed or any(fnmatchcase(name, pattern) for pattern in allowed for name in names)


class Narrowing:
    def __init__(self) -> None:
        self._of: dict[str, Sequence[str]] = {}  # turn -> patterns, oldest first

    def narrow(self, turn_id: str, allowed: Sequence[str]) -> None:
        """Restrict this turn, and the background work that it starts, to the given tools."""
        if not allowed:
            return
        self._of[turn_id] = allowed
        if len(self._of) > _KEPT:
            del self._of[next(iter(self._of))]

    def allows(self, turn_id: str, names: Collection[str]) -> bool:
        """Return True if the turn can use a tool with these names. Background work has the limits
        of the turn that started it."""
        name = turn_id
        while name:
            if name in self._of:
                return may_use(names, self._of[name])
            name = name.rpartition("-")[0]  # the format of `requests.Entry.work_id`
        return True


# What switches were seen to open is detected by `integrations.home_assistant.runs.Switches` and
# stored here, so that a switch that unlocked the door last month needs a confirmation today. An
# earlier rating by the owner becomes void, because it assumed that the switch opens nothing; a
# later rating counts.
RETRY_S = 30.0  # pause before a failed write is repeated
Openings = Mapping[str, frozenset[str]]  # switch id -> ids of the entities that it opened


class SeenOpening:
    """Stores which entities were seen to open doors or gates. Use it as a context manager."""

    def __init__(self, home: HomeAssistant, store: Store, ratings: Ratings, clock: Clock) -> None:
        self._home = home
        self._store = store
        self._ratings = ratings
        self._clock = clock
        self._unwritten: dict[str, frozenset[str]] = {}
        self._came = asyncio.Event()
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        self._home.learn_openings(await self._store.openings(), self._take)
        await self._owner.__aenter__()
        self._owner.start_on(self._came, self._write_on, "what switches open")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._owner.__aexit__(kind, error, trace)
        await self._write()

    def _take(self, fresh: Openings) -> None:
        for entity_id, opened in fresh.items():
            _log.info("%s was seen to open %s", entity_id, ", ".join(sorted(opened)))
            self._unwritten[entity_id] = self._unwritten.get(entity_id, frozenset()) | opened
        self._came.set()

    async def _write_on(self) -> None:
        if not await self._write():
            await self._clock.sleep(RETRY_S)
            self._came.set()

    async def _write(self) -> bool:
        """Store new observations, and withdraw the ratings of the entities that were seen to open
        something for the first time.

        Returns False if that fails. The observations then stay in memory for the next attempt.
        """
        fresh = dict(self._unwritten)
        if not fresh:
            return True
        try:
            known = await self._store.openings()
            await self._ratings.withdraw(fresh.keys() - known.keys())
            await self._store.add_openings(fresh)
        except StoreError as error:
            if not error.told:
                _log.warning("Could not save which switches open something: %s", error)
            return False
        for entity_id, opened in fresh.items():
            if self._unwritten[entity_id] == opened:  # otherwise more was seen in the meantime
                del self._unwritten[entity_id]
        return True
