"""Home Assistant found by multicast DNS: on loopback for real, and from records."""

import uuid

import pytest
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from integrations.home_assistant import discovery
from integrations.home_assistant.discovery import SERVICE, FoundHome, find_homes, home_of

LOOPBACK = ["127.0.0.1"]


async def test_a_home_that_tells_the_network_of_itself_is_found() -> None:
    name = f"Casa {uuid.uuid4().hex[:8]}"  # other tests may announce theirs
    home = FoundHome(name, "http://127.0.0.1:8123", "2026.11.0")
    info = AsyncServiceInfo(
        SERVICE,
        f"{name}.{SERVICE}",
        port=8123,
        parsed_addresses=LOOPBACK,
        server=f"{uuid.uuid4().hex}.local.",
        properties={"location_name": name, "version": "2026.11.0", "internal_url": ""},
    )
    network = AsyncZeroconf(interfaces=LOOPBACK)
    try:
        await (await network.async_register_service(info))
        for seconds in (1.0, 3.0, 9.0, 27.0):  # datagrams may be lost
            if home in await find_homes(seconds, LOOPBACK):
                return
    finally:
        await network.async_close()
    pytest.fail("it was not found")


async def test_without_a_network_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(**options: object) -> None:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(discovery, "AsyncZeroconf", no_network)
    assert await find_homes(0.1) == []


@pytest.mark.parametrize(
    ("told", "url"),
    [
        ({"internal_url": "http://192.168.1.5:8123/"}, "http://192.168.1.5:8123"),
        ({"internal_url": "https://home.lan:8123"}, "https://home.lan:8123"),
        ({"base_url": "http://homeassistant.local:8123"}, "http://homeassistant.local:8123"),
        # A token is never sent outside because of an announcement in the network.
        ({"internal_url": "https://elsewhere.example"}, "http://10.0.0.2:8123"),
        ({"internal_url": "http://8.8.8.8:8123"}, "http://10.0.0.2:8123"),
        ({"internal_url": "http://user@10.0.0.9:8123"}, "http://10.0.0.2:8123"),
        ({"internal_url": "http://10.0.0.9\u202e:8123"}, "http://10.0.0.2:8123"),
        ({"internal_url": "ftp://10.0.0.9"}, "http://10.0.0.2:8123"),
        ({}, "http://10.0.0.2:8123"),
    ],
)
def test_the_address_is_one_of_this_network(told: dict[str, str], url: str) -> None:
    home = home_of(told, ["10.0.0.2", "10.0.0.3"], 8123)
    assert home is not None
    assert home.url == url


def test_names_are_shown_without_what_is_hidden_in_them() -> None:
    home = home_of({"location_name": "Ca\u200bsa\n\x1b[31m", "version": "1"}, ["10.0.0.2"], 80)
    assert home is not None
    assert home.name.isprintable()


def test_without_an_address_there_is_no_home() -> None:
    assert home_of({"location_name": "Casa"}, [], 8123) is None
    assert home_of({"location_name": "Casa"}, ["10.0.0.2"], 0) is None
