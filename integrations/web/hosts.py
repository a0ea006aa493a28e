"""What every answer of the interface has in common, and which names it answers to."""

import ipaddress

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from integrations.web.problems import log_broken, problem

# What the house says is nobody's to keep; nothing of it is a page but the console, which says so
# itself; and no page of another origin may use it as a picture, a sound or a script.
_ALWAYS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Fronted:
    """An application behind what holds for every request.

    On a loopback address it answers only to that machine's own names: a page of the internet can
    have its name point to 127.0.0.1 (DNS rebinding), and then a browser takes us for its server.
    Elsewhere we cannot know what we are called, and the token has to do.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        """`host`: the address it listens on."""
        self._app = app
        self._names = {"localhost", "127.0.0.1", "::1", host.lower()} if is_loopback(host) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_fronted(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] == "http" and not self._is_ours(Headers(scope=scope).get("host", "")):
            message = "Hearth answers here to localhost, 127.0.0.1 and [::1] alone."
            await problem(421, "wrong_host", message)(scope, receive, send_fronted)
            return
        try:
            await self._app(scope, receive, send_fronted)
        except Exception as error:  # it is answered already; the server would write down its words
            log_broken("a request", error)

    def _is_ours(self, given: str) -> bool:
        if self._names is None:
            return True
        name, _, port = given.removeprefix("[").partition("]" if given.startswith("[") else ":")
        port = port.removeprefix(":")
        return name.lower() in self._names and (not port or port.isdecimal())
