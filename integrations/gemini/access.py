"""Access to Gemini: how to sign in, the server's address, and a client with explicit settings.

google-genai would read some settings from environment variables. This module sets all of these
explicitly, so that the environment cannot override Hearth's settings.
"""

import asyncio
import logging
import ssl
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from integrations.errors import Misconfigured, SignInAgain
from integrations.tls import tls_context

if TYPE_CHECKING:
    from google.genai import Client
    from httpx2 import AsyncHTTPTransport

KEY_PAGE = "https://aistudio.google.com/apikey"
NO_KEY = f"Gemini needs an API key: create one at {KEY_PAGE} and set it as gemini.api_key."

TOKEN_IS_LIVE_ONLY = (
    "An ephemeral token opens only Live sessions, so gemini-once is not used: set an API key, or "
    "remove gemini-once from brain.order."
)
Way = Literal["key", "token", "vertex"]  # an API key, an ephemeral token, Vertex AI

# google-genai 3.0 changed its default to v1; Live is known to work on v1beta. It accepts ephemeral
# tokens only with v1alpha.
_VERSIONS: Mapping[Way, str] = {"key": "v1beta", "token": "v1alpha", "vertex": "v1beta1"}
_TOKEN_PREFIX = "auth_tokens/"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_BASE_URL = "https://generativelanguage.googleapis.com"
_MAX_FRAME_BYTES = 16 * 1024 * 1024  # Gemini sends audio faster than it plays, in large frames
_PING_INTERVAL_S = 20
_PING_TIMEOUT_S = 60  # pongs can arrive 30 s late (googleapis/python-genai #2935)
# Shorter than the recommended 2 s, so that a session closes within the promised 2 s.
_CLOSE_TIMEOUT_S = 1.5

CONNECT_S = 5.0  # for DNS and TCP, and again for TLS; the same limit as for Live

# At DEBUG level, the websocket library logs the handshake's headers, which include the key.
_socket_log = logging.getLogger("integrations.gemini.socket")
_socket_log.setLevel(logging.INFO)


@dataclass(frozen=True, slots=True)
class Access:
    api_key: str = field(repr=False)  # or an ephemeral token; "" with Vertex AI
    base_url: str = ""  # "" for Google's; else https://host[:port]
    ca_file: str = ""  # PEM of the only authorities to trust; "" for the system's
    api_version: str = ""  # "" for the usual one
    project: str = ""  # of Google Cloud, for Vertex AI
    location: str = ""  # of Vertex AI
    credentials_file: str = ""  # for Vertex AI

    @property
    def way(self) -> Way:
        if self.project:
            return "vertex"
        return "token" if self.api_key.startswith(_TOKEN_PREFIX) else "key"

    @property
    def version(self) -> str:
        return self.api_version or _VERSIONS[self.way]

    @property
    def edition(self) -> str:
        """The API's version and region. They decide which models and features exist."""
        return f"vertex {self.location} {self.version}" if self.project else self.version

    @property
    def address(self) -> str:
        """The service's address. Without it, the SDK would read one from the environment."""
        if self.base_url or not self.project:
            return self.base_url or _BASE_URL
        if self.location == "global":
            return "https://aiplatform.googleapis.com"
        if self.location in ("us", "eu"):  # several regions together, as in google-genai
            return f"https://aiplatform.{self.location}.rep.googleapis.com"
        return f"https://{self.location}-aiplatform.googleapis.com"


def make_client(access: Access) -> "Client":
    """Create google-genai's client for Live and plain requests. Importing the SDK blocks for 0.6 s.

    Raises SignInAgain if there is no usable key, and Misconfigured if the address, `ca_file`,
    `credentials_file` or proxy is unusable or google-genai is not installed.
    """
    try:
        from google.genai import Client
        from google.genai.types import HttpOptions
    except ImportError as error:
        raise Misconfigured(
            "Gemini's library is not installed: run `pip install google-genai` in Hearth's "
            "environment."
        ) from error
    except Exception as error:  # a broken or half-updated installation can raise anything
        raise Misconfigured(
            f"Gemini's library cannot be loaded ({type(error).__name__}): run `pip install "
            "--force-reinstall google-genai` in Hearth's environment."
        ) from error

    who: dict[str, Any] = {"api_key": _usable_key(access.api_key)} if not access.project else {}
    if access.project:
        credentials = read_credentials(access.credentials_file)
        who = {
            "project": access.project,
            "location": access.location,
            "credentials": credentials,
        }
    address = _usable_address(access.address)
    context = tls_context(ca_file=access.ca_file, setting="gemini.ca_file")
    # The SDK warns about every value that its enumerations lack, which is harmless.
    warnings.filterwarnings("ignore", r".* is not a valid \w+$", UserWarning, r"google\.genai")
    warnings.filterwarnings("ignore", r"The SDK's ephemeral token support is experimental")
    options = HttpOptions(
        base_url=address,
        api_version=access.version,
        client_args={"verify": context},
        # Arguments for both transports: the SDK passes each transport the arguments that it
        # supports.
        async_client_args={
            "verify": context,
            # With a custom transport the SDK uses httpx2 even if aiohttp is installed.
            "transport": _prompt_transport(context),
            "ssl": context,
            "ping_interval": _PING_INTERVAL_S,
            "ping_timeout": _PING_TIMEOUT_S,
            "close_timeout": _CLOSE_TIMEOUT_S,
            "max_size": _MAX_FRAME_BYTES,
            "logger": _socket_log,
        },
    )
    try:
        return Client(vertexai=bool(access.project), **who, http_options=options)
    except Exception as error:  # httpx2 raises various ones; their texts can contain a password
        raise Misconfigured(
            f"Gemini's library cannot be used ({type(error).__name__}), probably because of a "
            "proxy: set ALL_PROXY and HTTPS_PROXY in Hearth's environment to an HTTP proxy, or "
            "remove them."
        ) from None


def read_credentials(file: str) -> Any:
    """Read Google Cloud credentials from a JSON file. Raises Misconfigured."""
    # The function warns about files from others, but this one is named in the settings.
    warnings.filterwarnings("ignore", r"(?s).*load_credentials_from_file")
    try:
        from google.auth import load_credentials_from_file

        credentials, _ = load_credentials_from_file(file, scopes=[_SCOPE])  # type: ignore[no-untyped-call]
    except Exception as error:  # the file's content decides which one
        raise Misconfigured(
            f"gemini.vertex_credentials_file names {file}, from which no credentials can be read "
            f"({type(error).__name__}): create a key of a service account in the Google Cloud "
            "console, and save it there."
        ) from None
    # google-auth waits 120 s for an access token, in a thread that Hearth can't end without it.
    refresh = credentials.refresh
    credentials.refresh = lambda request: refresh(partial(request, timeout=CONNECT_S))
    return credentials


def _prompt_transport(context: ssl.SSLContext) -> "AsyncHTTPTransport":
    from httpx2 import AsyncHTTPTransport, Request, Response

    # The SDK sets no separate timeout for connecting.
    class PromptTransport(AsyncHTTPTransport):
        async def handle_async_request(self, request: Request) -> Response:
            given = request.extensions.get("timeout", {})
            request.extensions["timeout"] = {**given, "connect": CONNECT_S}
            return await super().handle_async_request(request)

    return PromptTransport(verify=context)


class LazyClient:
    """Creates google-genai's client in a thread on first use, because importing the SDK is slow."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._client: Client | None = None
        self._making = asyncio.Lock()

    async def get(self) -> "Client":
        """Return the client, creating it if necessary. Raises the errors of `make_client`."""
        async with self._making:
            if self._client is None:
                self._client = await asyncio.to_thread(make_client, self._access)
            return self._client

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aio.aclose()
            client.close()


def _usable_key(given: str) -> str:
    key = given.strip()
    if not key:
        raise SignInAgain(NO_KEY)
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SignInAgain(
            ("gemini.api_key contains a character that is never part of a key: copy it again from ")
            + KEY_PAGE
            + "."
        )
    return key


def _usable_address(given: str) -> str:
    try:
        parts = urlsplit(given)
        usable = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise Misconfigured(
            "gemini.base_url is not a valid address: leave it empty to use Google's own, or "
            "set one such as https://host:8443."
        )
    # The SDK appends its path, and replaces the scheme with wss for Live.
    return given.rstrip("/")
