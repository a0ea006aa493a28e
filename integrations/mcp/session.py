"""One MCP server's session: an owner task opens and closes it, any task may call through it.

The SDK's scopes belong to the task that entered them, so opening and closing happen in the owner
alone. A session opens at the first use and again, after a pause, at the first use after a failure.
What only reads is asked once more where an older session proves dead; a call never is.
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

OPEN_S = 10.0  # or the server's own time-out, where that is longer
CLOSE_S = 5.0  # of the session before
DIAGNOSE_S = 4.0  # more than `HomeAside.diagnose` takes
PROBE_S = 1.0  # for a sign of life of a program that let a call run out of time
PARALLEL_CALLS = 32
MAX_PAGES = 50  # of tools/list; a server that never ends its list is cut here
RELIST_S = 300.0  # a list of more than `MAX_TOOLS` takes half a second to read
# s: a session on any but the first endpoint is opened anew when the tools are listed after that
# time. The server may have been updated, or was caught while it started.
REDISCOVER_S = 300.0

Result = TypeVar("Result")


class McpSession:
    """The owner and its client. `run` is the owner's whole life; the rest is for everyone."""

    def __init__(self, spec: ServerSpec, aside: HomeAside | None = None) -> None:
        self.spec = spec
        self._aside = aside
        self.openings = 0  # sessions that came about, since the start
        self._client: Client | None = None
        self._problem: IntegrationError | None = None
        self._opening: asyncio.Future[Client | IntegrationError] | None = None
        self._wanted = asyncio.Event()
        self._ended = asyncio.Event()
        self._slots = asyncio.Semaphore(PARALLEL_CALLS)
        self._under_way = 0  # requests
        self._pauses = Pauses(spec)
        self._fate: IntegrationError | None = None  # why this session's program ended
        self._doubtful = False  # a call ran out of time, and nothing was heard since
        self._busy_since = 0.0  # s, monotonic: when opening or closing began
        self._stale_from: float | None = None  # s, monotonic; None: on the best endpoint
        self._long_list: list[McpTool] = []  # too long to be read often: it counts until then
        self._long_until = 0.0  # s, monotonic
        self._prompt_name: str | None = None  # of this session; None: not listed yet

    @property
    def state(self) -> ServerState:
        """Ready, or the reason why not."""
        if self._client is not None:
            return ServerState(self.spec.name, True, "")
        unknown = "It has not been used yet." if self._opening is None else "It is being started."
        reason = str(self._problem) if self._problem else unknown
        return ServerState(self.spec.name, False, reason)

    async def run(self) -> None:
        """Open when wanted, close when ended, for ever. One bad server must not hurt the others."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            self._busy_since = time.monotonic()
            with tracing() as trace:
                try:
                    await self._serve(trace)
                except Exception as error:  # a foreign server, process or SDK may fail in any way
                    log.debug("MCP server %s failed", self.spec.name, exc_info=error)
                    if was_cancelled():
                        self._fail(explain(self.spec, trace, error))
                        raise asyncio.CancelledError from error
                    self._fail(await self._reason(trace, error))

    async def client(self, limit_s: float | None = None) -> Client:
        """The open session, opening it if need be, within `limit_s`. Raises IntegrationError."""
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
        """All pages of tools/list. Raises IntegrationError."""
        stale = self._stale_from is not None and time.monotonic() >= self._stale_from
        if self._client is not None and stale and not self._under_way:
            self._end(self._client)
        if time.monotonic() < self._long_until:
            return self._long_list
        try:
            found = await self._read(self._tools)
        except Refused as error:
            if self._client is not None:
                self._end(self._client, error)  # a server that lists no tools is of no use
            raise
        tools = found.tools()
        if found.seen > MAX_TOOLS:
            self._long_list, self._long_until = tools, time.monotonic() + RELIST_S
        return tools

    async def call(
        self, name: str, arguments: dict[str, Any], timeout_s: float, meta: Mapping[str, Any] | None
    ) -> McpResult:
        """Call once. Raises TimeoutError, CallLost (may have run) or IntegrationError (did not)."""
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
            except ValidationError as error:  # this answer alone: other calls live on
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
        """Not `Client.call_tool`: that checks results by the server's own schema, whose patterns
        can hold up the whole process, and lists all tools anew to do so."""
        given = {"name": name, "arguments": arguments, "_meta": meta}
        request = CallToolRequest(params=CallToolRequestParams.model_validate(given))
        try:
            return await client.session.send_request(request, CallToolResult)
        except MCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
        # Turned away, as the server wants headers that its list of tools tells of.
        await self._tools(client)
        return await client.session.send_request(request, CallToolResult)

    async def prompt(self) -> str | None:
        """Text of the server's first prompt, or None where it has none. Raises IntegrationError."""
        try:
            return await self._read(self._first_prompt)
        except Refused:
            return None  # the server has no prompts at all

    async def read(self, uri: str) -> str:
        """Text of one resource. Raises IntegrationError; Refused where the server has none."""
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
        """One request while the name that was listed in this session is still good."""
        if self._prompt_name is not None:
            try:
                return await self._prompt_named(client, self._prompt_name)
            except MCPError:
                self._prompt_name = None  # it may bear another name now
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
        """`_meta` of a request to the home's own server; the SDK adds to what it is given."""
        known = self._aside.meta() if self._aside is not None else None
        return dict(known) if known else None

    async def _read(self, work: Callable[[Client], Awaitable[Result]]) -> Result:
        """Do what changes nothing; an older session that proves dead is replaced once."""
        known = self._client
        client = await self.client()
        try:
            return await self._attempt(client, work)
        except IntegrationError as error:
            waited = isinstance(error.__cause__, TimeoutError)  # nobody waits twice
            if client is not known or waited or isinstance(error, (Refused, SignInAgain)):
                raise
        return await self._attempt(await self.client(), work)

    async def _attempt(self, client: Client, work: Callable[[Client], Awaitable[Result]]) -> Result:
        """Do it within the time; on failure the session ends, unless the server just said no."""
        self._under_way += 1
        with tracing() as trace:
            try:
                async with trace.patience(self.spec.timeout_s):
                    result = await work(client)
                self._doubtful = False
                return result
            except Exception as error:  # as in run: whatever it is, it cannot be read now
                said = isinstance(error, MCPError) and error.code != CONNECTION_CLOSED
                if said and trace.clean:
                    told = Hidden(self.spec).text(str(error))[:200]
                    raise Refused(f"{self.spec.name} refuses: {told}.") from error
                problem = self._fate or explain(self.spec, trace, error)
                self._end(client, problem)
                raise problem from error
            finally:
                self._under_way -= 1

    def _refused(self, client: Client, trace: Trace, error: MCPError | Undelivered) -> McpResult:
        """An error in place of a result: the server's own no, or the transport's failure."""
        code = error.code if isinstance(error, MCPError) else None
        closed = code == CONNECTION_CLOSED
        if trace.clean and (trace.unreadable or code == PARSE_ERROR):  # as the SDK words it
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
            reason = Unavailable(f"{self.spec.name} has forgotten this session; try again.")
        elif not (trace.never_sent or (trace.status is not None and trace.status < 500)):
            reason = CallLost(str(reason))
        self._end(client, reason)
        raise reason from error

    async def _serve(self, trace: Trace) -> None:
        """Hold one session open until someone finds it broken."""
        self._fate, self._doubtful = None, False
        async with AsyncExitStack() as stack:
            async with trace.patience(self._open_s):
                client, best = await open_client(stack, self.spec, trace, self._program_ended)
            if self._fate is not None:  # just now, after its last word
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
        """Why it could not be opened; where that is not plain, asked for beside the server."""
        problem = self._fate or explain(self.spec, trace, error)
        if self._aside is None or not leaves_open(trace):
            return problem
        return await self._aside.diagnose() or problem

    @property
    def _open_s(self) -> float:
        """Time that an opening may take; a program may have much to load."""
        return max(OPEN_S, self.spec.timeout_s) if self.spec.transport == "stdio" else OPEN_S

    async def _probe(self, client: Client) -> None:
        """End the session where the program does not even list its tools."""
        self._doubtful = False
        try:
            async with asyncio.timeout(PROBE_S):
                await client.list_tools()
        except Exception as error:  # it hangs, or whatever else: it is started anew
            self._end(client, explain(self.spec, Trace(), error))

    def _program_ended(self, problem: IntegrationError) -> None:
        """Told by the transport, also while the session is being opened."""
        self._fate = problem
        if self._client is not None:
            self._end(self._client, problem)

    def _end(self, client: Client, problem: IntegrationError | None = None) -> None:
        """This session is of no more use; the next use opens a new one."""
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
        """Tell everyone who waits for the opening."""
        opening, self._opening = self._opening, None
        if opening is not None and not opening.done():
            opening.set_result(result)
