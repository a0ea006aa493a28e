"""The HTTP API for programs under /v1: its paths, the application, and signing in."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, get_args

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from integrations.qr import modules
from integrations.web.box import Box, Scope
from integrations.web.guard import FOREIGN, Guard, SignedIn, is_foreign, sent_session, set_cookie
from integrations.web.house import house_paths
from integrations.web.household import household_paths
from integrations.web.pages import Fronted
from integrations.web.paths import GONE, STORE, Call, Path, document, routes_of
from integrations.web.problems import Refused, http_problem, own_fault
from integrations.web.replies import BrowserReply, LinkReply, SessionReply
from integrations.web.requests import LinkRequest, SignInRequest
from integrations.web.routes import button_paths, list_paths, looking_paths
from integrations.web.stream import speaking_paths


def api_paths(box: Box, guard: Guard, version: str) -> Sequence[Path]:
    """Return all API paths. `version` is Hearth's version, for the OpenAPI document."""

    @cache
    def described() -> dict[str, Any]:  # generated once, on the first request
        return document(rows, version)

    rows = (
        *button_paths(box, guard),
        *speaking_paths(box),
        *list_paths(box),
        *household_paths(box),
        *house_paths(box),
        *looking_paths(box),
        *SigningIn(guard).paths(),
        Path(
            *("GET", "/v1/openapi.json", None, "This document."),
            *(lambda call: described(), 200, dict[str, Any]),
        ),
    )
    return rows


def api_routes(box: Box, guard: Guard, version: str = "") -> list[Route]:
    return routes_of(api_paths(box, guard, version), guard)


def web_app(routes: Iterable[BaseRoute], host: str = "127.0.0.1") -> ASGIApp:
    """Return the application that serves these routes. `host` is the address on which the server
    listens; see `Fronted`."""
    app = Starlette(
        routes=list(routes), exception_handlers={HTTPException: http_problem, Exception: own_fault}
    )
    app.router.redirect_slashes = False  # Do not redirect to other paths.
    return Fronted(app, host)


_SCOPES: tuple[Scope, ...] = get_args(Scope)
_log = logging.getLogger(__name__)


class SigningIn:
    """`/v1/session`: signs a browser in with a token or a one-time link, and signs it out. Every
    session starts with a new id."""

    def __init__(self, guard: Guard, *, setting_up: bool = False) -> None:
        """`setting_up` is True if this server leads through the first run."""
        self._guard = guard
        self._setting_up = setting_up
        self._one_code_at_a_time = asyncio.Lock()

    def paths(self) -> Sequence[Path]:
        return (
            Path(
                *("POST", "/v1/session", None, "Sign a browser in with a token or a link."),
                *(self._sign_in, 204),
                body=SignInRequest,
                problems={
                    401: "The token is unknown, or the code was used or has expired.",
                    403: "The request came from a page of another origin.",
                    507: "The journal cannot be used to make sure that the code works only once.",
                },
                open=True,
            ),
            Path(
                *("GET", "/v1/session", None, "Get the caller and its scopes."),
                *(self._who, 200, SessionReply),
            ),
            Path(
                *("DELETE", "/v1/session", None, "Sign out."),
                *(self._sign_out, 204),
                problems={507: "Applied, but not saved: a restart undoes it."},
            ),
            *self._managing(),
        )

    def _managing(self) -> Sequence[Path]:
        sessions = self._guard.sessions
        return (
            Path(
                *("POST", "/v1/links", "admin", "Create a link that signs one browser in."),
                *(self._make_link, 201, LinkReply),
                body=LinkRequest,
                problems=STORE,
            ),
            Path(
                *("GET", "/v1/sessions", "admin", "List the browsers that are signed in."),
                *(lambda call: sessions.rows(call.caller), 200, list[BrowserReply]),
            ),
            Path(
                *("DELETE", "/v1/sessions/{id}", "admin", "Sign a browser out."),
                *(lambda call: sessions.end_one(call.name), 204),
                problems={**GONE, 507: "Applied, but not saved: a restart undoes it."},
            ),
        )

    async def _make_link(self, call: Call) -> dict[str, Any]:
        wanted: LinkRequest = call.wanted
        made = await self._guard.sessions.make_link(wanted)
        if wanted.address is None:
            return {**made, "qr": None}
        # In the body alone: an address of a picture would put the code into logs.
        qr = await asyncio.to_thread(modules, f"{wanted.address}#code={made['code']}")
        return {**made, "qr": qr}

    async def _sign_in(self, call: Call) -> Response:
        request, wanted = call.request, call.wanted
        front = self._guard.ingress.front(request)
        if is_foreign(request, front):
            raise Refused(403, "foreign_page", FOREIGN)
        if wanted.token is not None:
            begun = await self._by_token(request, wanted.token.get_secret_value())
        else:
            begun = await self._by_code(request, wanted.code.get_secret_value())
        answer = Response(status_code=204)
        set_cookie(answer, begun.id, front.prefix, front.scheme == "https")
        way = "token" if wanted.token is not None else "link"
        _log.info("a browser signed in as %s with a %s", begun.caller.name, way)
        return answer

    async def _by_token(self, request: Request, token: str) -> SignedIn:
        self._guard.prove(request, token)
        begun = await self._guard.sessions.begin(token, sent_session(request))
        if begun is None:  # revoked in the meantime
            raise Refused(401, "unauthorized", "The token is not one of Hearth's.")
        return begun

    async def _by_code(self, request: Request, code: str) -> SignedIn:
        async with self._one_code_at_a_time:  # otherwise parallel codes would not be counted
            self._guard.check_guesses(request, certain=True)  # 192 bits cannot be guessed
            begun = await self._guard.sessions.redeem(code, sent_session(request))
            if begun is None:
                self._guard.check_guesses(request)
                self._guard.guessed_wrong(request)
        if begun is None:
            message = "The link has already been used or has expired; create a new one."
            raise Refused(401, "unauthorized", message)
        return begun

    def _who(self, call: Call) -> dict[str, Any]:
        caller = call.caller
        scopes = [one for one in _SCOPES if caller.may(one)]
        told = {"name": caller.name, "scopes": scopes}
        return {**told, "setting_up": True} if self._setting_up else told

    async def _sign_out(self, call: Call) -> Response:
        await self._guard.sessions.end(sent_session(call.request))
        front = self._guard.ingress.front(call.request)
        answer = Response(status_code=204)
        set_cookie(answer, "", front.prefix, front.scheme == "https")
        return answer
