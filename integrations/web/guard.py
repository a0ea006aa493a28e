"""Who may use the HTTP interface, and how much they may send."""

import hmac
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

MAX_BODY = 64 * 1024  # bytes of a request; no call of ours needs more
_NEEDS_TOKEN = "Send the token of http.token as `Authorization: Bearer TOKEN`."

Handler = Callable[[Request], Awaitable[Response]]


class Guard:
    """Lets requests with the token through to a handler."""

    def __init__(self, token: str) -> None:
        """`token`: not empty."""
        if not token:
            raise ValueError("the token is empty")
        self._token = token.encode()

    def __call__(self, handler: Handler) -> Handler:
        """The handler behind the guard: 401 without the token, 413 for too long a body."""

        async def guarded(request: Request) -> Response:
            if not self._admits(request.headers.get("authorization", "")):
                answer = problem(401, "unauthorized", _NEEDS_TOKEN)
                answer.headers["WWW-Authenticate"] = "Bearer"
                return answer
            return _too_much(request) or await handler(request)

        return guarded

    def _admits(self, header: str) -> bool:
        scheme, _, given = header.partition(" ")
        alike = hmac.compare_digest(given.strip().encode(), self._token)
        return scheme.casefold() == "bearer" and alike


def problem(status: int, kind: str, message: str) -> JSONResponse:
    """An error as every path of the interface gives it."""
    return JSONResponse({"error": {"kind": kind, "message": message}}, status_code=status)


def _too_much(request: Request) -> Response | None:
    """What is answered to a body that is too long, or that does not say how long it is."""
    if request.headers.get("transfer-encoding"):
        return problem(411, "length_required", "Send the request with a Content-Length.")
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > MAX_BODY:
        return problem(413, "too_long", f"A request may have {MAX_BODY} bytes at most.")
    return None
