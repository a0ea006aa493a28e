"""Messages that act and are not spoken: `command_mute` and the like, the companion apps' habit."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from assistant.device.messages import plain
from assistant.device.wishes import checked, number
from assistant.happenings import Happenings
from integrations.home_assistant.push import Push
from integrations.web.box import NotKept, NotPossible
from integrations.web.callers import Caller
from integrations.web.requests import LiveRequest, Mode, ModeRequest

CALLER = Caller("home-assistant", frozenset({"speak"}))
_PREFIX = "command_"
_OURS = frozenset({"mute", "unmute", "listen", "stop", "volume", "profile", "mode"})

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Command:
    """One, with what was given to it."""

    what: str  # "mute", "volume", …
    word: str = ""  # behind it in the message: "command_volume 40"
    data: Mapping[str, Any] | None = None


class Buttons(Protocol):
    """What commands need of the box (`integrations.web.box.Box`)."""

    async def mute(self, on: bool, caller: Caller) -> None:
        """Listen to nothing, or listen again. Raises NotKept and NotPossible."""
        ...

    async def set_mode(self, mode: Mode, minutes: int | None, caller: Caller) -> None:
        """Switch `policy.mode`. Raises NotKept."""
        ...

    async def set_live(self, wanted: LiveRequest, caller: Caller) -> None:
        """Change settings while it runs. Raises NotPossible and NotKept."""
        ...

    def listen(self, caller: Caller) -> bool:
        """Listen as after the wake word. False: it cannot."""
        ...

    def stop(self, caller: Caller) -> None:
        """Silence at once."""
        ...


def command_of(push: Push) -> Command | None:
    """The command that a message is, None where it is none of ours.

    The notify entity has no data, so what belongs to a command may stand behind it.
    """
    first, _, rest = plain(push.message).partition(" ")
    what = first.removeprefix(_PREFIX)
    if first == what or what not in _OURS:
        return None
    return Command(what, rest.strip(), push.data)


class Commander:
    """Carries commands out. What cannot be done is logged and told as a `fault`."""

    def __init__(self, box: Buttons, happenings: Happenings) -> None:
        self._box = box
        self._happenings = happenings

    async def obey(self, command: Command) -> None:
        """Return once it holds. Never raises for what cannot be."""
        try:
            await self._act(command)
        except (NotKept, NotPossible) as error:
            self.complain(f"{_PREFIX}{command.what}", str(error))

    def complain(self, what: str, problem: str) -> None:
        """A message could not be served."""
        _log.warning("%s: %s", what, problem)
        self._happenings.tell("fault", what=what, caller=CALLER.name, problem=problem)

    async def _act(self, command: Command) -> None:
        match command.what:
            case "mute" | "unmute":
                await self._box.mute(command.what == "mute", CALLER)
            case "listen":
                if not self._box.listen(CALLER):
                    raise NotPossible("It cannot listen: it is muted, busy or has no microphone.")
            case "stop":
                self._box.stop(CALLER)
            case "volume" | "profile":
                live = _volume(command) if command.what == "volume" else _profile(command)
                await self._box.set_live(live, CALLER)
            case "mode":
                wanted = _mode(command)
                await self._box.set_mode(wanted.mode, wanted.minutes, CALLER)


def _volume(command: Command) -> LiveRequest:
    """Behind the command in percent ("command_volume 40"), as data from 0 to 1. Raises
    NotPossible."""
    if command.word:
        percent = number(command.word.removesuffix("%").strip())
        volume = percent / 100 if isinstance(percent, float) else None
    else:
        volume = number((command.data or {}).get("volume"))
    wanted = checked(LiveRequest, {"volume": volume}, needed=("volume",))
    if wanted is None or volume is None:
        raise NotPossible('Say how loud: "command_volume 40" for 40 %, or data volume 0 to 1.')
    return wanted


def _profile(command: Command) -> LiveRequest:
    """Raises NotPossible."""
    name = command.word or (command.data or {}).get("profile")
    wanted = checked(LiveRequest, {"profile": name}, needed=("profile",))
    if wanted is None or name is None:
        raise NotPossible('Say which profile: "command_profile night", or data profile.')
    return wanted


def _mode(command: Command) -> ModeRequest:
    """ "command_mode guest 120", or data `mode` and perhaps `minutes`. Raises NotPossible."""
    data = command.data or {}
    mode, _, minutes = command.word.partition(" ") if command.word else (data.get("mode"), "", "")
    length = number(minutes.strip() or None) if command.word else number(data.get("minutes"))
    wanted = checked(
        ModeRequest,
        {
            "mode": mode.strip().lower() if isinstance(mode, str) else mode,
            "minutes": int(length)
            if isinstance(length, float) and length == length // 1
            else length,
        },
        needed=("mode", "minutes"),
    )
    if wanted is None:
        form = '"command_mode guest 120", or data mode and minutes (which may be left out)'
        raise NotPossible(f"Say which mode, and for how long if not for good: {form}.")
    return wanted
