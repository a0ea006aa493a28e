"""One MCP server's session: an owner task opens and closes it, any task may call through it.

The SDK's scopes belong to the task that entered them, so opening and closing happen in the owner
alone. A session opens at the first use and again, after a pause, at the first use after a failure.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED, Tool
from mcp.types import Implementation as ClientInfo

from integrations.errors import IntegrationError, Misconfigured, Unavailable
from integrations.mcp.explain import explain
from integrations.mcp.program import program
from integrations.mcp.results import as_result
from integrations.mcp.servers import CallLost, McpResult, McpTool, ServerSpec, ServerState
from integrations.mcp.wire import Trace, http_client, tracing
from integrations.tls import tls_context

log = logging.getLogger(__name__)

OPEN_S = 10.0
CLOSE_S = 8.0  # of the session before; the SDK gives a program 6.5 s to end
PARALLEL_CALLS = 32
PAUSE_S = (0.5, 4.0)  # after a failed opening: doubled each time, from and to
MAX_PAGES = 50  # of tools/list; a server that never ends its list is cut here


class Session:
    """The owner and its client. `run` is the owner's whole life; the rest is for everyone."""

    def __init__(self, spec: ServerSpec) -> None:
        self.spec = spec
        self._client: Client | None = None
        self._problem: IntegrationError | None = None
        self._opening: asyncio.Future[Client | IntegrationError] | None = None
        self._wanted = asyncio.Event()
        self._ended = asyncio.Event()
        self._slots = asyncio.Semaphore(PARALLEL_CALLS)
        self._failures = 0  # openings in a row
        self._not_before = 0.0  # s, monotonic: no opening earlier

    @property
    def state(self) -> ServerState:
        """Ready, or the reason why not."""
        if self._client is not None:
            return ServerState(self.spec.name, True, "")
        reason = str(self._problem) if self._problem else "It has not been used yet."
        return ServerState(self.spec.name, False, reason)

    async def run(self) -> None:
        """Open when wanted, close when ended, for ever. One bad server must not hurt the others."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            with tracing() as trace:
                try:
                    await self._serve(trace)
                except Exception as error:  # a foreign server, process or SDK may fail in any way
                    log.debug("MCP server %s failed", self.spec.name, exc_info=error)
                    self._fail(explain(self.spec, trace, error))

    async def client(self) -> Client:
        """The open session, opening it if need be. Raises IntegrationError."""
        if self._client is not None:
            return self._client
        if self._opening is None:
            if self._problem is not None and time.monotonic() < self._not_before:
                raise self._problem
            self._opening = asyncio.get_running_loop().create_future()
            self._wanted.set()
        try:
            async with asyncio.timeout(OPEN_S + CLOSE_S):
                opened = await asyncio.shield(self._opening)
        except TimeoutError as error:
            raise explain(self.spec, Trace(), error) from error
        if isinstance(opened, IntegrationError):
            raise opened
        return opened

    async def list_tools(self) -> list[McpTool]:
        """All pages of tools/list. Raises IntegrationError."""
        client = await self.client()
        found: list[Tool] = []
        cursor: str | None = None
        with tracing() as trace:
            try:
                async with asyncio.timeout(self.spec.timeout_s):
                    for _ in range(MAX_PAGES):
                        page = await client.list_tools(cursor=cursor)
                        found += page.tools
                        cursor = page.next_cursor
                        if cursor is None:
                            break
            except Exception as error:  # as in run: whatever it is, it has no tools now
                self._end(client)
                self._problem = explain(self.spec, trace, error)
                raise self._problem from error
        return [_tool(self.spec, tool) for tool in found if tool.name not in self.spec.deny]

    async def call(
        self, name: str, arguments: dict[str, Any], timeout_s: float, meta: Mapping[str, Any] | None
    ) -> McpResult:
        """Call once. Raises TimeoutError, CallLost (may have run) or IntegrationError (did not)."""
        client = await self.client()
        extra: Any = dict(meta) if meta else None
        with tracing() as trace:
            try:
                async with asyncio.timeout(timeout_s), self._slots:
                    answer = await client.call_tool(name, arguments, meta=extra)
            except TimeoutError:
                raise
            except MCPError as error:
                return self._refused(client, trace, error)
            except Exception as error:  # the session itself broke, or the answer was garbage
                self._end(client)
                raise CallLost(str(explain(self.spec, trace, error))) from error
        return as_result(answer)

    async def prompt(self) -> str | None:
        """Text of the server's first prompt, or None where it has none. Raises IntegrationError."""
        client = await self.client()
        with tracing() as trace:
            try:
                async with asyncio.timeout(self.spec.timeout_s):
                    listed = await client.list_prompts()
                    if not listed.prompts:
                        return None
                    prompt = await client.get_prompt(listed.prompts[0].name)
            except MCPError as error:
                if trace.clean and error.code != CONNECTION_CLOSED:
                    return None  # the server has no prompts at all
                raise explain(self.spec, trace, error) from error
            except TimeoutError as error:
                raise explain(self.spec, trace, error) from error
        texts = [getattr(message.content, "text", "") for message in prompt.messages]
        return "\n".join(text for text in texts if text) or None

    def _refused(self, client: Client, trace: Trace, error: MCPError) -> McpResult:
        """An error in place of a result: the server's own no, or the transport's failure."""
        closed = error.code == CONNECTION_CLOSED
        if trace.answers > trace.clean:
            # The call was answered; what failed is the listing that the SDK (2.3) makes after it,
            # to check the result by the tool's schema.
            raise CallLost(f"The answer of {self.spec.name} could not be checked.") from error
        if trace.clean and not closed:
            return McpResult(error.message, is_error=True)
        self._end(client)
        if trace.clean:
            raise CallLost(f"The connection to {self.spec.name} closed during the call.") from error
        if trace.status == 404:
            raise Unavailable(f"{self.spec.name} has forgotten this session; try again.") from error
        reason = explain(self.spec, trace, error)
        if trace.never_sent or (trace.status is not None and trace.status < 500):
            raise reason from error
        raise CallLost(str(reason)) from error

    async def _serve(self, trace: Trace) -> None:
        """Hold one session open until someone finds it broken."""
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(OPEN_S):
                client = await self._open(stack, trace)
            self._ended.clear()
            self._client, self._problem, self._failures = client, None, 0
            self._settle(client)
            try:
                await self._ended.wait()
            finally:
                self._client = None

    async def _open(self, stack: AsyncExitStack, trace: Trace) -> Client:
        """Enter the transport and the handshake; the next path is tried only after a 404."""
        *others, last = self.spec.paths
        for path in others:
            attempt = AsyncExitStack()
            try:
                client = await self._open_path(attempt, path)
            except Exception as error:  # judged by the status that the transport noted
                await attempt.aclose()
                if trace.status != 404:
                    raise
                log.info("%s has no %s, trying the next: %r", self.spec.name, path, error)
                trace.status = None
                continue
            stack.push_async_exit(attempt)
            return client
        return await self._open_path(stack, last)

    async def _open_path(self, stack: AsyncExitStack, path: str) -> Client:
        info = ClientInfo(name="hearth", version="1")
        return await stack.enter_async_context(
            Client(await self._transport(stack, path), client_info=info, cache=None)
        )

    async def _transport(self, stack: AsyncExitStack, path: str) -> Any:
        """What the SDK's client connects through."""
        spec = self.spec
        if spec.transport == "stdio":
            return stdio_client(program(spec))
        url, headers = f"{spec.url}{path}", dict(spec.headers)
        if not url.startswith(("http://", "https://")):
            raise Misconfigured(f"{spec.key('url')} = {spec.url!r} is no http address.")
        tls = self._tls()
        if spec.transport == "sse":
            return sse_client(url, headers=headers, httpx_client_factory=partial(_for_sse, tls))
        client = await stack.enter_async_context(http_client(headers, tls, spec.timeout_s))
        return streamable_http_client(url, http_client=client)

    def _tls(self) -> ssl.SSLContext | bool:
        if not self.spec.url.startswith("https:"):
            return False  # no context to build: that costs 30 ms
        return tls_context(
            verify=self.spec.verify_tls,
            ca_file=self.spec.ca_file,
            setting=self.spec.key("ca_file"),
        )

    def _end(self, client: Client) -> None:
        """This session is of no more use; the next use opens a new one."""
        if self._client is client:
            self._client = None
            self._ended.set()

    def _fail(self, problem: IntegrationError) -> None:
        self._problem = problem
        self._not_before = time.monotonic() + min(PAUSE_S[0] * 2**self._failures, PAUSE_S[1])
        self._failures += 1
        self._settle(problem)

    def _settle(self, result: Client | IntegrationError) -> None:
        """Tell everyone who waits for the opening."""
        opening, self._opening = self._opening, None
        if opening is not None and not opening.done():
            opening.set_result(result)


def _tool(spec: ServerSpec, tool: Tool) -> McpTool:
    hints = tool.annotations
    return McpTool(
        server=spec.name,
        name=tool.name,
        title=tool.title or (hints.title if hints and hints.title else "") or tool.name,
        description=tool.description or "",
        input_schema=dict(tool.input_schema),
        read_only=bool(hints and hints.read_only_hint),
    )


def _for_sse(
    tls: ssl.SSLContext | bool,
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    """In the shape that the SDK's SSE transport asks for; it brings no credential of its own."""
    seconds = timeout.connect if timeout is not None and timeout.connect else OPEN_S
    return http_client(headers, tls, seconds)
