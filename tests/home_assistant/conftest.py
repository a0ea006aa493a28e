"""The house that these tests talk to: the embedded one, or a real Home Assistant.

The environment names the real one: HA_URL, HA_TOKEN (of the user that Hearth signs in as, no
administrator). HA_ADMIN_TOKEN says that it is a house that tests may change, HA_HOUSE which of ours
it is, HA_INSTANCE that it may be stopped and started too, HA_MQTT_PORT where its broker listens.
`make test-home-assistant` sets them all, and HA_PART ("1/2"), with which houses share the tests.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.home_assistant.admin import Admin
from tests.home_assistant.automations import until
from tests.home_assistant.real import instances, process
from tests.home_assistant.real.places import Places, read_instance
from tests.home_assistant.talk import Talk
from tests.simulators.phone_home import PhoneHome

REAL = pytest.param("real", marks=pytest.mark.home_assistant)

real_only = pytest.mark.parametrize("house", [REAL], indirect=True)
"""`pytestmark = real_only`: what the embedded house cannot show."""


@dataclass(frozen=True, slots=True)
class Address:
    """A house's address, and what may be done there."""

    url: str
    token: str = field(repr=False)  # Hearth's: no administrator's in a real house
    kind: str = "foreign"  # embedded | english | spanish | foreign
    version: str = ""  # of a real house of ours
    admin_token: str = field(default="", repr=False)  # empty: nothing may be changed there

    def before(self, year: int, month: int) -> bool:
        """Return whether it is known to be an older release than that."""
        found = tuple(int(part) for part in self.version.split(".")[:2] if part.isdecimal())
        return bool(found) and found < (year, month)

    def tool(self, name: str) -> str:
        """Return the house's name of "intent__HassTurnOn": older ones leave out the domain."""
        return name.rpartition("__")[2] if self.before(2026, 8) else name

    def needs(self, year: int, month: int, what: str) -> None:
        """Skip the test if `what` came with a later release."""
        if self.before(year, month):
            pytest.skip(f"{self.version} has no {what}; it came with {year}.{month}")


def real_house() -> Address | None:
    """Return the house that the environment names."""
    url, token = os.environ.get("HA_URL"), os.environ.get("HA_TOKEN")
    if not url or not token:
        return None
    admin_token = os.environ.get("HA_ADMIN_TOKEN", "")
    record = os.environ.get("HA_INSTANCE")
    return Address(
        url=url,
        token=token,
        kind=os.environ.get("HA_HOUSE", "english") if admin_token else "foreign",
        version=read_instance(Path(record)).version if record else "",
        admin_token=admin_token,
    )


@pytest.hookimpl(trylast=True)  # after `-m` has left its files
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep only this house's part of the test files: every second one for "1/2"."""
    part = os.environ.get("HA_PART")
    if not part:
        return
    number, count = map(int, part.split("/"))
    ours = set(sorted({item.path for item in items})[number - 1 :: count])
    left = [item for item in items if item.path not in ours]
    items[:] = [item for item in items if item.path in ours]
    config.hook.pytest_deselected(items=left)


@pytest.fixture(autouse=True)
def _only_what_fits_the_house(request: pytest.FixtureRequest) -> None:
    """Skip tests that do not fit the house.

    In a real house that is not ours only tests marked `changes_nothing` run, in an older one none
    marked `since` a later release.
    """
    if request.node.get_closest_marker("home_assistant") is None:
        return
    real = real_house()
    if real is None:
        pytest.skip("needs HA_URL and HA_TOKEN: make test-home-assistant")
    if not real.admin_token and request.node.get_closest_marker("changes_nothing") is None:
        pytest.skip("changes the house: only with HA_ADMIN_TOKEN, in a house that tests may change")
    since = request.node.get_closest_marker("since")
    if since is not None and real.before(*since.args):
        year, month = since.args
        pytest.skip(f"{real.version} does it otherwise: this is how it is from {year}.{month} on")


@pytest.fixture(params=["embedded", REAL])
async def house(request: pytest.FixtureRequest) -> AsyncIterator[Address]:
    """Yield one of the two; the real one only if the environment names it."""
    if request.param == "real":
        real = real_house()
        assert real is not None  # else the test was skipped
        yield real
        return
    async with PhoneHome() as home:
        yield Address(home.url, home.person_token, "embedded", admin_token=home.token)


@pytest.fixture
async def admin(house: Address) -> AsyncIterator[Admin]:
    """Yield the administrator's access to that house, for preparations and checks."""
    if not house.admin_token:
        pytest.skip("needs HA_ADMIN_TOKEN")
    async with Admin(house.url, house.admin_token) as hand:
        yield hand


@pytest.fixture
async def person(house: Address) -> AsyncIterator[Talk]:
    """Yield the user as whom Hearth signs in, without Hearth in between."""
    async with Talk(house.url, house.token) as talk:
        yield talk


class Power:
    """The switch of a house of ours, to stop and restart Home Assistant."""

    def __init__(self, record: Path, admin: Admin) -> None:
        self._places = Places(record.parents[2])
        self._instance = read_instance(record)
        self._admin = admin
        self._stopping: asyncio.Task[None] | None = None

    async def off(self) -> None:
        """Stop Home Assistant, which would wait 10 s for the admin's socket."""
        await self._admin.again()
        name = self._instance.name
        stop = asyncio.to_thread(instances.stop, self._places, name, print, broker_too=False)
        self._stopping = asyncio.create_task(stop)
        await asyncio.shield(self._stopping)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Freeze it: it keeps its sockets and sends nothing, as behind a broken network."""
        pid = process.running(self._places.folder(self._instance.name) / "pid")
        assert pid is not None, "it runs"
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    async def on(self) -> None:
        """Start it again; return when everything is loaded."""
        if self._stopping is not None:  # a test that failed meanwhile has not waited for it
            await self._stopping
        await instances.start(self._places, self._instance, print)


@pytest.fixture
async def power(house: Address, admin: Admin) -> AsyncIterator[Power]:
    """Yield the switch of the house, which is on again afterwards."""
    record = os.environ.get("HA_INSTANCE")
    if house.kind == "embedded" or not record:
        pytest.skip("needs a Home Assistant that tests may stop: HA_INSTANCE")
    switch = Power(Path(record), admin)
    try:
        yield switch
    finally:
        await switch.on()


class Broker:
    """The MQTT broker of a house of ours, on loopback; it keeps sessions and waiting messages."""

    def __init__(self, record: Path) -> None:
        self._places = Places(record.parents[2])
        self._instance = read_instance(record)
        self._kept = record.with_name("broker") / "mosquitto.db"
        self.port = self._instance.mqtt_port

    async def keeps(self, words: str) -> None:
        """Wait until these words are on its disk, a moment after it has accepted them."""
        await until(lambda: words.encode() in self._kept.read_bytes())

    async def kill(self) -> None:
        """Kill it without notice, as a power cut does."""
        await asyncio.to_thread(instances.kill_broker, self._places, self._instance)

    async def on(self) -> None:
        """Start it again, if it does not run. Clients find it when it listens."""
        await asyncio.to_thread(instances.start_broker, self._places, self._instance)


@pytest.fixture
async def broker(house: Address) -> AsyncIterator[Broker]:
    """Yield the broker of the house, which runs afterwards."""
    record = os.environ.get("HA_INSTANCE")
    if house.kind == "embedded" or not record or not os.environ.get("HA_MQTT_PORT"):
        pytest.skip("needs a house of ours with a broker: HA_MQTT=1")
    found = Broker(Path(record))
    try:
        yield found
    finally:
        await found.on()
