"""Routes outside /v1 (health, metrics and the console), and the headers of every response."""

import asyncio
import hashlib
import ipaddress
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from integrations.web.box import Health
from integrations.web.guard import Guard, Ingress
from integrations.web.problems import Refused, log_broken, own_fault, problem

HEALTH = "/healthz"  # the path


def health_route(health: Callable[[], Health]) -> Route:
    """Return the route `GET /healthz`, which needs no token. Its response is "ok", "degraded" or
    "dead", with status 503 for "dead" and otherwise 200."""

    async def healthz(request: Request) -> PlainTextResponse:
        word = health()
        return PlainTextResponse(word, status_code=503 if word == "dead" else 200)

    return Route(HEALTH, healthz, methods=["GET"])


def metrics_route(page: Callable[[], Awaitable[bytes]], content_type: str, guard: Guard) -> Route:
    """Return the route `GET /metrics` for Prometheus, which requires the scope `read`. `page`
    returns the metrics in the format `content_type`."""

    async def metrics(request: Request) -> Response:
        try:
            guard.admit(request, "read")
            return Response(await page(), media_type=None, headers={"Content-Type": content_type})
        except Refused as refused:
            return refused.answer()
        except Exception as error:
            log_broken("GET /metrics", error)
            return await own_fault(request, error)

    return Route("/metrics", metrics, methods=["GET"])


FOLDER = Path(__file__).parent / "console"
_INDEX = "index.html"
_WORKER = "worker.js"
_LANGUAGE = b'<html lang="en">'  # of the index, which words.js reads
_PART = r"[a-z0-9][a-z0-9_-]*"
# A file, possibly in a folder, but neither a hidden file nor one outside the console's folder.
_FILE = re.compile(rf"({_PART}/){{0,3}}{_PART}(?P<kind>\.[a-z0-9]{{1,12}})")
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
# No content from other origins, nothing inline, no forms to other sites, no <base>.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; media-src 'self' blob:; font-src 'self'; manifest-src 'self'; "
    "worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors {framed}"
)
_PERMISSIONS = "camera=(), geolocation=(), microphone=(self), payment=(), usb=()"


def console_routes(ingress: Ingress, folder: Path = FOLDER, language: str = "en") -> list[Route]:
    """Return the routes of the console's files, `/` and `/console/…`, which need no token because
    the files contain nothing about the house. `ingress` determines whether Home Assistant may show
    the console in a frame. The page is in `language` if the browser asks for none that it has."""
    files = _Files(ingress, folder, language)
    return [
        Route("/", files.index, methods=["GET"]),  # Starlette adds HEAD
        Route("/console/{file:path}", files.file, methods=["GET"]),
    ]


class _Files:
    def __init__(self, ingress: Ingress, folder: Path, language: str) -> None:
        self._ingress = ingress
        self._folder = folder
        self._language = f'<html lang="{language}">'.encode()

    async def index(self, request: Request) -> Response:
        return await self._answer(request, _INDEX, _TYPES[".html"])

    async def file(self, request: Request) -> Response:
        name = str(request.path_params["file"])
        found = _FILE.fullmatch(name)
        kind = _TYPES.get(found["kind"]) if found else None
        return _missing() if kind is None else await self._answer(request, name, kind)

    async def _answer(self, request: Request, name: str, kind: str) -> Response:
        try:
            data = await asyncio.to_thread((self._folder / name).read_bytes)
        except OSError:
            return _missing()
        if name == _INDEX:
            data = data.replace(_LANGUAGE, self._language, 1)
        tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
        headers = {"Cache-Control": "no-cache", "ETag": tag, **self._guarded(request)}
        if name == _WORKER:
            headers["Service-Worker-Allowed"] = "../"  # it serves the page, which is a level higher
        if tag in _tags(request.headers.get("if-none-match", "")):
            return Response(status_code=304, headers=headers)
        return Response(data, headers=headers, media_type=kind)

    def _guarded(self, request: Request) -> dict[str, str]:
        """Return headers that forbid framing, except by Home Assistant through ingress. A page that
        frames the console could trick people into pressing buttons that they do not see."""
        framed = self._ingress.front(request).by_ingress
        return {
            "Content-Security-Policy": _POLICY.format(framed="'self'" if framed else "'none'"),
            "X-Frame-Options": "SAMEORIGIN" if framed else "DENY",
            "Permissions-Policy": _PERMISSIONS,
        }


def _tags(header: str) -> set[str]:
    """Return the entity tags in `If-None-Match` (RFC 9110, 13.1.2), without the weak prefix."""
    return {tag.strip().removeprefix("W/") for tag in header.split(",")}


def _missing() -> Response:
    return problem(404, "not_found", "The console has no such file.")


# Responses must not be cached. Only the console, which sets its own policy, is a page. Other
# origins must not embed a response as an image, audio or a script.
_ALWAYS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


def is_loopback(host: str) -> bool:
    """Return True for "localhost" and for loopback addresses."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Fronted:
    """Wraps an application with the checks and headers that apply to every request.

    If Hearth listens on a loopback address, only this machine's own names are accepted as the Host
    header, so that no website can reach Hearth by DNS rebinding.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._names = {"localhost", "127.0.0.1", "::1", host.lower()} if is_loopback(host) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_fronted(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        if not self._is_ours(Headers(scope=scope).get("host", "")):
            message = "Here, Hearth answers only to the names localhost, 127.0.0.1 and [::1]."
            await problem(421, "wrong_host", message)(scope, receive, send_fronted)
            return
        try:
            await self._app(scope, receive, send_fronted)
        # The request has been answered, and the server would log the error's message.
        except Exception as error:
            log_broken("a request", error)

    def _is_ours(self, given: str) -> bool:
        if self._names is None:
            return True
        name, _, port = given.removeprefix("[").partition("]" if given.startswith("[") else ":")
        port = port.removeprefix(":")
        return name.lower() in self._names and (not port or port.isdecimal())
