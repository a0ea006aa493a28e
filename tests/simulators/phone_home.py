"""The simulated house with devices that registered themselves with `mobile_app`, and their timers.

Hearth is such a device, and so are phones. `hearth demo` needs none of it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from integrations.demo_home import shapes
from integrations.demo_home.house import CallerPlace, DemoHouse, Thing
from integrations.demo_home.intents import Tool
from integrations.demo_home.rest import DemoHome
from integrations.demo_home.services import ServiceError
from integrations.demo_home.surroundings import Person, Spawn, SystemClock
from integrations.demo_home.websocket import CommandError, Socket, needed
from integrations.home_assistant.house import Area, Floor
from tests.simulators.house_timers import HouseTimers, TimerHouse, timer_tools
from tests.simulators.phones import (
    Channel,
    DemoPhone,
    NotConnectedError,
    Phones,
    WrongFormError,
    forget,
    register,
    webhook,
)

Json = dict[str, Any]


class PhoneHouse(TimerHouse):
    """A house whose devices may register, receive pushes and have timers."""

    def __init__(
        self,
        floors: tuple[Floor, ...],
        areas: tuple[Area, ...],
        things: tuple[Thing, ...],
        *,
        clock: SystemClock,
        spawn: Spawn,
        settle_s: float,
    ) -> None:
        super().__init__(floors, areas, things, clock=clock, spawn=spawn, settle_s=settle_s)
        self.phones = Phones(clock, spawn)
        self.timers = HouseTimers(clock, spawn, self.phones.tell)

    def area_of(self, entity_id: str) -> Area | None:
        phone = self.phones.by_device(self.things[entity_id].device)
        return super().area_of(entity_id) if phone is None else self._area(phone)

    def place_of(self, device_id: str) -> CallerPlace:
        phone = self.phones.by_device(device_id)
        if phone is None:
            return super().place_of(device_id)
        area = self._area(phone)
        return CallerPlace(phone.area_id, area.floor_id if area else None, phone.id)

    def _area(self, phone: DemoPhone) -> Area | None:
        return self.areas.get(phone.area_id or "")

    def put_device(self, device_id: str, area_id: str | None) -> None:
        phone = self.phones.by_device(device_id)
        if phone is None:
            super().put_device(device_id, area_id)
        else:
            phone.area_id = area_id

    def registered_devices(self, since: datetime) -> list[Json]:
        return [_row(phone, self, since) for phone in self.phones.all()]

    def notifiers(self) -> list[str]:
        return [f"mobile_app_{phone.slug}" for phone in self.phones.all() if phone.takes_pushes]

    def notify(self, notifier: str, data: Mapping[str, Any]) -> None:
        entity = self.things.get(notifier)
        if entity is not None:
            phone = self.phones.by_device(entity.device)
        else:
            phone = next(p for p in self.phones.all() if notifier == f"mobile_app_{p.slug}")
        if phone is None:
            return
        try:
            self.phones.push(phone, data)
        except NotConnectedError as error:
            # The action has a different sentence from the notify entity (`mobile_app/notify.py`).
            action = "Device not connected to local push notifications"
            raise ServiceError(str(error) if entity is not None else action) from error

    def timer_tools(self, place: CallerPlace) -> Sequence[Tool]:
        return timer_tools(cancel_all_only=place.device_id is None)

    def stop(self) -> None:
        self.timers.stop()
        self.phones.stop()
        super().stop()


def _row(phone: DemoPhone, house: DemoHouse, since: datetime) -> Json:
    """Return the registry row of a device that registered itself."""
    return shapes.device(
        phone.id,
        phone.name,
        since,
        area_id=phone.area_id,
        config_entries=[phone.entry_id],
        identifiers=[["mobile_app", phone.own_id]],
        labels=house.labels.of(phone.id),
        manufacturer=phone.data["manufacturer"],
        model=phone.data["model"],
        primary_config_entry=phone.entry_id,
        sw_version=phone.data.get("os_version"),
    )


class PhoneSocket(Socket):
    """A websocket that pushes to registered devices."""

    _house: PhoneHouse

    def special_commands(self) -> dict[str, Callable[[int, Json], None]]:
        return {
            **super().special_commands(),
            "mobile_app/push_notification_channel": self._open_channel,
            "mobile_app/push_notification_confirm": self._confirm,
        }

    def _open_channel(self, id_: int, message: Json) -> None:
        """Push to a registered device over this connection."""
        phone = self._own_phone(message)
        channel = Channel(lambda push: self._event(id_, push), bool(message.get("support_confirm")))
        self._house.phones.open(phone, channel)
        self._subscriptions[id_] = lambda: self._house.phones.close(phone, channel)
        self._succeed(id_)

    def _confirm(self, id_: int, message: Json) -> None:
        phone = self._own_phone(message)
        if not self._house.phones.confirm(phone, needed(message, "confirm_id")):
            raise CommandError("not_found", "Push notification channel not found")
        self._succeed(id_)

    def _own_phone(self, message: Json) -> DemoPhone:
        """Return the device of that webhook, if this person registered it."""
        phone = self._house.phones.by_webhook(needed(message, "webhook_id"))
        if phone is None:
            raise CommandError("not_found", "Webhook ID not found")
        if phone.user_id != self._person.user_id:
            raise CommandError("unauthorized", "User not linked to this webhook ID")
        return phone


class PhoneHome(DemoHome):
    """A simulated house on loopback with which devices may register."""

    house: PhoneHouse
    house_class = PhoneHouse
    socket_class = PhoneSocket

    def more_routes(self) -> list[Route]:
        entry = "/api/config/config_entries/entry/{entry_id}"
        return [
            self.route(entry, self._forget, "DELETE", refuse=401),
            self.route("/api/mobile_app/registrations", self._register, "POST"),
            Route("/api/webhook/{webhook_id}", self._webhook, methods=["POST"]),
        ]

    async def _register(self, request: Request) -> Response:
        """POST /api/mobile_app/registrations"""
        try:
            given = json.loads(await request.body())
        except ValueError:
            return JSONResponse({"message": "Invalid JSON."}, 400)
        person: Person = request.state.person
        try:
            phone = register(self.house, given, person.user_id)
        except WrongFormError as error:
            return JSONResponse({"message": f"Message format incorrect: {error}"}, 400)
        answer = {"cloudhook_url": None, "remote_ui_url": None, "secret": None}
        return JSONResponse({**answer, "webhook_id": phone.webhook_id}, 201)

    async def _forget(self, request: Request) -> Response:
        """DELETE /api/config/config_entries/entry/<entry_id>, for a registered device"""
        if not forget(self.house, request.path_params["entry_id"]):
            return JSONResponse({"message": "Invalid entry specified"}, 404)
        return JSONResponse({"require_restart": False})

    async def _webhook(self, request: Request) -> Response:
        """POST /api/webhook/<webhook_id>, without a token; a wrong id reveals nothing"""
        phone = self.house.phones.by_webhook(request.path_params["webhook_id"])
        if phone is None:
            return Response()
        try:
            message = json.loads(await request.body())
        except ValueError:
            return Response(status_code=400)
        return JSONResponse(webhook(self.house, phone, message))
