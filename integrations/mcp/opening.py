"""How a session of the SDK is opened: which endpoint, which transport, which handshake."""

import asyncio
import logging
import ssl
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import httpx2
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation as ClientInfo

from integrations.address import host_of
from integrations.errors import IntegrationError, Misconfigured, SignInAgain, Unavailable, causes
from integrations.home_assistant import reasons
from integrations.mcp.servers import Endpoint, ServerSpec
from integrations.mcp.transport import stdio_transport
from integrations.mcp.wire import Trace, http_client, was_cancelled
from integrations.tls import tls_for

# Why a server cannot be used, as one sentence that names the setting and the mend.


def explain(spec: ServerSpec, trace: Trace, error: BaseException) -> IntegrationError:
    """The error for a server that did not open or answer, by what is known of the request."""
    found = list(causes(trace.error or error))
    for cause in found:
        if isinstance(cause, IntegrationError):
            return cause
    if any(isinstance(cause, UnicodeEncodeError) for cause in found):
        if spec.home_assistant:
            return reasons.unsendable_token()
        secret = spec.key("headers")
        return SignInAgain(f"A character beyond plain ASCII cannot be sent: check {secret}.")
    if trace.error is not None:
        return _by_network(spec, trace.error)
    if trace.status is not None:
        return _by_status(spec, trace.status)
    if spec.transport == "stdio" and any(isinstance(cause, OSError) for cause in found):
        return Misconfigured(
            f"{_title(spec)} cannot be started: check command = {spec.command!r} in {spec.setting}."
        )
    if any(isinstance(cause, TimeoutError) for cause in found):
        return Unavailable(f"{_title(spec)} did not answer in time: check that it is running.")
    return Unavailable(
        f"{_title(spec)} does not speak MCP as expected ({_kind(found)}): "
        f"check {spec.key('url' if spec.url else 'command')}."
    )


def leaves_open(trace: Trace) -> bool:
    """Whether somebody else should be asked for the reason: the server answered, but not as MCP.

    A refused token is clear, and Home Assistant notes each use of it; of a broken network nobody
    knows more.
    """
    return trace.connected and trace.error is None and trace.status != 401


def _by_network(spec: ServerSpec, error: httpx2.TransportError) -> IntegrationError:
    if spec.home_assistant:
        return reasons.network(spec.url, error)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes(error)):
        return Misconfigured(
            f"The certificate of {spec.address} is not trusted: set {spec.key('ca_file')} to its "
            f"authority, or {spec.key('verify_tls')} to false."
        )
    return Unavailable(
        f"{_title(spec)} does not answer at {spec.address}: check {spec.key('url')} "
        "and that it is running."
    )


def _by_status(spec: ServerSpec, status: int) -> IntegrationError:
    if spec.home_assistant:
        return _of_home(spec, status)
    title = _title(spec)
    if status == 401:
        return SignInAgain(f"{title} does not accept the credential in {spec.key('headers')}.")
    if status == 403:
        return SignInAgain(f"{title} forbids this credential: check {spec.key('headers')}.")
    if status == 404:
        return Misconfigured(f"Nothing is at {spec.address}: check {spec.key('url')}.")
    if status >= 500:
        return Unavailable(f"{title} answers with status {status}: it may still be starting.")
    return Misconfigured(
        f"{spec.address} answers with status {status}, not as an MCP server: "
        f"check {spec.key('url')}."
    )


def _of_home(spec: ServerSpec, status: int) -> IntegrationError:
    """What the status alone says of Home Assistant; asked over REST it may tell more."""
    if status == 401:
        return reasons.wrong_token()
    if status == 403:
        return reasons.not_admin()
    if status == 404:
        return reasons.no_mcp_server(spec.url)
    if status >= 500:
        return reasons.behind_proxy(spec.url, status)
    return reasons.something_else(spec.url)


def _title(spec: ServerSpec) -> str:
    return "Home Assistant" if spec.home_assistant else f'The MCP server "{spec.name}"'


def _kind(found: list[BaseException]) -> str:
    """The innermost error's class; groups and cancellations only carry it."""
    plain = [
        cause
        for cause in found
        if not isinstance(cause, (BaseExceptionGroup, asyncio.CancelledError))
    ]
    return type((plain or found)[-1]).__name__


log = logging.getLogger(__name__)

POST_S = 10.0  # one request of the SSE transport


async def open_client(
    stack: AsyncExitStack,
    spec: ServerSpec,
    trace: Trace,
    on_end: Callable[[IntegrationError], None],
) -> tuple[Client, bool]:
    """The client, to be closed with `stack`, and whether it stands on the first endpoint.

    An endpoint is passed over only where it is absent (404). Raises whatever went wrong, of which
    `trace` holds the status. `on_end` is told why a program ended.
    """
    if spec.transport == "stdio":
        return await _handshake(stack, stdio_transport(spec, on_end), "auto"), True
    if host_of(spec.url) is None:
        if spec.home_assistant:
            raise reasons.no_address(spec.url)
        raise Misconfigured(f"{spec.key('url')} = {spec.address!r} is no http address.")
    endpoints = spec.endpoints or (Endpoint("", spec.transport),)
    for endpoint in endpoints[:-1]:
        attempt = AsyncExitStack()
        try:
            client = await _open(attempt, spec, endpoint)
        except Exception as error:  # judged by the status that the transport noted
            await attempt.aclose()
            if trace.status != 404 or was_cancelled():
                raise
            log.info("%s has no %s, trying the next: %r", spec.name, endpoint.path, error)
            trace.status = None
            continue
        stack.push_async_exit(attempt)
        return client, endpoint is endpoints[0]
    return await _open(stack, spec, endpoints[-1]), len(endpoints) == 1


async def _open(stack: AsyncExitStack, spec: ServerSpec, endpoint: Endpoint) -> Client:
    url, headers, tls = f"{spec.url}{endpoint.path}", dict(spec.headers), _tls(spec)
    if endpoint.transport == "sse":
        made = partial(_for_sse, tls)
        transport = sse_client(url, headers, POST_S, httpx_client_factory=made)
        # Servers of that transport know the handshake only; the probe for newer ones is spared.
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
    """In the shape that the SDK's SSE transport asks for; it brings no credential of its own."""
    return http_client(headers, tls, POST_S, aside=True)
