"""The live picture against the embedded house: loading, following, losing and recovering it."""

import asyncio
import logging
from contextlib import AsyncExitStack

import pytest
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from integrations.demo_home import DemoHome
from integrations.errors import Misconfigured, Refused, SignInAgain, Unavailable
from integrations.home_assistant import rest
from integrations.home_assistant.client import LOOK_S, HomeAssistant
from integrations.home_assistant.house import HouseSettings
from integrations.home_assistant.rest import check
from integrations.serving import serving

QUICK = (0.01, 0.05)  # seconds between attempts


async def test_the_picture_has_rooms_names_and_states() -> None:
    async with DemoHome() as demo, HomeAssistant(demo.url, demo.token) as home:
        assert home.connected
        assert home.problem is None
        house = home.house
        assert house.areas["kitchen"].floor_id in house.floors
        lock = house.entities["lock.front_door"]
        assert (lock.name, lock.state, lock.area_id) == ("Front door", "locked", "hall")
        assert "puerta principal" in lock.aliases
        assert house.entities["cover.garage_door"].device_class == "garage"
        assert not house.entities["light.workbench"].exposed
        assert house.entities["light.kitchen"].exposed


METRIC = HouseSettings("UTC", "", "°C", "km", "m/s")
AMERICAN = HouseSettings("America/New_York", "US", "°F", "mi", "mph")


async def test_the_settings_of_the_house_are_told_and_followed() -> None:
    told: list[HouseSettings] = []
    async with DemoHome() as demo:
        home = HomeAssistant(demo.url, demo.token)
        home.on_settings(told.append)
        async with home:
            assert (home.house.settings, told) == (METRIC, [METRIC])
            units = {"temperature": "°F", "length": "mi", "wind_speed": "mph"}
            demo.house.general = {
                "country": "US",
                "time_zone": "America/New_York",
                "unit_system": units,
            }
            demo.house.fire("core_config_updated", **demo.house.general)
            assert await home.wait_for(["light.hall"], lambda house: house.settings == AMERICAN, 2)
        assert told == [METRIC, AMERICAN]


async def test_a_change_makes_a_new_picture() -> None:
    async with DemoHome() as demo, HomeAssistant(demo.url, demo.token) as home:
        before = home.house
        demo.house.write("light.kitchen", "on", brightness=76)
        assert await home.wait_for(
            ["light.kitchen"], lambda house: house.entities["light.kitchen"].state == "on", 2
        )
        assert before.entities["light.kitchen"].state == "off"
        after = home.house.entities["light.kitchen"]
        assert after.attributes["brightness"] == 76
        assert after.aliases == before.entities["light.kitchen"].aliases
        assert home.house is home.house


async def test_waiting_ends_at_once_or_after_the_time() -> None:
    async with DemoHome() as demo, HomeAssistant(demo.url, demo.token) as home:
        assert await home.wait_for([], lambda house: True, 0)
        assert not await home.wait_for(["light.kitchen"], lambda house: False, 0.01)


async def test_a_wrong_token_is_said_once_and_entering_does_not_fail() -> None:
    async with DemoHome() as demo, HomeAssistant(demo.url, "wrong") as home:
        assert not home.connected
        assert isinstance(home.problem, SignInAgain)
        assert "home_assistant.token" in str(home.problem)
        assert home.house.entities == {}
        assert not await home.wait_for([], lambda house: True, 1)
        with pytest.raises(SignInAgain):
            await home.command("get_states")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:9", Unavailable),
        ("HTTP://127.0.0.1:9", Unavailable),
        ("nonsense", Misconfigured),
        ("http://", Misconfigured),
        ("http://[::1", Misconfigured),
        ("http://127.0.0.1:99999", Misconfigured),
        ("http://a..b", Misconfigured),  # a name that cannot be looked up
    ],
)
async def test_an_address_that_does_not_work(url: str, kind: type[Exception]) -> None:
    async with HomeAssistant(url, "t", pause_s=QUICK) as home:
        assert type(home.problem) is kind
        assert "home_assistant.url" in str(home.problem)


async def test_commands_and_their_refusal() -> None:
    async with DemoHome() as demo, HomeAssistant(demo.url, demo.token) as home:
        assert len(await home.command("config/area_registry/list")) == len(home.house.areas)
        with pytest.raises(Refused):
            await home.command("no/such/command")


async def test_it_finds_the_house_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    async with AsyncExitStack() as running, DemoHome(token="t") as second:
        first = await running.enter_async_context(DemoHome(token="t"))
        async with HomeAssistant(first.url, "t", pause_s=QUICK) as home:
            assert not _is_on(home)
            second.house.write("light.kitchen", "on")
            home._url = second.url  # as if the same host had restarted
            await running.aclose()
            async with asyncio.timeout(20):
                while not _is_on(home):  # noqa: ASYNC110 (the client has no event for it)
                    await asyncio.sleep(0.01)
            assert home.problem is None


async def test_the_age_of_the_picture_grows_from_the_loss_on() -> None:
    now = 100.0
    async with AsyncExitStack() as running:
        demo = await running.enter_async_context(DemoHome())
        home = HomeAssistant(demo.url, demo.token, pause_s=QUICK, monotonic=lambda: now)
        async with home:
            assert home.age_s == 0.0
            await running.aclose()
            async with asyncio.timeout(20):
                while home.connected:  # noqa: ASYNC110 (the client has no event for it)
                    await asyncio.sleep(0.01)
            now = 340.0
            assert home.age_s == await home.look() == 240.0
            assert home.house.entities["lock.front_door"].state == "locked"


async def test_a_house_that_was_never_seen_has_no_age() -> None:
    async with HomeAssistant("http://127.0.0.1:9", "t", pause_s=QUICK) as home:
        assert home.age_s is None
        assert await home.look() is None


async def test_a_house_that_is_back_need_not_wait_for_the_end_of_the_pause() -> None:
    async with DemoHome() as demo:
        home = HomeAssistant("http://127.0.0.1:9", demo.token, pause_s=(3_600.0, 3_600.0))
        async with home:
            assert not home.connected
            home._url = demo.url  # the house answers now
            back = asyncio.Event()
            home.observe(lambda entity_id: back.set())
            assert home.hurry()
            async with asyncio.timeout(5):
                await back.wait()
            assert "light.kitchen" in home.house.entities


async def test_a_rejected_token_is_not_sent_again_and_again() -> None:
    async with DemoHome() as demo, HomeAssistant(demo.url, "wrong") as home:
        assert not home.hurry()
        await asyncio.sleep(0)
        assert isinstance(home.problem, SignInAgain)


async def test_a_connection_that_is_silent_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with DemoHome() as demo, HomeAssistant(demo.url, demo.token) as home:
        assert await home.look() == 0.0

        async def silent(within_s: float) -> bool:
            assert within_s == LOOK_S
            return False

        monkeypatch.setattr(home._connection, "answers", silent)
        assert home.connected
        assert await home.look() == 9.0


def _is_on(home: HomeAssistant) -> bool:
    entity = home.house.entities.get("light.kitchen")
    return home.connected and entity is not None and entity.state == "on"


async def test_the_bodys_own_error_passes_unchanged() -> None:
    async with DemoHome() as demo:
        with pytest.raises(KeyError, match="mine"):
            async with HomeAssistant(demo.url, demo.token):
                raise KeyError("mine")


async def test_check_tells_who_answers() -> None:
    async with DemoHome() as demo:
        instance = await check(demo.url, demo.token)
        assert instance.version.startswith("2026.")
        assert instance.state == "RUNNING"
        with pytest.raises(SignInAgain, match=r"home_assistant\.token"):
            await check(demo.url, "wrong")
        with pytest.raises(SignInAgain, match="not plain ASCII"):
            await check(demo.url, "tökén")


async def test_check_on_something_else() -> None:
    async def hello(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello"})

    async with serving(hello, "127.0.0.1", 0) as port:
        with pytest.raises(Misconfigured, match="does not seem to be Home Assistant"):
            await check(f"http://127.0.0.1:{port}", "t")
    with pytest.raises(Unavailable, match=r"home_assistant\.url"):
        await check("http://127.0.0.1:9", "t")
    with pytest.raises(Misconfigured, match="is not a valid address"):
        await check("nonsense", "t")


ODD = ["[1]", '{"type": "event", "id": 1, "event": 5}', "[" * 100_000, "5"]


@pytest.mark.parametrize("message", ODD)
async def test_an_odd_message_costs_the_connection_and_nothing_else(message: str) -> None:
    ready = {"type": "auth_required"}, {"type": "auth_ok"}

    async def odd(scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        await socket.send_json(ready[0])
        await socket.receive_json()
        await socket.send_json(ready[1])
        await socket.receive_json()
        await socket.send_text(message)
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass

    async with (
        serving(odd, "127.0.0.1", 0) as port,
        HomeAssistant(f"http://127.0.0.1:{port}", "t", pause_s=QUICK) as home,
    ):
        assert isinstance(home.problem, Unavailable)
        assert "an answer that Hearth does not understand" in str(home.problem)


@pytest.mark.parametrize("reply", ["5", "[]", "{}"])
async def test_an_odd_answer_to_the_sign_in(reply: str) -> None:
    async def odd(scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        await socket.accept()
        await socket.send_text("{}")
        await socket.receive_json()
        await socket.send_text(reply)
        await socket.receive()

    async with (
        serving(odd, "127.0.0.1", 0) as port,
        HomeAssistant(f"http://127.0.0.1:{port}", "t", pause_s=QUICK) as home,
    ):
        assert isinstance(home.problem, Unavailable)


async def test_cancelled_while_it_waits_it_leaves_nothing_behind() -> None:
    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(mute, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        entering = asyncio.create_task(HomeAssistant(f"http://127.0.0.1:{port}", "t").__aenter__())
        await _named("home-assistant")
        entering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await entering
        assert "home-assistant" not in {task.get_name() for task in asyncio.all_tasks()}


async def _named(name: str) -> None:
    async with asyncio.timeout(20):
        while name not in {task.get_name() for task in asyncio.all_tasks()}:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_check_ends_where_an_answer_never_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "TIMEOUT_S", 0.2)

    async def drip(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while True:
            await send({"type": "http.response.body", "body": b" ", "more_body": True})
            await asyncio.sleep(0.02)

    async with asyncio.timeout(20), serving(drip, "127.0.0.1", 0) as port:
        with pytest.raises(Unavailable, match="does not answer"):
            await check(f"http://127.0.0.1:{port}", "t")
