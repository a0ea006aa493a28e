"""A session with one MCP server. One owner task opens and closes it, and any task can use it.

The SDK's scopes belong to the task that entered them. A session is opened on first use, and again
after a failure. If an existing session turns out to be dead, a read-only request is retried once,
but a call never is.
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

OPEN_S = 10.0  # limit for opening; for a program, its own timeout if that is longer
CLOSE_S = 5.0  # limit for closing the previous session
DIAGNOSE_S = 4.0  # longer than `HomeAside.diagnose` takes
PROBE_S = 1.0  # limit for a response from a program after a call timed out
PARALLEL_CALLS = 32
MAX_PAGES = 50  # pages of tools/list, in case the list never ends
RELIST_S = 300.0  # interval for reading a list of more than `MAX_TOOLS`, which takes 0.5 s
# If a session does not use the preferred endpoint, it is opened again after this many seconds, when
# tools are listed: the server may have been updated, or was still starting the first time.
REDISCOVER_S = 300.0

Result = TypeVar("Result")


class McpSession:
    """The session and its owner task.

    Only the owner task may call `run`; any task may call the other methods.
    """

    def __init__(self, spec: ServerSpec, aside: HomeAside | None = None) -> None:
        self.spec = spec
        self._aside = aside
        self.openings = 0  # sessions opened since Hearth started
        self._client: Client | None = None
        self._problem: IntegrationError | None = None
        self._opening: asyncio.Future[Client | IntegrationError] | None = None
        self._wanted = asyncio.Event()
        self._ended = asyncio.Event()
        self._slots = asyncio.Semaphore(PARALLEL_CALLS)
        self._under_way = 0  # number of requests
        self._pauses = Pauses(spec)
        self._fate: IntegrationError | None = None  # why the program exited
        self._doubtful = False  # a call timed out, and nothing has arrived since
        self._busy_since = 0.0  # when opening or closing began (s, monotonic)
        self._stale_from: float | None = None  # when to try again elsewhere (s, monotonic), or None
        self._long_list: list[McpTool] = []  # a long list is reused until `_long_until`
        self._long_until = 0.0  # s, monotonic
        self._prompt_name: str | None = None  # None: not listed yet in this session

    @property
    def state(self) -> ServerState:
        if self._client is not None:
            return ServerState(self.spec.name, True, "")
        unknown = "It has not been used yet." if self._opening is None else "It is starting."
        reason = str(self._problem) if self._problem else unknown
        return ServerState(self.spec.name, False, reason)

    async def run(self) -> None:
        """Open a session whenever one is requested, and wait until it ends. Runs until cancelled.

        Errors are stored and not raised, so that they affect only this server.
        """
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            self._busy_since = time.monotonic()
            with tracing() as trace:
                try:
                    await self._serve(trace)
                # The server, its process and the SDK may fail in any way.
                except Exception as error:
                    log.debug("MCP server %s failed", self.spec.name, exc_info=error)
                    if was_cancelled():
                        self._fail(explain(self.spec, trace, error))
                        raise asyncio.CancelledError from error
                    self._fail(await self._reason(trace, error))

    async def client(self, limit_s: float | None = None) -> Client:
        """Return the client of the open session, opening one if necessary. Raises IntegrationError.

        It waits at most `limit_s` seconds for a session to open.
        """
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
        """Return the server's tools. Raises IntegrationError.

        A very long list is read again only after RELIST_S seconds.
        """
        stale = self._stale_from is not None and time.monotonic() >= self._stale_from
        if self._client is not None and stale and not self._under_way:
            self._end(self._client)
        if time.monotonic() < self._long_until:
            return self._long_list
        try:
            found = await self._read(self._tools)
        except Refused as error:
            if self._client is not None:
                self._end(self._client, error)  # a server that cannot list its tools is useless
            raise
        tools = found.tools()
        if found.seen > MAX_TOOLS:
            self._long_list, self._long_until = tools, time.monotonic() + RELIST_S
        return tools

    async def call(
        self, name: str, arguments: dict[str, Any], timeout_s: float, meta: Mapping[str, Any] | None
    ) -> McpResult:
        """Call a tool once.

        Raises TimeoutError, CallLost if the call may have run, or another IntegrationError if it
        did not run.
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
            except ValidationError as error:  # only this result is invalid, so other calls continue
                raise CallLost(str(explain(self.spec, trace, error))) from error
            except Exception as error:  # the session broke, or the response was invalid
                reason = explain(self.spec, trace, error)
                self._end(client, reason)
                raise CallLost(str(reason)) from error
            finally:
                self._under_way -= 1
        return as_result(answer)

    async def _answer(
        self, client: Client, name: str, arguments: dict[str, Any], meta: dict[str, Any] | None
    ) -> CallToolResult:
        # `Client.call_tool` validates results with the server's own schema, whose patterns can
        # block the whole process, and it lists all tools again to get that schema.
        given = {"name": name, "arguments": arguments, "_meta": meta}
        request = CallToolRequest(params=CallToolRequestParams.model_validate(given))
        try:
            return await client.session.send_request(request, CallToolResult)
        except MCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
        # The server refused the call because it requires headers that its list of tools defines.
        await self._tools(client)
        return await client.session.send_request(request, CallToolResult)

    async def prompt(self) -> str | None:
        """Return the text of the server's first prompt, or None if it has none.

        Raises IntegrationError.
        """
        try:
            return await self._read(self._first_prompt)
        except Refused:
            return None  # the server does not support prompts

    async def read(self, uri: str) -> str:
        """Return the text of a resource.

        Raises IntegrationError, in particular Refused if the resource does not exist.
        """
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
        # The SDK modifies `_meta`, so each request gets a new one.
        known = self._aside.meta() if self._aside is not None else None
        return dict(known) if known else None

    async def _read(self, work: Callable[[Client], Awaitable[Result]]) -> Result:
        known = self._client
        client = await self.client()
        try:
            return await self._attempt(client, work)
        except IntegrationError as error:
            waited = isinstance(error.__cause__, TimeoutError)  # don't wait for a second timeout
            if client is not known or waited or isinstance(error, (Refused, SignInAgain)):
                raise
        return await self._attempt(await self.client(), work)

    async def _attempt(self, client: Client, work: Callable[[Client], Awaitable[Result]]) -> Result:
        self._under_way += 1
        with tracing() as trace:
            try:
                async with trace.patience(self.spec.timeout_s):
                    result = await work(client)
                self._doubtful = False
                return result
            except Exception as error:  # any error, as in `run`
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
        code = error.code if isinstance(error, MCPError) else None
        closed = code == CONNECTION_CLOSED
        # The SDK reports an unreadable response as PARSE_ERROR.
        if trace.clean and (trace.unreadable or code == PARSE_ERROR):
            raise CallLost(f"The answer from {self.spec.name} cannot be read.") from error
        if trace.clean and isinstance(error, MCPError) and not closed:
            return McpResult(error.message[:MAX_TEXT], is_error=True)
        reason = explain(self.spec, trace, error)
        if trace.clean:
            ended = f"The connection to {self.spec.name} closed during the call."
            reason = CallLost(str(self._fate or ended))
            if self.spec.transport != "stdio" and not trace.begun:  # already closed
                reason = Unavailable(f"The connection to {self.spec.name} had closed; try again.")
        elif trace.status == 404:
            reason = Unavailable(f"{self.spec.name} no longer knows this session; try again.")
        elif not (trace.never_sent or (trace.status is not None and trace.status < 500)):
            reason = CallLost(str(reason))
        self._end(client, reason)
        raise reason from error

    async def _serve(self, trace: Trace) -> None:
        self._fate, self._doubtful = None, False
        async with AsyncExitStack() as stack:
            async with trace.patience(self._open_s):
                client, best = await open_client(stack, self.spec, trace, self._program_ended)
            if self._fate is not None:  # the program has just exited
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
        problem = self._fate or explain(self.spec, trace, error)
        if self._aside is None or not leaves_open(trace):
            return problem
        return await self._aside.diagnose() or problem

    @property
    def _open_s(self) -> float:
        # A program may have a lot to load.
        return max(OPEN_S, self.spec.timeout_s) if self.spec.transport == "stdio" else OPEN_S

    async def _probe(self, client: Client) -> None:
        self._doubtful = False
        try:
            async with asyncio.timeout(PROBE_S):
                await client.list_tools()
        except Exception as error:  # it hangs or has failed, so restart it
            self._end(client, explain(self.spec, Trace(), error))

    def _program_ended(self, problem: IntegrationError) -> None:
        # The program can end while the session is opening.
        self._fate = problem
        if self._client is not None:
            self._end(self._client, problem)

    def _end(self, client: Client, problem: IntegrationError | None = None) -> None:
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
        opening, self._opening = self._opening, None
        if opening is not None and not opening.done():
            opening.set_result(result)
