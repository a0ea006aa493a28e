"""The session with one MCP server: an owner task opens and closes it, any task can use it.

The SDK's scopes belong to the task that entered them, so only the owner opens and closes. A session
is opened at its first use, and after a failure and a pause at the next use. If an older session
proves dead, a read-only request is repeated once, but a call never is.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from mcp import Client, MCPError
from mcp.types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    PARSE_ERROR,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
)
from pydantic import ValidationError

from integrations.errors import IntegrationError, Refused, SignInAgain, Unavailable
from integrations.mcp.listing import (
    MAX_PROMPT,
    MAX_TEXT,
    MAX_TOOLS,
    Hidden,
    Listing,
    as_result,
    as_text,
)
from integrations.mcp.servers import (
    CallLost,
    HomeAside,
    McpResult,
    McpTool,
    ServerSpec,
    ServerState,
)
from integrations.mcp.transport import Pauses, open_client
from integrations.mcp.wire import Trace, Undelivered, explain, leaves_open, tracing, was_cancelled

log = logging.getLogger(__name__)

OPEN_S = 10.0  # or the server's own timeout, if that is longer
CLOSE_S = 5.0  # of the previous session
DIAGNOSE_S = 4.0  # longer than `HomeAside.diagnose` takes
PROBE_S = 1.0  # for a response of a program after a call timed out
PARALLEL_CALLS = 32
MAX_PAGES = 50  # of tools/list; a server whose list never ends is cut off here
RELIST_S = 300.0  # a list of more than `MAX_TOOLS` takes half a second to read
# Seconds after which a session on another than the first endpoint is opened again when tools are
# listed. The server may have been updated, or was starting the first time.
REDISCOVER_S = 300.0

Result = TypeVar("Result")


class McpSession:
    """The owner and its client. `run` is for the owner task; any task can use the other methods."""

    def __init__(self, spec: ServerSpec, aside: HomeAside | None = None) -> None:
        self.spec = spec
        self._aside = aside
        self.openings = 0  # sessions opened since the start
        self._client: Client | None = None
        self._problem: IntegrationError | None = None
        self._opening: asyncio.Future[Client | IntegrationError] | None = None
        self._wanted = asyncio.Event()
        self._ended = asyncio.Event()
        self._slots = asyncio.Semaphore(PARALLEL_CALLS)
        self._under_way = 0  # number of requests
        self._pauses = Pauses(spec)
        self._fate: IntegrationError | None = None  # why this session's program ended
        self._doubtful = False  # a call timed out, and there was no response since
        self._busy_since = 0.0  # s, monotonic: when opening or closing began
        self._stale_from: float | None = None  # s, monotonic; None: on the preferred endpoint
        self._long_list: list[McpTool] = []  # a long list is reused until `_long_until`
        self._long_until = 0.0  # s, monotonic
        self._prompt_name: str | None = None  # of this session; None: not listed yet

    @property
    def state(self) -> ServerState:
        """The session's state: ready, or the reason why not."""
        if self._client is not None:
            return ServerState(self.spec.name, True, "")
        unknown = "It has not been used yet." if self._opening is None else "It is starting."
        reason = str(self._problem) if self._problem else unknown
        return ServerState(self.spec.name, False, reason)

    async def run(self) -> None:
        """Open the session on request and close it when it ends, forever. Errors stay within this
        server."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            self._busy_since = time.monotonic()
            with tracing() as trace:
                try:
                    await self._serve(trace)
                # the server, its process and the SDK may fail in any way
                except Exception as error:
                    log.debug("MCP server %s failed", self.spec.name, exc_info=error)
                    if was_cancelled():
                        self._fail(explain(self.spec, trace, error))
                        raise asyncio.CancelledError from error
                    self._fail(await self._reason(trace, error))

    async def client(self, limit_s: float | None = None) -> Client:
        """Return the client, opening a session if needed, within `limit_s`. Raises
        IntegrationError."""
        if self._client is not None and self._doubtful:
            await self._probe(self._client)
        if self._client is not None:
            return self._client
        if self._opening is None:
            if self._problem is not None and time.monotonic() < self._pauses.not_before_s:
                raise self._problem
            self._opening = asyncio.get_running_loop().create_future()
            self._wanted.set()
        longest_s = self._open_s + CLOSE_S + DIAGNOSE_S
        try:
            async with asyncio.timeout(longest_s if limit_s is None else limit_s):
                opened = await asyncio.shield(self._opening)
        except TimeoutError as error:
            raise explain(self.spec, Trace(), error) from error
        if isinstance(opened, IntegrationError):
            raise opened
        return opened

    async def list_tools(self) -> list[McpTool]:
        """List the tools on all pages of tools/list. Raises IntegrationError."""
        stale = self._stale_from is not None and time.monotonic() >= self._stale_from
        if self._client is not None and stale and not self._under_way:
            self._end(self._client)
        if time.monotonic() < self._long_until:
            return self._long_list
        try:
            found = await self._read(self._tools)
        except Refused as error:
            if self._client is not None:
                self._end(self._client, error)  # a server that lists no tools is useless
            raise
        tools = found.tools()
        if found.seen > MAX_TOOLS:
            self._long_list, self._long_until = tools, time.monotonic() + RELIST_S
        return tools

    async def call(
        self, name: str, arguments: dict[str, Any], timeout_s: float, meta: Mapping[str, Any] | None
    ) -> McpResult:
        """Call a tool once.

        Raises TimeoutError, CallLost (the call may have run) or IntegrationError (it did not run).
        """
        began_s = time.monotonic()
        client = await self.client(timeout_s)
        left_s = max(timeout_s / 2, timeout_s - (time.monotonic() - began_s))
        extra = {**(self._meta() or {}), **(meta or {})} or None
        self._under_way += 1
        with tracing() as trace:
            try:
                async with trace.patience(left_s), self._slots:
                    answer = await self._answer(client, name, arguments, extra)
                self._doubtful = False
            except TimeoutError:
                self._doubtful = self.spec.transport == "stdio"
                raise
            except (MCPError, Undelivered) as error:
                return self._refused(client, trace, error)
            except ValidationError as error:  # only this answer is invalid: other calls continue
                raise CallLost(str(explain(self.spec, trace, error))) from error
            except Exception as error:  # the session itself broke, or the answer was garbage
                reason = explain(self.spec, trace, error)
                self._end(client, reason)
                raise CallLost(str(reason)) from error
            finally:
                self._under_way -= 1
        return as_result(answer)

    async def _answer(
        self, client: Client, name: str, arguments: dict[str, Any], meta: dict[str, Any] | None
    ) -> CallToolResult:
        """Send a call and return its result.

        `Client.call_tool` is not used, because it validates results with the server's own schema,
        whose patterns can block the whole process, and lists all tools again to do so.
        """
        given = {"name": name, "arguments": arguments, "_meta": meta}
        request = CallToolRequest(params=CallToolRequestParams.model_validate(given))
        try:
            return await client.session.send_request(request, CallToolResult)
        except MCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
        # The call was refused, because the server requires headers that its list of tools defines.
        await self._tools(client)
        return await client.session.send_request(request, CallToolResult)

    async def prompt(self) -> str | None:
        """Return the text of the server's first prompt, or None. Raises IntegrationError."""
        try:
            return await self._read(self._first_prompt)
        except Refused:
            return None  # the server does not support prompts

    async def read(self, uri: str) -> str:
        """Return a resource's text. Raises IntegrationError; Refused if the server has no such
        resource."""
        return await self._read(lambda client: self._resource(client, uri))

    async def _tools(self, client: Client) -> Listing:
        found = Listing(self.spec)
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor, meta=self._meta())
            found.add(page.tools)
            cursor = page.next_cursor
            if cursor is None or found.seen > MAX_TOOLS:
                break
        return found

    async def _first_prompt(self, client: Client) -> str | None:
        """Get the first prompt; one request is enough if its name is known from this session."""
        if self._prompt_name is not None:
            try:
                return await self._prompt_named(client, self._prompt_name)
            except MCPError:
                self._prompt_name = None  # the name may have changed
        listed = await client.list_prompts(meta=self._meta())
        if not listed.prompts:
            return None
        text = await self._prompt_named(client, listed.prompts[0].name)
        self._prompt_name = listed.prompts[0].name
        return text

    async def _prompt_named(self, client: Client, name: str) -> str | None:
        prompt = await client.get_prompt(name, meta=self._meta())
        texts = (message.content for message in prompt.messages)
        return as_text(texts, MAX_PROMPT) or None

    async def _resource(self, client: Client, uri: str) -> str:
        return as_text((await client.read_resource(uri, meta=self._meta())).contents)

    def _meta(self) -> Any:
        """Return a new `_meta` for Home Assistant's server; the SDK modifies the dict."""
        known = self._aside.meta() if self._aside is not None else None
        return dict(known) if known else None

    async def _read(self, work: Callable[[Client], Awaitable[Result]]) -> Result:
        """Run a read-only request; if an older session proves dead, retry once with a new one."""
        known = self._client
        client = await self.client()
        try:
            return await self._attempt(client, work)
        except IntegrationError as error:
            waited = isinstance(error.__cause__, TimeoutError)  # do not wait for a timeout twice
            if client is not known or waited or isinstance(error, (Refused, SignInAgain)):
                raise
        return await self._attempt(await self.client(), work)

    async def _attempt(self, client: Client, work: Callable[[Client], Awaitable[Result]]) -> Result:
        """Run a request within the time limit. A failure ends the session unless the server
        refused."""
        self._under_way += 1
        with tracing() as trace:
            try:
                async with trace.patience(self.spec.timeout_s):
                    result = await work(client)
                self._doubtful = False
                return result
            except Exception as error:  # as in `run`: after any error, this cannot be read now
                said = isinstance(error, MCPError) and error.code != CONNECTION_CLOSED
                if said and trace.clean:
                    told = Hidden(self.spec).text(str(error))[:200]
                    raise Refused(f"{self.spec.name} rejected the call: {told}.") from error
                problem = self._fate or explain(self.spec, trace, error)
                self._end(client, problem)
                raise problem from error
            finally:
                self._under_way -= 1

    def _refused(self, client: Client, trace: Trace, error: MCPError | Undelivered) -> McpResult:
        """Handle an error returned instead of a result: the server's refusal or a transport
        failure."""
        code = error.code if isinstance(error, MCPError) else None
        closed = code == CONNECTION_CLOSED
        # the SDK's error for an unreadable answer
        if trace.clean and (trace.unreadable or code == PARSE_ERROR):
            raise CallLost(f"The answer of {self.spec.name} cannot be read.") from error
        if trace.clean and isinstance(error, MCPError) and not closed:
            return McpResult(error.message[:MAX_TEXT], is_error=True)
        reason = explain(self.spec, trace, error)
        if trace.clean:
            ended = f"The connection to {self.spec.name} closed during the call."
            reason = CallLost(str(self._fate or ended))
            if self.spec.transport != "stdio" and not trace.begun:  # it was closed before
                reason = Unavailable(f"The connection to {self.spec.name} had closed; try again.")
        elif trace.status == 404:
            reason = Unavailable(f"{self.spec.name} no longer knows this session; try again.")
        elif not (trace.never_sent or (trace.status is not None and trace.status < 500)):
            reason = CallLost(str(reason))
        self._end(client, reason)
        raise reason from error

    async def _serve(self, trace: Trace) -> None:
        """Keep one session open until it fails."""
        self._fate, self._doubtful = None, False
        async with AsyncExitStack() as stack:
            async with trace.patience(self._open_s):
                client, best = await open_client(stack, self.spec, trace, self._program_ended)
            if self._fate is not None:  # just now, after its last message
                raise self._fate
            self._ended.clear()
            self._client, self._problem = client, None
            self._pauses.opened(time.monotonic())
            self._stale_from = None if best else time.monotonic() + REDISCOVER_S
            self._prompt_name = None
            self._settle(client)
            self.openings += 1
            try:
                await self._ended.wait()
            finally:
                self._client = None
                self._busy_since = time.monotonic()

    async def _reason(self, trace: Trace, error: Exception) -> IntegrationError:
        """Return why the session did not open, asking `HomeAside.diagnose` if that is unclear."""
        problem = self._fate or explain(self.spec, trace, error)
        if self._aside is None or not leaves_open(trace):
            return problem
        return await self._aside.diagnose() or problem

    @property
    def _open_s(self) -> float:
        """Time limit for opening a session, in seconds; a program can have a lot to load."""
        return max(OPEN_S, self.spec.timeout_s) if self.spec.transport == "stdio" else OPEN_S

    async def _probe(self, client: Client) -> None:
        """End the session if the program cannot even list its tools."""
        self._doubtful = False
        try:
            async with asyncio.timeout(PROBE_S):
                await client.list_tools()
        except Exception as error:  # it hangs or failed in another way, so it is restarted
            self._end(client, explain(self.spec, Trace(), error))

    def _program_ended(self, problem: IntegrationError) -> None:
        """Record the transport's reason for the program's end, even while the session is being
        opened."""
        self._fate = problem
        if self._client is not None:
            self._end(self._client, problem)

    def _end(self, client: Client, problem: IntegrationError | None = None) -> None:
        """End this session; the next use opens a new one."""
        if self._client is not client:
            return
        self._client, self._problem = None, problem
        self._pauses.ended(problem, time.monotonic())
        self._ended.set()

    def _fail(self, problem: IntegrationError) -> None:
        now_s = time.monotonic()
        self._problem = problem
        self._pauses.failed(problem, now_s - self._busy_since, now_s)
        self._settle(problem)

    def _settle(self, result: Client | IntegrationError) -> None:
        """Give the result to everyone who is waiting for the session to open."""
        opening, self._opening = self._opening, None
        if opening is not None and not opening.done():
            opening.set_result(result)
