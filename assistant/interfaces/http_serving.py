"""The HTTP interface as the settings want it: its tokens, its address, TLS."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from starlette.routing import BaseRoute

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.domain.version import own_version
from assistant.interfaces.http_sessions import Sessions
from assistant.interfaces.http_tokens import HttpTokens, TokenFile, admin_of
from integrations.serving import serving
from integrations.tls import server_context
from integrations.web.api import api_routes, web_app
from integrations.web.box import Box
from integrations.web.guard import Guard, Ingress
from integrations.web.hosts import is_loopback
from integrations.web.pages import HEALTH, Health, console_routes, health_route

_log = logging.getLogger(__name__)


async def open_guard(settings: Settings) -> Guard:
    """Who may use it. There is always a token: see `http_tokens`. Raises ConfigError."""
    file = TokenFile(settings.data_folder)
    tokens = await asyncio.to_thread(HttpTokens, admin_of(settings), file)
    sessions = Sessions(settings.data_folder, tokens, SystemClock())
    return Guard(tokens, sessions=sessions, ingress=Ingress(settings.http.ingress))


@asynccontextmanager
async def serving_http(
    settings: Settings,
    box: Box,
    guard: Guard,
    health: Callable[[], Health],
    more: Sequence[BaseRoute] = (),
) -> AsyncIterator[int]:
    """Serve it, and give the port. `more`: other routes, which bring their own guard.

    Raises ConfigError and Misconfigured where the address or the certificate cannot be used.
    """
    http = settings.http
    if http.tls_key and not http.tls_cert:
        raise ConfigError("http.tls_key is set without a certificate: set http.tls_cert too")
    tls = server_context(http.tls_cert, http.tls_key) if http.tls_cert else None
    if tls is None and not is_loopback(http.host):
        _log.warning(
            "The HTTP interface listens on %s without TLS: who is in that network can read the "
            "tokens. Set http.tls_cert and http.tls_key, or let http.host be 127.0.0.1.",
            http.host or "every address",
        )
    routes = [
        health_route(health),
        *console_routes(guard.ingress),
        *api_routes(box, guard, own_version()),
        *more,
    ]
    app = web_app(routes, http.host)
    async with serving(app, http.host, http.port, tls, always={HEALTH}) as port:
        try:
            yield port
        finally:
            box.events.close()  # the server waits for who still listens
