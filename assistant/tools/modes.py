"""`policy.mode` while Hearth runs: switched, kept over a restart, and back by time."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from assistant.config.schema import Settings
from assistant.config.sections import Profile, VoiceModel
from assistant.domain.clock import Clock
from assistant.domain.policy_context import Mode
from assistant.domain.records import SmallValues
from assistant.speech.synthesis import Voices

NAME = "policy_mode"  # under which it is kept

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
                self._switched = _read(await self._kept.kept(NAME))

    @property
    def current(self) -> Mode:
        """What holds now."""
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
                await self._kept.drop_kept(NAME)
            else:
                told = until.isoformat() if until is not None else None
                await self._kept.keep(NAME, {"mode": str(mode), "until": told})
            self._unkept = False

    def loosens(self, mode: Mode, until: datetime | None = None) -> bool:
        """Whether at any time from now on `set` would make for more trust than there is.

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


class Mouth(Protocol):
    """Who speaks (`assistant.speech.output.SpeechOutput`)."""

    def use(self, voices: Voices | None) -> None:
        """Speak with these voices from the next clause on; None: with the settings' own."""
        ...


class Narrowing(Protocol):
    """Who runs the calls (`assistant.tools.toolbox.Toolbox`)."""

    def narrow(self, turn_id: str, allowed: Sequence[str]) -> None:
        """This turn may use these tools alone; none of them: all."""
        ...


class Profiles:
    """Begins each turn as its profile has it. On the loop's thread; nothing is loaded here."""

    def __init__(
        self, settings: Settings, mouth: Mouth, tools: Narrowing, make_voices: MakeVoices
    ) -> None:
        """`make_voices`: the voices by settings (see `assistant.sound.devices.voices_of`)."""
        self._profiles = settings.profiles
        self._mouth = mouth
        self._tools = tools
        self._voices = {
            name: make_voices(_with_voice(settings, profile))
            for name, profile in settings.profiles.items()
            if profile.local_voice
        }

    def begin(self, turn_id: str, profile: str) -> str:
        """See `assistant.conversation.turn_services.Profiles`."""
        chosen = self._profiles.get(profile) or Profile()
        self._mouth.use(self._voices.get(profile))
        self._tools.narrow(turn_id, chosen.tools)
        return chosen.language


def widens(settings: Settings, present: str, wanted: str) -> bool:
    """Whether turns may use tools with `wanted`, or go to brains, that they may not with `present`,
    "" for none."""
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
