"""Phones: listing them, their owners, and a yes or no from one of them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from integrations.errors import Refused, Unavailable
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.phones import AnswersHidden, Phone, Phones, slug
from tests.fakes.home_assistant import FakeHomeAssistant
from tests.simulators.phone_home import PhoneHome
from tests.simulators.phones import DemoPhone as Registered
from tests.simulators.phones import add_phone, press, register

LIMIT_S = 10.0
BOX = {
    "app_id": "hearth",
    "app_name": "Hearth",
    "app_version": "1",
    "manufacturer": "Hearth",
    "model": "Hearth",
    "os_name": "Linux",
    "app_data": {"push_websocket_channel": True},
}


@asynccontextmanager
async def living(*, admin: bool) -> AsyncIterator[tuple[PhoneHome, HomeAssistant]]:
    async with PhoneHome(settle_s=0) as demo:
        add_phone(demo.house, "Ana's phone", "Ana", "user-a")
        add_phone(demo.house, "Pixel 12", "", "user-b")
        register(demo.house, {**BOX, "device_name": "Hearth Kitchen"}, "user-c")
        token = demo.token if admin else demo.person_token
        async with HomeAssistant(demo.url, token) as home:
            yield demo, home


@pytest.fixture
async def seen() -> AsyncIterator[tuple[PhoneHome, HomeAssistant]]:
    """Yield a house and its client, which has an administrator's token."""
    async with living(admin=True) as both:
        yield both


async def until(condition: Callable[[], Any]) -> Any:
    async with asyncio.timeout(LIMIT_S):
        while not (found := condition()):  # noqa: ASYNC110 - the embedded house tells nobody
            await asyncio.sleep(0)
    return found


def registered(demo: PhoneHome, name: str) -> Registered:
    return next(phone for phone in demo.house.phones.all() if phone.name == name)


async def test_phones_are_found_with_those_who_carry_them_and_boxes_are_none() -> None:
    async with living(admin=False) as (_, home):
        ana, pixel = await Phones(home).all()
        assert ana == Phone("mobile_app_ana_s_phone", "Ana's phone", ("Ana",))
        assert ana.names == ("Ana's phone", "Ana")
        assert pixel == Phone("mobile_app_pixel_12", "Pixel 12")


async def test_a_message_is_shown() -> None:
    async with living(admin=False) as (demo, home):
        phones = Phones(home)
        ana, pixel = await phones.all()
        await phones.send(ana, "Buy milk", "Shopping")
        await phones.send(pixel, "Hello")
        shown = {"message": "Buy milk", "title": "Shopping"}
        assert registered(demo, "Ana's phone").sent == [shown]
        assert registered(demo, "Pixel 12").sent == [{"message": "Hello"}]


async def test_a_phone_that_cannot_be_reached_is_an_error() -> None:
    async with living(admin=False) as (demo, home):
        told = {**BOX, "device_name": "Tablet", "manufacturer": "Example"}
        register(demo.house, told, "user-d")
        phones = Phones(home)
        tablet = (await phones.all())[-1]
        assert tablet.name == "Tablet"
        with pytest.raises(Refused, match="not connected"):
            await phones.send(tablet, "Hello")


@pytest.mark.parametrize(("button", "answer"), [("Sí", "yes"), ("Nope", "no")])
async def test_a_button_is_the_answer(
    seen: tuple[PhoneHome, HomeAssistant], button: str, answer: str
) -> None:
    demo, home = seen
    phones, phone = Phones(home), registered(demo, "Pixel 12")
    pixel = (await phones.all())[1]
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(
            phones.ask(pixel, "Hearth", "Unlock the front door?", LIMIT_S, ("Sí", "Nope"))
        )
        (asked,) = await until(lambda: phone.sent)
        press(demo.house, phone, button)
    assert asking.result() == answer
    assert (asked["title"], asked["message"]) == ("Hearth", "Unlock the front door?")
    clear = {"message": "clear_notification", "data": {"tag": asked["data"]["tag"]}}
    assert phone.sent == [asked, clear]


@pytest.mark.parametrize(
    "change", [str.lower, lambda action: f"{action}_2", lambda _: "HEARTH_YES"]
)
async def test_what_is_not_exactly_our_yes_is_none(
    seen: tuple[PhoneHome, HomeAssistant], change: Callable[[str], str]
) -> None:
    demo, home = seen
    phones, phone = Phones(home), registered(demo, "Pixel 12")
    pixel = (await phones.all())[1]
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(phones.ask(pixel, "Hearth", "Unlock?", 0.5))
        (asked,) = await until(lambda: phone.sent)
        action = asked["data"]["actions"][0]["action"]
        demo.house.fire("mobile_app_notification_action", action=change(action))
    assert asking.result() in ("no", None)


async def test_an_answer_counts_for_its_own_question_alone(
    seen: tuple[PhoneHome, HomeAssistant],
) -> None:
    demo, home = seen
    phones, phone = Phones(home), registered(demo, "Pixel 12")
    pixel = (await phones.all())[1]
    assert await phones.ask(pixel, "Hearth", "First?", 0.02) is None
    first = phone.sent[0]
    assert phone.sent[1]["message"] == "clear_notification"
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(phones.ask(pixel, "Hearth", "Second?", 0.3))
        await until(lambda: len(phone.sent) == 3)
        late = first["data"]["actions"][0]["action"]
        demo.house.fire("mobile_app_notification_action", action=late)
        demo.house.fire("mobile_app_notification_action", action=None)
        demo.house.fire("mobile_app_notification_action")
    assert asking.result() is None
    nonces = {one["data"]["tag"] for one in phone.sent}
    assert len(nonces) == 2


async def test_a_question_that_is_given_up_is_taken_away(
    seen: tuple[PhoneHome, HomeAssistant],
) -> None:
    demo, home = seen
    phones, phone = Phones(home), registered(demo, "Pixel 12")
    pixel = (await phones.all())[1]
    asking = asyncio.create_task(phones.ask(pixel, "Hearth", "Unlock?", LIMIT_S))
    await until(lambda: phone.sent)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert [one["message"] for one in phone.sent] == ["Unlock?", "clear_notification"]


async def test_without_an_administrators_token_nothing_is_asked() -> None:
    async with living(admin=False) as (demo, home):
        phones = Phones(home)
        pixel = (await phones.all())[1]
        with pytest.raises(AnswersHidden, match="administrator's token"):
            await phones.ask(pixel, "Hearth", "Unlock?", LIMIT_S)
        assert registered(demo, "Pixel 12").sent == []


class Told(FakeHomeAssistant):
    """A home that answers with these rows."""

    def __init__(self, services: Any, devices: Any, *entities: Entity) -> None:
        self._answers = {"get_services": services, "config/device_registry/list": devices}
        super().__init__(House(entities={one.entity_id: one for one in entities}))
        self.sent: list[str] = []
        self.hangs_at = ""  # this message is accepted and never answered

    async def command(self, kind: str, **fields: Any) -> Any:
        if kind == "call_service":
            self.sent.append(fields["service_data"]["message"])
            if self.sent[-1] == self.hangs_at:
                await asyncio.Event().wait()
            return {}
        return self._answers[kind]

    @asynccontextmanager
    async def stream(self, kind: str, **fields: Any) -> AsyncIterator[Any]:
        yield Ending()


class Ending:
    """Events of a connection that is lost."""

    def __aiter__(self) -> "Ending":
        return self

    async def __anext__(self) -> Any:
        raise Unavailable("The connection to Home Assistant closed.")


async def test_a_connection_that_ends_is_no_answer() -> None:
    home = Told({"notify": {"mobile_app_pixel": {}}}, [device("Pixel")])
    phones = Phones(home)
    (pixel,) = await phones.all()
    assert await phones.ask(pixel, "Hearth", "Unlock?", LIMIT_S) is None
    assert home.sent == ["Unlock?", "clear_notification"]


async def test_what_cannot_be_cleared_is_left(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr("integrations.home_assistant.phones._CLEAR_S", 0.02)
    home = Told({"notify": {"mobile_app_pixel": {}}}, [device("Pixel")])
    home.hangs_at = "clear_notification"
    phones = Phones(home)
    (pixel,) = await phones.all()
    assert await phones.ask(pixel, "Hearth", "Unlock?", LIMIT_S) is None
    assert (
        "a notification could not be removed from the phone Pixel: no answer in time" in caplog.text
    )


def device(name: str, by_user: str | None = None, id_: str = "d", **more: Any) -> dict[str, Any]:
    told = {"id": id_, "name": name, "name_by_user": by_user, "manufacturer": "Apple"}
    return {**told, "identifiers": [["mobile_app", id_]], **more}


@pytest.mark.parametrize(
    ("services", "devices", "names"),
    [
        (["mobile_app_anas_iphone"], [device("Ana’s iPhone", "Ana")], ["Ana"]),
        (["mobile_app_movil_de_inigo"], [device("Móvil de Íñigo")], ["Móvil de Íñigo"]),
        (["mobile_app_strasse_handy"], [device("Straße Handy")], ["Straße Handy"]),
        (["mobile_app_dian_hua"], [device("电话")], ["dian hua"]),
        (["mobile_app_gone"], [], ["gone"]),
        (["mobile_app_box"], [device("Box", id_="own")], []),
        (["mobile_app_box"], [device("Box", manufacturer="Hearth")], []),
        (["notify", "persistent_notification"], [device("Pixel")], []),
        ([], None, []),
    ],
)
async def test_actions_are_matched_with_devices_by_name(
    services: list[str], devices: Any, names: list[str]
) -> None:
    home = Told({"notify": {name: {} for name in services}}, devices)
    assert [phone.name for phone in await Phones(home, lambda: "own").all()] == names


@pytest.mark.parametrize("services", [None, [], {"notify": None}, {"notify": ["a"]}])
async def test_an_odd_answer_is_no_phone(services: Any) -> None:
    assert await Phones(Told(services, [])).all() == []


async def test_odd_rows_cost_themselves_alone() -> None:
    odd = [None, {"identifiers": None}, {"identifiers": ["mobile_app"]}, device("Pixel")]
    people = [
        Entity("person.a", "Ana", "home", attributes={"device_trackers": "x"}),
        Entity("person.b", "Bea", "home", attributes={"device_trackers": ["device_tracker.p", 1]}),
        Entity("device_tracker.p", "Pixel", "home", device_id="d"),
    ]
    (pixel,) = await Phones(Told({"notify": {"mobile_app_pixel": {}}}, odd, *people)).all()
    assert pixel == Phone("mobile_app_pixel", "Pixel", ("Bea",))


@pytest.mark.parametrize(
    ("name", "told"),
    [("Ana's  iPhone!", "ana_s_iphone"), ("Ana’s iPhone", "anas_iphone"), ("", "")],
)
def test_slug(name: str, told: str) -> None:
    assert slug(name) == told
