"""Errors as every path of the interface gives them: `{"error": {"kind": …, "message": …}}`."""

import logging
import math
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from integrations.causes import where_raised
from integrations.web.box import NotAnnounced, NotKept, NotPossible, Unknown
from integrations.web.busy import Busy

_log = logging.getLogger(__name__)

# What the box refuses, by the status and kind that a program sees. The sentence is the error's own.
_OF_THE_BOX: Mapping[type[Exception], tuple[int, str]] = {
    NotKept: (507, "not_kept"),
    NotAnnounced: (503, "not_announced"),
    NotPossible: (422, "not_possible"),
    Busy: (409, "busy"),
    Unknown: (404, "not_found"),
}
_OF_HTTP = {
    404: ("not_found", "There is no such path; /v1/openapi.json lists all."),
    405: ("method_not_allowed", "The path does not take this method; its header Allow names some."),
}
BROKE = "Something failed in Hearth that should not; its log says where."


class Refused(Exception):
    """A request that is not served. `str(error)` is a sentence, without anything of the request."""

    def __init__(
        self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = dict(headers or {})

    def answer(self) -> Response:
        """As the program sees it."""
        return problem(self.status, self.kind, str(self), self.headers)


def problem(
    status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An error as an answer."""
    body = {"error": {"kind": kind, "message": message}}
    return JSONResponse(body, status_code=status, headers=headers)


def too_many(wait_s: float, message: str) -> Refused:
    """Of a program that is to wait so many seconds."""
    return Refused(429, "too_many", message, {"Retry-After": str(math.ceil(wait_s))})


def refused_by_box(error: Exception) -> Response | None:
    """What the box means by that error; None where it is none of those it may raise."""
    for kind, (status, word) in _OF_THE_BOX.items():
        if isinstance(error, kind):
            return problem(status, word, str(error))
    return None


def gone() -> Refused:
    """To a program that has hung up: nobody reads it."""
    return Refused(499, "gone", "Whoever asked has hung up.")


def log_broken(what: str, error: Exception) -> None:
    """Write down where it failed, and not the error's own words: they may quote what was sent, a
    PIN among it."""
    _log.error("%s broke with %s in %s", what, type(error).__name__, where_raised(error))


async def own_fault(request: Request, error: Exception) -> Response:
    """The answer where something failed that should not."""
    return problem(500, "broken", BROKE)


async def http_problem(request: Request, error: Exception) -> Response:
    """What starlette itself refuses: a path or a method that is not there."""
    assert isinstance(error, HTTPException)
    kind, message = _OF_HTTP.get(error.status_code, ("refused", "The request is not understood."))
    return problem(error.status_code, kind, message, error.headers)
