"""One user's REST and websocket to one house, shared by `Admin` and `Talk`."""

import asyncio
import json
from types import TracebackType
from typing import Any, Self

import httpx
from websockets.asyncio.client import ClientConnection, connect

Json = dict[str, Any]
LIMIT_S = 30.0  # for one answer


class Failed(Exception):
    """Home Assistant refused a command; the message is its own."""


class Line:
    """One user's connections; use it as an async context manager.

    The websocket is opened at the first command.
    """

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self._token = token
        self._last_id = 0
        self._events: list[Json] = []

    async def __aenter__(self) -> Self:
        self.http = httpx.AsyncClient(
            base_url=self.url,
            headers={"Authorization": f"Bearer {self._token}"},
            timeout=LIMIT_S,
            trust_env=False,
        )
        self._socket: ClientConnection | None = None
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._socket is not None:
            await self._socket.close()
        await self.http.aclose()

    async def answer_to(self, kind: str, **fields: Any) -> Json:
        """Return the answer to a command: `success`, and `result` or `error`. Events are kept."""
        async with asyncio.timeout(LIMIT_S):
            socket = self._socket or await self._connect()
            self._last_id += 1
            await socket.send(json.dumps({"id": self._last_id, "type": kind, **fields}))
            while True:
                answer = json.loads(await socket.recv())
                assert isinstance(answer, dict)
                if answer.get("id") == self._last_id and answer["type"] in ("result", "pong"):
                    return answer
                self._events.append(answer)

    async def _connect(self) -> ClientConnection:
        where = self.url.replace("http", "ws", 1) + "/api/websocket"
        socket = await connect(where, max_size=None, proxy=None)
        assert json.loads(await socket.recv())["type"] == "auth_required"
        await socket.send(json.dumps({"type": "auth", "access_token": self._token}))
        if json.loads(await socket.recv())["type"] != "auth_ok":
            await socket.close()
            raise Failed("the token is not accepted")
        self._socket, self._last_id = socket, 0
        return socket
