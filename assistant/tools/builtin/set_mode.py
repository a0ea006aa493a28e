"""`set_mode`: how much is asked before things are done, from now on or for a while."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from assistant.domain.clock import Clock
from assistant.domain.outcome import Tier
from assistant.domain.policy_context import Mode
from assistant.domain.records import StoreError
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult

if TYPE_CHECKING:
    from assistant.tools.modes import ModeKeeper


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
