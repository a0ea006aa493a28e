"""The tools `switch_profile`, which takes effect in the next turn, and `set_mode`, which takes
effect immediately."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.records import StoreError
from assistant.domain.tool_call import Mode, Tier
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import (
    SWITCH_PROFILE,
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
    schema,
)
from assistant.tools.house.names import folded

if TYPE_CHECKING:
    from assistant.tools.policy.choices import ModeKeeper

NONE = "none"  # back to the plain settings


class SwitchProfile:
    """The tool `switch_profile`. A switch to a profile that allows more must be confirmed like an
    unlock."""

    def __init__(
        self,
        names: Sequence[str],
        widens: Callable[[str], bool],
        switch: Callable[[str], Awaitable[None]],
        catalogue: Catalogue,
    ) -> None:
        """`widens` returns True if a profile (or NONE) allows more than the current one. `switch`
        activates a profile or NONE, stores the choice, and may raise StoreError."""
        self._names = tuple(names)
        self._widens = widens
        self._switch = switch
        self._catalogue = catalogue

    def tool(self) -> BuiltIn:
        return BuiltIn(
            name=SWITCH_PROFILE,
            description="Switches to another profile (manner, voice or tools) from the next "
            "sentence on, when the person asks for it by name or for the usual manner "
            f'("{NONE}").',
            schema=schema({"profile": {"type": "string", "enum": [*self._names, NONE]}}, "profile"),
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
    """Return the profile with this spoken name, or None."""
    plain = _plain(spoken)
    return next((name for name in names if _plain(name) == plain), None)


def _spoken(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")


def _plain(name: str) -> str:
    return folded(_spoken(name)).strip()


SET_MODE = "set_mode"
LONGEST_MINUTES = 7 * 24 * 60


@dataclass(frozen=True, slots=True)
class SetMode:
    """The tool `set_mode`. A change to a more trusting mode must be confirmed like an unlock."""

    modes: "ModeKeeper"
    catalogue: Catalogue
    clock: Clock

    def tool(self) -> BuiltIn:
        return BuiltIn(
            name=SET_MODE,
            description="Sets how much you may do without asking, when the person asks for it. "
            "guest: only comfort and timers; ask: ask before everything; trusting: ask "
            "less.",
            schema=schema(
                {
                    "mode": {"type": "string", "enum": [str(mode) for mode in Mode]},
                    "minutes": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": LONGEST_MINUTES,
                        "description": "How long, if said.",
                    },
                },
                "mode",
            ),
            tier=Tier.COMFORT,
            run=self._run,
            programs=False,
            stake=self._stake,
        )

    def _stake(self, arguments: Mapping[str, Any]) -> Tier:
        return Tier.SECURE if self.modes.loosens(*self._asked(arguments)) else Tier.COMFORT

    async def _run(self, arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        mode, until = self._asked(arguments)
        try:
            await self.modes.set(mode, until)
        except StoreError:
            said = self.catalogue.say("modes.not_kept", request.language)
            return BuiltInResult(said, failed=True)
        key = f"modes.{mode}" if until is None else f"modes.{mode}_until"
        return BuiltInResult(self.catalogue.say(key, request.language, time=until))

    def _asked(self, arguments: Mapping[str, Any]) -> tuple[Mode, datetime | None]:
        minutes = arguments.get("minutes")
        until = None
        if isinstance(minutes, int | float):
            until = self.clock.now() + timedelta(minutes=minutes)
        return Mode(arguments["mode"]), until
