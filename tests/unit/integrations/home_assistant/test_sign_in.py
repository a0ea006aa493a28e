"""Tests of signing in on Home Assistant's own page: from the code to a long-lived token."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from integrations.errors import IntegrationError, SignInAgain, Unavailable
from integrations.home_assistant.sign_in import long_lived_token
from integrations.serving import serving

PAGE = "http://192.168.1.7:8765/"
CODE, ACCESS, REFRESH, LASTING = "the-code", "the-access", "the-refresh", "the-lasting"


class House:
    """The paths of Home Assistant's sign-in (developers.home-assistant.io/docs/auth_api)."""

    def __init__(self) -> None:
        self.revoked: list[str] = []
        self.asked: list[dict[str, Any]] = []
        self.granted: Any = {"access_token": ACCESS, "refresh_token": REFRESH, "expires_in": 1800}
        self.lasting: Any = LASTING

    async def token(self, request: Request) -> Response:
        """Exchange the code."""
        form = dict(await request.form())
        right = {"grant_type": "authorization_code", "code": CODE, "client_id": PAGE}
        if form != right:
            return JSONResponse({"error": "invalid_request"}, 400)
        return JSONResponse(self.granted)

    async def revoke(self, request: Request) -> Response:
        """Forget a refresh token."""
        self.revoked.append(str((await request.form())["token"]))
        return Response(status_code=200)

    async def websocket(self, socket: WebSocket) -> None:
        """Answer one command."""
        await socket.accept()
        await socket.send_json({"type": "auth_required"})
        signed = (await socket.receive_json())["access_token"] == ACCESS
        await socket.send_json({"type": "auth_ok" if signed else "auth_invalid"})
        if signed:
            asked = await socket.receive_json()
            self.asked.append(asked)
            answer = {"id": asked["id"], "type": "result", "success": True}
            await socket.send_json({**answer, "result": self.lasting})
            await socket.receive()

    def app(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/auth/token", self.token, methods=["POST"]),
                Route("/auth/revoke", self.revoke, methods=["POST"]),
                WebSocketRoute("/api/websocket", self.websocket),
            ]
        )


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
async def url(house: House) -> AsyncIterator[str]:
    async with serving(house.app(), "127.0.0.1", 0) as port:
        yield f"http://127.0.0.1:{port}"


async def test_a_code_becomes_a_lasting_token(url: str, house: House) -> None:
    assert await long_lived_token(url, CODE, PAGE) == LASTING
    [asked] = house.asked
    assert asked["type"] == "auth/long_lived_access_token"
    assert asked["client_name"].startswith("Hearth on ")
    assert asked["lifespan"] == 3650
    assert house.revoked == [REFRESH], "nothing else is left behind"


@pytest.mark.parametrize(("code", "page"), [("used-up", PAGE), (CODE, "http://other.example/")])
async def test_a_code_that_is_not_valid(url: str, code: str, page: str) -> None:
    with pytest.raises(SignInAgain, match="sign in again"):
        await long_lived_token(url, code, page)


@pytest.mark.parametrize("granted", [[], {}, {"access_token": ACCESS}, {"access_token": 1}, "x"])
async def test_an_answer_of_something_else(url: str, house: House, granted: Any) -> None:
    house.granted = granted
    with pytest.raises(Unavailable):
        await long_lived_token(url, CODE, PAGE)


@pytest.mark.parametrize("lasting", [None, "", 5, {}])
async def test_no_lasting_token_leaves_nothing_behind(url: str, house: House, lasting: Any) -> None:
    house.lasting = lasting
    with pytest.raises(IntegrationError):
        await long_lived_token(url, CODE, PAGE)
    assert house.revoked == [REFRESH]
