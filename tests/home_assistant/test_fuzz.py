"""Tests that nothing the policy allows opens, unlocks or disarms, whatever is requested."""

import random
from collections.abc import Mapping
from typing import Any

import pytest

from assistant.domain.tool_call import Decision, Tier
from assistant.tools.catalog.menu import Menu, build_menu
from assistant.tools.house.intents import INTENTS, Action
from assistant.tools.policy.engine import judge
from assistant.tools.policy.openers import OPENERS
from integrations.home_assistant.client import HomeAssistant
from integrations.home_assistant.context import read_context
from integrations.home_assistant.house import House
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import home_assistant_server
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address

CALLS = 500
SAFE = {
    "lock": {"locked", "locking", "jammed", "unavailable"},
    "valve": {"closed", "closing", "unavailable"},
    "cover": {"closed", "closing", "unavailable"},
    "alarm_control_panel": {"armed_away", "arming", "armed_home", "unavailable"},
    "siren": {"off", "unavailable"},
}
SECURED = {
    "lock": "lock.lock",
    "valve": "valve.close_valve",
    "cover": "cover.close_cover",
    "alarm_control_panel": "alarm_control_panel.alarm_arm_away",
    "siren": "siren.turn_off",
}
DEMO_CODE = "1234"  # of the demo integration's alarm
HEARD = (None, "", "do it", "everything", "turn off all of it", "the kitchen", "unlock the door")


def guarded(states: Mapping[str, Any]) -> dict[str, str]:
    """Return state by id of everything that must stay as it is."""
    found: dict[str, str] = {}
    for name, state in states.items():
        domain = name.partition(".")[0]
        opener = domain != "cover" or state["attributes"].get("device_class") in OPENERS
        if domain in SAFE and opener:
            found[name] = state["state"]
    return found


def is_safe(name: str, state: str) -> bool:
    """Return whether it is as it must stay."""
    return state in SAFE[name.partition(".")[0]]


async def secure(admin: Admin) -> set[str]:
    """Close, lock and arm everything that can be; return what is safe then."""
    for name in guarded(await admin.states()):
        action = SECURED[name.partition(".")[0]]
        code = {"code": DEMO_CODE} if action.startswith("alarm") else {}
        await admin.call(action, entity_id=name, **code)
    for name in guarded(await admin.states()):
        await admin.settles(name, *SAFE[name.partition(".")[0]], limit_s=10.0)
    return {name for name, state in guarded(await admin.states()).items() if is_safe(name, state)}


def spoiled(dice: random.Random, text: str) -> str:
    """Return the name as it is, or as somebody might write it to get around a rule."""
    at = dice.randrange(len(text) + 1)
    return dice.choice(
        [
            text,
            text,
            text.upper(),
            f" {text}\u00a0",
            f"the {text}",
            f"{text}s",
            text[:at] + text[at + 1 :],
            text[:at] + "\u200b" + text[at:],
            text.replace("o", "ö"),
        ]
    )


def arguments(dice: random.Random, house: House) -> dict[str, Any]:
    """Return some arguments, most of them of existing things."""
    things = list(house.entities.values())
    gated = [one for one in things if one.domain in SAFE or one.domain in ("script", "scene")]
    thing = dice.choice(gated if dice.random() < 0.5 else things)
    area = dice.choice([*house.areas.values()])
    floor = dice.choice([*house.floors.values()])
    domain = dice.choice([thing.domain, "light", "lock", "cover", "Lock", "switch"])
    made: dict[str, Any] = {
        "name": dice.choice([thing.entity_id, *thing.names, area.name, "all", "All", "", None]),
        "area": dice.choice([area.name, area.area_id, *area.aliases, floor.name]),
        "floor": dice.choice([floor.name, floor.floor_id, *floor.aliases, area.name]),
        "domain": dice.choice([domain, [domain], [domain, "light"], []]),
        "device_class": dice.choice([thing.device_class or "garage", ["garage"], ["door"]]),
        "preferred_area_id": area.area_id,
    }
    for key in ("name", "area", "floor"):
        if made[key]:
            made[key] = spoiled(dice, made[key])
    keys = dice.sample(list(made), dice.choice([0, 1, 1, 1, 2, 2, 3]))
    return {key: made[key] for key in keys} | {
        "position": dice.choice([0, 50, 100]),
        "brightness": dice.randrange(101),
    }


def tools(menu: Menu) -> list[str]:
    """Return the names of everything that moves things."""
    return [
        entry.tool.name
        for entry in menu.offered()
        if entry.tier is not Tier.READ
        and (
            entry.suffix not in INTENTS
            or INTENTS[entry.suffix].action not in (Action.NOTE, Action.READ)
        )
    ]


@pytest.mark.parametrize("seed", [4, 11])
async def test_nothing_is_opened(house: Address, admin: Admin, seed: int) -> None:
    dice = random.Random(seed)
    spec = home_assistant_server(house.url, house.token)
    async with McpHub([spec]) as hub, HomeAssistant(house.url, house.token) as home:
        menu = build_menu(await hub.tools(), {spec.name: spec})
        home.learn_exposure(read_context(await hub.prompt(spec.name) or ""))
        watched = await secure(admin)
        assert watched
        names, switching = tools(menu), [name for name in tools(menu) if "Turn" in name]
        ran = 0
        for _ in range(CALLS):
            entry = menu.find(dice.choice(names if dice.random() < 0.4 else switching))
            assert entry is not None
            asked = arguments(dice, home.house)
            area = dice.choice(["", *(one.name for one in home.house.areas.values())])
            verdict = judge(entry, asked, home.house, dice.choice(HEARD), area)
            if verdict.decision is not Decision.ALLOWED:
                continue
            ran += 1
            for part in verdict.parts or (verdict.arguments,):  # as the executor sends it
                await hub.call(spec.name, entry.tool.name, dict(part))
            states = guarded(await admin.states())
            opened = {name for name in watched if not is_safe(name, states[name])}
            assert opened == set(), f"{entry.tool.name} {asked} -> {verdict}"
        assert ran > CALLS // 20  # else nothing was tried
