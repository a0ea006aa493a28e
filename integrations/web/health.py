"""`GET /healthz`: one word on how the box is. Needs no token and tells nothing else."""

from collections.abc import Callable
from typing import Literal

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

HEALTH = "/healthz"  # the path
Health = Literal["ok", "degraded", "dead"]


def health_route(health: Callable[[], Health]) -> Route:
    """The path, which answers 200 for ok and degraded, 503 for dead."""

    async def healthz(request: Request) -> PlainTextResponse:
        word = health()
        return PlainTextResponse(word, status_code=503 if word == "dead" else 200)

    return Route(HEALTH, healthz, methods=["GET"])
