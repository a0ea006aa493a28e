"""REST endpoints of Home Assistant 2026.11 that a voice assistant uses, and the demo home's
server."""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Any, Self

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from integrations.demo_home import actions, services, shapes
from integrations.demo_home.catalogue import AREAS, FLOORS, THINGS
from integrations.demo_home.house import UNAVAILABLE, DemoHouse, Snapshot, Thing
from integrations.demo_home.mcp_endpoint import McpEndpoint
from integrations.demo_home.scenes import describe
from integrations.demo_home.surroundings import Person, SystemClock, picture, whose
from integrations.demo_home.websocket import Socket
from integrations.home_assistant.house import Area, Floor
from integrations.serving import serving

_CATCH_UP_S = 60.0
_BAD = "400: Bad Request"
_MISASKED = {
    "only": "Service call requires responses but caller did not ask for responses. Add"
    " ?return_response to query parameters.",
    "none": "Service does not support responses. Remove return_response from request.",
}


class Rest:
    """The request handlers. The token has already been checked, except for `providers`, which needs
    none."""

    def __init__(self, house: DemoHouse) -> None:
        self._house = house

    async def root(self, request: Request) -> Response:
        return JSONResponse({"message": "API running."})

    async def providers(self, request: Request) -> Response:
        local = {"name": "Home Assistant Local", "id": None, "type": "homeassistant"}
        return JSONResponse({"providers": [local], "preselect_remember_me": False})

    async def config(self, request: Request) -> Response:
        return JSONResponse(shapes.config(self._house))

    async def states(self, request: Request) -> Response:
        return JSONResponse([shapes.state(snapshot) for snapshot in self._house.all()])

    async def state(self, request: Request) -> Response:
        entity_id = request.path_params["entity_id"]
        if entity_id not in self._house.things:
            return JSONResponse({"message": "Entity not found."}, 404)
        return JSONResponse(shapes.state(self._house.get(entity_id)))

    async def services(self, request: Request) -> Response:
        told = actions.action_list(self._house)
        return JSONResponse(
            [{"domain": domain, "services": known} for domain, known in told.items()]
        )

    async def camera(self, request: Request) -> Response:
        entity_id = str(request.path_params["entity_id"])
        if entity_id not in self._house.things or not entity_id.startswith("camera."):
            return PlainTextResponse("404: Not Found", 404)
        if self._house.get(entity_id).state == "unavailable":
            return PlainTextResponse("503: Service Unavailable", 503)
        return Response(picture(), media_type="image/png")

    async def service(self, request: Request) -> Response:
        """Run an action, and return the states that changed during the call."""
        body = await request.body()
        try:
            data = json.loads(body) if body else {}
        except ValueError:
            return JSONResponse({"message": "Data should be valid JSON."}, 400)
        if not isinstance(data, dict):
            return JSONResponse({"message": "Data should be valid JSON."}, 400)
        domain, service = request.path_params["domain"], request.path_params["service"]
        wants_answer = "return_response" in request.query_params
        written: list[Snapshot | None] = []
        stop = self._house.listen(lambda change: written.append(change.new))
        try:
            known = actions.offered(self._house, domain, service)
            if known.is_misasked(wants_answer):
                return JSONResponse({"message": _MISASKED[known.response]}, 400)
            answer = actions.run(self._house, domain, service, data)
        except (services.UnknownServiceError, services.DataError):
            return PlainTextResponse(_BAD, 400)
        except services.UnfitError as error:
            return JSONResponse({"message": str(error)}, 400)
        except services.ServiceError as error:
            return JSONResponse({"message": str(error)}, 500)
        except (KeyError, TypeError, ValueError):
            return PlainTextResponse(_BAD, 400)
        finally:
            stop()
        states: list[dict[str, Any]] = [shapes.state(new) for new in written if new is not None]
        if wants_answer:
            return JSONResponse({"changed_states": states, "service_response": dict(answer)})
        return JSONResponse(states)


Handler = Callable[[Request], Awaitable[Response]]


class DemoHome:
    """The server of the simulated house, which runs on a loopback port while the context is open.

    Clients need `url` and a token: `token` belongs to an administrator, `person_token` to a user
    without administrator rights. `calls` contains the received tool calls in order. Locks and
    covers take `settle_s` seconds to move.
    """

    house_class: type[DemoHouse] = DemoHouse
    socket_class: type[Socket] = Socket

    def __init__(
        self,
        *,
        things: tuple[Thing, ...] = THINGS,
        areas: tuple[Area, ...] = AREAS,
        floors: tuple[Floor, ...] = FLOORS,
        settle_s: float = 0.3,
        clock: SystemClock | None = None,
        token: str | None = None,
    ) -> None:
        self.token = token or secrets.token_urlsafe(24)
        self.person_token = secrets.token_urlsafe(24)
        self._people = (
            Person("Demo administrator", True, self.token),
            Person("Demo person", False, self.person_token),
        )
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.url = ""
        self._stack = AsyncExitStack()
        self._journeys = asyncio.TaskGroup()
        self.house = self.house_class(
            floors,
            areas,
            things,
            clock=clock or SystemClock(),
            spawn=lambda journey: self._journeys.create_task(journey),
            settle_s=settle_s,
        )
        self._mcp = McpEndpoint(self.house, self._heard)
        self.app = self._routes()  # tests can use it without a port

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._journeys)
        self._stack.callback(self._journeys.create_task(self._keep_time()).cancel)
        self._stack.callback(self.house.stop)
        port = await self._stack.enter_async_context(serving(self.app, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *error: object) -> None:
        # An error inside the block isn't passed to the stack, because the server shuts down cleanly
        # either way.
        await self._stack.aclose()

    async def _keep_time(self) -> None:
        while True:
            await self.house.clock.sleep(_CATCH_UP_S)
            self.house.catch_up()

    @property
    def states(self) -> dict[str, str]:
        return {snapshot.entity_id: snapshot.state for snapshot in self.house.all()}

    def get(self, entity_id: str) -> Snapshot:
        return self.house.get(entity_id)

    def describe(self) -> str:
        return describe(self.house)

    def fail_next(self, entity_id: str) -> None:
        self.house.failing.add(entity_id)

    def jam(self, lock_id: str) -> None:
        self.house.jammed.add(lock_id)

    def lose(self, entity_id: str) -> None:
        """Make the entity unavailable, so that actions on it succeed but do nothing."""
        self.house.write(entity_id, UNAVAILABLE)

    def _heard(self, name: str, arguments: Mapping[str, Any]) -> None:
        self.calls.append((name, dict(arguments)))

    def _routes(self) -> Starlette:
        rest = Rest(self.house)

        async def merged(request: Request) -> Response:
            return await self._mcp.answer(request)

        async def one_api(request: Request) -> Response:
            api_id = request.path_params["api_id"]
            if api_id == "assist":
                return await self._mcp.answer(request)
            if not request.state.person.is_admin:
                return PlainTextResponse("403: Forbidden", 403)
            return PlainTextResponse(f"Unknown LLM API '{api_id}'", 404)

        async def fire(request: Request) -> Response:
            kind = request.path_params["kind"]
            body = await request.body()
            self.house.fire(kind, **(json.loads(body) if body else {}))
            return JSONResponse({"message": f"Event {kind} fired."})

        async def websocket(connection: WebSocket) -> None:
            await self.socket_class(self.house, connection, self._people).serve()

        return Starlette(
            routes=[
                Route("/auth/providers", rest.providers, methods=["GET"]),  # needs no token
                self.route("/api/mcp", merged, "POST", refuse=403),
                self.route("/api/mcp/{api_id}", one_api, "POST"),
                self.route("/api/", rest.root, "GET"),
                self.route("/api/camera_proxy/{entity_id}", rest.camera, "GET"),
                self.route("/api/config", rest.config, "GET"),
                self.route("/api/events/{kind}", fire, "POST", refuse=401),
                self.route("/api/services", rest.services, "GET"),
                self.route("/api/services/{domain}/{service}", rest.service, "POST"),
                self.route("/api/states", rest.states, "GET"),
                self.route("/api/states/{entity_id}", rest.state, "GET"),
                *self.more_routes(),
                WebSocketRoute("/api/websocket", websocket),
            ],
            exception_handlers={HTTPException: _status_text},
        )

    def more_routes(self) -> list[Route]:
        """Return additional routes. Overridden in the test suite."""
        return []

    def route(self, path: str, handler: Handler, method: str, refuse: int = 0) -> Route:
        """Return a route for one HTTP method that requires a token. `refuse` is the HTTP status for
        users who aren't administrators, or 0 to admit them."""

        async def guarded(request: Request) -> Response:
            if request.method != method:
                allow = {"Allow": f"OPTIONS,{method}"}
                return PlainTextResponse("405: Method Not Allowed", 405, allow)
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            person = whose(self._people, token) if scheme == "Bearer" else None
            if person is None:
                return _unauthorized(request)
            if refuse and not person.is_admin:
                return PlainTextResponse(f"{refuse}: {HTTPStatus(refuse).phrase}", refuse)
            request.state.person = person
            return await handler(request)

        return Route(path, guarded, methods=["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])


def _unauthorized(request: Request) -> Response:
    metadata = f"{request.base_url}.well-known/oauth-protected-resource"
    challenge = {"WWW-Authenticate": f'Bearer resource_metadata="{metadata}"'}
    return PlainTextResponse("401: Unauthorized", 401, challenge)


async def _status_text(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return PlainTextResponse(f"{status}: {HTTPStatus(status).phrase}", status)
