"""Set a fresh Home Assistant up as a person would: users, rooms, names, exposure."""

import asyncio
import time
from collections.abc import Callable

import httpx

from tests.home_assistant.admin import Admin
from tests.home_assistant.line import Failed
from tests.home_assistant.real.households import EXPOSED_DOMAINS, Household
from tests.home_assistant.real.places import HOST, Refused

_OWNER = "owner"
_PERSON = "hearth"  # the user that Hearth signs in as: no administrator
_YEARS_DAYS = 3650
_START_LIMIT_S = 120.0
_APPEAR_LIMIT_S = 3.0
_STEP_S = 0.1

Say = Callable[[str], None]


async def first_user(url: str, language: str) -> str:
    """Answer the welcome pages and return a long-lived token of the administrator.

    The page `core_config` is left out, because it would add integrations that call out to the
    internet.
    """
    async with httpx.AsyncClient(base_url=url, timeout=30, trust_env=False) as client:
        user = {"name": "Owner", "username": _OWNER, "password": f"{_OWNER}-password"}
        asked = {"client_id": f"{url}/", "language": language, **user}
        answer = await client.post("/api/onboarding/users", json=asked)
        access = await _access(client, answer.raise_for_status().json()["auth_code"])
        client.headers["Authorization"] = f"Bearer {access}"
        redirect = {"client_id": f"{url}/", "redirect_uri": f"{url}/"}
        for page, body in (("analytics", {}), ("integration", redirect)):
            (await client.post(f"/api/onboarding/{page}", json=body)).raise_for_status()
    return await _long_lived(url, access)


async def person(admin: Admin, username: str = _PERSON) -> tuple[str, str]:
    """Create a user without administrator's rights, and return the id and a long-lived token."""
    password = f"{username}-password"
    made = await admin.ask("config/auth/create", name=username.title(), group_ids=["system-users"])
    user_id = str(made["user"]["id"])
    await admin.ask(
        "config/auth_provider/homeassistant/create",
        user_id=user_id,
        username=username,
        password=password,
    )
    client_id = f"{admin.url}/"
    flow = await admin.post(
        "/auth/login_flow",
        {"client_id": client_id, "handler": ["homeassistant", None], "redirect_uri": client_id},
    )
    answers = {"client_id": client_id, "username": username, "password": password}
    done = await admin.post(f"/auth/login_flow/{flow['flow_id']}", answers)
    async with httpx.AsyncClient(base_url=admin.url, timeout=30, trust_env=False) as client:
        access = await _access(client, done["result"])
    return user_id, await _long_lived(admin.url, access)


async def _access(client: httpx.AsyncClient, code: str) -> str:
    form = {
        "client_id": str(client.base_url).rstrip("/") + "/",
        "grant_type": "authorization_code",
        "code": code,
    }
    answer = await client.post("/auth/token", data=form)
    return str(answer.raise_for_status().json()["access_token"])


async def _long_lived(url: str, access: str) -> str:
    async with Admin(url, access) as user:
        return str(
            await user.ask(
                "auth/long_lived_access_token", client_name="hearth", lifespan=_YEARS_DAYS
            )
        )


async def started(admin: Admin) -> None:
    """Wait until all is loaded: HTTP answers seconds before that."""
    deadline = time.monotonic() + _START_LIMIT_S
    while (await admin.get("/api/config"))["state"] != "RUNNING":
        if time.monotonic() > deadline:
            raise Refused(f"Home Assistant was not done with starting after {_START_LIMIT_S:.0f} s")
        await asyncio.sleep(_STEP_S)


async def furnish(admin: Admin, house: Household, mqtt_port: int, say: Say) -> None:
    """Set up integrations, rooms, names and exposure of that house."""
    await admin.add_entry("mcp_server", {})
    await admin.add_entry("shopping_list", {})
    for name in house.lists:
        await admin.add_entry("local_todo", {"todo_list_name": name})
    for name in house.calendars:
        await admin.add_entry("local_calendar", {"calendar_name": name})
    if mqtt_port:
        await connect_broker(admin, mqtt_port)
    known = await _known(admin, house)
    missing = await _rooms(admin, house, known)
    missing += await _names(admin, house, known)
    if missing:
        say(f"this release lacks {', '.join(missing)}")
    states = await admin.states()
    shown = {entity for entity in states if entity.partition(".")[0] in EXPOSED_DOMAINS}
    await admin.expose(shown - house.hidden, True)
    await admin.expose(house.hidden & states.keys(), False)


async def _known(admin: Admin, house: Household) -> set[str]:
    """Return the ids of all entities, after a short wait for those that come over MQTT."""
    wanted = {entity_id for area in house.areas for entity_id in area.entities}
    deadline = time.monotonic() + _APPEAR_LIMIT_S
    while True:
        listed = await admin.ask("config/entity_registry/list")
        known = {str(entity["entity_id"]) for entity in listed}
        if wanted <= known or time.monotonic() > deadline:
            return known
        await asyncio.sleep(_STEP_S)


async def connect_broker(admin: Admin, port: int) -> None:
    """Add Home Assistant's MQTT entry, unless it has one."""
    if await admin.entries("mqtt"):
        return
    more = {"set_client_cert": False, "set_ca_cert": "off", "transport": "tcp"}
    answers = {"broker": HOST, "port": port}
    try:
        await admin.add_entry("mqtt", {**answers, "protocol": "5", "other_settings": more})
    except (Failed, httpx.HTTPStatusError):  # releases before 2026 ask for less
        await admin.add_entry("mqtt", answers)


async def _rooms(admin: Admin, house: Household, known: set[str]) -> list[str]:
    """Create floors and rooms and put things into them; return what is missing."""
    floors: dict[str, str] = {}
    for floor in house.floors:
        made = await admin.ask(
            "config/floor_registry/create", name=floor.name, aliases=list(floor.aliases)
        )
        floors[floor.name] = made["floor_id"]
    for area in await admin.ask("config/area_registry/list"):  # those of the welcome pages
        await admin.ask("config/area_registry/delete", area_id=area["area_id"])
    missing = []
    for area in house.areas:
        made = await admin.ask(
            "config/area_registry/create",
            name=area.name,
            aliases=list(area.aliases),
            **({"floor_id": floors[area.floor]} if area.floor else {}),
        )
        for entity_id in area.entities:
            if entity_id in known:
                await admin.place(entity_id, made["area_id"])
            else:
                missing.append(entity_id)
    return missing


async def _names(admin: Admin, house: Household, known: set[str]) -> list[str]:
    """Give things the names and aliases of the house; return what is missing."""
    for entity_id in house.entities.keys() & known:
        named = house.entities[entity_id]
        if named.name:
            await admin.name(entity_id, named.name)
        if named.device_class:
            fields = {"entity_id": entity_id, "device_class": named.device_class}
            await admin.ask("config/entity_registry/update", **fields)
        if named.aliases:
            entity = await admin.ask("config/entity_registry/get", entity_id=entity_id)
            # since 2026 the list begins with a null for the name itself, which goes on to count
            own = [alias for alias in entity["aliases"] if alias is None]
            aliases = [*own, *named.aliases]
            await admin.ask("config/entity_registry/update", entity_id=entity_id, aliases=aliases)
    return sorted(house.entities.keys() - known)
