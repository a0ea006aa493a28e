"""Confirmations that wait for a person, and an administrator's answer in their place."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from assistant.domain.events import EventBus
from assistant.domain.outcome import Tier
from assistant.domain.question import Question, Settlement
from integrations.web.box import Unknown
from integrations.web.requests import ConfirmRequest
from integrations.web.sessions import Caller

_GONE = "Nothing waits under that id (any more); see GET /v1/confirmations."


class Exchange(Protocol):
    """The question under way (`assistant.conversation.confirmation_dialog.ConfirmationDialog`)."""

    @property
    def question(self) -> Question:
        """What is asked."""
        ...

    @property
    def settled(self) -> bool:
        """It is answered, or will not be."""
        ...

    async def enter_pin(self, typed: str, by: str) -> Settlement:
        """The verdict on a PIN."""
        ...

    def settle(self, settlement: Settlement) -> None:
        """The first word counts."""
        ...


class Confirmations:
    """One may be pending in a box. Whoever answers first settles it, the person or this."""

    def __init__(self, pending: Callable[[], Exchange | None], happenings: EventBus) -> None:
        """`pending`: the question under way, if there is one."""
        self._pending = pending
        self._happenings = happenings

    @property
    def secure(self) -> bool:
        """Whether one that is secure waits now."""
        exchange = self._waiting()
        return exchange is not None and exchange.question.tier is Tier.SECURE

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Those that wait now."""
        exchange = self._waiting()
        if exchange is None:
            return []
        question = exchange.question
        return [
            {
                "id": question.id,
                "question": question.text,
                "language": question.language,
                "tier": str(question.tier),
                "how": question.how,
                "turn_id": question.turn_id,
            }
        ]

    async def settle(self, name: str, wanted: ConfirmRequest, caller: Caller) -> dict[str, Any]:
        """Answer the one of that id. The call then runs, or never does, and the room is told.

        Where a PIN is asked for, a yes needs it here too; a wrong one counts as an attempt and is
        a no. Raises Unknown.
        """
        exchange = self._waiting()
        if exchange is None or exchange.question.id != name:
            raise Unknown(_GONE)
        settlement = await _settlement(exchange, wanted, caller)
        if exchange.settled:  # while the PIN was looked at
            raise Unknown(_GONE)
        self._happenings.tell("command", caller=caller.name, what="confirm")
        exchange.settle(settlement)
        return {"id": name, "verdict": settlement.verdict}

    def _waiting(self) -> Exchange | None:
        exchange = self._pending()
        return None if exchange is None or exchange.settled else exchange


async def _settlement(exchange: Exchange, wanted: ConfirmRequest, caller: Caller) -> Settlement:
    if not wanted.yes:
        return Settlement("no")
    if exchange.question.how == "pin":
        return await exchange.enter_pin(wanted.pin, caller.name)
    return Settlement("yes", caller.name)
