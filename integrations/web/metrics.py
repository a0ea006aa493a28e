"""`GET /metrics`: what is counted, for Prometheus. Needs a token, which a scrape can send."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from integrations.web.guard import Guard
from integrations.web.problems import Refused, log_broken, own_fault


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
