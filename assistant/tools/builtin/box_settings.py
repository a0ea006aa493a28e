"""`voice_volume`, `voice_speed` and `repeat`: how Hearth itself sounds; its last answer again."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from assistant.domain.clock import Clock
from assistant.domain.outcome import Tier
from assistant.domain.policy_context import Mode
from assistant.domain.records import StoreError
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import NO_ARGUMENTS, BuiltIn, BuiltInRequest, BuiltInResult
from assistant.tools.house.names import folded
from assistant.tools.policy.choices import SWITCH_PROFILE

if TYPE_CHECKING:
    from assistant.tools.policy.choices import ModeKeeper


VOICE_VOLUME, VOICE_SPEED, REPEAT = "voice_volume", "voice_speed", "repeat"
VOLUME_STEP = 0.1
LEAST_BY_STEPS = 0.1  # nobody who says "quieter" wants to hear nothing any more
SPEED_STEP = 0.15
MAX_ANSWER = 4_000  # characters that are said again

_log = logging.getLogger(__name__)


class VoiceControls(Protocol):
    """What may be changed of the voice (`assistant.interfaces.controls.Controls`)."""

    @property
    def volume(self) -> float:
        """1.0 is the voice's own loudness."""
        ...

    @property
    def loudest(self) -> float:
        """The most that it can be made."""
        ...

    @property
    def speed(self) -> float:
        """1.0 is the voice's own pace."""
        ...

    @property
    def usual_speed(self) -> float:
        """As the settings have it."""
        ...

    async def set_volume(self, volume: float) -> None:
        """As near to it as may be. Raises StoreError where it lasts only until a restart."""
        ...

    async def set_speed(self, speed: float) -> None:
        """As near to it as may be. Raises StoreError where it lasts only until a restart."""
        ...

    async def last_answer(self) -> str:
        """What was answered last, "" for nothing lately. Raises StoreError."""
        ...


class VoiceTools:
    """The three tools."""

    def __init__(
        self, voice: VoiceControls, catalogue: Catalogue, *, own_voice: bool = True
    ) -> None:
        """`own_voice`: False where the model's own voice speaks, whose pace nobody can change."""
        self._voice = voice
        self._catalogue = catalogue
        self._own_voice = own_voice

    def tools(self) -> tuple[BuiltIn, ...]:
        """The tools for the menu."""
        volume = BuiltIn(
            name=VOICE_VOLUME,
            description="Makes your own voice louder or quieter, by a step or to a percentage. "
            'Call it for "speak louder", "you are too loud" or "your volume to 60 percent". Not '
            "for music, radio or television: those are media players of the home.",
            schema={
                "type": "object",
                "properties": {
                    "change": {"type": "string", "enum": ["louder", "quieter"]},
                    "percent": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 100,
                        "description": "Only where a number was said, in the place of change.",
                    },
                },
            },
            tier=Tier.COMFORT,
            run=self._set_volume,
            programs=False,
            sounds=True,
        )
        speed = BuiltIn(
            name=VOICE_SPEED,
            description="Makes you speak slower or faster from now on, or at the normal pace "
            'again. Call it for "speak more slowly" or "not so fast".',
            schema={
                "type": "object",
                "properties": {
                    "change": {"type": "string", "enum": ["slower", "faster", "normal"]}
                },
                "required": ["change"],
            },
            tier=Tier.COMFORT,
            run=self._set_speed,
            programs=False,
            needed=lambda: self._own_voice,
        )
        repeat = BuiltIn(
            name=REPEAT,
            description="Your last answer, to be said once more. Call it when the person did not "
            'catch it: "say that again", "what?". Then say it in the same words, and nothing else.',
            schema=NO_ARGUMENTS,
            tier=Tier.READ,
            run=self._repeat,
            programs=False,
            guests=False,  # it may have been told to somebody of the house
        )
        return volume, speed, repeat

    async def _set_volume(
        self, arguments: Mapping[str, Any], request: BuiltInRequest
    ) -> BuiltInResult:
        now, percent = self._voice.volume, arguments.get("percent")
        change = arguments.get("change")
        if percent is not None:
            wanted = percent / 100
        elif change == "louder":
            wanted = min(self._voice.loudest, now + VOLUME_STEP)
        elif change == "quieter":
            wanted = max(min(now, LEAST_BY_STEPS), now - VOLUME_STEP)
        else:
            options = ("change: louder", "change: quieter", "percent: 0 to 100")
            sentence = self._catalogue.say("voice.which_volume", request.language)
            return BuiltInResult(sentence, failed=True, valid_options=options)
        await self._change(self._voice.set_volume, wanted)
        at_the_end = percent is None and round(self._voice.volume, 2) == round(now, 2)
        key = f"voice.no_{change}" if at_the_end else "voice.volume"
        told = round(self._voice.volume * 100)
        return BuiltInResult(self._catalogue.say(key, request.language, percent=told))

    async def _set_speed(
        self, arguments: Mapping[str, Any], request: BuiltInRequest
    ) -> BuiltInResult:
        change, before = arguments["change"], self._voice.speed
        steps = {"slower": before - SPEED_STEP, "faster": before + SPEED_STEP}
        await self._change(self._voice.set_speed, steps.get(change, self._voice.usual_speed))
        at_the_end = change in steps and self._voice.speed == before
        key = f"voice.no_{change}" if at_the_end else f"voice.{change}"
        return BuiltInResult(self._catalogue.say(key, request.language))

    async def _repeat(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        try:
            answer = await self._voice.last_answer()
        except StoreError as error:
            _log.warning("the last answer cannot be read: %s", error)
            answer = ""
        if not answer:
            sentence = self._catalogue.say("voice.nothing_said", request.language)
            return BuiltInResult(sentence, failed=True)
        return BuiltInResult(answer[:MAX_ANSWER])

    async def _change(self, change: Callable[[float], Awaitable[None]], value: float) -> None:
        """It holds from now on; if it cannot be written down, until a restart only."""
        try:
            await change(round(value, 2))
        except StoreError as error:
            _log.warning("the voice is as it was after a restart: %s", error)


# `switch_profile`: another manner of the settings, from the next turn on.


NONE = "none"  # back to the settings' own manner


class SwitchProfile:
    """The tool. What lets turns use more tools than now, or go to more brains, is confirmed as an
    unlocking is."""

    def __init__(
        self,
        names: Sequence[str],
        widens: Callable[[str], bool],
        switch: Callable[[str], Awaitable[None]],
        catalogue: Catalogue,
    ) -> None:
        """`names`: of the profiles that there are. `widens`: whether turns may use more with that
        one than with the present, NONE for none. `switch`: to that name or NONE, kept over a
        restart; raises StoreError where it is not."""
        self._names = tuple(names)
        self._widens = widens
        self._switch = switch
        self._catalogue = catalogue

    def tool(self) -> BuiltIn:
        """For the menu, where there are profiles."""
        return BuiltIn(
            name=SWITCH_PROFILE,
            description="Switches to another profile: another manner of speaking, voice or set of "
            "tools, from the next sentence on. Call it only when the person asks for a profile by "
            f'its name, or for the usual manner ("{NONE}").',
            schema={
                "type": "object",
                "properties": {"profile": {"type": "string", "enum": [*self._names, NONE]}},
                "required": ["profile"],
            },
            tier=Tier.COMFORT,
            run=self._run,
            programs=False,
            stake=self._stake,
            needed=lambda: bool(self._names),
        )

    def _stake(self, arguments: Mapping[str, Any]) -> Tier:
        return Tier.SECURE if self._widens(str(arguments["profile"])) else Tier.COMFORT

    async def _run(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        wanted = str(arguments["profile"])
        try:
            await self._switch(wanted)
        except StoreError:
            said = self._catalogue.say("profiles.not_kept", request.language)
            return BuiltInResult(said, failed=True)
        key = "profiles.none" if wanted == NONE else "profiles.switched"
        return BuiltInResult(self._catalogue.say(key, request.language, name=_spoken(wanted)))


def named(spoken: str, names: Sequence[str]) -> str | None:
    """The profile that is meant by what somebody said, None where there is none such."""
    plain = _plain(spoken)
    return next((name for name in names if _plain(name) == plain), None)


def _spoken(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def _plain(name: str) -> str:
    return folded(_spoken(name)).strip()


# `set_mode`: how much is asked before things are done, from now on or for a while.


SET_MODE = "set_mode"
LONGEST_MINUTES = 7 * 24 * 60


class SetMode:
    """The tool. More caution is free; more trust is confirmed as an unlocking is."""

    def __init__(self, modes: "ModeKeeper", catalogue: Catalogue, clock: Clock) -> None:
        self._modes = modes
        self._catalogue = catalogue
        self._clock = clock

    def tool(self) -> BuiltIn:
        """For the menu."""
        return BuiltIn(
            name=SET_MODE,
            description="Sets how much you may do without asking. guest: visitors are here, only "
            "comfort and timers; ask: ask before everything; normal: as usual; trusting: ask less. "
            "Call it only when the person asks for guest mode or for another of these.",
            schema={
                "type": "object",
                "properties": {
                    "mode": {"type": "string", "enum": [str(mode) for mode in Mode]},
                    "minutes": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": LONGEST_MINUTES,
                        "description": "How long, if the person says so; leave it out otherwise.",
                    },
                },
                "required": ["mode"],
            },
            tier=Tier.COMFORT,
            run=self._run,
            programs=False,
            stake=self._stake,
        )

    def _stake(self, arguments: Mapping[str, Any]) -> Tier:
        return Tier.SECURE if self._modes.loosens(*self._asked(arguments)) else Tier.COMFORT

    async def _run(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        mode, until = self._asked(arguments)
        try:
            await self._modes.set(mode, until)
        except StoreError:
            said = self._catalogue.say("modes.not_kept", request.language)
            return BuiltInResult(said, failed=True)
        key = f"modes.{mode}" if until is None else f"modes.{mode}_until"
        at = f"{until:%H:%M}" if until is not None else ""
        return BuiltInResult(self._catalogue.say(key, request.language, time=at))

    def _asked(self, arguments: Mapping[str, Any]) -> tuple[Mode, datetime | None]:
        minutes = arguments.get("minutes")
        until = None
        if isinstance(minutes, int | float):
            until = self._clock.now() + timedelta(minutes=minutes)
        return Mode(arguments["mode"]), until
