"""A session with the real google-genai client over a real TLS websocket: closing and sending."""

import asyncio

import pytest

from integrations.errors import (
    IntegrationError,
    Stale,
    Unavailable,
)
from integrations.gemini.events import Closed
from integrations.gemini.live import MAX_STRANGE_FRAMES, LiveClient, LiveSession
from tests.unit.integrations.gemini.inbox import SETUP, Inbox, accept_and_wait
from tests.unit.integrations.gemini.loopback import KEY, Peer, Service


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
    """An end of our own making, and then the client is left while the service keeps silent."""

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
    """What every way of sending raises."""
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
