"""The table of API paths, from which the routes and the OpenAPI document are generated."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from integrations.web.box import NOBODY, Caller, Scope, Unknown
from integrations.web.guard import COOKIE, Guard
from integrations.web.problems import (
    ID,
    MAX_BODY,
    Name,
    Number,
    Refused,
    check_length,
    log_broken,
    own_fault,
    read_body,
    refused_by_box,
)
from integrations.web.replies import ErrorReply
from integrations.web.requests import Wish

Method = Literal["GET", "POST", "DELETE"]

# Errors that many paths share.
STORE = {507: "The journal cannot be read or written at the moment."}
GONE = {404: "Not found; it may have ended or expired."}


@dataclass(frozen=True, slots=True)
class Call:
    caller: Caller
    wanted: Any  # the body, an instance of the path's model
    request: Request

    @property
    def name(self) -> str:
        """The `{id}` in the path. Raises Unknown if it is not a valid id."""
        given = str(self.request.path_params["id"])
        if not re.fullmatch(ID, given):
            raise Unknown("Not found: that is not a valid id.")
        return given


@dataclass(frozen=True, slots=True)
class Path:
    method: Method
    path: str  # may contain {id}
    scope: Scope | None  # the required scope; None: any token is enough
    summary: str
    handler: Callable[[Call], Any]  # returns a response or its JSON, possibly asynchronously
    status: int  # status on success
    answer: Any = None  # type of the response, for its JSON schema; None: no body
    media: str = "application/json"  # content type of the response
    body: type[Wish] | None = None
    query: tuple[Number | Name, ...] = ()
    # Error statuses and their causes, in addition to those of all paths.
    problems: Mapping[int, str] = field(default_factory=dict)
    open: bool = False  # True: needs no token, because the body identifies the caller


def routes_of(paths: Iterable[Path], guard: Guard) -> list[Route]:
    """Return one route for each path. HEAD and OPTIONS get status 405."""
    by_path: dict[str, dict[str, Path]] = {}
    for row in paths:
        by_path.setdefault(row.path, {})[row.method] = row
    return [_route(path, rows, guard) for path, rows in by_path.items()]


def _route(path: str, rows: Mapping[str, Path], guard: Guard) -> Route:
    async def endpoint(request: Request) -> Response:
        return await _answer(rows[request.method], guard, request)

    route = Route(path, endpoint, methods=list(rows))
    route.methods = set(rows)  # Starlette adds HEAD, which would run an event stream forever
    return route


async def _answer(row: Path, guard: Guard, request: Request) -> Response:
    try:
        caller = NOBODY if row.open else guard.admit(request, row.scope, browsers=True)
        check_length(request)
        wanted = None if row.body is None else await read_body(request, row.body)
        told = row.handler(Call(caller, wanted, request))
        return _response(row, await told if isawaitable(told) else told)
    except Refused as refused:
        return refused.answer()
    except Exception as error:
        known = refused_by_box(error)
        if known is None:
            log_broken(f"{row.method} {row.path}", error)
        return known or await own_fault(request, error)


def _response(row: Path, told: Any) -> Response:
    if isinstance(told, Response):
        return told
    if row.answer is None:
        return Response(status_code=row.status)
    body = dict(told) if isinstance(told, Mapping) else [dict(one) for one in told]
    return JSONResponse(body, status_code=row.status)


_REF = "#/components/schemas/{model}"
_ABOUT = """\
Every path needs a token as `Authorization: Bearer TOKEN`, except /healthz, the console's files,
`POST /v1/session` and the paths with which Home Assistant signs in at /mcp. A browser that has
signed in sends its cookie instead; changes are then accepted from the console's own page only.
Scopes: `speak`, `ask`, `read`, and `admin`, which includes the others.
Errors are `{"error": {"kind", "message"}}`.\
"""
_ALWAYS = {
    401: "The token is missing, or is not one of Hearth's.",
    413: f"More than {MAX_BODY} bytes.",
    411: "The body has no Content-Length.",
    421: "On a loopback address: the Host header is not a name of this machine.",
    429: "Too many requests or wrong tokens; wait as long as Retry-After says.",
    500: "An internal error.",
}


def document(paths: Iterable[Path], version: str) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document for these paths, as JSON."""
    rows = tuple(paths)
    shapes = _Shapes(rows)
    by_path: dict[str, dict[str, Any]] = {}
    for row in rows:
        by_path.setdefault(row.path, {})[row.method.lower()] = _operation(row, shapes)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Hearth", "version": version, "description": _ABOUT},
        "security": [{"token": []}, {"session": []}],
        "paths": by_path,
        "components": {
            "schemas": shapes.named,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            },
        },
    }


class _Shapes:
    def __init__(self, rows: tuple[Path, ...]) -> None:
        types: set[Any] = {row.body for row in rows} | {ErrorReply}
        inputs: list[tuple[Any, JsonSchemaMode, TypeAdapter[Any]]] = [
            (shape, "validation", TypeAdapter(shape)) for shape in sorted(types - {None}, key=repr)
        ]
        inputs += [
            (row.answer, "validation", TypeAdapter(row.answer))
            for row in rows
            if row.answer is not None
        ]
        found, defined = TypeAdapter.json_schemas(inputs, ref_template=_REF)
        self._by_type = {shape: schema for (shape, _), schema in found.items()}
        self.named: Mapping[str, Any] = defined["$defs"]

    def of(self, shape: Any) -> Mapping[str, Any]:
        return self._by_type[shape]


def _operation(row: Path, shapes: _Shapes) -> dict[str, Any]:
    needs = f"Needs the scope `{row.scope}`." if row.scope else "Any token works."
    if row.open:
        needs = "Needs no token."
    operation: dict[str, Any] = {
        "operationId": _id(row),
        "summary": row.summary,
        "description": needs,
        "responses": {str(row.status): _good(row, shapes), **_bad(row, shapes)},
    }
    parameters = [_in_path()] if "{id}" in row.path else []
    parameters += [_in_query(wanted) for wanted in row.query]
    if row.open:
        operation["security"] = []
    if parameters:
        operation["parameters"] = parameters
    if row.body is not None:
        content = {"application/json": {"schema": shapes.of(row.body)}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _good(row: Path, shapes: _Shapes) -> dict[str, Any]:
    if row.answer is None:
        return {"description": "Done."}
    schema = shapes.of(row.answer)
    return {"description": row.summary, "content": {row.media: {"schema": schema}}}


def _bad(row: Path, shapes: _Shapes) -> dict[str, Any]:
    told = dict(_ALWAYS)
    if row.method != "GET":
        told[403] = "A browser session, used by a page that is not Hearth's."
    if row.scope is not None:
        told[403] = (
            f"The token lacks the scope {row.scope}, or the request came from a page that is not "
            "Hearth's."
        )
    if row.body is not None:
        told[415] = "Content-Type is not application/json."
        told[422] = "The body is invalid, or the request cannot be carried out."
    elif row.query:
        told[422] = "The query is invalid."
    told.update(row.problems)
    content = {"application/json": {"schema": shapes.of(ErrorReply)}}
    return {
        str(status): {"description": told[status], "content": content} for status in sorted(told)
    }


def _in_path() -> dict[str, Any]:
    schema = {"type": "string", "pattern": f"^{ID}$"}
    return {"name": "id", "in": "path", "required": True, "schema": schema}


def _in_query(wanted: Number | Name) -> dict[str, Any]:
    if isinstance(wanted, Name):
        schema: dict[str, Any] = {"type": "string", "pattern": f"^{ID}$"}
    else:
        schema = {
            "type": "integer",
            "minimum": wanted.least,
            "maximum": wanted.most,
            "default": wanted.default,
        }
    return {"name": wanted.name, "in": "query", "schema": schema}


def _id(row: Path) -> str:
    return "_".join([row.method.lower(), *re.findall(r"\w+", row.path.removeprefix("/v1"))])
