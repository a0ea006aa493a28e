"""Announcements of the satellite in the network, which is faked."""

import asyncio
import logging
import sys
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pytest
from zeroconf import NonUniqueNameException

from integrations.wyoming_face.server import SERVICE, Advertised, advertise

SERVICES = (Advertised("hearth-kitchen", 10700), Advertised("hearth-kitchen-voice", 10701))


@dataclass
class Network:
    """A record of zeroconf's calls, in order."""

    fails: int = 0  # number of times that it cannot be opened
    refuses: int = 0  # number of times that it refuses a name
    slow: bool = False  # it does not end by itself
    opened: list[list[str]] = field(default_factory=list)
    told: list[dict[str, Any]] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    ready: asyncio.Event = field(default_factory=asyncio.Event)


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Network:
    network = Network()

    class FakeZeroconf:
        def __init__(self, interfaces: list[str]) -> None:
            network.opened.append(interfaces)
            if network.fails:
                network.fails -= 1
                raise OSError(101, "Network is unreachable")

        async def async_register_service(
            self, info: dict[str, Any], *, allow_name_change: bool
        ) -> None:
            assert allow_name_change
            if network.refuses:
                network.refuses -= 1
                raise NonUniqueNameException
            network.told.append(info)
            if len(network.told) == len(SERVICES):
                network.ready.set()

        async def async_unregister_all_services(self) -> None:
            network.ended.append("unregistered")
            if network.slow:
                await asyncio.Event().wait()

        async def async_close(self) -> None:
            network.ended.append("closed")

    def info(kind: str, name: str, **more: Any) -> dict[str, Any]:
        return {"kind": kind, "name": name, **more}

    module = ModuleType("zeroconf.asyncio")
    module.__dict__.update(AsyncZeroconf=FakeZeroconf, AsyncServiceInfo=info)
    monkeypatch.setitem(sys.modules, "zeroconf.asyncio", module)
    return network


async def told(network: Network, host: str = "127.0.0.1") -> None:
    """Advertise until everything is announced, then cancel."""
    task = asyncio.create_task(advertise(SERVICES, host, again_s=0.0))
    async with asyncio.timeout(10):
        await network.ready.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_both_services_are_told_and_taken_back(network: Network) -> None:
    await told(network)
    assert network.opened == [["127.0.0.1"]]
    assert [(one["kind"], one["name"], one["port"]) for one in network.told] == [
        (SERVICE, f"hearth-kitchen.{SERVICE}", 10700),
        (SERVICE, f"hearth-kitchen-voice.{SERVICE}", 10701),
    ]
    assert network.told[0]["parsed_addresses"] == ["127.0.0.1"]
    assert network.ended == ["unregistered", "closed"]


async def test_a_network_that_comes_late_is_waited_for(
    network: Network, caplog: pytest.LogCaptureFixture
) -> None:
    network.fails, network.refuses = 2, 1
    await told(network)
    assert len(network.opened) == 4
    assert caplog.text.count("cannot be announced on the network yet") == 3
    assert network.ended == ["unregistered", "closed"] * 2  # what was refused is closed too


async def test_the_end_waits_for_no_network(
    network: Network, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr("integrations.wyoming_face.server._END_WITHIN_S", 0.05)
    network.slow = True
    await told(network)
    assert network.ended == ["unregistered", "closed"]
    assert (
        "the satellite's shutdown could not be announced on the network: no answer in time"
        in caplog.text
    )
