"""What is asked of Home Assistant over REST, where a plain HTTP status tells most."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from integrations.address import host_of
from integrations.cleaning import one_line
from integrations.home_assistant import reasons
from integrations.tls import tls_for

TIMEOUT_S = 10.0
_LONGEST = 100  # characters of a name or a version


@dataclass(frozen=True, slots=True)
class Instance:
    """The Home Assistant that answered."""

    version: str  # e.g. "2026.11.0"
    state: str  # "RUNNING", or on its way there or down (homeassistant.core.CoreState)
    name: str  # the home's
    recovery_mode: bool = False
    components: frozenset[str] = frozenset()  # what is set up so far, e.g. "mcp_server"


async def check(url: str, token: str, verify_tls: bool = True, ca_file: str = "") -> Instance:
    """Ask who answers at `url`. Raises Misconfigured, SignInAgain or Unavailable."""
    async with rest_client(url, token, verify_tls, ca_file) as client:
        return await read_instance(client, url)


def home_tls(url: str, verify_tls: bool, ca_file: str) -> ssl.SSLContext | None:
    """The context of every client of Home Assistant, None without TLS. Raises Misconfigured."""
    return tls_for(url, verify=verify_tls, ca_file=ca_file, setting="home_assistant.ca_file")


@asynccontextmanager
async def rest_client(
    url: str, token: str, verify_tls: bool, ca_file: str
) -> AsyncIterator[httpx.AsyncClient]:
    """A client for paths of this Home Assistant, signed in; it follows no redirect.

    What goes wrong on the way leaves the block as Misconfigured, SignInAgain or Unavailable; so
    does a block that takes longer than TIMEOUT_S.
    """
    if host_of(url) is None:
        raise reasons.no_address(url)
    tls = home_tls(url, verify_tls, ca_file)
    try:
        async with (
            asyncio.timeout(TIMEOUT_S),  # httpx counts anew with each byte that comes
            httpx.AsyncClient(
                base_url=url.rstrip("/"),
                headers={"Authorization": f"Bearer {token}"},
                verify=tls or False,
                timeout=TIMEOUT_S,
                trust_env=False,
            ) as client,
        ):
            yield client
    except TimeoutError:
        raise reasons.silent(url) from None
    except httpx.InvalidURL:  # stricter than we are
        raise reasons.no_address(url) from None
    except UnicodeEncodeError:  # its message would show the token
        raise reasons.unsendable_token() from None
    except httpx.RemoteProtocolError as error:
        raise reasons.hung_up(url) from error
    except httpx.HTTPError as error:
        raise reasons.network(url, error) from error


async def read_instance(client: httpx.AsyncClient, url: str) -> Instance:
    """GET /api/config. Raises Misconfigured, SignInAgain or Unavailable."""
    answer = await client.get("/api/config")
    if answer.status_code != 200:
        location = answer.headers.get("location", "")
        raise reasons.by_status(url, answer.status_code, answer.text, location)
    try:
        config = answer.json()
        return Instance(
            version=one_line(str(config["version"]), _LONGEST),
            state=str(config["state"]),
            name=one_line(str(config.get("location_name", "")), _LONGEST),
            recovery_mode=bool(config.get("recovery_mode")),
            components=frozenset(map(str, config["components"])),
        )
    except (KeyError, RecursionError, TypeError, ValueError):
        raise reasons.something_else(url) from None
