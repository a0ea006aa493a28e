"""`GET /healthz`: one word on how the box is. Needs no token and tells nothing else."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from integrations.web.guard import Guard, Ingress
from integrations.web.problems import Refused, log_broken, own_fault, problem

HEALTH = "/healthz"  # the path
Health = Literal["ok", "degraded", "dead"]


def health_route(health: Callable[[], Health]) -> Route:
    """The path, which answers 200 for ok and degraded, 503 for dead."""

    async def healthz(request: Request) -> PlainTextResponse:
        word = health()
        return PlainTextResponse(word, status_code=503 if word == "dead" else 200)

    return Route(HEALTH, healthz, methods=["GET"])


# `GET /metrics`: what is counted, for Prometheus. Needs a token, which a scrape can send.


def metrics_route(page: Callable[[], Awaitable[bytes]], content_type: str, guard: Guard) -> Route:
    """The path. `page`: gives it as it is now. It takes a token with the scope `read`."""

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


#
# The console page: `/` and `/console/…`, files that lie beside this module and need no token.
#
# They hold nothing of the house. What the page shows it asks of /v1, signed in.


FOLDER = Path(__file__).parent / "console"
_INDEX = "index.html"
_PART = r"[a-z0-9][a-z0-9_-]*"
# A file, in a folder or not: no hidden one, and nothing above.
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
# Nothing of another origin, nothing inline, no form that leaves, no <base> that bends addresses.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; media-src 'self' blob:; font-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors {framed}"
)
_PERMISSIONS = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


def console_routes(ingress: Ingress, folder: Path = FOLDER) -> list[Route]:
    """The routes. `ingress`: by which Home Assistant may show the page within its own."""
    files = _Files(ingress, folder)
    return [
        Route("/", files.index, methods=["GET"]),  # starlette adds HEAD
        Route("/console/{file:path}", files.file, methods=["GET"]),
    ]


class _Files:
    def __init__(self, ingress: Ingress, folder: Path) -> None:
        self._ingress = ingress
        self._folder = folder

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
        tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
        headers = {"Cache-Control": "no-cache", "ETag": tag, **self._guarded(request)}
        if tag in _tags(request.headers.get("if-none-match", "")):
            return Response(status_code=304, headers=headers)
        return Response(data, headers=headers, media_type=kind)

    def _guarded(self, request: Request) -> dict[str, str]:
        """Who may show it in a frame: Home Assistant where it comes by that, else nobody, since a
        page around ours could have people press what they do not see."""
        framed = self._ingress.front(request).by_ingress
        return {
            "Content-Security-Policy": _POLICY.format(framed="'self'" if framed else "'none'"),
            "X-Frame-Options": "SAMEORIGIN" if framed else "DENY",
            "Permissions-Policy": _PERMISSIONS,
        }


def _tags(header: str) -> set[str]:
    """Of `If-None-Match` (RFC 9110, 13.1.2), which compares weakly."""
    return {tag.strip().removeprefix("W/") for tag in header.split(",")}


def _missing() -> Response:
    return problem(404, "not_found", "The console has no such file.")
