"""`switch_profile`: another manner of the settings, from the next turn on."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from assistant.domain.outcome import Tier
from assistant.domain.records import StoreError
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltIn, BuiltInRequest, BuiltInResult
from assistant.tools.mend import folded
from assistant.tools.narrowing import SWITCH_PROFILE

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
