"""Why the home's MCP server cannot be used, found out over REST.

Asked only after the server answered in a way that does not tell by itself: a 404 is an integration
that is absent, removed or not loaded yet, and some failures have no status at all.
"""

import asyncio
import re

import httpx

from integrations.errors import IntegrationError
from integrations.home_assistant import reasons
from integrations.home_assistant.rest import Instance, read_instance, rest_client

LIMIT_S = 3.0  # a turn may wait for the sentence
MCP_PATHS = ("/api/mcp/assist", "/api/mcp")
FIRST_RELEASE = (2025, 2)  # with the integration (home-assistant.io/integrations/mcp_server)
_PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


async def diagnose(
    url: str, token: str, verify_tls: bool = True, ca_file: str = ""
) -> IntegrationError | None:
    """The reason, or None where none was found within LIMIT_S. Raises nothing of its own.

    Three requests at most: the configuration, and a ping to each MCP endpoint. The first reason
    counts: who answers, whether it is up, then what it says of the endpoints.
    """
    try:
        async with asyncio.timeout(LIMIT_S), rest_client(url, token, verify_tls, ca_file) as client:
            instance = await read_instance(client, url)
            return _not_up(url, instance) or await _endpoints(client, url, instance)
    except IntegrationError as error:
        return error
    except TimeoutError:
        return None


def _not_up(url: str, instance: Instance) -> IntegrationError | None:
    """It answers about 2 s before its integrations are loaded, and while it goes down."""
    if instance.recovery_mode:
        return reasons.recovery_mode(url)
    if instance.state != "RUNNING":
        return reasons.not_ready(url, instance.state)
    return None


async def _endpoints(
    client: httpx.AsyncClient, url: str, instance: Instance
) -> IntegrationError | None:
    """What Home Assistant says at its MCP endpoints; the next one counts only after a 404."""
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
