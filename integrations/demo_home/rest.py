"""The REST calls of Home Assistant 2026.11 that a voice assistant uses."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from integrations.demo_home import actions, offered, services, shapes
from integrations.demo_home.camera import picture
from integrations.demo_home.house import DemoHouse, Snapshot
from integrations.demo_home.people import Person
from integrations.demo_home.registration import WrongFormError, forget, register, webhook

_BAD = "400: Bad Request"


class Rest:
    """The handlers; the caller has checked the token, and says who asks in `request.state`."""

    def __init__(self, house: DemoHouse) -> None:
        self._house = house

    async def root(self, request: Request) -> Response:
        """GET /api/"""
        return JSONResponse({"message": "API running."})

    async def config(self, request: Request) -> Response:
        """GET /api/config"""
        return JSONResponse(shapes.config(self._house))

    async def states(self, request: Request) -> Response:
        """GET /api/states"""
        return JSONResponse([shapes.state(snapshot) for snapshot in self._house.all()])

    async def state(self, request: Request) -> Response:
        """GET /api/states/<entity_id>"""
        entity_id = request.path_params["entity_id"]
        if entity_id not in self._house.things:
            return JSONResponse({"message": "Entity not found."}, 404)
        return JSONResponse(shapes.state(self._house.get(entity_id)))

    async def services(self, request: Request) -> Response:
        """GET /api/services"""
        told = offered.services(self._house)
        return JSONResponse(
            [{"domain": domain, "services": known} for domain, known in told.items()]
        )

    async def camera(self, request: Request) -> Response:
        """GET /api/camera_proxy/<entity_id>"""
        entity_id = str(request.path_params["entity_id"])
        if entity_id not in self._house.things or not entity_id.startswith("camera."):
            return PlainTextResponse("404: Not Found", 404)
        if self._house.get(entity_id).state == "unavailable":
            return PlainTextResponse("503: Service Unavailable", 503)
        return Response(picture(), media_type="image/png")

    async def register(self, request: Request) -> Response:
        """POST /api/mobile_app/registrations"""
        try:
            given = json.loads(await request.body())
        except ValueError:
            return JSONResponse({"message": "Invalid JSON."}, 400)
        person: Person = request.state.person
        try:
            phone = register(self._house, given, person.user_id)
        except WrongFormError as error:
            return JSONResponse({"message": f"Message format incorrect: {error}"}, 400)
        answer = {"cloudhook_url": None, "remote_ui_url": None, "secret": None}
        return JSONResponse({**answer, "webhook_id": phone.webhook_id}, 201)

    async def forget(self, request: Request) -> Response:
        """DELETE /api/config/config_entries/entry/<entry_id>: of a registered device."""
        if not forget(self._house, request.path_params["entry_id"]):
            return JSONResponse({"message": "Invalid entry specified"}, 404)
        return JSONResponse({"require_restart": False})

    async def webhook(self, request: Request) -> Response:
        """POST /api/webhook/<webhook_id>: no token; who does not know the id learns nothing."""
        phone = self._house.phones.by_webhook(request.path_params["webhook_id"])
        if phone is None:
            return Response()
        try:
            message = json.loads(await request.body())
        except ValueError:
            return Response(status_code=400)
        return JSONResponse(webhook(self._house, phone, message))

    async def service(self, request: Request) -> Response:
        """POST /api/services/<domain>/<service>: every state that was written meanwhile."""
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
            refusal = self._wrong_way(domain, service, wants_answer)
            if refusal is not None:
                return JSONResponse({"message": refusal}, 400)
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

    def _wrong_way(self, domain: str, service: str, wants_answer: bool) -> str | None:
        """Why the action cannot be asked in this way, with or without an answer."""
        response = actions.offered(self._house, domain, service).response
        if response == "only" and not wants_answer:
            return (
                "Service call requires responses but caller did not ask for responses. Add"
                " ?return_response to query parameters."
            )
        if response == "none" and wants_answer:
            return "Service does not support responses. Remove return_response from request."
        return None
