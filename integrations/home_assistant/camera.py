"""What a camera of the home sees now: `GET /api/camera_proxy/<entity id>`."""

import asyncio
from dataclasses import dataclass, field

import httpx

from integrations.errors import Refused, SignInAgain, Unavailable
from integrations.home_assistant.rest import rest_client

TIMEOUT_S = 10.0  # for all of the picture; Home Assistant itself waits 10 s for a camera
MAX_BYTES = 7 * 1024 * 1024  # with base64 it stays below the 10 MB that a request may carry
_TRUE_NAMES = {"image/jpg": "image/jpeg"}  # Home Assistant's demo says the first, Gemini refuses it


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One picture."""

    data: bytes = field(repr=False)
    mime_type: str  # "image/jpeg"


class Cameras:
    """Takes pictures. No connection is kept: they are seldom asked for."""

    def __init__(self, url: str, token: str, verify_tls: bool = True, ca_file: str = "") -> None:
        """`url` is Home Assistant's base ("http://host:8123")."""
        self._url = url.rstrip("/")
        self._token = token
        self._verify_tls = verify_tls
        self._ca_file = ca_file

    async def snapshot(self, entity_id: str) -> Snapshot:
        """The picture of this moment.

        Raises Unavailable, Refused (no such camera, or it gives no picture), SignInAgain or
        Misconfigured.
        """
        reach = (self._url, self._token, self._verify_tls, self._ca_file)
        try:
            async with (
                asyncio.timeout(TIMEOUT_S),
                rest_client(*reach) as client,
                client.stream("GET", f"/api/camera_proxy/{entity_id}") as answer,
            ):
                return await _read(answer, entity_id)
        except TimeoutError:
            raise Unavailable(f"The camera {entity_id} did not answer in time.") from None


async def _read(answer: httpx.Response, entity_id: str) -> Snapshot:
    if answer.status_code in (401, 403):
        raise SignInAgain("Home Assistant does not accept home_assistant.token for its cameras.")
    mime_type = answer.headers.get("content-type", "").partition(";")[0].strip()
    if answer.status_code != 200 or not mime_type.startswith("image/"):
        raise Refused(f"The camera {entity_id} gives no picture (status {answer.status_code}).")
    data = b""
    async for part in answer.aiter_bytes():
        data += part
        if len(data) > MAX_BYTES:
            raise Refused(f"The picture of {entity_id} is larger than {MAX_BYTES >> 20} MB.")
    return Snapshot(data, _TRUE_NAMES.get(mime_type, mime_type))
