"""Settings that can be changed while Hearth runs, by people or by programs."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from assistant.config.schema import Settings
from assistant.config.sound import QuietHours, Sensitivity
from assistant.conversation.rules.state import FollowUp
from assistant.domain.events import Listeners
from assistant.domain.records import StoreError
from assistant.sound.devices import known_words, wake_engine
from assistant.tools.policy.choices import widens
from audio.errors import AudioError
from audio.wake import WakeEngine
from integrations.web.box import NotPossible
from integrations.web.requests import QUIET_HOURS, LiveRequest

if TYPE_CHECKING:
    from assistant.conversation.loop import ConversationLoop
    from assistant.interfaces.controls import Controls
    from assistant.journal.store import Store


KEPT = "live"  # key in the store
NO_PROFILE = "none"  # the option for no profile
Chosen = Literal["follow_up", "sensitivity", "wake_word", "profile", "quiet_hours"]
_CALLED: Mapping[Chosen, str] = {
    "follow_up": "a follow_up option",
    "sensitivity": "a sensitivity",
    "wake_word": "an available wake word",
    "profile": "a profile in the configuration",
    "quiet_hours": "a time of day",
}
_FREE: Chosen = "quiet_hours"  # accepts any value
_log = logging.getLogger(__name__)


class LiveSettings:
    """Current volume, speed, follow-up, sensitivity, wake word, profile and quiet hours. A changed
    setting survives restarts until its value in the configuration changes. Use it only on the event
    loop's thread."""

    def __init__(self, settings: Settings, store: "Store", voice: "Controls") -> None:
        self._settings = settings
        self._store = store
        self._voice = voice
        self._chosen: dict[Chosen, str] = {}
        self._conversation: ConversationLoop | None = None
        self._changing = asyncio.Lock()
        self._followers: Listeners[[]] = Listeners("the settings")
        voice.follow(self._followers.tell)

    async def begin(self, conversation: "ConversationLoop") -> None:
        """Restore saved changes, and apply them and all later ones to this conversation."""
        self._conversation = conversation
        chosen = self._still_meant(await self._read())
        try:
            engine = await self._engine_for(chosen)
        except NotPossible as error:  # the model was removed in the meantime
            _log.warning("%s Until then, the configuration applies.", error)
            chosen = {
                name: value
                for name, value in chosen.items()
                if name not in ("wake_word", "sensitivity")
            }
            engine = None
        self._apply(chosen, engine)

    # --- current values

    @property
    def languages(self) -> Sequence[str]:
        """The languages that people speak here, which are not changed at run time."""
        return self._settings.assistant.languages

    @property
    def volume(self) -> float:
        return self._voice.volume

    @property
    def speed(self) -> float:
        return self._voice.speed

    @property
    def follow_up(self) -> str:
        return self._now("follow_up")

    @property
    def sensitivity(self) -> str:
        return self._now("sensitivity")

    @property
    def wake_word(self) -> str:
        return self._now("wake_word")

    @property
    def profile(self) -> str:
        return self._now("profile")

    @property
    def quiet_hours(self) -> str:
        """Quiet hours such as "22:30-07:00", or "off"."""
        return self._now("quiet_hours")

    @property
    def quiet(self) -> QuietHours:
        return self._settings.quiet_hours.at_hours(self.quiet_hours)

    def widens(self, profile: str) -> bool:
        """Return True if turns would have more rights with `profile` than with the current profile.
        Returns False for an unknown profile."""
        return profile in self.options("profile") and widens(
            self._settings, _bare(self.profile), _bare(profile)
        )

    def options(self, name: str) -> tuple[str, ...]:
        """Return a setting's options, or () if it has no fixed options."""
        match name:
            case "follow_up":
                return get_args(FollowUp)
            case "sensitivity":
                return get_args(Sensitivity)
            case "wake_word":
                return tuple(dict.fromkeys([self._all_words, *known_words(self._settings)]))
            case "profile":
                return tuple(dict.fromkeys([NO_PROFILE, *self._settings.profiles]))
            case _:
                return ()

    def as_json(self) -> dict[str, Any]:
        """Return each setting's `value`, with its `options` if they are fixed."""
        numbers = {"volume": {"value": self.volume}, "speed": {"value": self.speed}}
        choices = {
            name: {"value": self._now(name), "options": list(self.options(name))}
            for name in get_args(Chosen)
            if name != _FREE
        }
        return {**numbers, **choices, _FREE: {"value": self.quiet_hours}}

    def follow(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Register a callback for changes and return a function that unregisters it. The callback
        must not block."""
        return self._followers.add(tell)

    # --- changing it

    async def set(self, wanted: LiveRequest) -> None:
        """Change the requested settings. If one is refused, none is changed.

        Raises NotPossible if a value is invalid or the wake word can't be loaded, and StoreError if
        the changes have taken effect but can't be saved.
        """
        asked = wanted.model_dump(exclude_none=True)
        chosen = {name: self._checked(name, asked[name]) for name in _CALLED if name in asked}
        async with self._changing:
            engine = await self._engine_for(chosen)
            self._apply(chosen, engine)
            acts: list[Awaitable[None]] = []
            if chosen:
                self._followers.tell()
                acts.append(self._keep())
            if wanted.volume is not None:
                acts.append(self._voice.set_volume(wanted.volume))
            if wanted.speed is not None:
                acts.append(self._voice.set_speed(wanted.speed))
            await _all_of(acts)

    def _checked(self, name: Chosen, value: str) -> str:
        options = self.options(name)
        if name != _FREE and value not in options:
            # Leave the value out, because the error is logged and published.
            raise NotPossible(f"That is not {_CALLED[name]}: use {_either(options)}.")
        return value

    async def _engine_for(self, chosen: Mapping[Chosen, str]) -> WakeEngine | None:
        after = {**self._chosen, **chosen}
        names: tuple[Chosen, Chosen] = ("wake_word", "sensitivity")
        if all(after.get(name) == self._chosen.get(name) for name in names):
            return None
        word = after.get("wake_word", self._all_words)
        words = () if word == self._all_words else (word,)
        sensitivity = cast(Sensitivity | None, after.get("sensitivity"))
        try:
            return await asyncio.to_thread(_primed, self._settings, words, sensitivity)
        except AudioError as error:
            raise NotPossible(str(error)) from error

    def _apply(self, chosen: Mapping[Chosen, str], engine: WakeEngine | None) -> None:
        self._chosen |= chosen
        conversation = self._conversation
        if conversation is None:
            if engine is not None:
                engine.close()
            return
        if engine is not None:
            conversation.hearing.use(engine)
        if "follow_up" in chosen:
            conversation.use_follow_up(cast(FollowUp, chosen["follow_up"]))
        if "profile" in chosen:
            name = chosen["profile"]
            conversation.use_profile(name if name in self._settings.profiles else "")

    # --- storage

    async def _keep(self) -> None:
        value = {
            name: {"value": chosen, "settings": self._said(name)}
            for name, chosen in self._chosen.items()
        }
        await self._store.keep(KEPT, value)

    async def _read(self) -> Any:
        try:
            return await self._store.kept(KEPT)
        except StoreError as error:
            _log.warning("the settings changed at run time cannot be read: %s", error)
            return None

    def _still_meant(self, kept: Any) -> dict[Chosen, str]:
        chosen: dict[Chosen, str] = {}
        for name in _CALLED:
            row = kept.get(name) if isinstance(kept, dict) else None
            if not isinstance(row, dict) or row.get("settings") != self._said(name):
                continue
            value = row.get("value")
            fits = isinstance(value, str) and re.fullmatch(QUIET_HOURS, value)
            if fits if name == _FREE else value in self.options(name):
                chosen[name] = row["value"]
        return chosen

    def _said(self, name: Chosen) -> Any:
        wake = self._settings.wake
        match name:
            case "follow_up":
                return self._settings.assistant.follow_up
            case "sensitivity":
                return [wake.sensitivity, [word.sensitivity for word in wake.words]]
            case "wake_word":
                return [wake.engine, [word.model for word in wake.words]]
            case "profile":
                return NO_PROFILE  # the configuration sets profiles only per wake word
            case "quiet_hours":
                return str(self._settings.quiet_hours)

    def _now(self, name: Chosen) -> str:
        if name in self._chosen:
            return self._chosen[name]
        match name:
            case "follow_up":
                return self._settings.assistant.follow_up
            case "sensitivity":
                return self._settings.wake.sensitivity
            case "wake_word":
                return self._all_words
            case "profile":
                return NO_PROFILE
            case "quiet_hours":
                return str(self._settings.quiet_hours)

    @property
    def _all_words(self) -> str:
        return ", ".join(word.model for word in self._settings.wake.words)


def _bare(profile: str) -> str:
    return "" if profile == NO_PROFILE else profile


def _primed(
    settings: Settings, words: tuple[str, ...], sensitivity: Sensitivity | None
) -> WakeEngine:
    engine = wake_engine(settings, words, sensitivity)
    engine.restart()
    return engine


async def _all_of(acts: list[Awaitable[None]]) -> None:
    failure: StoreError | None = None
    for act in acts:
        try:
            await act
        except StoreError as error:
            failure = failure or error
    if failure is not None:
        raise failure


def _either(options: tuple[str, ...]) -> str:
    *others, last = options
    return f"{', '.join(others)} or {last}" if others else last
