"""Connections to MCP servers: endpoint selection, transports, handshake and retry pauses.

A server that is a local program exchanges JSON-RPC messages over its pipes, one per line. The SDK's
own transport for this (2.3) limits neither lines nor messages, sends the program's stderr to
Hearth's terminal and does not report why the program exited.
"""

import asyncio
import logging
import os
import signal
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import Implementation as ClientInfo
from mcp.types import JSONRPCNotification, jsonrpc_message_adapter

from integrations.address import host_of
from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable
from integrations.home_assistant import reasons
from integrations.mcp.sandbox import Running, command, confined, start
from integrations.mcp.servers import Endpoint, ServerSpec
from integrations.mcp.wire import Allowance, Flow, Trace, http_client, was_cancelled
from integrations.owner import OwnedTasks
from integrations.tls import tls_for

_log = logging.getLogger(__name__)

MAX_LINE = 300  # characters per logged line
_LINES = (200, 10)  # lines at once, and per second after that
_SHORTEST_SECRET = 4  # characters; otherwise "1" or "yes" would be replaced in half of all lines


class Chatter:
    """Logs a program's stderr at debug level, with long lines cut and secrets removed."""

    def __init__(self, spec: ServerSpec) -> None:
        self._name = spec.name
        self._secrets = secrets_of(spec)
        # Keep enough characters to recognise a secret at the end of the line.
        self._keep = MAX_LINE + max((len(secret) for secret in self._secrets), default=0)
        self._line = bytearray()
        self._lines = Allowance(*_LINES)

    def feed(self, part: bytes) -> None:
        *ended, rest = part.split(b"\n")
        for line in ended:
            self._add(line)
            self.end()
        self._add(rest)

    def end(self) -> None:
        if self._line and self._lines.take(1, time.monotonic()):
            text = self._line.decode(errors="replace")
            _log.debug("%s: %s", self._name, shown_line(text, self._secrets))
        self._line.clear()

    def _add(self, more: bytes) -> None:
        # UTF-8 takes at most 4 bytes per character
        self._line += more[: max(0, 4 * self._keep - len(self._line))]


def secrets_of(spec: ServerSpec) -> tuple[str, ...]:
    """Return this server's secrets, longest first."""
    arguments = [argument.rpartition("=")[2] for argument in spec.args]
    found = {*spec.env.values(), *spec.headers.values(), *spec.args, *arguments}
    return tuple(sorted((one for one in found if len(one) >= _SHORTEST_SECRET), key=len)[::-1])


def shown_line(text: str, secrets: tuple[str, ...]) -> str:
    """Cut the line and replace secrets with asterisks. The log escapes control characters."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text.strip()[:MAX_LINE]


MAX_LINE_BYTES = 4 * 1024 * 1024  # per message; 8 MB of empty objects take 2 s to read
_CHUNK = 64 * 1024
_QUEUE = 64  # messages that may be waiting to be sent
WRITE_S = 5.0  # limit for the program to read what it is sent
GRACE_S = 1.5  # time to exit after its stdin is closed, and again after SIGTERM
FAULT_GRACE_S = 0.3  # the same for a program that has exited, floods or sends garbage
_POLL_S = 0.01

Read = MemoryObjectReceiveStream[SessionMessage | Exception]
Write = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def stdio_transport(
    spec: ServerSpec, on_end: Callable[[IntegrationError], None]
) -> AsyncIterator[tuple[Read, Write]]:
    """Start the program and yield its read and write streams, like the SDK's transports.

    Leaving the context stops the program. If the program exits or misbehaves, `on_end` is called
    once and the streams are closed. Raises Misconfigured, and OSError if the program cannot be
    started.
    """
    running = await start(confined(spec, command(spec)))
    pipes = _Pipes(spec, running, on_end)
    try:
        async with OwnedTasks() as tasks:
            tasks.start(pipes.listen(), f"mcp-{spec.name}-out")
            tasks.start(pipes.speak(), f"mcp-{spec.name}-in")
            tasks.start(pipes.overhear(), f"mcp-{spec.name}-err")
            try:
                yield pipes.read, pipes.write
            finally:
                await pipes.leave()
    finally:
        pipes.close()  # even if `leave` was interrupted


class _Pipes:
    def __init__(
        self, spec: ServerSpec, running: Running, on_end: Callable[[IntegrationError], None]
    ) -> None:
        self._spec = spec
        self._process = running.process
        self._transport = running.transport
        self._on_end = on_end
        self._flow = Flow()
        self._faulty = False
        self._leaving = False
        self._gone = False  # all processes have exited, so the group's id may be reused
        self._send: MemoryObjectSendStream[SessionMessage | Exception]
        self._send, self.read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self.write, self._waiting = anyio.create_memory_object_stream[SessionMessage](_QUEUE)

    async def listen(self) -> None:
        """Deliver the program's messages until it exits, misbehaves or is no longer needed."""
        reader, line = self._process.stdout, bytearray()
        assert reader is not None
        while part := await reader.read(_CHUNK):
            if not self._flow.take(part, time.monotonic()):
                return self._fault("keeps sending without end")
            *ended, rest = part.split(b"\n")
            for piece in ended:
                line += piece
                if not await self._hand_on(bytes(line)):
                    return None
                line.clear()
            line += rest
            if len(line) > MAX_LINE_BYTES:
                return self._fault(f"sent more than {MAX_LINE_BYTES:,} bytes in one line")
        return await self._ended()

    async def _hand_on(self, line: bytes) -> bool:
        """Deliver a message to the session. Returns False if reading must stop."""
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:  # not JSON, not UTF-8, nested too deeply, or not a valid message
            if b'"jsonrpc"' not in line:
                return True  # a greeting or log line, which many programs print
            self._fault("sent something that is not a valid message")
            return False
        if isinstance(message, JSONRPCNotification):
            return True  # not needed: tools are listed again in any case
        try:
            await self._send.send(SessionMessage(message))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return False  # the session is over
        return True

    async def speak(self) -> None:
        writer = self._process.stdin
        assert writer is not None
        async for item in self._waiting:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                writer.write(text.encode() + b"\n")
                async with asyncio.timeout(WRITE_S):
                    await writer.drain()
            except TimeoutError:
                return self._fault("does not read its input")
            except OSError:  # the program has closed its stdin; `listen` finds out why
                return None
        return None

    async def overhear(self) -> None:
        # The program would block once the pipe is full.
        reader, chatter = self._process.stderr, Chatter(self._spec)
        assert reader is not None
        while part := await reader.read(_CHUNK):
            chatter.feed(part)
        chatter.end()

    async def _ended(self) -> None:
        # Usually the program has exited.
        await _within(FAULT_GRACE_S, lambda: self._process.returncode is not None)
        code = self._process.returncode
        self._fault("closed its output" if code is None else f"ended (exit code {code})")

    def _fault(self, what: str) -> None:
        self._faulty = True
        if not self._leaving:
            name, setting = self._spec.name, self._spec.key("command")
            self._on_end(Unavailable(f'The MCP server "{name}" {what}: check {setting}.'))
        self._send.close()

    async def leave(self) -> None:
        """Stop the program and its children, first by closing its stdin, then with signals."""
        self._leaving = True
        grace_s = FAULT_GRACE_S if self._faulty else GRACE_S
        stdin = self._process.stdin
        assert stdin is not None
        stdin.close()
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if await self._gone_within(grace_s):
                return
            self._signal(sign)
        await self._gone_within(grace_s)

    def close(self) -> None:
        """Kill any remaining processes and close the pipes, without waiting."""
        self._signal(signal.SIGKILL)
        # Python up to 3.12 kills again, which can hit another user's process.
        with suppress(PermissionError):
            self._transport.close()
        for stream in (self._send, self.read, self.write, self._waiting):
            stream.close()

    def _signal(self, number: int) -> None:
        if self._gone:
            return
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            self._gone = True
        except PermissionError:
            _log.warning("The program of %s may still be running, as another user", self._spec.name)
            self._gone = True

    async def _gone_within(self, limit_s: float) -> bool:
        return await _within(limit_s, self._all_gone)

    def _all_gone(self) -> bool:
        self._signal(0)
        return self._gone and self._process.returncode is not None


async def _within(limit_s: float, true: Callable[[], bool]) -> bool:
    # `Process.wait` would also wait for the pipes.
    deadline = time.monotonic() + limit_s
    while not true():
        if time.monotonic() >= deadline:
            return False
        await asyncio.sleep(_POLL_S)
    return True


log = logging.getLogger(__name__)

POST_S = 10.0  # limit for one request of the SSE transport


async def open_client(
    stack: AsyncExitStack,
    spec: ServerSpec,
    trace: Trace,
    on_end: Callable[[IntegrationError], None],
) -> tuple[Client, bool]:
    """Open a client. Returns the client, and True if it uses the preferred endpoint.

    `stack` closes the client. An endpoint is skipped only if it does not exist (404). Any other
    error is raised, with its HTTP status in `trace`. `on_end` is called if a local program exits.
    """
    if spec.transport == "stdio":
        return await _handshake(stack, stdio_transport(spec, on_end), "auto"), True
    if host_of(spec.url) is None:
        if spec.home_assistant:
            raise reasons.no_address(spec.url)
        raise Misconfigured(
            f"{spec.key('url')} = {spec.address!r} is not an http or https address."
        )
    endpoints = spec.endpoints or (Endpoint("", spec.transport),)
    for endpoint in endpoints[:-1]:
        attempt = AsyncExitStack()
        try:
            client = await _open(attempt, spec, endpoint)
        except Exception as error:  # the recorded status decides
            await attempt.aclose()
            if trace.status != 404 or was_cancelled():
                raise
            log.info("%s does not offer %s, trying the next: %r", spec.name, endpoint.path, error)
            trace.pass_over()
            continue
        stack.push_async_exit(attempt)
        return client, endpoint is endpoints[0]
    return await _open(stack, spec, endpoints[-1]), len(endpoints) == 1


async def _open(stack: AsyncExitStack, spec: ServerSpec, endpoint: Endpoint) -> Client:
    url, headers, tls = f"{spec.url}{endpoint.path}", dict(spec.headers), _tls(spec)
    if endpoint.transport == "sse":
        made = partial(_for_sse, tls)
        transport = sse_client(url, headers, POST_S, httpx_client_factory=made)
        # Servers with this transport know only the old handshake, so skip the probe for the new
        # one.
        return await _handshake(stack, transport, "legacy")
    client = await stack.enter_async_context(http_client(headers, tls, spec.timeout_s))
    return await _handshake(stack, streamable_http_client(url, http_client=client), "auto")


async def _handshake(stack: AsyncExitStack, transport: Any, mode: str) -> Client:
    info = ClientInfo(name="hearth", version="1")
    return await stack.enter_async_context(
        Client(transport, client_info=info, cache=None, mode=mode)
    )


def _tls(spec: ServerSpec) -> ssl.SSLContext | bool:
    verify, ca_file = spec.verify_tls, spec.ca_file
    return tls_for(spec.url, verify=verify, ca_file=ca_file, setting=spec.key("ca_file")) or False


def _for_sse(
    tls: ssl.SSLContext | bool,
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    # The SDK's SSE transport requires this signature.
    return http_client(headers, tls, POST_S, aside=True)


# Pauses before opening a failed server again. The caller supplies the time.


PAUSE_S = (0.5, 2.0)  # after a failure to open: the shortest, doubled each time up to the longest
PROGRAM_PAUSE_S = (0.5, 60.0)  # a program is expensive to start; its first exit causes no pause
SLOW_PAUSE_S = 4.0  # longest pause after opening slowly, so that a turn waits only once
SIGN_IN_PAUSE_S = 60.0  # long, because Home Assistant logs every attempt with an invalid token
STEADY_S = 60.0  # a program that ran this long has its failures forgotten


class Pauses:
    """One server's retry pauses. All times are seconds on one monotonic clock."""

    def __init__(self, spec: ServerSpec) -> None:
        self._program = spec.transport == "stdio"
        self._failures = 0  # consecutive failures
        self._opened_s = 0.0
        self.not_before_s = 0.0  # earliest time to open it again

    def opened(self, now_s: float) -> None:
        self._opened_s = now_s
        # A program counts as working only after STEADY_S.
        if not self._program:
            self._failures = 0

    def failed(self, problem: IntegrationError, took_s: float, now_s: float) -> None:
        """Record that a session failed to open after `took_s` seconds."""
        low, high = PROGRAM_PAUSE_S if self._program else PAUSE_S
        pause_s = max(min(low * 2**self._failures, high), min(took_s, SLOW_PAUSE_S))
        if isinstance(problem, SignInAgain):
            pause_s = SIGN_IN_PAUSE_S
        self.not_before_s = now_s + pause_s
        self._failures = min(self._failures + 1, 16)

    def ended(self, problem: IntegrationError | None, now_s: float) -> None:
        """Record that an open session ended; `problem` is the error, if any."""
        if isinstance(problem, SignInAgain):
            self.not_before_s = now_s + SIGN_IN_PAUSE_S
        if not self._program or problem is None:
            return
        if now_s - self._opened_s >= STEADY_S:
            self._failures = 0
        if self._failures:
            low, high = PROGRAM_PAUSE_S
            self.not_before_s = now_s + min(low * 2 ** (self._failures - 1), high)
        self._failures = min(self._failures + 1, 16)
