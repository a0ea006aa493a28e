"""The cost of a house by its size: Hearth's parts, and a whole `hearth run` with typed turns.

All things are exposed, which is the most that an owner can do. The simulated house, the simulated
Gemini and Hearth are processes of their own. The box stands in the kitchen.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.benchmarks.figures import how_many
from tests.benchmarks.scale.houses import THE_LIGHT
from tests.benchmarks.scale.real_house import real_house
from tests.benchmarks.scale.served import Box, House, Turn, hearth, simulated_house
from tests.benchmarks.service import Address, Always, GeminiProcess
from tests.home_assistant.real.instances import Say
from tests.simulators import script

AREA = "Kitchen"
LIGHT_ID = "light.kitchen_reading_light"
REAL_LIGHT_ID = "light.reading_light"
SENTENCE = f"turn on the {THE_LIGHT.lower()}"
_OFF = "/api/services/light/turn_off"
_CHANGES, _PER_S = 200, 50.0
_SETTLE_S = 3.0
_SEEN_S = 0.1  # a state that changed has come to Hearth
_SERVED = Always(
    (
        script.Call("intent__HassTurnOn", {"name": THE_LIGHT, "domain": ["light"]}),
        script.Say(f"The {THE_LIGHT.lower()} is on."),
        script.Done(usage=script.Tokens(prompt=900, response=40)),
    )
)


@dataclass(frozen=True, slots=True)
class Grown:
    """One size. Each figure is a list of single values."""

    size: int
    parts: Mapping[str, list[float]]  # by `inside.measure`
    whole: Mapping[str, list[float]]  # of a `hearth run`


async def grown(size: int) -> Grown:
    """Measure a house of `size` things. Raises AssertionError if a turn did not do its work."""
    async with simulated_house(size) as house:
        parts = await _parts(house.url, house.token)
        whole: dict[str, list[float]] = {}
        with tempfile.TemporaryDirectory() as folder:
            whole |= await _offline(Path(folder), house)
        with tempfile.TemporaryDirectory() as folder, GeminiProcess(_SERVED) as serving:
            whole |= await _gemini(Path(folder), house, serving.address)
    return Grown(size, parts, whole)


async def grown_really(size: int, say: Say) -> Grown:
    """Measure the same in a real Home Assistant with `size` things beside its own.

    The parts, and turns served on the device. Raises Refused if there is none, and AssertionError
    as `grown` does.
    """
    async with real_house(size, say) as house:
        parts = await _parts(house.url, house.token)
        with tempfile.TemporaryDirectory() as name:
            area = {"ASSISTANT__AREA": AREA}
            async with hearth(Path(name), house.url, house.token, **area) as box:
                held = box.pss_mb()
                hand = _Hand(house.url, house.admin_token, REAL_LIGHT_ID)
                turns = await _turns(box, hand, how_many(8, 30))
                told = {"held, MB": [held], "held after typed turns, MB": [box.pss_mb()]}
    return Grown(size, parts, {**told, **_told("offline", turns)})


@dataclass(frozen=True, slots=True)
class _Hand:
    """A person who turns the light off between two turns."""

    url: str
    token: str = field(repr=False)
    light_id: str


async def _parts(url: str, token: str) -> dict[str, list[float]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.benchmarks.scale.inside"),
        *(url, token, AREA, THE_LIGHT),
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError("the parts could not be measured; see above")
    figures: dict[str, list[float]] = json.loads(told)
    return figures


async def _offline(folder: Path, house: House) -> dict[str, list[float]]:
    """Measure the brain on the device, the house's changes, and the memory."""
    async with hearth(folder, house.url, house.token, ASSISTANT__AREA=AREA) as box:
        await asyncio.sleep(_SETTLE_S)
        held = box.pss_mb()
        before = box.cpu_s()
        await asyncio.sleep(_CHANGES / _PER_S)
        quiet = box.cpu_s() - before
        before = box.cpu_s()
        await house.change(_CHANGES, _PER_S)
        changes = box.cpu_s() - before - quiet
        turns = await _turns(box, _hand(house), how_many(8, 30))
        return {
            "started, s": [box.started_s],
            "held, MB": [held],
            "held after typed turns, MB": [box.pss_mb()],
            "a change of a state, µs of CPU": [changes / _CHANGES * 1e6],
            **_told("offline", turns),
        }


async def _gemini(folder: Path, house: House, address: Address) -> dict[str, list[float]]:
    """Measure with the simulated service, which thinks for no time."""
    given = {
        "BRAIN__ORDER": '["gemini-live"]',
        "PRIVACY__ACCEPT_CLOUD": "true",
        "GEMINI__API_KEY": address.key,
        "GEMINI__BASE_URL": address.url,
        "GEMINI__CA_FILE": address.ca_file,
        "LIMITS__DAILY_COST_USD": "1000",  # what the simulated service counts is not billed
    }
    async with hearth(folder, house.url, house.token, ASSISTANT__AREA=AREA, **given) as box:
        turns = await _turns(box, _hand(house), how_many(8, 30))
        return {"held with Gemini, MB": [box.pss_mb()], **_told("gemini-live", turns)}


def _hand(house: House) -> _Hand:
    return _Hand(house.url, house.token, LIGHT_ID)


async def _turns(box: Box, hand: _Hand, count: int) -> list[Turn]:
    turns = []
    headers = {"Authorization": f"Bearer {hand.token}"}
    async with httpx.AsyncClient(base_url=hand.url, headers=headers, trust_env=False) as client:
        for _ in range(count + 1):  # the first builds and imports what the others have
            off = await client.post(_OFF, json={"entity_id": hand.light_id})
            off.raise_for_status()
            await asyncio.sleep(_SEEN_S)
            turn = await box.ask(SENTENCE)
            assert turn.done(), turn.told
            turns.append(turn)
    return turns


def _told(brain: str, turns: list[Turn]) -> dict[str, list[float]]:
    first, *others = turns
    return {
        f"first turn, {brain}, ms": [first.wall_ms],
        f"turn, {brain}, ms": [turn.wall_ms for turn in others],
        f"turn, {brain}, ms of CPU": [turn.cpu_ms for turn in others],
    }
