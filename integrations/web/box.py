"""What the interfaces for programs can ask of the box; whoever runs it implements it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from integrations.web.events import EventLog
from integrations.web.requests import (
    AnnounceRequest,
    AskRequest,
    ConfirmRequest,
    ConverseRequest,
    CorrectRequest,
    LiveRequest,
    MarkRequest,
    Mode,
    QuestionAnswer,
    QuestionRequest,
    RateRequest,
    TimerRequest,
)
from integrations.web.sessions import Caller


class NotKept(Exception):
    """The disk did not take it: it does not hold over a restart."""


class NotAnnounced(Exception):
    """It will not be said, for a reason that is no fault of the request."""


class NotPossible(Exception):
    """It cannot be done as asked; one sentence that names the mend."""


class Unknown(Exception):
    """There is no such thing (any more)."""


class Box(Protocol):
    """Each may raise NotKept where something is to hold over a restart. JSON in, JSON out. The
    caller is named in what is told of it."""

    @property
    def events(self) -> EventLog:
        """What happens."""
        ...

    def state(self) -> Mapping[str, Any]:
        """How it stands."""
        ...

    async def mute(self, on: bool, caller: Caller) -> None:
        """Listen to nothing, or listen again; on the disk when this returns. Raises NotPossible
        where one without `admin` would open it and no tone can be heard."""
        ...

    async def set_mode(self, mode: Mode, minutes: int | None, caller: Caller) -> None:
        """Switch `policy.mode`, for so long or for good."""
        ...

    def live(self) -> Mapping[str, Any]:
        """What can be changed while it runs, with its options."""
        ...

    async def set_live(self, wanted: LiveRequest, caller: Caller) -> None:
        """Change settings while it runs. Raises NotPossible."""
        ...

    def listen(self, caller: Caller) -> bool:
        """Listen as after the wake word, with a tone. False: it cannot, being muted, busy or
        without microphone."""
        ...

    def stop(self, caller: Caller) -> None:
        """Silence at once."""
        ...

    async def announce(self, wanted: AnnounceRequest, caller: Caller) -> str:
        """Say it once the conversation rests. Gives its id; where it is to outlive a restart, it is
        on the disk by then. Raises NotAnnounced and NotPossible: then it is not said."""
        ...

    async def question(self, wanted: QuestionRequest, caller: Caller) -> QuestionAnswer:
        """Ask whoever is in the room, and wait for the answer. Cancelled where nobody takes it any
        more. Raises NotPossible."""
        ...

    async def converse(self, wanted: ConverseRequest, caller: Caller) -> str:
        """Say an opening line and listen. Gives its id. Raises NotPossible while nobody can be
        heard, NotAnnounced where too much waits."""
        ...

    async def ask(self, wanted: AskRequest, caller: Caller) -> Mapping[str, Any]:
        """One typed turn, as `hearth ask --json` gives it. Raises Busy."""
        ...

    async def timers(self) -> Sequence[Mapping[str, Any]]:
        """Those that run, stand still or ring."""
        ...

    async def set_timer(self, wanted: TimerRequest, caller: Caller) -> Mapping[str, Any]:
        """Set one. Raises NotPossible."""
        ...

    async def end_timer(self, timer_id: str, caller: Caller) -> None:
        """End one. Raises Unknown."""
        ...

    def confirmations(self) -> Sequence[Mapping[str, Any]]:
        """Calls that wait for a person's yes."""
        ...

    async def confirm(self, name: str, wanted: ConfirmRequest, caller: Caller) -> Mapping[str, Any]:
        """Answer one in a person's place. Raises Unknown."""
        ...

    def openers(self) -> Sequence[Mapping[str, Any]]:
        """What may open the house as far as nobody knows, and how its owner rated it."""
        ...

    async def rate(self, entity_id: str, wanted: RateRequest, caller: Caller) -> None:
        """Rate one of them. Raises Unknown."""
        ...

    async def memories(self) -> Sequence[Mapping[str, Any]]:
        """What people asked to remember."""
        ...

    async def correct(self, memory_id: str, wanted: CorrectRequest, caller: Caller) -> None:
        """Give one of them another text. Raises Unknown and NotPossible."""
        ...

    async def forget_one(self, memory_id: str, caller: Caller) -> None:
        """Forget one of them. Raises Unknown."""
        ...

    async def forget(self, caller: Caller) -> int:
        """Forget all of it; how many there were."""
        ...

    async def doctor(self) -> Sequence[Mapping[str, Any]]:
        """As `hearth doctor --json`."""
        ...

    async def tools(self) -> Mapping[str, Any]:
        """As `hearth tools --json`."""
        ...

    def level(self) -> Mapping[str, Any]:
        """How loud it is at the microphone."""
        ...

    async def costs(self, days: int) -> Mapping[str, Any]:
        """What so many days have cost, today among them, with what a day may cost."""
        ...

    async def shares(self, days: int) -> Mapping[str, Any]:
        """How the commands of so many days have gone."""
        ...

    async def faults(self, days: int) -> Sequence[Mapping[str, Any]]:
        """What did not work in so many days, the newest first."""
        ...

    async def turns(self, limit: int, before: str | None = None) -> Sequence[Mapping[str, Any]]:
        """The last turns, newest first; `before`: those before that one. Raises Unknown."""
        ...

    async def turn(self, turn_id: str) -> Mapping[str, Any]:
        """One turn, as `hearth trace --json` gives it. Raises Unknown."""
        ...

    async def mark(self, turn_id: str, wanted: MarkRequest, caller: Caller) -> None:
        """Say that it was wrong or misheard, or take that back. Raises Unknown."""
        ...

    async def sound(self, turn_id: str) -> Path:
        """The WAV file of what was said, where it is kept. Raises Unknown."""
        ...
