"""On loopback only this machine's own names are answered: DNS rebinding leads nowhere."""

import httpx
import pytest

from integrations.web.api import api_routes, web_app
from integrations.web.pages import health_route, is_loopback
from tests.unit.integrations.web.doubles import WITH_TOKEN, FakeBox, patient_guard


def client(host: str) -> httpx.AsyncClient:
    routes = [health_route(lambda: "ok"), *api_routes(FakeBox(), patient_guard())]
    transport = httpx.ASGITransport(web_app(routes, host))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=WITH_TOKEN)


@pytest.mark.parametrize(
    ("listens_on", "named", "answered"),
    [
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "LocalHost:8765", True),
        ("127.0.0.1", "127.0.0.1:8765", True),
        ("127.0.0.1", "[::1]:8765", True),
        ("127.0.0.1", "[::1]", True),
        ("127.0.0.2", "127.0.0.2", True),
        ("127.0.0.1", "127.0.0.2", False),
        ("127.0.0.1", "evil.example", False),
        ("127.0.0.1", "evil.example:8765", False),
        ("127.0.0.1", "localhost.evil.example", False),
        ("127.0.0.1", "localhost:evil", False),
        ("127.0.0.1", "[::1]evil", False),
        ("127.0.0.1", "", False),
        ("localhost", "evil.example", False),
        ("::1", "evil.example", False),
        ("0.0.0.0", "hearth.local:8765", True),
        ("192.168.1.5", "anything", True),
        ("", "anything", True),
    ],
)
async def test_which_names_are_answered(listens_on: str, named: str, answered: bool) -> None:
    async with client(listens_on) as asking:
        for path in ("/v1/state", "/healthz", "/nothing"):
            answer = await asking.get(path, headers={"Host": named})
            if answered:
                assert answer.status_code == (404 if path == "/nothing" else 200)
            else:
                assert answer.status_code == 421
                assert answer.json()["error"]["kind"] == "wrong_host"
                assert "evil" not in answer.text


async def test_what_every_answer_has() -> None:
    async with client("127.0.0.1") as asking:
        for path in ("/v1/state", "/healthz", "/nothing"):
            answer = await asking.get(path, headers={"Origin": "https://evil.example"})
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("host", "alone"),
    [
        *(("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True)),
        *(("0.0.0.0", False), ("::", False), ("", False), ("192.168.1.5", False), ("box", False)),
    ],
)
def test_what_only_this_machine_reaches(host: str, alone: bool) -> None:
    assert is_loopback(host) is alone
