"""Questions 1 and 2 of setup: Home Assistant's address and an access token."""

from collections.abc import Sequence
from dataclasses import replace

from assistant.config.schema import Settings
from assistant.setup.answers import (
    DEMO,
    Answers,
    SetupQuestions,
    is_skip,
    one_of_these,
    read_address,
)
from assistant.setup.services import HouseFacts, SetupServices
from integrations.errors import IntegrationError, SignInAgain
from integrations.home_assistant.discovery import FoundHome

UNKNOWN = HouseFacts("", "")  # used if the user skips the question
_TOKEN = "Access token"


class HouseQuestions:
    """Asks for the address and the token until both work or the user skips them."""

    def __init__(
        self,
        questions: SetupQuestions,
        means: SetupServices,
        present: Settings,
        given: Answers,
        *,
        again: bool,
    ) -> None:
        self._questions = questions
        self._person = questions.person
        self._means = means
        self._present = present.home_assistant
        self._given = given
        self._again = again
        self._homes: Sequence[FoundHome] | None = None  # None before the network was searched
        self._reached = ""  # the last address that responded

    async def ask(self) -> tuple[Answers, HouseFacts]:
        """Add the address and the token to the answers, and return them with what Home Assistant
        reports. Raises IntegrationError if a value given as an option doesn't work."""
        given = self._given
        url, token = given.url, given.token
        while True:
            if url is None:
                url = await self._address()
            if url is None:
                self._skipped("hearth setup asks for it again.")
                return given, UNKNOWN
            try:
                await self._reach(url, token)
            except IntegrationError as error:
                self._say_or_raise(error, given.url)
                url = None
                continue
            if token is None and url != DEMO:
                token = await self._token(url)
            if token == "":
                self._skipped("add a token with hearth setup --token-file FILE.")
                return self._answers(url, None), UNKNOWN
            try:
                facts = await self._means.visit(url, token or "")
                break
            except SignInAgain as error:
                self._say_or_raise(error, given.token)
                token = None
            except IntegrationError as error:
                self._say_or_raise(error, given.url)
                url = None
        what = "The simulated house" if url == DEMO else f"Home Assistant {facts.version}"
        self._person.tell(f"{what} answers ({facts.name}).", "green")
        return self._answers(url, token), facts

    def _answers(self, url: str, token: str | None) -> Answers:
        kept = url == self._present.url and token in (None, self._kept_token)
        return self._given if kept and self._again else replace(self._given, url=url, token=token)

    async def _reach(self, url: str, token: str | None) -> None:
        if token is None and url not in (DEMO, self._reached):
            await self._means.reach(url)
            self._reached = url

    def _skipped(self, later: str) -> None:
        self._person.tell(f"Skipped. Until then Hearth can't control anything: {later}", "yellow")

    def _say_or_raise(self, error: IntegrationError, given: str | None) -> None:
        if given is not None:
            raise error
        self._person.tell(str(error), "red")

    async def _address(self) -> str | None:
        if self._homes is None:
            self._questions.begin("Home Assistant")
            self._person.tell("   Looking for it on your network ...", "dim")
            self._homes = await self._means.find_homes()
        homes = self._homes
        urls = [home.url for home in homes]
        for number, home in enumerate(homes, 1):
            version = f"  {home.version}" if home.version else ""
            self._person.tell(f"   {number}  {home.name}  {home.url}{version}")
        if not homes:
            self._person.tell("   None found. You can still enter its address.", "dim")

        def read(line: str) -> str | None:
            if is_skip(line):
                return None
            place = one_of_these(line, urls)
            return urls[place] if place is not None else read_address(line)

        what = "Number or address" if homes else "Address"
        default = self._present.url if self._again or not urls else "1"
        return await self._questions.ask(
            f'{what}, "demo" for a simulated house, or "skip"', read, default
        )

    async def _token(self, url: str) -> str:
        if _TOKEN not in self._questions.asked:
            self._questions.begin(_TOKEN)
            self._person.tell(
                "   Create one in Home Assistant: your profile > Security > Long-lived access "
                "tokens."
            )
        kept = self._kept_token if url == self._present.url else ""

        def read(line: str) -> str:
            return "" if is_skip(line) else line or kept

        does = 'keeps the current one, "skip" continues without one' if kept else "skips it"
        return await self._questions.ask(f"Token (not shown; Enter {does})", read, hidden=True)

    @property
    def _kept_token(self) -> str:
        return self._present.token.get_secret_value()
