"""A yes or no from the owner's phone, for what the settings decide by `phone`."""

from typing import Literal, Protocol

from assistant.domain.question import Question
from assistant.speech.catalogue import Catalogue
from integrations.errors import Misconfigured
from integrations.home_assistant.phones import Phone

ANSWER_S = 60.0  # to find the phone, unlock it and read


class HomePhones(Protocol):
    """The home's phones (`integrations.home_assistant.phones.Phones`)."""

    async def all(self) -> list[Phone]:
        """Those that take notifications. Raises IntegrationError."""
        ...

    async def ask(
        self,
        phone: Phone,
        title: str,
        question: str,
        timeout_s: float,
        buttons: tuple[str, str] = ("Yes", "No"),
    ) -> Literal["yes", "no"] | None:
        """What was pressed, None for nothing. Raises IntegrationError."""
        ...


class OwnersPhone:
    """The phone that `policy.phone` names. No other one is ever asked instead."""

    def __init__(
        self,
        phones: HomePhones,
        service: str,
        title: str,
        catalogue: Catalogue,
        timeout_s: float = ANSWER_S,
    ) -> None:
        """`service`: a notify action, without its domain; `title`: who asks."""
        self._phones = phones
        self._service = service
        self._title = title
        self._catalogue = catalogue
        self._timeout_s = timeout_s
        self._name = service.removeprefix("mobile_app_").replace("_", " ")

    @property
    def name(self) -> str:
        """What people call it, as far as it is known yet."""
        return self._name

    async def ask(self, question: Question) -> Literal["yes", "no"] | None:
        """What was pressed there; None: nothing in time. Raises IntegrationError."""
        known = await self._phones.all()
        phone = next((one for one in known if one.service == self._service), None)
        if phone is None:
            there = ", ".join(one.service for one in known) or "none"
            raise Misconfigured(
                f'policy.phone = "{self._service}" is no phone of this home; there is: {there}.'
            )
        self._name = phone.name
        buttons = tuple(
            self._catalogue.say(key, question.language) for key in ("phone.yes", "phone.no")
        )
        return await self._phones.ask(
            phone, self._title, question.text, self._timeout_s, (buttons[0], buttons[1])
        )
