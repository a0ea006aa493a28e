"""A relay between a box and an honest server that lets a test change what comes back."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiohttp import web

Message = str | bytes
# The messages in place of one message, or of the body at that path.
Messages = Callable[[Message], Iterable[Message]]
Bodies = Callable[[str, bytes], bytes]
_MOST = 64 << 20
_HOP = frozenset({"connection", "content-length", "host", "transfer-encoding", "content-encoding"})


def _as_they_are(message: Message) -> Iterable[Message]:
    return (message,)


class Relay:
    """HTTP and websockets, to one address. `messages` and `bodies` may be set while it runs."""

    def __init__(self, target: str, tls: ssl.SSLContext | None = None) -> None:
        """`target`: "http://127.0.0.1:8123"; `tls`: if that is https."""
        self.messages: Messages = _as_they_are
        self.bodies: Bodies = lambda path, body: body
        self.url = ""
        self.sockets = 0  # websockets so far
        self.answers_webhooks = False  # see `_webhook`
        self._target = target
        self._tls = tls
        self._open: set[web.WebSocketResponse] = set()
        self._client: aiohttp.ClientSession | None = None

    async def say(self, message: Message) -> None:
        """Send it to the box by every websocket, out of turn."""
        for one in list(self._open):
            await _send(one, message)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Handle one request of the box."""
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await self._relay_socket(request)
        assert self._client is not None
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _HOP}
        async with self._client.request(
            request.method,
            f"{self._target}{request.path_qs}",
            headers={**headers, "Accept-Encoding": "identity"},
            data=await request.read(),
            ssl=self._tls or False,
            allow_redirects=False,
        ) as answer:
            body = self.bodies(request.path, await answer.read())
            told = {k: v for k, v in answer.headers.items() if k.lower() not in _HOP}
            return web.Response(status=answer.status, headers=told, body=body)

    async def _relay_socket(self, request: web.Request) -> web.StreamResponse:
        assert self._client is not None
        self.sockets += 1
        box = web.WebSocketResponse(max_msg_size=_MOST, compress=False)
        await box.prepare(request)
        headers = {k: v for k, v in request.headers.items() if k.lower().startswith("x-goog")}
        address = f"ws{self._target.removeprefix('http')}{request.path_qs}"
        self._open.add(box)
        try:
            async with self._client.ws_connect(
                address, headers=headers, ssl=self._tls or False, max_msg_size=_MOST
            ) as server:
                up = asyncio.ensure_future(self._up(box, server))
                try:
                    await self._down(box, server)
                finally:
                    up.cancel()
                    await asyncio.wait([up])
                await box.close(code=server.close_code or 1000)
        finally:
            self._open.discard(box)
        return box

    async def _up(
        self, box: web.WebSocketResponse, server: aiohttp.ClientWebSocketResponse
    ) -> None:
        async for message in box:
            if message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                answer = await self._webhook(message.data)
                if answer is None:
                    await _send(server, message.data)
                else:
                    await _send(box, answer)
        await server.close()

    async def _down(
        self, box: web.WebSocketResponse, server: aiohttp.ClientWebSocketResponse
    ) -> None:
        async for message in server:
            if message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                for one in self.messages(message.data):
                    await _send(box, one)

    async def _webhook(self, message: Message) -> str | None:
        """Return the answer to `webhook/handle`, which the simulated house only knows over HTTP."""
        if not self.answers_webhooks or not isinstance(message, str):
            return None
        asked: Any = json.loads(message)
        if not isinstance(asked, dict) or asked.get("type") != "webhook/handle":
            return None
        assert self._client is not None
        hook = f"{self._target}/api/webhook/{asked['webhook_id']}"
        async with self._client.post(hook, data=asked["body"]) as told:
            result = {"status": told.status, "body": await told.text()}
        return json.dumps({"id": asked["id"], "type": "result", "success": True, "result": result})


async def _send(to: web.WebSocketResponse | aiohttp.ClientWebSocketResponse, message: Any) -> None:
    """Send it if the receiver is still there."""
    try:
        if isinstance(message, str):
            await to.send_str(message)
        else:
            await to.send_bytes(message)
    except (ConnectionError, RuntimeError, aiohttp.ClientError):
        return


@asynccontextmanager
async def relay(
    target: str, tls: ssl.SSLContext | None = None, serves: ssl.SSLContext | None = None
) -> AsyncIterator[Relay]:
    """Yield a relay that listens on loopback. `serves`: over https."""
    one = Relay(target, tls)
    application = web.Application(client_max_size=_MOST)
    application.router.add_route("*", "/{path:.*}", one.handle)
    runner = web.AppRunner(application, shutdown_timeout=1.0, access_log=None)
    await runner.setup()
    try:
        async with aiohttp.ClientSession(auto_decompress=False) as client:
            one._client = client
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=serves).start()
            one.url = f"http{'s' if serves else ''}://127.0.0.1:{runner.addresses[0][1]}"
            yield one
            for socket in list(one._open):
                await socket.close()
    finally:
        await runner.cleanup()
