"""Costs of Hearth's parts in a house, measured within a separate process.

    python -m tests.benchmarks.scale.inside URL TOKEN AREA THING

Prints one line of JSON: figures by name, each a list of single values. Milliseconds are of the
process's CPU where the name says so, else of the clock.
"""

import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assistant.app.brains import BrainSet, open_brains
from assistant.app.home import HomeContext, open_home
from assistant.brains.offline.grammar import nearby
from assistant.brains.offline.listen import Listener
from assistant.brains.offline.names import house_names, naming
from assistant.brains.offline.parse import Parser
from assistant.domain.clock import SystemClock
from assistant.tools.catalog.menu import Menu
from assistant.tools.house.targets import find_area
from audio.frames import SAMPLE_RATE
from audio.recognize.sphinx import SphinxRecognizer
from integrations.gemini.tokens import tool_tokens
from integrations.home_assistant.picture import Picture
from integrations.mcp.servers import HOME_ASSISTANT
from tests.pipeline.rig import offline_settings

_TIMES = 15
_NOISE_S = 2.0
_CHARACTERS_A_TOKEN = 4  # the usual estimate, as `assistant.tools.house.names` has it
_TURN_ON = re.compile(r"(?:intent__)?HassTurnOn")
# By the whole way of a call up to the policy's verdict: what is asked for, and how it is spelt.
_UNKNOWN = "the disco ball in the cupboard"

Figures = dict[str, list[float]]


async def measure(url: str, token: str, area: str, thing: str) -> Figures:
    """Measure everything. `area`: the room of the box; `thing`: a light of the house."""
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        settings = offline_settings(
            Path(folder),
            home_assistant={"url": url, "token": token},
            assistant={"data": folder, "area": area},
        )
        clock, before = SystemClock(), _private_mb()
        cpu, began = time.process_time(), time.perf_counter()
        async with open_home(settings, clock, resident=True) as home:
            figures["open, ms"] = [(time.perf_counter() - began) * 1000]
            figures["open, ms of CPU"] = [(time.process_time() - cpu) * 1000]
            async with open_brains(settings, home, clock, resident=True) as minds:
                figures |= await _menu(home)
                figures |= await _prompt(home, minds)
                figures |= await _resolver(home, area, thing)
        figures["bridge, MB"] = [_private_mb() - before]
        figures |= _picture(home)
        figures |= await _names(home, area, thing)
    return figures


async def _menu(home: HomeContext) -> Figures:
    menu: Menu = await home.tools.menu()
    offered = menu.offered()
    again = await _times(home.tools.menu)
    return {
        "tools": [len(menu.entries)],
        "tools offered": [len(offered)],
        "menu, tokens": [sum(tool_tokens(one.declaration) for one in offered)],
        "menu anew, ms of CPU": again,
    }


async def _prompt(home: HomeContext, minds: BrainSet) -> Figures:
    told = await home.hub.prompt(HOME_ASSISTANT) or ""
    briefing = await minds.briefer.brief()
    instruction, whole = briefing.instruction, [one.parameters for one in briefing.declarations]
    assert whole

    async def brief() -> None:
        minds.briefer._asked = None  # as if some seconds had passed
        await minds.briefer.brief()

    return {
        "the home's text, tokens": [len(told) / _CHARACTERS_A_TOKEN],
        "instruction, tokens": [len(instruction) / _CHARACTERS_A_TOKEN],
        "brief, ms of CPU": await _times(brief),
    }


async def _resolver(home: HomeContext, area: str, thing: str) -> Figures:
    """Measure from a call to the policy's verdict."""
    menu = home.tools.current_menu
    tool = next(one.tool.name for one in menu.entries if _TURN_ON.fullmatch(one.tool.name))
    domain = ["light"]
    slip = thing[:3] + thing[4:]
    asked: Mapping[str, Mapping[str, Any]] = {
        "by name": {"name": thing, "domain": domain},
        "by room": {"area": area, "domain": domain},
        "misspelt": {"name": slip, "domain": domain},
        "unknown": {"name": _UNKNOWN, "domain": domain},
    }
    figures: Figures = {}
    for what, arguments in asked.items():

        async def judge(arguments: Mapping[str, Any] = arguments) -> None:
            assert await home.tools.explain(tool, arguments, heard="turn it on") is not None

        figures[f"resolve {what}, ms of CPU"] = await _times(judge)
    return figures


def _picture(home: HomeContext) -> Figures:
    """Measure a state that changes, as the websocket reports it."""
    picture = home.client._picture
    assert isinstance(picture, Picture)
    sensors = [one for one in picture.house.entities.values() if one.domain == "sensor"]
    events = [
        {
            "data": {
                "entity_id": one.entity_id,
                "new_state": {
                    "entity_id": one.entity_id,
                    "state": str(number),
                    "attributes": dict(one.attributes),
                },
            }
        }
        for number, one in enumerate(sensors[:500] * (500 // max(1, min(500, len(sensors)))))
    ]
    cpu = time.process_time()
    for event in events:
        picture.change(event)
    each = (time.process_time() - cpu) * 1e6 / len(events)
    looks = []
    for event in events[:_TIMES]:
        picture.change(event)
        cpu = time.process_time()
        assert picture.house is not None
        looks.append((time.process_time() - cpu) * 1e6)
    return {"a change, µs of CPU": [each], "a new picture, µs of CPU": looks}


async def _names(home: HomeContext, area: str, thing: str) -> Figures:
    """Measure the offline brain's work on the names; the recogniser, which is large, comes last."""
    house = home.client.house
    here = find_area(house, area)
    area_id = here.area_id if here is not None else ""
    names = house_names(house)
    figures: Figures = {"names": [len(names.entities)]}
    figures["names unchanged, ms of CPU"] = list(_each(lambda: naming(house)))
    figures["names anew, ms of CPU"] = list(_each(lambda: house_names(house)))
    Parser(house_names(house)).parse("hello", "en")  # loads the templates
    parser = Parser(names)
    said = f"turn on the {thing.lower()}"
    figures["first sentence, ms of CPU"] = list(_each(lambda: parser.parse(said, "en"), 1))
    figures["sentence, ms of CPU"] = list(_each(lambda: parser.parse(said, "en")))
    assert parser.parse(said, "en") is not None
    return {**figures, **await asyncio.to_thread(_grammar, home, area_id)}


def _grammar(home: HomeContext, area_id: str) -> Figures:
    house = home.client.house
    recognizer = SphinxRecognizer()
    recognizer.unknown(("a",))  # loads the model
    listener = Listener(recognizer)
    held = _private_mb()
    cpu = time.process_time()
    listener._listen_for(house, area_id)
    built_ms = (time.process_time() - cpu) * 1000
    noise = np.random.default_rng(1).normal(0.0, 800.0, int(_NOISE_S * SAMPLE_RATE))
    sound = noise.astype(np.int16).tobytes()
    decoded = [one / 1000 / _NOISE_S for one in _each(lambda: recognizer.decode(sound), 3)]
    kept = nearby(house_names(house), house, area_id)
    listener.close()
    return {
        "names listened for": [len(kept.entities)],
        "grammar, ms of CPU": [built_ms],
        "grammar, MB": [_private_mb() - held],
        "decoding, s of CPU a s of sound": decoded,
    }


async def _times(work: Callable[[], Awaitable[object]], times: int = _TIMES) -> list[float]:
    """Return the milliseconds of CPU of each; the first one fills the caches."""
    taken = []
    for _ in range(times):
        cpu = time.process_time()
        await work()
        taken.append((time.process_time() - cpu) * 1000)
    return taken


def _each(work: Callable[[], object], times: int = _TIMES) -> Iterator[float]:
    for _ in range(times):
        cpu = time.process_time()
        work()
        yield (time.process_time() - cpu) * 1000


def _private_mb() -> float:
    """Return the memory that this process alone holds."""
    told = Path("/proc/self/smaps_rollup").read_text()
    found = re.findall(r"^Private_(?:Clean|Dirty):\s+(\d+)", told, re.M)
    return sum(map(int, found)) / 1024


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(*sys.argv[1:5]))), flush=True)
