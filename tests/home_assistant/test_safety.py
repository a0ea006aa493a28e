"""Tests that nothing opens, unlocks, disarms or sounds before a yes, whatever is requested.

Each house is attacked with the names of its own doors, in every form that reaches or nearly reaches
them. The states of the house count, not the answers.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from assistant.app.home import HomeContext, open_home
from assistant.brains.home_assistant import DryRun
from assistant.config.load import load_settings
from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import (
    CallContext,
    Decision,
    Settlement,
    Status,
    ToolCall,
    ToolOutcome,
)
from assistant.tools.house.targets import members
from tests.home_assistant.admin import Admin
from tests.home_assistant.conftest import Address, real_only

OPEN = {
    "lock": ("unlocking", "unlocked", "opening", "open"),
    "cover": ("opening", "open"),
    "valve": ("opening", "open"),
    "siren": ("on",),
    "alarm_control_panel": ("disarmed",),
}
CLOSING = {
    "lock": "lock.lock",
    "cover": "cover.close_cover",
    "valve": "valve.close_valve",
    "siren": "siren.turn_off",
}
TOOLS = ("intent__HassTurnOn", "intent__HassTurnOff", "intent__HassToggle", "HassTurnOff")
LIMITS = ("comfort_per_minute", "costly_per_hour", "secure_per_hour")
ANSWERS: tuple[Settlement | None, ...] = (  # all but a yes; None: nobody is there to answer
    Settlement("no"),
    Settlement("silence"),
    Settlement("unclear"),
    Settlement("new_command"),
    None,
)
ALL = "unlock and open everything in the whole house, all of it"  # what lets most calls through
SENTENCES = (
    "unlock {0}",
    "open {0}",
    "turn off {0}",
    "turn on {0}",
    "toggle {0}",
    "set {0} to 100%",
    "unlock {0} in 1 second",
    "turn on the lights and unlock {0}",
    "abre {0}",
    "desbloquea {0}",
)
EVERYTHING = ("unlock all the doors", "open all the garage doors", "unlock everything", "open it")


@asynccontextmanager
async def home_of(house: Address, folder: Path) -> AsyncIterator[HomeContext]:
    file = folder / "hearth.toml"
    file.write_text(
        f'[home_assistant]\nurl = "{house.url}"\ntoken = "{house.token}"\n'
        f'[assistant]\narea = "Kitchen"\ndata = "{folder / "data"}"\n'
        + "[limits]\n"  # what is tried here is not to end at one of those
        + "".join(f"{key} = 1_000_000\n" for key in LIMITS)
    )
    async with open_home(load_settings(file, {}), SystemClock()) as home:
        yield home


def guarded(home: HomeContext) -> list[str]:
    """Return what lets someone in or makes a noise, except for blinds."""
    return [
        one.entity_id
        for one in home.client.house.entities.values()
        if one.domain in OPEN and (one.domain != "cover" or one.device_class == "garage")
    ]


def aims(home: HomeContext) -> list[str]:
    """Return of each kind the first that is exposed."""
    first: dict[str, str] = {}
    for name in guarded(home):
        if home.client.house.entities[name].exposed:
            first.setdefault(name.partition(".")[0], name)
    return list(first.values())


async def opened(admin: Admin, entity_ids: list[str]) -> set[str]:
    states = await admin.states()
    return {name for name in entity_ids if states[name]["state"] in OPEN[name.partition(".")[0]]}


async def close(admin: Admin, entity_ids: list[str]) -> None:
    """Close them as far as possible: a jammed lock stays as it is."""
    async with asyncio.TaskGroup() as group:
        for entity_id in entity_ids:
            domain = entity_id.partition(".")[0]
            if domain in CLOSING:
                group.create_task(admin.call(CLOSING[domain], entity_id=entity_id))
    for entity_id in entity_ids:
        if not entity_id.startswith("alarm_control_panel."):
            await admin.settles(entity_id, "locked", "closed", "off", "jammed", limit_s=15.0)


def spelt(name: str) -> Iterator[str]:
    """Yield the name and what looks, sounds or is nearly like it."""
    yield from (name, name.upper(), f" {name}\n", f"the {name}", f"{name}s", name[:-1])
    yield from (f"{name}\u200b", name.replace(" ", "\u00a0"), name.replace("o", "ö"))


def attacks(home: HomeContext) -> Iterator[tuple[str, dict[str, Any]]]:
    house, doors = home.client.house, aims(home)
    places = [one.name for one in house.areas.values()]
    places += [one.name for one in house.floors.values()]
    odd: list[Any] = [["lock"], "lock", [["lock"]], {"a": "lock"}, ["LOCK"], "light,lock", 5]
    for tool in TOOLS:
        for door in doors:
            for name in (door, *spelt(house.entities[door].name)):
                yield tool, {"name": name}
        for place in (*places, "all", " all ", ""):
            for key in ("name", "area", "floor"):
                yield tool, {key: place}
        for domain in (*odd, *([one] for one in OPEN), ["script"], ["button"], ["scene"]):
            yield tool, {"domain": domain}
            yield tool, {"domain": domain, "preferred_area_id": "kitchen"}
        for device_class in ("garage", "door", ["lock"]):
            yield tool, {"device_class": device_class}
    for door in doors:
        name = house.entities[door].name
        yield "intent__HassSetPosition", {"name": name, "position": 100}
        target = {"entity_id": door}
        for action in ("lock.unlock", "cover.open_cover"):
            yield "homeassistant__call_action", {"action": action, "target": target}
        yield "conversation.process", {"text": f"unlock {name}"}
        yield "HassStartTimer", {"seconds": 1, "conversation_command": f"unlock {name}"}
    for script in (one for one in house.entities if one.startswith("script.")):
        if set(guarded(home)).intersection(members(script, house)):
            object_id = script.partition(".")[2]
            yield f"script__{object_id}", {}
            yield object_id, {}
            yield "HassTurnOff", {"name": script}


async def unconfirmed(
    home: HomeContext, number: int, call: ToolCall, heard: str
) -> list[ToolOutcome]:
    """Return the outcomes of a call in a turn in which the person is asked and does not say yes."""
    turn_id = f"turn-{number}"
    asking = CallContext(can_ask=True)
    outcomes = [await home.tools.call(call, turn_id, heard, situation=asking)]
    question = home.tools.question(turn_id, call.id)
    if question is not None:
        settled = await home.tools.settle(question, ANSWERS[number % len(ANSWERS)])
        outcomes += [settled] if settled is not None else []
        assert await home.tools.settle(question, Settlement("yes", "voice")) is None  # too late
    return outcomes


async def test_no_call_opens_anything(house: Address, admin: Admin, tmp_path: Path) -> None:
    async with home_of(house, tmp_path) as home:
        doors = guarded(home)
        await close(admin, doors)
        stood_open = await opened(admin, doors)
        calls = list(attacks(home))
        assert len(calls) > 100
        asked = 0
        await home.tools.menu()
        for number, (tool, arguments) in enumerate(calls):
            call = ToolCall(f"call-{number}", tool, arguments)
            outcomes = await unconfirmed(home, number, call, ALL)
            asked += outcomes[0].decision is Decision.NEEDS_CONFIRMATION
            if any(one.status is not Status.NOT_RUN for one in outcomes):
                assert await opened(admin, doors) <= stood_open, (tool, arguments)
        assert asked > len(TOOLS)
        assert await opened(admin, doors) <= stood_open


@real_only
async def test_no_sentence_opens_anything(house: Address, admin: Admin, tmp_path: Path) -> None:
    async with home_of(house, tmp_path) as home:
        doors = guarded(home)
        await close(admin, doors)
        stood_open = await opened(admin, doors)
        dry_run = DryRun(home.conversation.recognize, ("en", "es"), ("okay nabu",))
        names = [home.client.house.entities[door].name for door in aims(home)]
        said = [form.format(name) for form in SENTENCES for name in names] + list(EVERYTHING)
        tried = 0
        for number, text in enumerate(said):
            match = await dry_run.match(text, "en")
            if match is None:
                continue
            tried += 1
            call = ToolCall(f"call-{number}", "conversation.process", {"text": text}, match)
            outcomes = await unconfirmed(home, number, call, text)
            if any(one.status is not Status.NOT_RUN for one in outcomes):
                assert await opened(admin, doors) <= stood_open, text
        assert tried > len(names)
        assert await opened(admin, doors) <= stood_open
