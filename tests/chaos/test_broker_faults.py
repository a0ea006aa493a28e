"""Tests of an MQTT broker that dies, is slow or silent: people are served, nothing is said
twice."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiomqtt
import pytest

from tests.chaos.daemon import WITHIN_S, Daemon, listener, until
from tests.chaos.faults import fault
from tests.chaos.line import Line, Weather, line
from tests.chaos.served import announced, served
from tests.pipeline.mosquitto import Mosquitto, mosquitto, needs_mosquitto

pytestmark = [pytest.mark.faults, pytest.mark.timeout(240), needs_mosquitto]
TOPIC = "hearth/box"
WORKS = "nothing unusual; commands work"
AGAIN = "the connection at least every 4 s, until it succeeds"
SAID_ONCE = "each is spoken once"
# What a busy machine takes besides is in these.
BACK_S = 20.0  # after a broker is there again
NOTICED_S = 30.0  # since it fell silent, or since the sentence that was spoken meanwhile


@dataclass(frozen=True, slots=True)
class Stage:
    """A box that serves, its broker, and the connection between the two."""

    box: Daemon
    broker: Mosquitto
    line: Line

    async def announce(self, text: str) -> None:
        """Announce a text at the broker itself, as a program of the house does."""
        async with aiomqtt.Client("127.0.0.1", self.broker.port) as client:
            await client.publish(
                f"{TOPIC}/announce", json.dumps({"text": text, "preannounce": False}), qos=1
            )

    async def online(self) -> None:
        """Wait until the broker knows that the box is there: it has subscribed by then."""
        async with aiomqtt.Client("127.0.0.1", self.broker.port) as client:
            await client.subscribe(f"{TOPIC}/availability")
            async with asyncio.timeout(WITHIN_S):
                async for message in client.messages:
                    if message.payload == b"online":
                        return

    async def says(self, *texts: str) -> None:
        """Wait until it has said all announcements so far, each once."""
        await until(lambda: sorted(announced(self.box)) == sorted(texts))


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    """Yield a stage without faults."""
    async with mosquitto(folder) as broker, line(broker.port) as between:
        mqtt = {"MQTT__HOST": "127.0.0.1", "MQTT__PORT": f"{between.port}", "MQTT__TOPIC": TOPIC}
        async with listener(folder, **mqtt) as box:
            await box.up()
            on = Stage(box, broker, between)
            await on.online()
            await on.announce("One.")
            await on.says("One.")
            yield on


@fault(
    "the MQTT broker is killed and restarted",
    hears=WORKS,
    retried=AGAIN,
    kept=f"announcements sent after its return: {SAID_ONCE}",
)
async def test_the_broker_is_killed(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        await on.broker.kill()
        on.line.cut()
        assert "broker" in await on.box.trouble("mqtt")
        await served(on.box, office)
        await on.broker.start()
        await on.line.mend()
        await on.box.sound("mqtt", BACK_S)
        await on.announce("Two.")
        await on.says("One.", "Two.")


@fault(
    "the MQTT broker is slow (a round trip of 4 s, with 5 % packet loss)",
    hears=WORKS,
    retried="lost packets by TCP, and unacknowledged messages",
    kept=f"announcements; {SAID_ONCE}",
)
async def test_the_broker_is_slow(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        on.line.weather = Weather(delay_s=2.0, loss=0.05)
        await on.announce("Two.")
        await served(on.box, office)
        said = ["One.", "Two."]
        await on.says(*said)
        while not on.line.met["lost"]:  # one of the first seven pieces
            said.append(f"Number {len(said) + 1}.")
            await on.announce(said[-1])
            await on.says(*said)
        assert len(said) < 10, "packets were lost"


@fault(
    "the MQTT broker stops responding without closing the connection",
    hears=WORKS,
    retried=f"Hearth notices the missing keep-alive after 16 s and then retries {AGAIN}",
    kept=f"announcements, which the broker keeps; {SAID_ONCE}",
)
async def test_the_broker_falls_silent(tmp_path: Path, office: Path) -> None:
    async with stage(tmp_path) as on:
        on.line.fall_silent()
        await on.announce("Two.")
        await served(on.box, office)
        assert "broker" in await on.box.trouble("mqtt", NOTICED_S)
        await on.line.mend()
        await on.box.sound("mqtt", BACK_S)
        await on.says("One.", "Two.")
