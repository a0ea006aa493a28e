"""Send REST requests to Home Assistant and diagnose why its MCP server cannot be used."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from integrations.address import host_of
from integrations.cleaning import one_line
from integrations.errors import IntegrationError
from integrations.home_assistant import reasons
from integrations.tls import tls_for

TIMEOUT_S = 10.0
_LONGEST = 100  # characters of a name or version


@dataclass(frozen=True, slots=True)
class Instance:
    """The Home Assistant that answered, as described by `/api/config`."""

    version: str  # e.g. "2026.11.0"
    state: str  # "RUNNING", or a state while starting or stopping (homeassistant.core.CoreState)
    name: str  # name of the home
    recovery_mode: bool = False
    components: frozenset[str] = frozenset()  # set up so far, such as "mcp_server"
    ahead_s: float | None = None  # of this machine's clock; None if its clock isn't known


async def check(url: str, token: str, verify_tls: bool = True, ca_file: str = "") -> Instance:
    """Check the URL and token by reading Home Assistant's configuration. Raises Misconfigured,
    SignInAgain or Unavailable."""
    async with rest_client(url, token, verify_tls, ca_file) as client:
        return await read_instance(client, url)


async def reach(url: str, verify_tls: bool = True, ca_file: str = "") -> None:
    """Check that Home Assistant answers at `url`. Raises Misconfigured, Refused or Unavailable.

    It requests `/auth/providers`, which needs no token. Elsewhere, a request without a token would
    count as a failed login (homeassistant.components.http.ban).
    """
    async with rest_client(url, "", verify_tls, ca_file) as client:
        answer = await client.get("/auth/providers")
    try:
        told = answer.json()
    except (RecursionError, ValueError):
        told = None
    if isinstance(told, dict) and told.get("code") == "onboarding_required":
        raise reasons.not_onboarded(url)
    if answer.status_code != 200:
        location = answer.headers.get("location", "")
        raise reasons.by_status(url, answer.status_code, answer.text, location)
    providers = (
        told.get("providers") if isinstance(told, dict) else told
    )  # a plain list in older releases
    if not isinstance(providers, list) or not all(
        isinstance(one, dict) and "type" in one for one in providers
    ):
        raise reasons.something_else(url)


def home_tls(url: str, verify_tls: bool, ca_file: str) -> ssl.SSLContext | None:
    """Return the TLS context for Home Assistant, or None for an http:// URL. Raises
    Misconfigured."""
    return tls_for(url, verify=verify_tls, ca_file=ca_file, setting="home_assistant.ca_file")


@asynccontextmanager
async def rest_client(
    url: str, token: str, verify_tls: bool, ca_file: str
) -> AsyncIterator[httpx.AsyncClient]:
    """Yield an HTTP client for Home Assistant that does not follow redirects. If `token` is "",
    requests are sent without authentication.

    Network errors inside the block are raised as Misconfigured, SignInAgain or Unavailable. The
    whole block times out after TIMEOUT_S (10 s) with Unavailable.
    """
    if host_of(url) is None:
        raise reasons.no_address(url)
    tls = home_tls(url, verify_tls, ca_file)
    try:
        async with (
            asyncio.timeout(TIMEOUT_S),  # httpx restarts its own timeout with each byte
            httpx.AsyncClient(
                base_url=url.rstrip("/"),
                headers={"Authorization": f"Bearer {token}"} if token else {},
                verify=tls or False,
                timeout=TIMEOUT_S,
                trust_env=False,
            ) as client,
        ):
            yield client
    except TimeoutError:
        raise reasons.silent(url) from None
    except httpx.InvalidURL:  # httpx is stricter than `host_of`
        raise reasons.no_address(url) from None
    except UnicodeEncodeError:  # the exception's message would show the token
        raise reasons.unsendable_token() from None
    except httpx.RemoteProtocolError as error:
        raise reasons.hung_up(url) from error
    except httpx.HTTPError as error:
        raise reasons.network(url, error) from error


async def read_instance(client: httpx.AsyncClient, url: str) -> Instance:
    """Read /api/config. Raises Misconfigured, SignInAgain or Unavailable."""
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
            ahead_s=_ahead_s(answer.headers.get("date", "")),
        )
    except (KeyError, RecursionError, TypeError, ValueError):
        raise reasons.something_else(url) from None


def _ahead_s(date: str) -> float | None:
    """Return by how many seconds a server's clock is ahead of this machine's, from its `Date`
    header (RFC 9110, 6.6.1), or None if there is none."""
    try:
        return (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return None


# Diagnosis of a failing MCP server. It is needed only if the server's response does not explain the
# failure: a 404 can mean that the integration is absent, removed or not loaded yet, and some
# failures have no status.


LIMIT_S = 3.0  # a turn may be waiting for the message
MCP_PATHS = ("/api/mcp/assist", "/api/mcp")
# the first release with the MCP integration (home-assistant.io/integrations/mcp_server)
FIRST_RELEASE = (2025, 2)
_PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


async def diagnose(
    url: str, token: str, verify_tls: bool = True, ca_file: str = ""
) -> IntegrationError | None:
    """Return the reason why the MCP server cannot be used, or None if no reason was found within
    LIMIT_S (3 s). Never raises."""
    try:
        async with asyncio.timeout(LIMIT_S), rest_client(url, token, verify_tls, ca_file) as client:
            instance = await read_instance(client, url)
            return _not_up(url, instance) or await _endpoints(client, url, instance)
    except IntegrationError as error:
        return error
    except TimeoutError:
        return None


def _not_up(url: str, instance: Instance) -> IntegrationError | None:
    """Return an error if Home Assistant is in recovery mode, starting or stopping. It answers about
    2 s before its integrations are loaded, and also while it is stopping."""
    if instance.recovery_mode:
        return reasons.recovery_mode(url)
    if instance.state != "RUNNING":
        return reasons.not_ready(url, instance.state)
    return None


async def _endpoints(
    client: httpx.AsyncClient, url: str, instance: Instance
) -> IntegrationError | None:
    for path in MCP_PATHS:
        answer = await client.post(path, json=_PING, headers={"Accept": "application/json"})
        if answer.status_code == 401:
            return reasons.wrong_token()
        if answer.status_code == 403:
            return reasons.not_admin()
        if answer.status_code != 404:
            return None
    if "mcp_server" in instance.components:
        return reasons.mcp_server_off(url)
    release = re.match(r"(\d{1,4})\.(\d{1,2})\b", instance.version)
    if release is not None and (int(release[1]), int(release[2])) < FIRST_RELEASE:
        return reasons.too_old(instance.version)
    return reasons.no_mcp_server(url)
