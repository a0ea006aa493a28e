"""A session with the real google-genai client over a TLS websocket: closing and sending."""

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from integrations.errors import (
    IntegrationError,
    Refused,
    Stale,
    Unavailable,
)
from integrations.gemini.declarations import Declaration
from integrations.gemini.events import Closed, GoAway, LiveEvent
from integrations.gemini.live import MAX_STRANGE_FRAMES, FunctionAnswer, LiveClient, LiveSession
from integrations.gemini.models import model_row
from integrations.gemini.setup import LiveSetup
from tests.unit.integrations.gemini.inbox import SETUP, Inbox, accept_and_wait
from tests.unit.integrations.gemini.loopback import KEY, Json, Peer, Service


async def test_the_key_goes_in_a_header_to_v1beta(service: Service, client: LiveClient) -> None:
    seen: list[str] = []

    async def script(peer: Peer) -> None:
        seen.append(peer.headers["x-goog-api-key"])
        await accept_and_wait(peer)

    service.play(script)
    session = await client.connect(SETUP, Inbox())
    await session.close()
    assert seen == [KEY]


async def test_closing_is_the_last_event_and_ours(service: Service, client: LiveClient) -> None:
    service.play(accept_and_wait)
    inbox = Inbox()
    session = await client.connect(SETUP, inbox)
    await session.close()
    await service.until_open(0)
    assert session.closed
    assert inbox.events == [Closed(None)]


async def test_the_service_is_told_that_all_is_well(service: Service, client: LiveClient) -> None:
    async def script(peer: Peer) -> None:
        await peer.accept()
        codes.append(await peer.gone())

    codes: list[int | None] = []
    service.play(script)
    session = await client.connect(SETUP, Inbox())
    await session.close()
    await service.until_open(0)
    assert codes == [1000]


async def test_closing_twice_at_once_is_one_close(service: Service, client: LiveClient) -> None:
    service.play(accept_and_wait)
    inbox = Inbox()
    session = await client.connect(SETUP, inbox)
    await asyncio.gather(session.close(), session.close())
    await session.close()
    assert inbox.events == [Closed(None)]


async def test_leaving_the_client_closes_its_sessions(service: Service) -> None:
    service.play(accept_and_wait, accept_and_wait)
    inboxes = [Inbox(), Inbox()]
    async with LiveClient(service.access) as client:
        sessions = [await client.connect(SETUP, inbox) for inbox in inboxes]
    assert [inbox.events for inbox in inboxes] == [[Closed(None)], [Closed(None)]]
    assert all(session.closed for session in sessions)
    await service.until_open(0)


async def test_closing_is_bounded_when_the_service_does_not_answer(
    service: Service, client: LiveClient
) -> None:
    async def script(peer: Peer) -> None:
        await peer.accept()
        peer.hold()
        await released.wait()
        peer.drop()

    released = asyncio.Event()
    service.play(script)
    inbox = Inbox()
    session = await client.connect(SETUP, inbox)
    began = asyncio.get_running_loop().time()
    await session.close()
    assert asyncio.get_running_loop().time() - began < 2.5
    assert inbox.events == [Closed(None)]
    released.set()
    await service.until_open(0)


async def test_what_is_ending_is_not_left_half_open(service: Service) -> None:
    """The client ends the session and is closed while the service keeps silent."""

    async def script(peer: Peer) -> None:
        await peer.accept()
        await peer.send(*[{"new": {}}] * (MAX_STRANGE_FRAMES + 1))
        peer.hold()
        await released.wait()
        peer.drop()

    released = asyncio.Event()
    service.play(script)
    inbox = Inbox()
    before = asyncio.all_tasks()
    async with LiveClient(service.access) as client:
        session = await client.connect(SETUP, inbox)
        for _ in range(100_000):
            if session.closed:
                break
            await asyncio.sleep(0)
        assert session.closed
    assert isinstance((await inbox.closed()).error, Unavailable)
    left = [task for task in asyncio.all_tasks() - before if "keepalive" in repr(task)]
    assert not left
    released.set()
    await service.until_open(0)


async def sends(session: LiveSession) -> list[IntegrationError]:
    """Return the error of every way of sending."""
    faults = []
    for send in (
        session.begin_activity(),
        session.send_audio(b"\0\0"),
        session.end_activity(),
        session.send_text("hello"),
        session.update(instruction="new"),
    ):
        with pytest.raises(IntegrationError) as raised:
            await send
        faults.append(raised.value)
    return faults


async def test_sending_after_close_raises(service: Service, client: LiveClient) -> None:
    service.play(accept_and_wait)
    session = await client.connect(SETUP, Inbox())
    await session.close()
    assert {type(fault) for fault in await sends(session)} == {Unavailable}


async def test_sending_after_the_service_closed_tells_its_reason(
    service: Service, client: LiveClient
) -> None:
    async def script(peer: Peer) -> None:
        await peer.accept()
        await peer.close(1008, "BidiGenerateContent session not found")

    service.play(script)
    inbox = Inbox()
    session = await client.connect(SETUP, inbox)
    assert isinstance((await inbox.closed()).error, Stale)
    assert {type(fault) for fault in await sends(session)} == {Stale}


# --- The messages of a session as the service gets them, and the handle that it keeps.

LIVE = LiveSetup(model_row("gemini-3.8-live")[0], "Be brief.", (), google_search=True)
UNKNOWN = LiveSetup(model_row("gemini-9-live")[0], "Be brief.", ())
LIGHT = Declaration("light", "Switches.", None, ())

Act = Callable[[LiveSession], Awaitable[None]]


@pytest.fixture
async def client(service: Service) -> AsyncIterator[LiveClient]:
    async with LiveClient(service.access) as opened:
        yield opened


async def sent(
    service: Service, client: LiveClient, act: Act, count: int = 1, setup: LiveSetup = LIVE
) -> list[Json]:
    """Return the messages that the service gets; more than `count` fail the test."""
    taken: list[Json] = []

    async def script(peer: Peer) -> None:
        await peer.accept()
        for _ in range(count):
            taken.append(await peer.take())
        await peer.gone()

    service.play(script)
    session = await client.connect(setup, lambda event: None)
    await act(session)
    await session.close()
    await service.until_open(0)
    return taken


async def test_an_activity(service: Service, client: LiveClient) -> None:
    async def act(session: LiveSession) -> None:
        await session.begin_activity()
        await session.send_audio(b"\1\0")
        await session.end_activity()

    assert await sent(service, client, act, 3) == [
        {"realtime_input": {"activityStart": {}}},
        {"realtime_input": {"audio": {"data": "AQA=", "mime_type": "audio/pcm;rate=16000"}}},
        {"realtime_input": {"activityEnd": {}}},
    ]


async def test_sound_arrives_bit_for_bit(service: Service, client: LiveClient) -> None:
    pcm = bytes(range(256)) * 12 + b"\xfb\xff\xfe\x3e\xff\xf8"
    [message] = await sent(service, client, lambda session: session.send_audio(pcm))
    data: str = message["realtime_input"]["audio"]["data"]
    assert not set(data) & set("+/")  # the SDK uses the URL-safe alphabet
    assert base64.urlsafe_b64decode(data) == pcm


@pytest.mark.parametrize("complete", [True, False])
async def test_text(service: Service, client: LiveClient, complete: bool) -> None:
    messages = await sent(
        service, client, lambda session: session.send_text("hello", complete=complete)
    )
    turns = [{"role": "user", "parts": [{"text": "hello"}]}]
    assert messages == [{"client_content": {"turns": turns, "turnComplete": complete}}]


async def test_answers_go_in_one_message_as_they_are(service: Service, client: LiveClient) -> None:
    response = {"status": "done", "valid_options": ["a_b"], "data": None, "nested": {"x_y": [1]}}
    answers = [FunctionAnswer("a", "light", response), FunctionAnswer("b", "light", {"ok": True})]
    messages = await sent(service, client, lambda session: session.answer(answers))
    assert messages == [
        {
            "tool_response": {
                "functionResponses": [
                    {"id": "a", "name": "light", "response": response},
                    {"id": "b", "name": "light", "response": {"ok": True}},
                ]
            }
        }
    ]


async def test_no_answers_are_no_message(service: Service, client: LiveClient) -> None:
    assert await sent(service, client, lambda session: session.answer([]), 0) == []


async def test_another_instruction(service: Service, client: LiveClient) -> None:
    messages = await sent(service, client, lambda session: session.update(instruction="New."))
    instruction = {"role": "user", "parts": [{"text": "New."}]}
    assert messages == [{"contextUpdate": {"systemInstruction": instruction}}]


async def test_other_functions_keep_the_search(service: Service, client: LiveClient) -> None:
    [message] = await sent(service, client, lambda session: session.update(declarations=[LIGHT]))
    assert list(message) == ["contextUpdate"]
    assert list(message["contextUpdate"]) == ["tools"]
    tools = message["contextUpdate"]["tools"]["tools"]
    function = {"name": "light", "description": "Switches.", "behavior": "BLOCKING"}
    assert sorted(tools, key=str) == [
        {"functionDeclarations": [function]},
        {"googleSearch": {}},
    ]


async def test_nothing_to_change_is_no_message(service: Service, client: LiveClient) -> None:
    assert await sent(service, client, lambda session: session.update(), 0) == []


async def test_a_model_without_changes_refuses_them(service: Service, client: LiveClient) -> None:
    async def act(session: LiveSession) -> None:
        with pytest.raises(Refused, match="gemini-9-live"):
            await session.update(instruction="New.")

    assert await sent(service, client, act, 0, UNKNOWN) == []


async def test_what_cannot_be_sent_is_not_blamed_on_the_service(
    service: Service, client: LiveClient
) -> None:
    async def act(session: LiveSession) -> None:
        with pytest.raises(TypeError):
            await session.answer([FunctionAnswer("a", "light", {"x": object()})])
        assert not session.closed

    assert await sent(service, client, act, 0) == []


def handle_update(handle: str, resumable: bool) -> Json:
    return {"sessionResumptionUpdate": {"newHandle": handle, "resumable": resumable}}


@pytest.mark.parametrize(
    ("updates", "handle"),
    [
        ([], None),
        ([handle_update("h-1", True)], "h-1"),
        ([handle_update("h-1", True), handle_update("h-2", True)], "h-2"),
        ([handle_update("h-1", True), handle_update("", False)], None),
        ([handle_update("h-1", True), handle_update("h-2", False)], None),
        ([handle_update("h-1", False), handle_update("h-2", True)], "h-2"),
        ([handle_update("", True)], None),
    ],
)
async def test_the_handle_is_the_newest_that_is_good(
    service: Service, client: LiveClient, updates: list[Json], handle: str | None
) -> None:
    arrived = asyncio.Event()

    async def script(peer: Peer) -> None:
        await peer.accept()
        await peer.send(*updates, {"goAway": {"timeLeft": "1s"}})
        await peer.gone()

    def on_event(event: LiveEvent) -> None:
        if isinstance(event, GoAway):
            arrived.set()

    service.play(script)
    session = await client.connect(LIVE, on_event)
    await arrived.wait()
    assert session.handle == handle
    await session.close()


async def test_a_resumed_session_keeps_its_handle_until_told(
    service: Service, client: LiveClient
) -> None:
    async def script(peer: Peer) -> None:
        await peer.accept()
        assert peer.setup["sessionResumption"] == {"handle": "h-0"}
        await peer.gone()

    service.play(script)
    session = await client.connect(LiveSetup(LIVE.row, "", (), handle="h-0"), lambda event: None)
    assert session.handle == "h-0"
    await session.close()
