"""The owner's phone: the one that is named, asked in the person's language."""

from typing import Literal

import pytest

from assistant.confirmation.witness import ANSWER_S, OwnersPhone
from assistant.domain.outcome import Tier
from assistant.domain.question import Question
from assistant.speech.catalogue import Catalogue
from integrations.errors import Misconfigured
from integrations.home_assistant import phones
from integrations.home_assistant.phones import Phone

PIXEL, IPAD = Phone("mobile_app_pixel_12", "Ana's Pixel"), Phone("mobile_app_ipad", "iPad")


def question(language: str) -> Question:
    return Question("q", "t", "c", "phone", Tier.SECURE, "Unlock Front Door?", language)


class Phones(phones.Phones):
    """Phones that answer alike."""

    def __init__(self, *known: Phone, answer: Literal["yes", "no"] | None = "yes") -> None:
        self._known, self._answer = list(known), answer
        self.asked: list[tuple[str, str, str, float, tuple[str, str]]] = []

    async def all(self) -> list[Phone]:
        return self._known

    async def ask(
        self,
        phone: Phone,
        title: str,
        question: str,
        timeout_s: float,
        buttons: tuple[str, str] = ("Yes", "No"),
    ) -> Literal["yes", "no"] | None:
        self.asked.append((phone.service, title, question, timeout_s, buttons))
        return self._answer


@pytest.mark.parametrize("answer", ["yes", "no", None])
@pytest.mark.parametrize(("language", "buttons"), [("en", ("Yes", "No")), ("es", ("Sí", "No"))])
async def test_it_is_asked_there(
    answer: Literal["yes", "no"] | None, language: str, buttons: tuple[str, str]
) -> None:
    phones = Phones(IPAD, PIXEL, answer=answer)
    phone = OwnersPhone(phones, PIXEL.service, "Hearth", Catalogue())
    assert phone.name == "pixel 12"
    assert await phone.ask(question(language)) == answer
    assert phones.asked == [(PIXEL.service, "Hearth", "Unlock Front Door?", ANSWER_S, buttons)]
    assert phone.name == "Ana's Pixel"


@pytest.mark.parametrize(("known", "there"), [([IPAD], "mobile_app_ipad"), ([], "none")])
async def test_no_other_one_is_asked_instead(known: list[Phone], there: str) -> None:
    phones = Phones(*known)
    with pytest.raises(Misconfigured, match=f"policy.phone = .* there is: {there}"):
        await OwnersPhone(phones, PIXEL.service, "Hearth", Catalogue()).ask(question("en"))
    assert phones.asked == []
