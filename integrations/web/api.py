"""The HTTP interface for programs, under /v1: what is made of the table of its paths.

Every path needs a token or a session; every error is `{"error": {"kind": …, "message": …}}`.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from integrations.web.box import Box
from integrations.web.buttons import Buttons
from integrations.web.guard import Guard
from integrations.web.hosts import Fronted
from integrations.web.keeping import Keeping
from integrations.web.looking import Looking
from integrations.web.openapi import document
from integrations.web.paths import Call, Path, routes_of
from integrations.web.problems import http_problem, own_fault
from integrations.web.signing_in import SigningIn
from integrations.web.speaking import Speaking


def api_paths(box: Box, guard: Guard, version: str) -> Sequence[Path]:
    """All of them. `version`: Hearth's own, for the document."""

    @cache
    def described() -> dict[str, Any]:  # once, where somebody wants it at all
        return document(rows, version)

    async def describe(call: Call) -> Response:
        return JSONResponse(described())

    rows = (
        *Buttons(box, guard).paths(),
        *Speaking(box).paths(),
        *Keeping(box).paths(),
        *Looking(box).paths(),
        *SigningIn(guard).paths(),
        Path(
            *("GET", "/v1/openapi.json", None, "This document."),
            *(describe, 200, dict[str, Any]),
        ),
    )
    return rows


def api_routes(box: Box, guard: Guard, version: str = "") -> list[Route]:
    """The paths under /v1 as routes."""
    return routes_of(api_paths(box, guard, version), guard)


def web_app(routes: Iterable[BaseRoute], host: str = "127.0.0.1") -> ASGIApp:
    """The application that serves these routes; what there is not is told as any other error.

    `host`: the address it listens on, see `Fronted`.
    """
    app = Starlette(
        routes=list(routes), exception_handlers={HTTPException: http_problem, Exception: own_fault}
    )
    app.router.redirect_slashes = False  # another path than was asked for is none
    return Fronted(app, host)
