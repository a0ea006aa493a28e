"""A device that registers itself in a house of the tests."""

from dataclasses import dataclass

from tests.home_assistant.admin import Admin
from tests.home_assistant.line import Json
from tests.home_assistant.talk import Talk, Told

REGISTRATION = {
    "app_id": "org.example.contract",
    "app_name": "Contract",
    "app_version": "1",
    "device_name": "Contract box",
    "device_id": "contract-box",
    "manufacturer": "Hearth",
    "model": "test",
    "os_name": "Linux",
    "os_version": "1",
    "supports_encryption": False,
    "app_data": {"push_websocket_channel": True},
}


@dataclass(slots=True)
class Box:
    """The registered device."""

    person: Talk
    webhook_id: str
    id: str

    async def call(self, tool: str, /, **arguments: object) -> Told:
        """Call a tool as this device."""
        return await self.person.call(tool, self.id, **arguments)

    async def timers(self, **arguments: object) -> list[Json]:
        """Return its timers as the status tool reports them."""
        told = await self.call("HassTimerStatus", **arguments)
        rows = told.answer["speech_slots"]["timers"]
        assert isinstance(rows, list)
        return rows

    async def hook(self, kind: str, **data: object) -> Json:
        """Return the response of its webhook."""
        path = f"/api/webhook/{self.webhook_id}"
        answer = await self.person.http.post(path, json={"type": kind, "data": data})
        assert answer.status_code == 200
        body = answer.json()
        assert isinstance(body, dict)
        return body


async def register(person: Talk) -> Box:
    answer = await person.http.post("/api/mobile_app/registrations", json=REGISTRATION)
    assert answer.status_code == 201
    box = Box(person, answer.json()["webhook_id"], "")
    box.id = (await box.hook("get_config"))["hass_device_id"]
    return box


async def place(admin: Admin, box: Box, area_id: str | None) -> None:
    await admin.ask("config/device_registry/update", device_id=box.id, area_id=area_id)


async def forget(admin: Admin, box: Box) -> None:
    rows = await admin.ask("config/device_registry/list")
    entries = [row["primary_config_entry"] for row in rows if row["id"] == box.id]
    assert entries
    await admin.delete(f"/api/config/config_entries/entry/{entries[0]}")


async def channel(box: Box, *, confirms: bool = False) -> int:
    await box.person.told(
        "mobile_app/push_notification_channel", webhook_id=box.webhook_id, support_confirm=confirms
    )
    return box.person.last_id
