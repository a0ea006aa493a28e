"""What people choose while Hearth runs: the mode, the profile of a turn, and ratings of things."""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
from assistant.domain.tool_call import Mode, Tier
from assistant.journal.store import Store
from assistant.speech.synthesis import Voices
from assistant.tools.house.intents import Action
from assistant.tools.policy.risk import (
    SECURE_RULES,
    UNKNOWN_EFFECTS,
    UNREAD,
    gate,
    height,
    is_settled,
    weigh,
)
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Entity, House
from integrations.owner import OwnedTasks

if TYPE_CHECKING:
    from assistant.speech.output import SpeechOutput


POLICY_MODE = "policy_mode"  # under which it is kept
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Switched:
    """A mode other than the configured one, or until a time."""

    mode: Mode
    until: datetime | None  # aware; None: until it is switched again


class ModeKeeper:
    """Knows the mode of this moment. Nobody has to wait for the time at which it falls back."""

    def __init__(self, kept: SmallValues, clock: Clock, configured: Mode) -> None:
        """`configured`: `policy.mode`, to which it falls back."""
        self._kept = kept
        self._clock = clock
        self._configured = configured
        self._switched: _Switched | None = None
        self._unkept = False  # the disk does not know what holds
        self._busy = asyncio.Lock()

    async def load(self) -> None:
        """Take up what an earlier process has left, or another one has done. Raises StoreError."""
        async with self._busy:
            if not self._unkept:
                self._switched = _read(await self._kept.kept(POLICY_MODE))

    @property
    def current(self) -> Mode:
        """Return what holds now."""
        return self._at(self._switched, self._clock.now())

    @property
    def until(self) -> datetime | None:
        """When the current mode falls back to the configured one; None: it does not."""
        if self._switched is None or self._is_over(self._switched, self._clock.now()):
            return None
        return self._switched.until

    async def set(self, mode: Mode, until: datetime | None = None) -> None:
        """Switch. `until`: aware; None: for good, which for the configured mode is as it was.

        It holds even where the disk is full, but then not over a restart. Raises StoreError.
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
        """Return whether at any time from now on `set` would make for more trust than there is.

        A stricter mode that ends sooner than the one that holds does, when it ends.
        """
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
    """From the disk. What cannot be read counts as nothing, and is told."""
    if value is None:
        return None
    try:
        row: Mapping[str, Any] = value
        until = datetime.fromisoformat(row["until"]) if row["until"] else None
        if until is not None and until.tzinfo is None:
            raise ValueError("a time without its zone")
        return _Switched(Mode(row["mode"]), until)
    except (KeyError, TypeError, ValueError) as error:
        _log.warning("the mode that was kept cannot be read: %s", error)
        return None


#
# What a profile of the settings changes about a turn: its voice, its language, its tools.
#
# Its persona, thinking and model's voice are the briefing's, its brains the ladder's.
MakeVoices = Callable[[Settings], Voices]
Narrow = Callable[[str, Sequence[str]], None]  # as `Toolbox.narrow`


class Profiles:
    """Begins each turn as its profile has it. On the loop's thread; nothing is loaded here."""

    def __init__(
        self, settings: Settings, mouth: "SpeechOutput", narrow: Narrow, make_voices: MakeVoices
    ) -> None:
        """`make_voices`: the voices by settings (see `assistant.sound.devices.voices_of`)."""
        self._profiles = settings.profiles
        self._mouth = mouth
        self._narrow = narrow
        self._voices = {
            name: make_voices(_with_voice(settings, profile))
            for name, profile in settings.profiles.items()
            if profile.local_voice
        }

    def begin(self, turn_id: str, profile: str) -> str:
        """Begin a turn with this profile, "" for none: its voice speaks, and its tools are all that
        the turn may use. Return the language to assume, "" for the first configured one."""
        chosen = self._profiles.get(profile) or Profile()
        self._mouth.use(self._voices.get(profile))
        self._narrow(turn_id, chosen.tools)
        return chosen.language


def widens(settings: Settings, present: str, wanted: str) -> bool:
    """Return whether turns may use tools with `wanted`, or go to brains, that they may not with
    `present`, "" for none."""
    now = settings.profiles.get(present) or Profile()
    then = settings.profiles.get(wanted) or Profile()
    more_tools = bool(now.tools) and not (then.tools and set(then.tools) <= set(now.tools))
    return more_tools or not _elsewhere(settings, then) <= _elsewhere(settings, now)


def _elsewhere(settings: Settings, profile: Profile) -> frozenset[str]:
    """The brains that what is said goes to, but for the device's own, which everything may."""
    return frozenset(profile.brain or settings.brain.order) - {"offline"}


def _with_voice(settings: Settings, profile: Profile) -> Settings:
    language = profile.language or settings.assistant.languages[0]
    models = {**settings.voice.models, language: VoiceModel(model=profile.local_voice)}
    voice = settings.voice.model_copy(update={"models": models})
    return settings.model_copy(update={"voice": voice})


#
# Which tools the turns of a profile may use: fewer than there are, never more.
#
# The policy decides about each call of what is left as it does without a profile.
_KEPT = 1_000  # turns; what they left in the background goes on for 10 min at most
SWITCH_PROFILE = "switch_profile"  # the way out, which is always there


def may_use(names: Collection[str], allowed: Sequence[str]) -> bool:
    """Return whether a tool is among those that are allowed, by any of its names. Nothing allowed
    means all of them."""
    if not allowed or SWITCH_PROFILE in names:
        return True
    return any(fnmatchcase(name, pattern) for pattern in allowed for name in names)


class Narrowing:
    """Which turns may use which tools."""

    def __init__(self) -> None:
        self._of: dict[str, Sequence[str]] = {}  # turn -> patterns, the oldest first

    def narrow(self, turn_id: str, allowed: Sequence[str]) -> None:
        """All that is called in this turn, and by work begun in it, is among these."""
        if not allowed:
            return
        self._of[turn_id] = allowed
        if len(self._of) > _KEPT:
            del self._of[next(iter(self._of))]

    def allows(self, turn_id: str, names: Collection[str]) -> bool:
        """Return whether that turn, or the turn whose work this is, may use a tool of these
        names."""
        name = turn_id
        while name:
            if name in self._of:
                return may_use(names, self._of[name])
            name = name.rpartition("-")[0]  # as `ledger.Entry.work_id` puts it together
        return True


RATINGS = "ratings"  # under which they are kept
TIERS = (Tier.COMFORT, Tier.COSTLY, Tier.SECURE)


class Ratings:
    """The ratings by entity id, as of the last look at the disk."""

    def __init__(self, kept: SmallValues) -> None:
        self._kept = kept
        self._tiers: Mapping[str, Tier] = {}

    @property
    def tiers(self) -> Mapping[str, Tier]:
        """By entity id."""
        return self._tiers

    async def load(self) -> None:
        """Read them from the disk. Raises StoreError."""
        self._tiers = read_tiers(await self._kept.kept(RATINGS))

    async def rate(self, tiers: Mapping[str, Tier]) -> None:
        """Rate these, and leave the others as they are. Raises StoreError."""
        # Read first: another process may have rated something meanwhile.
        await self.load()
        await self._write({**self._tiers, **tiers})

    async def withdraw(self, entity_ids: Iterable[str]) -> None:
        """Drop what these were rated, but for `secure`. Raises StoreError."""
        await self.load()
        gone = {name for name in entity_ids if self._tiers.get(name) is not Tier.SECURE}
        if gone & self._tiers.keys():
            left = {name: tier for name, tier in self._tiers.items() if name not in gone}
            await self._write(left)

    async def _write(self, changed: Mapping[str, Tier]) -> None:
        await self._kept.keep(RATINGS, {name: str(tier) for name, tier in changed.items()})
        self._tiers = changed


def unknown_effects(house: House) -> list[Entity]:
    """List the exposed scripts, scenes, buttons and automations of which not all is known that they
    do."""
    rules = {*UNKNOWN_EFFECTS.values(), UNREAD}
    return [
        entity
        for entity in house.exposed()
        if entity.domain in UNKNOWN_EFFECTS
        and entity.entity_id not in house.unread
        and gate(entity, Action.ON, {}, house) in rules
    ]


def may_open(house: House) -> list[Entity]:
    """The exposed things that may let somebody in or silence an alarm, as far as a rating of their
    owner's settles it: covers without a class, relays by their name, what was seen to open."""
    return [entity for entity in house.exposed() if _is_unsettled(entity, house)]


def unrated(entity: Entity, house: House) -> Tier:
    """Return what it counts as without a rating, switched the way that asks most."""
    ways = (Action.ON, Action.OFF, Action.TOGGLE)
    tiers = (weigh(entity.entity_id, way, {}, house, {}).tier for way in ways)
    return max(tiers, key=height)


def rated_rows(
    things: Iterable[Entity], house: House, tiers: Mapping[str, Tier]
) -> list[dict[str, Any]]:
    """Return what programs are told of things that can be rated: JSON objects."""
    return [
        {
            "entity_id": one.entity_id,
            "name": one.name,
            "tier": tiers.get(one.entity_id),
            "unrated": unrated(one, house),
            "seen_opening": sorted(house.seen_opening.get(one.entity_id, ())),
        }
        for one in things
    ]


def _is_unsettled(entity: Entity, house: House) -> bool:
    rule = gate(entity, Action.TOGGLE, {}, house)
    return rule in SECURE_RULES and not is_settled(entity, rule, house)


def read_tiers(value: Any) -> dict[str, Tier]:
    """Read what the store keeps; what cannot be read is left out, so that it is asked about."""
    found: dict[str, Tier] = {}
    for name, tier in (value if isinstance(value, Mapping) else {}).items():
        try:
            found[str(name)] = Tier(tier)
        except ValueError:
            _log.warning("the rating of %s cannot be read", name)
    return {name: tier for name, tier in found.items() if tier in TIERS}


#
# What switches were seen to open: told to the picture of the house, and kept over a restart.
#
# Home Assistant's own picture learns it (`integrations.home_assistant.runs.Switches`). Here it is
# written down, so that a switch which unlocked the door last month is asked about today. A rating
# that its owner gave before is void then, since it was given in the belief that nothing opens; one
# that is given afterwards counts.
RETRY_S = 30.0  # after which a write that failed is tried again
Openings = Mapping[str, frozenset[str]]  # what each was seen to open, by entity id


class SeenOpening:
    """Context in which what is learned is written down."""

    def __init__(self, home: HomeAssistant, store: Store, ratings: Ratings, clock: Clock) -> None:
        self._home = home
        self._store = store
        self._ratings = ratings
        self._clock = clock
        self._unwritten: dict[str, frozenset[str]] = {}
        self._came = asyncio.Event()
        self._owner = OwnedTasks()

    async def __aenter__(self) -> Self:
        """Recall what earlier processes have seen. Raises StoreError."""
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
        """Write down what is left."""
        await self._owner.__aexit__(kind, error, trace)
        await self._write()

    def _take(self, fresh: Openings) -> None:
        for entity_id, opened in fresh.items():
            _log.info("%s was seen to open %s", entity_id, ", ".join(sorted(opened)))
        self._add(fresh)
        self._came.set()

    def _add(self, fresh: Openings) -> None:
        for entity_id, opened in fresh.items():
            self._unwritten[entity_id] = self._unwritten.get(entity_id, frozenset()) | opened

    async def _write_on(self) -> None:
        if not await self._write():
            await self._clock.sleep(RETRY_S)
            self._came.set()

    async def _write(self) -> bool:
        """Add what is new to the disk. False: that failed, and it is kept for another try."""
        fresh, self._unwritten = self._unwritten, {}
        if not fresh:
            return True
        try:
            known = await self._store.openings()
            await self._ratings.withdraw(fresh.keys() - known.keys())
            await self._store.add_openings(fresh)
        except StoreError as error:
            if not error.told:
                _log.warning("What switches open cannot be written down: %s", error)
            self._add(fresh)
            return False
        return True
