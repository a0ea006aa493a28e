"""Sign in to Home Assistant on its own page, and get a long-lived token for it.

Home Assistant follows OAuth 2 with IndieAuth (developers.home-assistant.io/docs/auth_api): the
client's id is the address of its page, and the page sends the browser to `/auth/authorize`. This
module exchanges the code that comes back.
"""

import socket
from datetime import datetime
from typing import Any

import httpx

from integrations.errors import SignInAgain, Unavailable
from integrations.home_assistant import reasons
from integrations.home_assistant.rest import home_tls, rest_client
from integrations.home_assistant.websocket import UNKNOWN_FORM, open_connection
from integrations.owner import OwnedTasks

_DAYS = 3650  # lifetime of the token, as on Home Assistant's profile page


async def long_lived_token(
    url: str, code: str, client_id: str, verify_tls: bool = True, ca_file: str = ""
) -> str:
    """Exchange an authorization code for a long-lived token of the user who signed in. `client_id`
    is the page's address, as given to `/auth/authorize`. Raises SignInAgain if the code isn't
    valid, and Misconfigured or Unavailable."""
    form = {"grant_type": "authorization_code", "code": code, "client_id": client_id}
    async with rest_client(url, "", verify_tls, ca_file) as client:
        answer = await client.post("/auth/token", data=form)
        if answer.status_code in (400, 403):
            raise SignInAgain(
                "Home Assistant didn't accept the sign-in, which is valid for a few minutes and "
                "works once: sign in again."
            )
        if answer.status_code != 200:
            location = answer.headers.get("location", "")
            raise reasons.by_status(url, answer.status_code, answer.text, location)
        granted = _granted(answer)
    try:
        return await _lasting(url, granted["access_token"], verify_tls, ca_file)
    finally:
        # Hearth keeps the long-lived token only.
        async with rest_client(url, "", verify_tls, ca_file) as client:
            await client.post("/auth/revoke", data={"token": granted["refresh_token"]})


def _granted(answer: httpx.Response) -> dict[str, str]:
    try:
        told: Any = answer.json()
    except (RecursionError, ValueError):
        told = None
    if not isinstance(told, dict):
        raise Unavailable(UNKNOWN_FORM)
    found = {name: told.get(name) for name in ("access_token", "refresh_token")}
    if not all(isinstance(one, str) and one for one in found.values()):
        raise Unavailable(UNKNOWN_FORM)
    return {name: str(one) for name, one in found.items()}


async def _lasting(url: str, access: str, verify_tls: bool, ca_file: str) -> str:
    # A name can be used once by each user.
    name = f"Hearth on {socket.gethostname()}, {datetime.now():%Y-%m-%d %H:%M:%S}"
    tls = home_tls(url, verify_tls, ca_file)
    async with open_connection(url, access, tls) as connection, OwnedTasks() as tasks:
        tasks.start(connection.read(), "signing in")
        fields = {"client_name": name, "lifespan": _DAYS}
        token = await connection.command("auth/long_lived_access_token", **fields)
    if not isinstance(token, str) or not token:
        raise Unavailable(UNKNOWN_FORM)
    return token
