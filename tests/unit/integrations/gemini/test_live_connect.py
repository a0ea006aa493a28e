"""A session with the real google-genai client over TLS: connecting, and failures."""

import asyncio
import gc
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from integrations.errors import (
    IntegrationError,
    Misconfigured,
    Refused,
    Retired,
    SignInAgain,
    Stale,
    Unavailable,
)
from integrations.gemini.access import Access
from integrations.gemini.events import GoAway, LiveEvent
from integrations.gemini.live import LiveClient, LiveSession
from integrations.gemini.setup import LiveSetup
from tests.ports import closed_port
from tests.simulators.certificate import Certificate
from tests.unit.integrations.gemini.inbox import RESUMING, SETUP, Inbox, accept_and_wait, never
from tests.unit.integrations.gemini.loopback import KEY, Peer, Script, Service, access_to


def closing(code: int, reason: str = "") -> Script:
    async def script(peer: Peer) -> None:
        await peer.accept()
        await peer.close(code, reason)

    return script


@pytest.mark.parametrize("code", [1000, 1001, 1006, 1011])
async def test_an_end_by_the_service_is_unavailable(
    service: Service, client: LiveClient, code: int
) -> None:
    async def drop(peer: Peer) -> None:
        await peer.accept()
        peer.drop()

    service.play(drop if code == 1006 else closing(code))
    inbox = Inbox()
    await client.connect(SETUP, inbox)
    assert isinstance((await inbox.closed()).error, Unavailable)


def refusing(code: int, reason: str) -> Script:
    async def script(peer: Peer) -> None:
        await peer.take_setup()
        await peer.close(code, reason)

    return script


MISSING = (
    "models/gemini-3.8-live is not found for API version v1beta, "
    "or is not supported for bidiGenerateContent"
)


@pytest.mark.parametrize(
    ("setup", "code", "reason", "fault"),
    [
        (SETUP, 1007, "Request contains an invalid argument.", Refused),
        (RESUMING, 1007, "Request contains an invalid argument.", Stale),
        (SETUP, 1007, "API key not valid. Please pass a valid API key.", SignInAgain),
        (SETUP, 1008, MISSING, Retired),
        (RESUMING, 1008, "BidiGenerateContent session not found", Stale),
        (SETUP, 1011, "The service is currently unavailable.", Unavailable),
    ],
)
async def test_a_refused_setup_raises(
    service: Service,
    client: LiveClient,
    setup: LiveSetup,
    code: int,
    reason: str,
    fault: type[IntegrationError],
) -> None:
    service.play(refusing(code, reason))
    with pytest.raises(fault) as raised:
        await client.connect(setup, never)
    assert type(raised.value) is fault


async def test_a_first_answer_that_is_no_setup_is_unavailable(
    service: Service, client: LiveClient
) -> None:
    async def script(peer: Peer) -> None:
        await peer.take_setup()
        await peer.send({"error": {"code": 500}})
        await peer.gone()

    service.play(script)
    with pytest.raises(
        Unavailable, match=r"^Gemini did not open a session: try again in a moment\.$"
    ):
        await client.connect(SETUP, never)


async def test_a_drop_during_setup_is_unavailable(service: Service, client: LiveClient) -> None:
    async def script(peer: Peer) -> None:
        await peer.take_setup()
        peer.drop()

    service.play(script)
    with pytest.raises(Unavailable):
        await client.connect(SETUP, never)


async def silent(peer: Peer) -> None:
    await peer.take_setup()
    await peer.gone()


async def test_a_silent_service_is_given_up_in_time(service: Service, client: LiveClient) -> None:
    service.play(silent)
    import_module("google.genai")  # otherwise the import takes the time
    with pytest.raises(Unavailable, match="in time"):
        await client.connect(SETUP, never, timeout_s=2.0)  # the service is silent by now
    await service.until_open(0)


async def test_a_cancelled_connect_closes_its_socket(service: Service, client: LiveClient) -> None:
    async def script(peer: Peer) -> None:
        await peer.take_setup()
        waiting.set()
        await peer.gone()

    waiting = asyncio.Event()
    service.play(script)
    connecting = asyncio.ensure_future(client.connect(SETUP, never))
    await waiting.wait()
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    await service.until_open(0)


async def test_a_connect_cancelled_as_it_opens_closes_its_socket(
    service: Service, client: LiveClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*given: Any) -> LiveSession:
        connecting.cancel()
        return make(*given)

    make = client._session
    monkeypatch.setattr(client, "_session", opened)
    service.play(accept_and_wait)
    connecting = asyncio.ensure_future(client.connect(SETUP, never))
    with pytest.raises(asyncio.CancelledError):
        await connecting
    await service.until_open(0)


async def test_no_event_comes_before_the_session(service: Service, client: LiveClient) -> None:
    async def script(peer: Peer) -> None:
        await peer.take_setup()
        await peer.send({"setupComplete": {}}, *[{"goAway": {"timeLeft": "1s"}}] * 5)
        await peer.gone()

    def on_event(event: LiveEvent) -> None:
        early.append(not sessions)
        if len(early) == 5:
            arrived.set()

    early: list[bool] = []
    sessions: list[LiveSession] = []
    arrived = asyncio.Event()
    service.play(script)
    sessions.append(await client.connect(SETUP, on_event))
    await arrived.wait()
    assert not any(early)


@pytest.mark.parametrize(
    ("status", "fault"),
    [(401, SignInAgain), (403, SignInAgain), (404, Misconfigured), (503, Unavailable)],
)
async def test_a_refused_upgrade_raises(
    certificate: Certificate, status: int, fault: type[IntegrationError]
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=certificate.server_context())
    async with server:
        access = access_to(server.sockets[0].getsockname()[1], certificate)
        async with LiveClient(access) as client:
            with pytest.raises(fault):
                await client.connect(SETUP, never)


async def test_a_host_that_is_down_is_unavailable(certificate: Certificate) -> None:
    with closed_port() as port:
        async with LiveClient(access_to(port, certificate)) as client:
            with pytest.raises(Unavailable, match="network"):
                await client.connect(SETUP, never)


async def test_an_unknown_authority_names_the_setting(service: Service) -> None:
    async with LiveClient(Access(KEY, service.access.base_url)) as client:
        with pytest.raises(Misconfigured, match=r"gemini\.ca_file"):
            await client.connect(SETUP, never)


async def test_without_a_key_the_mend_is_told() -> None:
    async with LiveClient(Access("")) as client:
        with pytest.raises(SignInAgain, match=r"aistudio\.google\.com/apikey.*gemini\.api_key"):
            await client.connect(SETUP, never)


async def test_a_late_going_away_arrives_while_idle(service: Service, client: LiveClient) -> None:
    async def script(peer: Peer) -> None:
        await peer.accept()
        await peer.send({"serverContent": {"turnComplete": True}}, {"goAway": {"timeLeft": "50s"}})
        await peer.gone()

    service.play(script)
    inbox = Inbox()
    session = await client.connect(SETUP, inbox)
    await inbox.next()
    assert await inbox.next() == GoAway(50.0)
    await session.close()


async def test_an_error_in_the_callback_is_not_swallowed(service: Service) -> None:
    async def script(peer: Peer) -> None:
        await peer.accept()
        await peer.send({"goAway": {"timeLeft": "1s"}})
        await peer.gone()

    def fail(event: LiveEvent) -> None:
        if isinstance(event, GoAway):
            raise LookupError("ours")

    async def live() -> None:
        async with LiveClient(service.access) as client:
            await client.connect(SETUP, fail)
            await asyncio.Event().wait()

    service.play(script)
    with pytest.raises(ExceptionGroup) as raised:
        await live()
    assert raised.group_contains(LookupError, match="ours")


async def test_leaving_the_client_ends_a_connect_at_once(service: Service) -> None:
    async def script(peer: Peer) -> None:
        await peer.take_setup()
        waiting.set()
        await peer.gone()

    waiting = asyncio.Event()
    service.play(script)
    async with LiveClient(service.access) as client:
        connecting = asyncio.ensure_future(client.connect(SETUP, never, timeout_s=60))
        await waiting.wait()
    with pytest.raises(Unavailable, match="closed"):
        await connecting


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_many_connects_leak_nothing(service: Service, client: LiveClient) -> None:
    async def one_good_and_one_refused() -> None:
        service.play(accept_and_wait, refusing(1007, "no"))
        await (await client.connect(SETUP, Inbox())).close()
        with pytest.raises(Refused):
            await client.connect(SETUP, never)

    await one_good_and_one_refused()
    await service.until_open(0)
    gc.collect()
    tasks, files = asyncio.all_tasks(), descriptors()
    for _ in range(100):
        await one_good_and_one_refused()
    await service.until_open(0)
    serving = asyncio.all_tasks() - tasks  # handlers of sockets that have just been closed
    if serving:
        await asyncio.wait(serving, timeout=20)
    gc.collect()
    assert len(asyncio.all_tasks()) <= len(tasks)
    assert descriptors() <= files
