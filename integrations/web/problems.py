"""Read and refuse requests: bodies, queries, rate limits, and the error format.

An error is `{"error": {"kind": …, "message": …}}`. If a field is wrong, the message names the field
and the accepted values. No message quotes the request.
"""

import logging
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from integrations.errors import where_raised
from integrations.web.box import Busy, NotAnnounced, NotKept, NotPossible, Unknown
from integrations.web.requests import Wish

ID = r"[A-Za-z0-9_.:-]{1,100}"  # an id in a path
MAX_BODY = 64 * 1024  # bytes of a request; no API call needs more
_JSON = "application/json"
_DIGITS = re.compile(r"[0-9]{1,4}")
# Servers accept leading zeros, so the pattern must too.
_LENGTH = re.compile(r"0*[0-9]{1,9}")
# Callers to remember; the one that has been idle longest is dropped first.
_MOST = 1024

_log = logging.getLogger(__name__)


# Status and kind for each error that Box raises. The message is that of the error.
_OF_THE_BOX: Mapping[type[Exception], tuple[int, str]] = {
    NotKept: (507, "not_kept"),
    NotAnnounced: (503, "not_announced"),
    NotPossible: (422, "not_possible"),
    Busy: (409, "busy"),
    Unknown: (404, "not_found"),
}
_OF_HTTP = {
    404: ("not_found", "There is no such path; see /v1/openapi.json for all paths."),
    405: (
        "method_not_allowed",
        "This path does not support that method; the Allow header lists those it supports.",
    ),
}
BROKE = "An internal error occurred; see Hearth's log."


class Refused(Exception):
    """A request that was refused. The message never quotes the request."""

    def __init__(
        self, status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = dict(headers or {})

    def answer(self) -> Response:
        return problem(self.status, self.kind, str(self), self.headers)


def problem(
    status: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    body = {"error": {"kind": kind, "message": message}}
    return JSONResponse(body, status_code=status, headers=headers)


def too_many(wait_s: float, message: str) -> Refused:
    """Return the error for a program that must wait `wait_s` seconds."""
    return Refused(429, "too_many", message, {"Retry-After": str(math.ceil(wait_s))})


def refused_by_box(error: Exception) -> Response | None:
    """Return the response for an error that Box raised, or None for any other error."""
    for kind, (status, word) in _OF_THE_BOX.items():
        if isinstance(error, kind):
            return problem(status, word, str(error))
    return None


def gone() -> Refused:
    return Refused(499, "gone", "The client has disconnected.")


def log_broken(what: str, error: Exception) -> None:
    """Log where the error was raised, but not its message, which could quote the request or a
    PIN."""
    _log.error("%s failed with %s in %s", what, type(error).__name__, where_raised(error))


async def own_fault(request: Request, error: Exception) -> Response:
    return problem(500, "broken", BROKE)


async def http_problem(request: Request, error: Exception) -> Response:
    """Return the response for a request that Starlette refuses, such as one for an unknown path."""
    assert isinstance(error, HTTPException)
    kind, message = _OF_HTTP.get(
        error.status_code, ("refused", "The request could not be understood.")
    )
    return problem(error.status_code, kind, message, error.headers)


def check_length(connection: HTTPConnection) -> None:
    """Raise Refused if the body is too long or has no Content-Length."""
    if connection.headers.get("transfer-encoding"):
        raise Refused(411, "length_required", "Send the request with a Content-Length.")
    length = connection.headers.get("content-length", "0")
    if not _LENGTH.fullmatch(length) or int(length) > MAX_BODY:
        raise Refused(413, "too_long", f"A request can have at most {MAX_BODY} bytes.")


async def read_body(request: Request, model: type[Wish]) -> Wish:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON:
        message = f"Send JSON, with the header `Content-Type: {_JSON}`."
        raise Refused(415, "not_json", message)
    try:
        return model.model_validate_json(await request.body())
    except ClientDisconnect:
        raise gone() from None
    except ValidationError as error:
        raise Refused(422, "bad_request", fault_sentence(error, model)) from None


@dataclass(frozen=True, slots=True)
class Number:
    name: str
    default: int
    least: int
    most: int  # at most four digits


def read_number(request: Request, wanted: Number) -> int:
    """Return the number in the query, or its default. Raises Refused."""
    given = request.query_params.getlist(wanted.name)
    if not given:
        return wanted.default
    number = int(given[0]) if len(given) == 1 and _DIGITS.fullmatch(given[0]) else wanted.most + 1
    if not wanted.least <= number <= wanted.most:
        message = f"{wanted.name} must be one whole number from {wanted.least} to {wanted.most}."
        raise Refused(422, "bad_request", message)
    return number


@dataclass(frozen=True, slots=True)
class Name:
    name: str


def read_name(request: Request, wanted: Name) -> str | None:
    given = request.query_params.getlist(wanted.name)
    if not given:
        return None
    if len(given) > 1 or not re.fullmatch(ID, given[0]):
        raise Refused(422, "bad_request", f"{wanted.name} must be one id.")
    return given[0]


def fault_sentence(error: ValidationError, model: type[BaseModel]) -> str:
    """Describe the first validation error without quoting the request."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if fault["type"] == "json_invalid":
        return "The body must be JSON."
    if fault["type"] == "extra_forbidden":  # the last part of the location comes from the request
        *path, _ = fault["loc"]
        inside = f" in {_named(path)}" if path else ""
        return f"Unknown key{inside}; the valid keys are {_keys(model)}."
    where, what = _named(fault["loc"]), _said(fault)
    return f"{where}: {what}." if where else f"The body: {what}; the valid keys are {_keys(model)}."


def _said(fault: ErrorDetails) -> str:
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return message.replace("should ", "must ").rstrip(".").replace("Field required", "is missing")


def _named(path: Iterable[int | str]) -> str:
    return ".".join(str(step) for step in path)


def _keys(model: type[BaseModel]) -> str:
    fields: Mapping[str, Any] = model.model_fields
    return ", ".join(field.alias or name for name, field in fields.items())


class Rate:
    """A separate rate limit for each caller, with the generic cell rate algorithm (ATM Forum
    TM-4.1, annex B)."""

    def __init__(self, at_once: int, every_s: float, now: Callable[[], float]) -> None:
        """Allow `at_once` calls in a burst, and then one call every `every_s` seconds. `now`
        returns the seconds of a monotonic clock."""
        self._ahead_s = (at_once - 1) * every_s
        self._every_s = every_s
        self._now = now
        self._paid: dict[str, float] = {}

    def wait_s(self, who: str) -> float:
        """Return how many seconds to wait until the next call is allowed, or 0 if it is allowed
        now."""
        wait = self._paid.get(who, 0.0) - self._now() - self._ahead_s
        return max(0.0, round(wait, 6))  # sums of fractions are inexact

    def take(self, who: str) -> float:
        """Count a call and return 0. If it is not allowed, return the seconds to wait instead."""
        wait = self.wait_s(who)
        if wait:
            return wait
        paid = max(self._paid.pop(who, 0.0), self._now()) + self._every_s
        if len(self._paid) >= _MOST:
            del self._paid[next(iter(self._paid))]
        self._paid[who] = paid
        return 0.0
