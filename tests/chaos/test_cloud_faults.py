"""Tests of a whole box, its house and the simulated Gemini, with a slow or broken connection."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from integrations.serving import serving
from tests.chaos.daemon import TOKEN, WITHIN_S, Daemon, listener
from tests.chaos.disks import needs_root, run
from tests.chaos.faults import fault
from tests.chaos.line import CLEAR, ROUGH, Line, line
from tests.chaos.names import with_names
from tests.chaos.served import OFFICE_ON, said, with_gemini
from tests.chaos.wire import HERE, Cable, cable
from tests.pipeline.gemini_rig import LIVE, OFFLINE, ONCE, TURN_ON
from tests.simulators.certificate import NAME
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Hear, Say, Step

BY_ITSELF = "I can't reach Gemini, so I'll answer on my own for now."
HOUSE_AWAY = "I can't reach Home Assistant right now. Please try again in a moment."
BACK = "Gemini is back."
RESTS_S = 90.0  # that Gemini may rest after its second failure (30 s), and what is said meanwhile

# One cable at a time: each has the same addresses.
pytestmark = [pytest.mark.faults, pytest.mark.timeout(300), pytest.mark.xdist_group("cable")]

SERVED: list[Step] = [Call(TURN_ON, OFFICE_ON), Say("The office lights are on."), Done()]
_STATE = """
import sys, urllib.request
asked = urllib.request.Request(f"http://127.0.0.1:{sys.argv[1]}/v1/state")
asked.add_header("Authorization", f"Bearer {sys.argv[2]}")
print(urllib.request.urlopen(asked, timeout=20).read().decode())
"""


@dataclass(frozen=True, slots=True)
class Stage:
    """A box that serves, and the connection between it and the cloud."""

    box: Daemon
    line: Line

    async def lights(self, recording: Path) -> dict[str, str]:
        """Check that the command for the office's lights is done once."""
        done = len(self.box.house.calls)
        turn = await self.box.say(recording)
        switched = [one for one in self.box.house.calls[done:] if one[0] == TURN_ON]
        assert switched == [(TURN_ON, OFFICE_ON)]
        return turn


def gemini() -> GeminiSimulator:
    """Return a service that switches the office's lights on, whatever it hears."""
    return GeminiSimulator(
        respond=lambda turn: [Hear("turn on the office lights"), *SERVED],
        respond_once=lambda request: SERVED,
        check=False,  # what breaks off is no failure here
    )


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    """Yield a stage without faults. The house is near, the cloud is at the end of the
    connection."""
    async with (
        gemini() as service,
        line(service.port) as between,
        listener(folder, **with_gemini(between.url("https"), service.ca_file, service.key)) as box,
    ):
        await box.up()
        yield Stage(box, between)
        assert await box.end() == 0


@fault(
    ("a round trip of two seconds to Gemini with 5 % packet loss, in the middle of a conversation"),
    hears=(
        "the answer, some seconds later; after 6 s without data, the same as "
        "when Gemini Live stops responding"
    ),
    retried=("lost packets by TCP; the turn with the next brain, if nothing has been done yet"),
    kept="the whole sentence; the lights are switched only once",
)
async def test_a_slow_line_to_gemini(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        assert (await on.lights(office))["brain"] == LIVE
        on.line.weather = ROUGH
        turn = await on.lights(office)
        assert on.line.met["lost"], "packets were lost"
        assert turn.get("error") in (None, "timeout", "unreachable")


@fault(
    ("a round trip of two seconds to Gemini with 5 % packet loss, before Hearth is connected"),
    hears="the next brain's answer after the connection timeout of 5 s",
    retried="the turn with the next brain and the same audio",
    kept="the whole sentence; the lights are switched only once",
)
async def test_connecting_over_a_slow_line(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        on.line.weather = ROUGH
        turn = await on.lights(office)
        assert turn["brain"] in (ONCE, OFFLINE), "Live has 5 s to connect"
        on.line.weather = CLEAR
        await on.lights(office)


@asynccontextmanager
async def cabled(folder: Path, made: Cable) -> AsyncIterator[Stage]:
    """Yield a box that only has a cable to its house and to the cloud."""
    hosts, servers = folder / "hosts", folder / "resolv.conf"
    hosts.write_text(f"127.0.0.1 localhost\n{HERE} {NAME}\n", encoding="ascii")
    servers.write_text(f"nameserver {HERE}\n", encoding="ascii")  # nothing listens there
    async with (
        gemini() as service,
        line(service.port, HERE) as between,
        listener(folder) as box,
        serving(box.house.app, HERE, 0) as port,
    ):
        address = f"https://{NAME}:{between.port}"
        box.settings |= with_gemini(address, service.ca_file, service.key)
        box.settings["HOME_ASSISTANT__URL"] = f"http://{HERE}:{port}"
        box.before = ("ip", "netns", "exec", made.namespace, *with_names(hosts, servers))
        await box.start()
        await box.logged("hearth: started")
        yield Stage(box, between)
        assert await box.end() == 0


async def _troubles(box: Daemon, made: Cable) -> dict[str, str]:
    """Return its problems, which it reports only inside its namespace."""
    asking = await asyncio.create_subprocess_exec(
        *("ip", "netns", "exec", made.namespace, sys.executable, "-I", "-c", _STATE),
        *(str(box.port), TOKEN),
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await asking.communicate()
    troubles: dict[str, str] = json.loads(told)["troubles"]
    return troubles


async def _becomes(box: Daemon, made: Cable, *, away: bool) -> None:
    """Return once it reports that its house is away, or no longer away."""
    async with asyncio.timeout(WITHIN_S):
        while ("home_assistant" in await _troubles(box, made)) != away:  # noqa: ASYNC110
            await asyncio.sleep(0.5)


@fault(
    "the network cable is unplugged and plugged in again",
    hears=f"once: “{BY_ITSELF}”; timers and other local commands work; commands for the house get "
    f"“{HOUSE_AWAY}”; later, once: “{BACK}”",
    retried="the house at least every 5 s; Gemini after 30 s, then at intervals that double up to "
    "10 min",
    kept="each sentence, which the local recogniser processes again",
)
@needs_root
async def test_the_cable_is_pulled(tmp_path: Path, office: Path, timer: Path) -> None:
    with cable() as made:
        async with cabled(tmp_path, made) as on:
            assert (await on.lights(office))["brain"] == LIVE
            run("ip", "link", "set", made.here, "down")
            turn = await on.box.say(timer)
            assert (turn["brain"], turn.get("error")) == (OFFLINE, None)
            assert turn["calls"].startswith("start_timer:done")
            await _becomes(on.box, made, away=True)
            done = len(on.box.house.calls)
            await on.box.say(office)
            assert on.box.house.calls[done:] == []
            assert said(on.box)[-1] == HOUSE_AWAY
            run("ip", "link", "set", made.here, "up")
            await _becomes(on.box, made, away=False)
            await _served_by_gemini(on, office)
            for sentence in (BY_ITSELF, BACK):
                assert sum(sentence in one for one in said(on.box)) == 1, said(on.box)


async def _served_by_gemini(on: Stage, office: Path) -> None:
    """Return once Gemini Live serves a command again; until then each is done as well."""
    async with asyncio.timeout(RESTS_S):
        while (await on.lights(office))["brain"] != LIVE:
            pass


@fault(
    "the network to Gemini and the house fails and returns every two seconds",
    hears="an answer to each sentence that is true at that time",
    retried="the connections, and a turn in which nothing has been done yet, but no call",
    kept="all sentences",
)
@needs_root
async def test_the_cable_comes_and_goes(tmp_path: Path, office: Path) -> None:
    with cable() as made:
        async with cabled(tmp_path, made) as on:
            await on.lights(office)
            over = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                group.create_task(_flap(made, over))
                for _ in range(3):
                    done = len(on.box.house.calls)
                    await on.box.say(office)
                    calls = [name for name, _ in on.box.house.calls[done:]]
                    assert calls.count(TURN_ON) <= 1, "not twice"
                over.set()
            await _becomes(on.box, made, away=False)
            await on.lights(office)


async def _flap(made: Cable, over: asyncio.Event) -> None:
    while not over.is_set():
        for way in ("down", "up"):
            await asyncio.to_thread(run, "ip", "link", "set", made.here, way)
            try:
                await asyncio.wait_for(over.wait(), 2.0)
            except TimeoutError:
                continue
    await asyncio.to_thread(run, "ip", "link", "set", made.here, "up")
