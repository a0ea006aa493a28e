"""Orders to the device: what stands in a message's data, never in its text.

A text may be anybody's: an appointment's title, a line of a web page that an automation reads out.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from assistant.domain.clock import Clock
from assistant.domain.events import EventBus
from assistant.domain.records import SmallValues, StoreError
from assistant.interfaces.device import old_orders
from assistant.interfaces.device.messages import plain
from assistant.interfaces.device.wishes import checked, number
from integrations.home_assistant.push import Push
from integrations.web.box import NotKept, NotPossible
from integrations.web.requests import LiveRequest, Mode, ModeRequest
from integrations.web.sessions import Caller

CALLER = Caller("home-assistant", frozenset({"speak"}))
MARK = "hearth_command"  # the key of the message's data by which it is an order
_ORDERS = ("mute", "unmute", "listen", "stop", "volume", "profile", "mode")
_OLD = "command_"  # how a text began that was an order until it could be anybody's
_OLD_FORM = (
    "The text of a message is no order: send data with it, such as "
    f'"data: {{{MARK}: mode, mode: guest}}".'
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MessageCommand:
    """One, with what was given to it."""

    what: str  # "mute", "volume", …; what is none is refused
    data: Mapping[str, Any] = field(default_factory=dict)


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


def command_of(push: Push) -> MessageCommand | None:
    """The order that a message carries in its data, None where it carries none."""
    mark = push.data.get(MARK)
    if mark is None:
        return None
    return MessageCommand(plain(mark).lower() if isinstance(mark, str) else "", push.data)


def old_command_of(push: Push) -> str:
    """The order as which this text would once have been taken, "" for none."""
    first, _, _ = plain(push.message).partition(" ")
    what = first.removeprefix(_OLD)
    return first if first != what and what in _ORDERS else ""


class Commander:
    """Carries commands out. What cannot be done is logged and told as a `fault`."""

    def __init__(
        self, box: Buttons, happenings: EventBus, store: SmallValues, clock: Clock
    ) -> None:
        self._box = box
        self._happenings = happenings
        self._store = store
        self._clock = clock

    async def obey(self, command: MessageCommand) -> None:
        """Return once it holds. Never raises for what cannot be."""
        try:
            await self._act(command)
        except (NotKept, NotPossible) as error:
            self.complain(command.what or MARK, str(error))

    async def ignore(self, what: str) -> None:
        """Complain of a text that would once have been an order, and keep it for the doctor."""
        self.complain(what, _OLD_FORM)
        try:
            await old_orders.note(self._store, what, self._clock.now())
        except StoreError as error:
            if not error.told:
                _log.warning("the doctor will not tell of %s: %s", what, error)

    def complain(self, what: str, problem: str) -> None:
        """A message could not be served."""
        _log.warning("%s: %s", what, problem)
        self._happenings.tell("fault", what=what, caller=CALLER.name, problem=problem)

    async def _act(self, command: MessageCommand) -> None:
        match command.what:
            case "mute" | "unmute":
                await self._box.mute(command.what == "mute", CALLER)
            case "listen":
                if not self._box.listen(CALLER):
                    raise NotPossible("It cannot listen: it is muted, busy or has no microphone.")
            case "stop":
                self._box.stop(CALLER)
            case "volume" | "profile":
                await self._box.set_live(_setting(command), CALLER)
            case "mode":
                wanted = _mode(command)
                await self._box.set_mode(wanted.mode, wanted.minutes, CALLER)
            case _:
                raise NotPossible(f"There is no such order: {MARK} is one of {_either()}.")


def _setting(command: MessageCommand) -> LiveRequest:
    """Of the volume or the profile. Raises NotPossible."""
    name, forms = command.what, {"volume": "0 to 1", "profile": "the profile's name"}
    value = command.data.get(name)
    given = number(value) if name == "volume" else value
    wanted = checked(LiveRequest, {name: given}, needed=(name,))
    if wanted is None or given is None:
        raise NotPossible(f'Give data with "{name}" in it: {forms[name]}.')
    return wanted


def _mode(command: MessageCommand) -> ModeRequest:
    """Raises NotPossible."""
    mode, length = command.data.get("mode"), number(command.data.get("minutes"))
    whole = int(length) if isinstance(length, float) and length == length // 1 else length
    given = {"mode": mode.strip().lower() if isinstance(mode, str) else mode, "minutes": whole}
    wanted = checked(ModeRequest, given, needed=("mode", "minutes"))
    if wanted is None:
        raise NotPossible('Give data with "mode" in it, and "minutes" if it is not for good.')
    return wanted


def _either() -> str:
    return f"{', '.join(_ORDERS[:-1])} and {_ORDERS[-1]}"
