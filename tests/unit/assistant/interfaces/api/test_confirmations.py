"""An administrator's answer in a person's place."""

from dataclasses import replace
from typing import cast

import pytest

from assistant.conversation.confirmation_dialog import ConfirmationDialog
from assistant.domain.events import EventBus, Happening
from assistant.domain.outcome import Tier
from assistant.domain.question import How, Question, Settlement
from assistant.interfaces.api.parts import Confirmations
from integrations.web.box import Caller, Unknown
from integrations.web.requests import ConfirmRequest

ADMIN = Caller("http:admin", frozenset({"admin"}))


class Waiting:
    """A question under way, whose PIN is 4711."""

    def __init__(self, how: How = "confirm") -> None:
        self.question = Question("q1", "t1", "c1", how, Tier.SECURE, "Unlock Front Door?", "en")
        self.settlement: Settlement | None = None
        self.entered: list[tuple[str, str]] = []
        self.meanwhile: Settlement | None = None  # the person's, while the PIN is looked at

    @property
    def settled(self) -> bool:
        return self.settlement is not None

    async def enter_pin(self, typed: str, by: str) -> Settlement:
        self.entered.append((typed, by))
        self.settlement = self.meanwhile
        return Settlement("yes", f"pin {by}") if typed == "4711" else Settlement("no")

    def settle(self, settlement: Settlement) -> None:
        assert self.settlement is None
        self.settlement = settlement


def confirmations(waiting: Waiting | None, told: list[Happening]) -> Confirmations:
    happenings = EventBus()
    happenings.follow(told.append)
    return Confirmations(lambda: cast(ConfirmationDialog | None, waiting), happenings)


async def test_a_yes_settles_it_once_and_names_who_said_it() -> None:
    waiting, told = Waiting(), list[Happening]()
    desk = confirmations(waiting, told)
    assert desk.rows() == [
        {
            "id": "q1",
            "question": "Unlock Front Door?",
            "language": "en",
            "tier": "secure",
            "how": "confirm",
            "turn_id": "t1",
        }
    ]
    assert await desk.settle("q1", ConfirmRequest(yes=True), ADMIN) == {
        "id": "q1",
        "verdict": "yes",
    }
    assert waiting.settlement == Settlement("yes", "http:admin")
    assert [one.data for one in told] == [{"caller": "http:admin", "what": "confirm"}]
    assert desk.rows() == []
    with pytest.raises(Unknown):
        await desk.settle("q1", ConfirmRequest(yes=True), ADMIN)


@pytest.mark.parametrize("tier", [Tier.SECURE, Tier.COSTLY])
def test_whether_something_secure_waits(tier: Tier) -> None:
    waiting = Waiting()
    waiting.question = replace(waiting.question, tier=tier)
    desk = confirmations(waiting, [])
    assert desk.secure is (tier is Tier.SECURE)
    waiting.settle(Settlement("no"))
    assert not desk.secure
    assert not confirmations(None, []).secure


async def test_a_no_needs_no_pin_and_a_yes_does_where_one_is_asked_for() -> None:
    refused = Waiting("pin")
    await confirmations(refused, []).settle("q1", ConfirmRequest(yes=False), ADMIN)
    assert (refused.settlement, refused.entered) == (Settlement("no"), [])
    wrong = Waiting("pin")
    answer = await confirmations(wrong, []).settle("q1", ConfirmRequest(yes=True, pin="1"), ADMIN)
    assert (answer["verdict"], wrong.entered) == ("no", [("1", "http:admin")])
    right = Waiting("pin")
    await confirmations(right, []).settle("q1", ConfirmRequest(yes=True, pin="4711"), ADMIN)
    assert right.settlement == Settlement("yes", "pin http:admin")


async def test_who_answers_first_settles_it() -> None:
    waiting = Waiting("pin")
    waiting.meanwhile = Settlement("no")
    with pytest.raises(Unknown):
        await confirmations(waiting, []).settle("q1", ConfirmRequest(yes=True, pin="4711"), ADMIN)
    assert waiting.settlement == Settlement("no")


@pytest.mark.parametrize("waiting", [None, Waiting()])
async def test_what_does_not_wait_cannot_be_answered(waiting: Waiting | None) -> None:
    with pytest.raises(Unknown):
        await confirmations(waiting, []).settle("other", ConfirmRequest(yes=True), ADMIN)
