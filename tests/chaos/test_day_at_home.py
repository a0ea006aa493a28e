"""Tests that with local brains only traffic for the house leaves the box, counted on the wire.

The day is compressed: the turns come one after the other, and then nobody speaks for a while. With
LONG=1 it has 200 turns and five minutes of rest; else 20 turns and some seconds.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from integrations.serving import serving
from tests.chaos.daemon import ROOT, TOKEN, listener
from tests.chaos.disks import needs_root, run
from tests.chaos.names import with_names
from tests.chaos.wire import HERE, Tap, Traffic, cable

LONG = os.environ.get("LONG") == "1"
TURNS, IDLE_S = (200, 300.0) if LONG else (20, 5.0)
OUTSIDE = "192.0.2.53"  # nobody's (RFC 5737): a name server that is only asked
ESCAPES = f"""
import socket
for aim in (("{OUTSIDE}", 53), ("224.0.0.251", 5353), ("192.0.2.123", 123)):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", aim)
"""

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("cable")]


@needs_root
@pytest.mark.timeout(3000 if LONG else 300)
async def test_nothing_leaves_for_anywhere_but_the_house(tmp_path: Path, office: Path) -> None:
    hosts, servers = tmp_path / "hosts", tmp_path / "resolv.conf"
    hosts.write_text("127.0.0.1 localhost\n", encoding="ascii")
    servers.write_text(f"nameserver {OUTSIDE}\n", encoding="ascii")
    order = '["home-assistant","offline"]'
    with cable() as made:
        tap = Tap(made.here)
        inside = ("ip", "netns", "exec", made.namespace)
        run(*inside, sys.executable, "-c", ESCAPES)
        assert _seen(tap, OUTSIDE, "224.0.0.251", "192.0.2.123"), "the tap sees what escapes"
        tap.traffic = Traffic()
        async with (
            listener(tmp_path, BRAIN__ORDER=order) as box,
            serving(box.house.app, HERE, 0) as port,
        ):
            box.before = (*inside, *with_names(hosts, servers))
            box.settings["HOME_ASSISTANT__URL"] = f"http://{HERE}:{port}"
            await box.start()
            await box.logged("hearth: started")
            await box.say(office)
            day = await asyncio.create_subprocess_exec(
                *(*inside, sys.executable, "-m", "tests.chaos.day", str(box.port), TOKEN),
                *(str(TURNS), str(IDLE_S)),
                cwd=ROOT,
                stdout=asyncio.subprocess.PIPE,
            )
            living = asyncio.ensure_future(day.communicate())
            while not living.done():
                tap.read()
                await asyncio.wait([living], timeout=0.2)
            assert day.returncode == 0, box.log[-2000:]
            done = json.loads(living.result()[0])
            assert await box.end() == 0
        traffic = tap.read()
        print(done, dict(traffic.to), f"{tap.lost} lost")
        tap.close()
    # The simulated house has no conversation engine, so that the second rung serves them all.
    assert done["offline"] == TURNS
    assert traffic.to[f"{HERE} tcp {port}"] > 4 * TURNS
    assert traffic.elsewhere(port) == {}


def _seen(tap: Tap, *addresses: str) -> bool:
    """Return whether packets to all of them have passed."""
    aims = {aim.split()[0] for aim in tap.read().to}
    return aims.issuperset(addresses)
