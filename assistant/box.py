"""The box as programs see it: how it stands, as that changes, and its buttons."""

from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from assistant.turn.standing import Standing
from integrations.web.events import EventLog


class Conversation(Protocol):
    """What is needed of the turn's `Runner`."""

    @property
    def standing(self) -> Standing:
        """How it stands now."""
        ...

    def observe(self, observer: Callable[[Standing], None]) -> Callable[[], None]:
        """Call it with each change; what is returned ends that."""
        ...

    def wake(self) -> bool:
        """Listen as after the wake word; False where that cannot be."""
        ...

    def stop(self) -> None:
        """Silence at once."""
        ...


class Box:
    """Implements `integrations.web.api.Box` on the conversation, while its context is open."""

    def __init__(self, conversation: Conversation, mute: Callable[[bool], Awaitable[None]]) -> None:
        """`mute`: keeps it and carries it out."""
        self.events = EventLog()
        self._conversation = conversation
        self._mute = mute
        self._leave: Callable[[], None] = lambda: None

    def __enter__(self) -> Self:
        self._leave = self._conversation.observe(
            lambda standing: self.events.tell("state", as_json(standing))
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()

    def state(self) -> Mapping[str, Any]:
        return as_json(self._conversation.standing)

    async def mute(self, on: bool) -> None:
        await self._mute(on)

    def listen(self) -> bool:
        return self._conversation.wake()

    def stop(self) -> None:
        self._conversation.stop()


def as_json(standing: Standing) -> dict[str, Any]:
    """`{"state", "muted", "microphone"}`; the words are those of the enums, in small letters."""
    return {
        "state": standing.state.name.lower(),
        "muted": standing.muted,
        "microphone": standing.microphone.name.lower(),
    }
