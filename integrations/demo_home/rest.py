"""The REST calls of Home Assistant 2026.11 that a voice assistant uses."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from integrations.demo_home import services, shapes
from integrations.demo_home.house import Change, DemoHouse
from integrations.demo_home.scripts import run_script


class Rest:
    """The handlers; the caller has checked the token."""

    def __init__(self, house: DemoHouse) -> None:
        self._house = house

    async def root(self, request: Request) -> Response:
        """GET /api/"""
        return JSONResponse({"message": "API running."})

    async def config(self, request: Request) -> Response:
        """GET /api/config"""
        return JSONResponse(shapes.config())

    async def states(self, request: Request) -> Response:
        """GET /api/states"""
        return JSONResponse([shapes.state(snapshot) for snapshot in self._house.all()])

    async def state(self, request: Request) -> Response:
        """GET /api/states/<entity_id>"""
        entity_id = request.path_params["entity_id"]
        if entity_id not in self._house.things:
            return JSONResponse({"message": "Entity not found."}, 404)
        return JSONResponse(shapes.state(self._house.get(entity_id)))

    async def service(self, request: Request) -> Response:
        """POST /api/services/<domain>/<service>: the states that changed meanwhile."""
        body = await request.body()
        try:
            data = json.loads(body) if body else {}
        except ValueError:
            return JSONResponse({"message": "Data should be valid JSON."}, 400)
        if not isinstance(data, dict):
            return JSONResponse({"message": "Data should be valid JSON."}, 400)
        domain, service = request.path_params["domain"], request.path_params["service"]
        changed: dict[str, Change] = {}
        stop = self._house.listen(lambda change: changed.update({change.new.entity_id: change}))
        try:
            call_service(self._house, domain, service, data)
        except services.UnknownServiceError:
            return PlainTextResponse("400: Bad Request", 400)
        except (services.ServiceError, KeyError, TypeError, ValueError):
            # Home Assistant says as much to a failed action and to wrong data.
            return PlainTextResponse("500 Internal Server Error", 500)
        finally:
            stop()
        return JSONResponse([shapes.state(change.new) for change in changed.values()])


def call_service(
    house: DemoHouse, domain: str, service: str, data: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Run a service on its targets: `entity_id` and `area_id`, plain or in `target`, one or a list.

    An entity that does not exist is passed over, as in Home Assistant. Gives a script's answer.
    """
    if (domain, service) not in services.SERVICES and domain not in ("homeassistant", "script"):
        raise services.UnknownServiceError(f"Service {domain}.{service} not found")
    script = f"script.{service}"
    if domain == "script" and script in house.things:
        return run_script(house, script, data, services.call)
    where = {**data, **data.get("target", {})}
    entity_ids = _listed(where.get("entity_id"))
    areas = set(_listed(where.get("area_id")))
    entity_ids += [
        thing.entity_id
        for thing in house.things.values()
        if thing.area_id in areas and thing.domain == domain
    ]
    own = {
        key: value for key, value in data.items() if key not in ("entity_id", "area_id", "target")
    }
    answer = None
    for entity_id in entity_ids:
        if entity_id in house.things and domain in ("homeassistant", entity_id.partition(".")[0]):
            answer = services.call(house, domain, service, entity_id, own)
    return answer


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]
