"""Tests without name resolution or with expired certificates: local work goes on."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from integrations.serving import serving
from tests.chaos.daemon import Daemon, listener, statuses
from tests.chaos.disks import needs_root
from tests.chaos.faults import fault
from tests.chaos.names import own_names
from tests.chaos.served import heard, said, served, with_gemini
from tests.chaos.unharmed import until_done
from tests.simulators.certificate import make_certificate

pytestmark = [pytest.mark.faults, pytest.mark.timeout(240)]
NAME = "house.test"
GEMINI = "gemini.test"
BY_ITSELF = "I can't reach Gemini, so I'll answer on my own for now."
HOUSE_AWAY = "I can't reach Home Assistant right now. Please try again in a moment."
DONE = "Turned on the lights in the office."
STOPS_S = 5.0


@fault(
    ("Home Assistant's host name can't be resolved because the name server doesn't respond"),
    hears=(
        "timers and other local commands work; commands for the house get “I can't reach Home "
        "Assistant right now. Please try again in a moment.” Reported: “The name '…' could "
        "not be looked up because no name server answered: check the network's DNS, or use the "
        "host's IP address in home_assistant.url.”"
    ),
    retried=(
        "the connection at least every 5 s, until it succeeds. Commands "
        "still work over an open connection"
    ),
    kept="the last known states of the house",
)
@needs_root
async def test_the_name_of_the_house_does_not_resolve(
    tmp_path: Path, office: Path, timer: Path
) -> None:
    with own_names(tmp_path) as names:
        async with listener(tmp_path) as box:
            port = box.house.url.rpartition(":")[2]
            box.settings["HOME_ASSISTANT__URL"] = f"http://{NAME}:{port}"
            box.before = names.before
            await box.up()
            await heard(box, timer)
            assert await box.trouble("home_assistant") == (
                f"The name '{NAME}' could not be looked up because no name server answered: "
                "check the network's DNS, or use the host's IP address in home_assistant.url."
            )
            assert names.asked
            refused = await box.ask("turn on the office lights")
            assert refused["answer"] == HOUSE_AWAY
            names.know(NAME)
            await box.sound("home_assistant")
            await until_done(box)  # its tools are asked for again some seconds later
            await served(box, office)
            names.know()
            later = await box.ask("turn off the office lights")
            assert statuses(later) == ["done"], "connections stay"
            await heard(box, timer)
            await _stops_soon(box)
        assert said(box)[0] == "The timer is set for 10 minutes."


@fault(
    "Gemini's host name can't be resolved",
    hears=(
        "once: “I can't reach Gemini, so I'll answer on my own for now.”, then the "
        "next brain carries out the command"
    ),
    retried="after two failures, Gemini after 30 s, then at intervals that double up to 10 min",
    kept="the sentence, which the local recogniser processes again",
)
@needs_root
async def test_the_name_of_gemini_does_not_resolve(tmp_path: Path, office: Path) -> None:
    with own_names(tmp_path) as names:
        async with listener(tmp_path, **with_gemini(f"https://{GEMINI}")) as box:
            box.before = names.before
            await box.up()
            await served(box, office)
            assert names.asked
            assert "hearth: gemini-live: Gemini could not be reached in time." in box.log
            await served(box, office)
            await _stops_soon(box)
        assert said(box) == [f"{BY_ITSELF} {DONE}", DONE], "it is said once"


@fault(
    "Home Assistant's certificate has expired",
    hears=(
        "timers and other local commands work; commands for the house get “I can't reach Home "
        "Assistant right now. Please try again in a moment.” Reported, also by `hearth doctor`: "
        "“The certificate of … has expired: renew it in Home Assistant, or correct this device's "
        "date if that is wrong.”"
    ),
    retried="the connection; Hearth notices a renewed certificate automatically",
    kept="the last known states of the house",
)
async def test_the_certificate_of_the_house_has_expired(
    tmp_path: Path, office: Path, timer: Path
) -> None:
    old = make_certificate(tmp_path / "old", expired=True)
    context = old.server_context()
    async with (
        listener(tmp_path) as box,
        serving(box.house.app, "127.0.0.1", 0, context) as port,
    ):
        url = f"https://127.0.0.1:{port}"
        box.settings["HOME_ASSISTANT__URL"] = url
        box.settings["HOME_ASSISTANT__CA_FILE"] = str(old.ca_file)
        await box.up()
        await heard(box, timer)
        expired = (
            f"The certificate of {url} has expired: renew it in Home Assistant, or correct "
            "this device's date if that is wrong."
        )
        assert await box.trouble("home_assistant") == expired
        assert f"hearth: {expired}" in box.log
        async with box.client() as client:
            client.timeout = httpx.Timeout(60.0)
            findings = (await client.get("/v1/doctor")).json()
        assert expired in str(findings), findings
        assert (await box.ask("turn on the office lights"))["answer"] == HOUSE_AWAY
        renewed = make_certificate(tmp_path / "new", renewing=old)
        context.load_cert_chain(renewed.cert_file, renewed.key_file)
        await box.sound("home_assistant")
        await until_done(box)
        await served(box, office)


@fault(
    "the certificate for Gemini's address has expired",
    hears=(
        "once: “I can't reach Gemini, so I'll answer on my own for now.”, then the "
        "next brain carries out the command. In the log: “The certificate "
        "of Gemini's address is not valid at this device's date and time: check "
        "them; …”"
    ),
    retried="the same as if its host name can't be resolved",
    kept="the sentence, which the local recogniser processes again",
)
async def test_the_certificate_of_gemini_has_expired(tmp_path: Path, office: Path) -> None:
    certificate = make_certificate(tmp_path / "tls", expired=True)
    async with refused(certificate.server_context()) as port:
        settings = with_gemini(f"https://127.0.0.1:{port}", certificate.ca_file)
        async with listener(tmp_path, **settings) as box:
            await box.up()
            await served(box, office)
            told = (
                "The certificate of Gemini's address is not valid at this device's date and time: "
                "check them;"
            )
            assert f"hearth: gemini-live: {told}" in box.log
        assert said(box) == [f"{BY_ITSELF} {DONE}"]


async def _stops_soon(box: Daemon) -> None:
    """Check that it stops soon, whatever it waits for."""
    began = time.monotonic()
    assert await box.end() == 0
    assert time.monotonic() - began < STOPS_S


@asynccontextmanager
async def refused(context: ssl.SSLContext) -> AsyncIterator[int]:
    """Yield a port whose certificate no client accepts."""

    async def nobody(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise AssertionError("somebody took the certificate")

    async with await asyncio.start_server(nobody, "127.0.0.1", 0, ssl=context) as server:
        yield int(server.sockets[0].getsockname()[1])
