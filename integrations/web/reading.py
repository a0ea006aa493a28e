"""A request's body and query, read as what the path takes; what is wrong is told in one sentence.

The sentence names the field and what it must be, and repeats nothing of what was sent.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from starlette.requests import ClientDisconnect, HTTPConnection, Request

from integrations.web.problems import Refused, gone
from integrations.web.requests import Wish

ID = r"[A-Za-z0-9_.:-]{1,100}"  # of anything that has a path of its own
MAX_BODY = 64 * 1024  # bytes of a request; no call of ours needs more
_JSON = "application/json"
_DIGITS = re.compile(r"[0-9]{1,4}")
# A server reads zeros in front as a number like any other, so they may not hide how long it is.
_LENGTH = re.compile(r"0*[0-9]{1,9}")


def check_length(connection: HTTPConnection) -> None:
    """Raises Refused for a body that is too long, or that does not say how long it is."""
    if connection.headers.get("transfer-encoding"):
        raise Refused(411, "length_required", "Send the request with a Content-Length.")
    length = connection.headers.get("content-length", "0")
    if not _LENGTH.fullmatch(length) or int(length) > MAX_BODY:
        raise Refused(413, "too_long", f"A request may have {MAX_BODY} bytes at most.")


async def read_body(request: Request, model: type[Wish]) -> Wish:
    """What is asked for. Raises Refused."""
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
    """A whole number in a query."""

    name: str
    default: int
    least: int
    most: int  # at most four digits


def read_number(request: Request, wanted: Number) -> int:
    """What was given for it, or its default. Raises Refused."""
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
    """An id in a query, which may be left out."""

    name: str


def read_name(request: Request, wanted: Name) -> str | None:
    """What was given for it. Raises Refused."""
    given = request.query_params.getlist(wanted.name)
    if not given:
        return None
    if len(given) > 1 or not re.fullmatch(ID, given[0]):
        raise Refused(422, "bad_request", f"{wanted.name} must be one id.")
    return given[0]


def fault_sentence(error: ValidationError, model: type[BaseModel]) -> str:
    """What is wrong with it at first, without anything of what was sent."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if fault["type"] == "json_invalid":
        return "The body must be JSON."
    if fault["type"] == "extra_forbidden":  # the last step is the sender's own word
        *path, _ = fault["loc"]
        inside = f" in {_named(path)}" if path else ""
        return f"There is a key{inside} that does not exist; the body knows {_keys(model)}."
    where, what = _named(fault["loc"]), _said(fault)
    return f"{where}: {what}." if where else f"The body: {what}; it knows {_keys(model)}."


def _said(fault: ErrorDetails) -> str:
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return message.replace("should ", "must ").rstrip(".").replace("Field required", "is missing")


def _named(path: Iterable[int | str]) -> str:
    return ".".join(str(step) for step in path)


def _keys(model: type[BaseModel]) -> str:
    fields: Mapping[str, Any] = model.model_fields
    return ", ".join(field.alias or name for name, field in fields.items())
