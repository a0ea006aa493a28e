"""The certificate holds before Python's strictest check."""

import asyncio
import ssl
from pathlib import Path

import pytest

from tests.simulators.certificate import make_certificate


async def _greet(server: ssl.SSLContext, client: ssl.SSLContext, host: str) -> bytes:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=server) as listening:
        port = listening.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=client, server_hostname=host
        )
        greeting = await reader.read()
        writer.close()
        await writer.wait_closed()
        return greeting


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_client_that_trusts_the_authority_connects(tmp_path: Path, host: str) -> None:
    certificate = make_certificate(tmp_path)
    client = certificate.client_context()
    client.verify_flags |= ssl.VerifyFlags.VERIFY_X509_STRICT
    assert await _greet(certificate.server_context(), client, host) == b"hello"


async def test_another_authority_is_not_trusted(tmp_path: Path) -> None:
    mine, other = make_certificate(tmp_path / "mine"), make_certificate(tmp_path / "other")
    with pytest.raises(ssl.SSLCertVerificationError):
        await _greet(mine.server_context(), other.client_context(), "127.0.0.1")
