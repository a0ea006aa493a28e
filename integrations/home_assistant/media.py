"""Fetch audio files and camera pictures from Home Assistant over HTTP.

The name of an audio file is untrusted, so every request for one goes to the configured Home
Assistant, follows no redirects and carries no token. Files that require authentication are resolved
over the websocket (`media_source/resolve_media`), which returns a signed URL. Hearth never requests
such a file by its own path, because Home Assistant bans clients after repeated unauthenticated
requests.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

import httpx

from integrations.cleaning import one_line
from integrations.errors import Misconfigured, Refused, SignInAgain, Unavailable
from integrations.home_assistant import reasons
from integrations.home_assistant.rest import home_tls, rest_client
from integrations.home_assistant.websocket import Commands

TOTAL_S = 10.0  # limit for the whole download
MAX_SOUND_BYTES = 10_000_000
SCHEME = "media-source"
_RESOLVE = "media_source/resolve_media"
_OPEN = ("/local/", "/api/tts_proxy/")  # paths that need no authentication
_MEDIA = "/media/"  # followed by the media folder's name and the path in it
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class SoundFile:
    name: str  # the last segment of its path
    data: bytes = field(repr=False)  # at most MAX_SOUND_BYTES


class HomeSounds:
    def __init__(
        self, home: Commands, url: str, verify_tls: bool = True, ca_file: str = ""
    ) -> None:
        self._home = home
        self._url = url.rstrip("/")
        self._verify_tls = verify_tls
        self._ca_file = ca_file

    async def fetch(self, media: str) -> SoundFile:
        """Fetch an audio file by name: "media-source://…", "/local/…", "/media/…" or a URL of Home
        Assistant itself. Raises Refused if the file is not allowed, not found or larger than
        MAX_SOUND_BYTES (10 MB), or another IntegrationError."""
        try:
            async with asyncio.timeout(TOTAL_S):
                return await self._get(await self._path_of(media))
        except TimeoutError:
            raise Unavailable("Home Assistant did not send the sound in time.") from None

    async def _path_of(self, media: str) -> str:
        parts = _parts(media)
        if parts.scheme in _PORTS:
            if not await self._is_home(parts):
                raise Refused(
                    "That address is not on Home Assistant, the only server that sounds are "
                    "fetched from."
                )
            parts = parts._replace(scheme="", netloc="")
        if parts.scheme == SCHEME:
            return await self._resolved(media)
        if parts.scheme or parts.netloc or ".." in unquote(parts.path).split("/"):
            raise Refused("That is not the address of a sound in Home Assistant.")
        if parts.path.startswith(_MEDIA):
            inside = unquote(parts.path.removeprefix(_MEDIA))
            return await self._resolved(f"{SCHEME}://media_source/{inside}")
        if not parts.path.startswith(_OPEN):
            raise Refused(
                "From Home Assistant, only /local/…, /media/… and media-source://… can be played."
            )
        return parts._replace(fragment="").geturl()

    async def _resolved(self, media: str) -> str:
        answer = await self._home.command(_RESOLVE, media_content_id=media)
        url = answer.get("url") if isinstance(answer, Mapping) else None
        parts = _parts(str(url or ""))
        if parts.netloc and not await self._is_home(parts):
            raise Refused(
                "Home Assistant redirected the sound to another server, and sounds are fetched "
                "only from Home Assistant."
            )
        if not parts.path.startswith("/"):
            raise Misconfigured("Home Assistant redirected the sound without giving a new address.")
        return parts._replace(scheme="", netloc="", fragment="").geturl()

    async def _is_home(self, parts: SplitResult) -> bool:
        if _origin(parts) == _origin(urlsplit(self._url)):
            return True
        config = await self._home.command("get_config")
        known = [config.get(name) for name in ("internal_url", "external_url")]
        return _origin(parts) in [_origin(_parts(str(url))) for url in known if url]

    async def _get(self, path: str) -> SoundFile:
        tls = home_tls(self._url, self._verify_tls, self._ca_file)
        try:
            async with (
                httpx.AsyncClient(
                    base_url=self._url,
                    headers={"Accept-Encoding": "identity"},  # a small response must not expand
                    verify=tls or False,
                    timeout=TOTAL_S,
                    trust_env=False,
                ) as client,
                client.stream("GET", path) as answer,
            ):
                name = unquote(urlsplit(path).path).rpartition("/")[2]
                return SoundFile(one_line(name, 100) or "sound", await _body(answer))
        except httpx.InvalidURL:
            raise Refused("That is not the address of a sound in Home Assistant.") from None
        except httpx.HTTPError as error:
            # The error's message would show the signed address.
            raise reasons.network(self._url, error) from None


async def _body(answer: httpx.Response) -> bytes:
    if answer.status_code != 200:
        raise Refused(
            f"Home Assistant has no such sound (status {answer.status_code}): check its "
            "name, and if you have just created the www folder, restart Home Assistant."
        )
    if answer.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise Refused("Home Assistant sent the sound compressed, although that was not requested.")
    data = bytearray()
    async for piece in answer.aiter_raw():
        data += piece
        if len(data) > MAX_SOUND_BYTES:
            raise Refused(f"The sound is larger than {MAX_SOUND_BYTES // 1_000_000} MB.")
    return bytes(data)


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (reading it checks it)
    except ValueError:
        raise Refused("That is not the address of a sound.") from None
    return parts


def _origin(parts: SplitResult) -> tuple[str, int | None]:
    """Return the host and port. The scheme is ignored, because the configured URL decides on
    TLS."""
    return parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


# Camera pictures, `GET /api/camera_proxy/<entity id>`.


PICTURE_S = 10.0  # for the whole download; Home Assistant itself waits 10 s for a camera
MAX_PICTURE_BYTES = 7 * 1024 * 1024  # in base64, this is below the 10 MB limit of a request
# Home Assistant's demo sends "image/jpg", which Gemini refuses.
_TRUE_NAMES = {"image/jpg": "image/jpeg"}


@dataclass(frozen=True, slots=True)
class Snapshot:
    data: bytes = field(repr=False)
    mime_type: str  # "image/jpeg"


class Cameras:
    def __init__(self, url: str, token: str, verify_tls: bool = True, ca_file: str = "") -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._verify_tls = verify_tls
        self._ca_file = ca_file

    async def snapshot(self, entity_id: str) -> Snapshot:
        """Fetch the camera's current picture. Raises Refused if the camera is unknown or sends no
        picture, and Unavailable, SignInAgain or Misconfigured."""
        reach = (self._url, self._token, self._verify_tls, self._ca_file)
        try:
            async with (
                asyncio.timeout(PICTURE_S),
                rest_client(*reach) as client,
                client.stream("GET", f"/api/camera_proxy/{entity_id}") as answer,
            ):
                return await _read(answer, entity_id)
        except TimeoutError:
            raise Unavailable(f"The camera {entity_id} did not answer in time.") from None


async def _read(answer: httpx.Response, entity_id: str) -> Snapshot:
    if answer.status_code in (401, 403):
        raise SignInAgain("Home Assistant rejected home_assistant.token for its cameras.")
    mime_type = answer.headers.get("content-type", "").partition(";")[0].strip()
    if answer.status_code != 200 or not mime_type.startswith("image/"):
        raise Refused(
            f"The camera {entity_id} did not send a picture (status {answer.status_code})."
        )
    data = b""
    async for part in answer.aiter_bytes():
        data += part
        if len(data) > MAX_PICTURE_BYTES:
            raise Refused(
                f"The picture from {entity_id} is larger than {MAX_PICTURE_BYTES >> 20} MB."
            )
    return Snapshot(data, _TRUE_NAMES.get(mime_type, mime_type))
