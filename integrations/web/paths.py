"""The table that the interface is made from: its routes, and the document that describes them.

Both come from the same rows, so the document cannot tell of anything that is not there.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from integrations.web.box import Unknown
from integrations.web.guard import Guard
from integrations.web.problems import (
    ID,
    Name,
    Number,
    Refused,
    check_length,
    log_broken,
    own_fault,
    read_body,
    refused_by_box,
)
from integrations.web.requests import Wish
from integrations.web.sessions import NOBODY, Caller, Scope

Method = Literal["GET", "POST", "DELETE"]

# Problems that many paths share.
STORE = {507: "The store cannot be read or written now."}
GONE = {404: "There is no such thing (any more)."}


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was let in and makes sense."""

    caller: Caller
    wanted: Any  # the body, of the row's model
    request: Request

    @property
    def name(self) -> str:
        """The `{id}` of its path. Raises Unknown."""
        given = str(self.request.path_params["id"])
        if not re.fullmatch(ID, given):
            raise Unknown("There is no such thing: that is no id.")
        return given


@dataclass(frozen=True, slots=True)
class Path:
    """One method of one path."""

    method: Method
    path: str  # may have an {id}
    scope: Scope | None  # that it needs; None: any token
    summary: str
    handler: Callable[[Call], Awaitable[Response]]
    status: int  # where all went well
    answer: Any = None  # the type that tells the answer's JSON schema; None: no body
    media: str = "application/json"  # of the answer
    body: type[Wish] | None = None
    query: tuple[Number | Name, ...] = ()
    # Status and when it is given, beside those that all share.
    problems: Mapping[int, str] = field(default_factory=dict)
    open: bool = False  # whoever asks is let in: the body proves who they are


def routes_of(paths: Iterable[Path], guard: Guard) -> list[Route]:
    """A route for each path. HEAD and OPTIONS are none of its methods: 405."""
    by_path: dict[str, dict[str, Path]] = {}
    for row in paths:
        by_path.setdefault(row.path, {})[row.method] = row
    return [_route(path, rows, guard) for path, rows in by_path.items()]


def _route(path: str, rows: Mapping[str, Path], guard: Guard) -> Route:
    async def endpoint(request: Request) -> Response:
        return await _answer(rows[request.method], guard, request)

    route = Route(path, endpoint, methods=list(rows))
    route.methods = set(rows)  # starlette adds HEAD to GET, which would have the stream run on
    return route


async def _answer(row: Path, guard: Guard, request: Request) -> Response:
    try:
        caller = NOBODY if row.open else guard.admit(request, row.scope, browsers=True)
        check_length(request)
        wanted = None if row.body is None else await read_body(request, row.body)
        return await row.handler(Call(caller, wanted, request))
    except Refused as refused:
        return refused.answer()
    except Exception as error:
        known = refused_by_box(error)
        if known is None:
            log_broken(f"{row.method} {row.path}", error)
        return known or await own_fault(request, error)


def listed(rows: Sequence[Mapping[str, Any]]) -> Response:
    """A list as an answer."""
    return JSONResponse([dict(row) for row in rows])
