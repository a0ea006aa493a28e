"""What a camera of the home sees now: `GET /api/camera_proxy/<entity id>`."""

from dataclasses import dataclass, field

import httpx

from integrations.errors import Misconfigured, Refused, SignInAgain, Unavailable
from integrations.tls import tls_context

TIMEOUT_S = 10.0  # Home Assistant itself waits 10 s for a camera
MAX_BYTES = 7 * 1024 * 1024  # with base64 it stays below the 10 MB that a request may carry


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
        secure = self._url.startswith("https:")
        tls = secure and tls_context(
            verify=self._verify_tls, ca_file=self._ca_file, setting="home_assistant.ca_file"
        )
        try:
            async with (
                httpx.AsyncClient(verify=tls, timeout=TIMEOUT_S, trust_env=False) as client,
                client.stream(
                    "GET",
                    f"{self._url}/api/camera_proxy/{entity_id}",
                    headers={"Authorization": f"Bearer {self._token}"},
                ) as answer,
            ):
                return await _read(answer, entity_id)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeEncodeError):
            # The texts of these would show the address or the token.
            raise Misconfigured("home_assistant.url or its token cannot be used.") from None
        except httpx.TransportError as error:
            raise Unavailable(f"The camera {entity_id} did not answer in time.") from error


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
    return Snapshot(data, mime_type)
