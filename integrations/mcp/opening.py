"""How a session of the SDK is opened: which endpoint, which transport, which handshake."""

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
from integrations.errors import IntegrationError, Misconfigured
from integrations.home_assistant import reasons
from integrations.mcp.servers import Endpoint, ServerSpec
from integrations.mcp.stdio import stdio_transport
from integrations.mcp.wire import Trace, http_client, was_cancelled
from integrations.tls import tls_for

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
