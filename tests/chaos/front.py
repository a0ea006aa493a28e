"""A proxy before a simulated house that makes it fail: refusals, answers lost or late."""

from collections import Counter

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

_CALL = b'"tools/call"'
_SOCKET = "/api/websocket"


class Front:
    """An ASGI application around the house's. At first it only passes on."""

    def __init__(self, house: ASGIApp) -> None:
        self.refuses: int | None = None  # this status to everything, in the place of the house
        self.fails_calls: int | None = None  # a tool is run, and this is the status of its answer
        self.keeps_answers = False  # a tool is run, and its answer never comes
        self.has_socket = True  # False: the websocket alone is refused
        self.met: Counter[str] = Counter()  # "refused", "call failed", "answer kept", "no socket"
        self._house = house

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        elif self.refuses is not None:
            self.met["refused"] += 1
            await PlainTextResponse("", self.refuses)(scope, receive, send)
        elif self.fails_calls is not None or self.keeps_answers:
            await self._ill(scope, receive, send)
        else:
            await self._house(scope, receive, send)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.refuses == 401:
            self.met["refused"] += 1
            await _invalid(WebSocket(scope, receive, send))
        elif self.refuses is not None or not self.has_socket:
            self.met["no socket"] += 1
            await WebSocket(scope, receive, send).close()  # before it is accepted: 403
        else:
            await self._house(scope, receive, send)

    async def _ill(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the house act, but disturb its answer."""
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        given = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Message:
            return next(given, None) or await receive()

        if _CALL not in body:
            await self._house(scope, again, send)
            return
        await self._house(scope, again, _nowhere)
        if self.fails_calls is not None:
            self.met["call failed"] += 1
            await PlainTextResponse("", self.fails_calls)(scope, receive, send)
            return
        self.met["answer kept"] += 1
        while (await receive())["type"] != "http.disconnect":
            pass


async def _nowhere(message: Message) -> None:
    """Discard the answer."""


async def _invalid(socket: WebSocket) -> None:
    """Reject the token, as Home Assistant does with an unknown one."""
    await socket.accept()
    await socket.send_json({"type": "auth_required", "ha_version": "2026.11.0"})
    await socket.receive()
    await socket.send_json({"type": "auth_invalid", "message": "Invalid access token or password"})
    await socket.close()
