"""A message to somebody's phone: whose, what, and what is asked back."""

import pytest

from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult
from assistant.tools.builtin.send_to_phone import MAX_MESSAGE, SendToPhone, choose, readable
from integrations.errors import Refused
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.phones import Phone, Phones
from tests.simulators.phone_home import PhoneHome
from tests.simulators.phones import add_phone

ANA = Phone("mobile_app_pixel_12", "Pixel 12", ("Ana",))
BEA = Phone("mobile_app_beas_iphone", "Bea's iPhone", ("Beatriz",))
TABLET = Phone("mobile_app_tablet", "Kitchen tablet")
HOUSE = House(entities={"device_tracker.a": Entity("device_tracker.a", "A", "home")})


class Telling(Phones):
    """Phones that keep what they show."""

    def __init__(self, *phones: Phone) -> None:
        self._phones = list(phones)
        self.sent: list[tuple[str, str, str]] = []

    async def all(self) -> list[Phone]:
        return self._phones

    async def send(self, phone: Phone, message: str, title: str = "") -> None:
        self.sent.append((phone.name, message, title))


async def send(phones: Telling, language: str = "en", **arguments: str) -> BuiltInResult:
    tool = SendToPhone(phones, lambda: HOUSE, Catalogue()).tool()
    return await tool.run(arguments, BuiltInRequest("a", "t", None, language))


@pytest.mark.parametrize(
    ("to", "name"),
    [
        ("Ana", "Pixel 12"),
        ("ana's phone", "Pixel 12"),
        ("el móvil de Ana", "Pixel 12"),
        ("pixel", "Pixel 12"),
        ("Ana's Pixel", "Pixel 12"),
        ("Bea", "Bea's iPhone"),
        ("Béatriz", "Bea's iPhone"),
        ("Bea’s iPhone", "Bea's iPhone"),
        ("tablet", "Kitchen tablet"),
    ],
)
async def test_it_goes_to_the_one_who_is_named(to: str, name: str) -> None:
    phones = Telling(ANA, BEA, TABLET)
    result = await send(phones, message="Hello", to=to, title="A  title\n")
    assert phones.sent == [(name, "Hello", "A title")]
    assert (result.sentence, result.failed) == (f"I have sent it to {name}.", False)


@pytest.mark.parametrize("to", ["", "my phone", "mi móvil", "the phone"])
async def test_one_phone_needs_no_name_and_of_several_it_is_asked(to: str) -> None:
    alone = Telling(ANA)
    assert not (await send(alone, message="Hello", to=to)).failed
    assert len(alone.sent) == 1
    several = Telling(ANA, BEA)
    asked = await send(several, "es", message="Hola", to=to)
    assert (asked.sentence, asked.failed) == ("¿A qué teléfono?", True)
    assert asked.valid_options == ("Pixel 12", "Bea's iPhone")
    assert several.sent == []


@pytest.mark.parametrize("to", ["Ana María", "Carl", "Ana's tablet"])
async def test_a_name_that_nobody_has_gets_nothing(to: str) -> None:
    phones = Telling(ANA, TABLET)
    result = await send(phones, message="Hello", to=to)
    assert result.failed
    assert result.sentence == f"I know of no phone called {to}."
    assert result.valid_options == ("Pixel 12", "Kitchen tablet")
    assert phones.sent == []


def test_two_phones_of_one_person_are_two() -> None:
    other = Phone("mobile_app_ipad", "iPad", ("Ana",))
    assert choose([ANA, other], "Ana") == [ANA, other]
    assert choose([ANA, other], "Ana's iPad") == [other]


@pytest.mark.parametrize(
    ("phones", "message", "says"),
    [
        (Telling(), "Hello", "no phone in this home"),
        (Telling(ANA), " \u200b\n", "nothing to send"),
    ],
)
async def test_what_cannot_be_sent(phones: Telling, message: str, says: str) -> None:
    result = await send(phones, message=message)
    assert result.failed
    assert says in result.sentence
    assert phones.sent == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("- milk\r\n- bread", "- milk\n- bread"),
        ("one\n\n\n\n\ntwo\t2", "one\n\ntwo 2"),
        ("\u202eevil\x00\x1b[31m", "evil[31m"),
        ("\N{MAN}\u200d\N{WOMAN}", "\N{MAN}\u200d\N{WOMAN}"),
        ("clear_notification", "clear_notification."),
        ("\u200bcommand_screen_on ", "command_screen_on."),
        ("TTS", "TTS."),
        ("request_location_update please", "request_location_update please"),
        ("milk", "milk"),
        ("x" * 5_000, "x" * MAX_MESSAGE),
    ],
)
def test_a_message_is_made_to_be_read(text: str, shown: str) -> None:
    assert readable(text) == shown


def test_it_is_offered_where_there_may_be_a_phone_and_not_to_guests() -> None:
    tool = SendToPhone(Telling(), lambda: HOUSE, Catalogue()).tool()
    assert tool.needed()
    assert not tool.guests
    assert not SendToPhone(Telling(), House, Catalogue()).tool().needed()


async def test_through_the_embedded_house() -> None:
    async with PhoneHome(settle_s=0) as demo:
        phone = add_phone(demo.house, "Pixel 12", "Ana", "user")
        async with HomeAssistant(demo.url, demo.person_token) as home:
            tool = SendToPhone(Phones(home), lambda: home.house, Catalogue()).tool()
            assert tool.needed()
            request = BuiltInRequest("a", "t", None, "en")
            result = await tool.run({"message": "Buy milk", "to": "Ana"}, request)
            assert result.sentence == "I have sent it to Pixel 12."
            assert phone.sent == [{"message": "Buy milk"}]
            phone.data["app_data"] = {"push_websocket_channel": True}
            with pytest.raises(Refused):
                await tool.run({"message": "Buy milk", "to": "Ana"}, request)
