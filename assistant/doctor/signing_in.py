"""How the doctor signs in at the Hearth that runs: by the token, else by a link of its own making.

The service may have its token as a credential that no other process sees. Whoever may write the
data folder may make a one-time link, and so may we; it is used at once, and its session is ended.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx

from assistant.config.errors import ConfigError
from assistant.domain.clock import SystemClock
from assistant.interfaces.console_link import Links

_SESSION = "/v1/session"
_MINUTES = 1  # that the link holds


@asynccontextmanager
async def signed_in(
    client: httpx.AsyncClient, token: str, links_in: Path | None
) -> AsyncIterator[None]:
    """Let the client's requests be an administrator's, where that can be.

    `links_in`: the data folder, None where no link may be made. Raises httpx.HTTPError.
    """
    if token:
        client.headers["Authorization"] = f"Bearer {token}"
        if (await client.get(_SESSION)).status_code == 200:
            yield
            return
        del client.headers["Authorization"]
    begun = links_in is not None and await _by_link(client, links_in)
    try:
        yield
    finally:
        if begun:
            with suppress(httpx.HTTPError):  # it ends by itself, if that fails
                await client.delete(_SESSION, headers={"Origin": str(client.base_url).rstrip("/")})


async def _by_link(client: httpx.AsyncClient, folder: Path) -> bool:
    try:
        code = await asyncio.to_thread(Links(folder).make, SystemClock().now(), _MINUTES)
    except ConfigError:
        return False
    return (await client.post(_SESSION, json={"code": code})).status_code == 204
