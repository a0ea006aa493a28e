"""A SIMULATOR of Google's Gemini: the Live API over TLS websockets, and generateContent over REST.

It is no Google software and has never met the real service: it knows what Google's documentation,
the google-genai client and public reports say, and plays what a test has scripted (`script.py`).
Both APIs are on one port of 127.0.0.1, with a certificate made when it starts.

What it refuses, as the service does (sources at each check):
- a missing key (HTTP 403) or a wrong one (close 1007); the key in the address; another API version
- an ephemeral token that is spent or has expired (close 1011), and every plain request with one
- with Vertex AI: a key, another access token (HTTP 401), another project or location
- 1007: a first message that is not setup; unknown fields anywhere; a setup that the model does not
  take (thinking, affective dialogue, proactive_audio:false, modality TEXT, transcription settings);
  declarations outside of the OpenAPI subset, with illegal or double names, none or more than 512;
  sound other than audio/pcm;rate=16000; media_chunks; audio_stream_end in manual mode;
  activity_start twice, activity_end without it; function responses with an id that is missing,
  unknown, answered or cancelled; scheduling, behaviour or context updates the model does not have
- 1008: a model or a handle that it does not have
- 1011: a handle whose old socket is still open; a session beyond `most_sessions`
Sound outside of an activity it ignores, as the service does, and tells the test (`stray`).

What it adds for the test: whatever was not scripted, and whatever was scripted and did not happen,
raises AssertionError when the context ends.
"""

import re
import tempfile
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal, Self

from aiohttp import web

from assistant.domain.clock import Clock, SystemClock
from tests.simulators.book import Book, Expectations, Respond, RespondOnce
from tests.simulators.certificate import make_certificate
from tests.simulators.google_account import ACCESS_TOKEN, ServiceAccount
from tests.simulators.live import LiveSocket
from tests.simulators.models import MODELS, ModelRules
from tests.simulators.once import OnceService, http_error
from tests.simulators.records import ConnectionRecord, HeardTurn, OnceRequest, Session
from tests.simulators.script import OnceTurn, Opening, Turn
from tests.simulators.window import WindowRules
from tests.simulators.wire import INTERNAL, Refusal

KEY = "simulated-key"
TOKEN = "auth_tokens/" + "5imulated" * 7
VERTEX = "projects/simulated-project/locations/us-central1"
_VERSIONS = {"key": "v1beta", "token": "v1alpha", "vertex": "v1beta1"}
_LIVE = {
    "key": "google.ai.generativelanguage.{}.GenerativeService.BidiGenerateContent",
    "token": "google.ai.generativelanguage.{}.GenerativeService.BidiGenerateContentConstrained",
    "vertex": "google.cloud.aiplatform.{}.LlmBidiService/BidiGenerateContent",
}
_BAD_ACCESS_TOKEN = (
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie "
    "or other valid authentication credential."
)
_UNREGISTERED = "Method doesn't allow unregistered callers."
_BAD_KEY = "API key not valid. Please pass a valid API key."
_STOP_WITHIN_S = 1.0
_PAGE = {"pageToken": "0", "pageSize": "50"}  # of models.list, with the usual values
_MOST_BYTES = 20_000_000  # of a REST request; Google's limit for inline data is 20 MB


class GeminiSimulator:
    """The simulated service, from entering its context to leaving it.

    `turns`, `once`, `openings`: what is done for each, in their order; beyond them `respond`,
    `respond_once` and `opening` tell. `refusals`: patterns of "1007 reason" that the test means to
    provoke. `retired`: models that are gone. `cancels_blocking`: new input cancels a BLOCKING call.
    `rest_refusal`: status, message and reason with which every plain request is refused.
    `withholds_handles`: no handle is valid while a turn is under way, as documented; with False,
    the last one stays valid, as observed with gemini-3.8-live (pydantic/pydantic-ai,
    realtime/google.py). `crossing_s`: an answer to a call cancelled so recently is ignored, because
    the two messages may have crossed. `keep_turns`: only so many of the newest are kept, for long
    runs. `most_sessions`: Live sessions that the key may have at once. `keep_frames`: every message
    of a client's is kept. `window`: context windows are counted, trimmed and ended, and turns
    without a scripted usage tell theirs.
    `sign_in`: what clients must sign in with, as `settings` says. `uses`: new sessions that an
    ephemeral token opens.
    """

    def __init__(
        self,
        turns: Sequence[Turn] = (),
        *,
        respond: Respond | None = None,
        once: Sequence[OnceTurn] = (),
        respond_once: RespondOnce | None = None,
        openings: Sequence[Opening] = (),
        opening: Opening | None = None,
        refusals: Sequence[str] = (),
        retired: Sequence[str] = (),
        models: Mapping[str, ModelRules] = MODELS,
        key: str = KEY,
        rest_refusal: tuple[int, str, str] | None = None,
        version: str = "",
        cancels_blocking: bool = True,
        handles: bool = True,
        withholds_handles: bool = True,
        crossing_s: float = 0.0,
        stray_fails: bool = True,
        check: bool = True,
        keep_turns: int | None = None,
        most_sessions: int | None = None,
        keep_frames: bool = False,
        window: WindowRules | None = None,
        sign_in: Literal["key", "token", "vertex"] = "key",
        uses: int = 1,
        account: ServiceAccount | None = None,
        clock: Clock | None = None,
        port: int = 0,
    ) -> None:
        expected = Expectations(
            turns=turns,
            respond=respond,
            once=once,
            respond_once=respond_once,
            openings=openings,
            opening=opening or Opening(),
            refusals=refusals,
        )
        self._book = Book(
            expected,
            models,
            retired,
            clock or SystemClock(),
            keep_turns,
            cancels_blocking=cancels_blocking,
            gives_handles=handles,
            withholds_handles=withholds_handles,
            crossing_s=crossing_s,
            version=version or _VERSIONS[sign_in],
            most_sessions=most_sessions,
            keeps_frames=keep_frames,
            window=window,
        )
        self.key = TOKEN if sign_in == "token" else key
        self._sign_in = sign_in
        self._uses_left = uses
        self.token_has_expired = False
        self.account = account or (ServiceAccount() if sign_in == "vertex" else None)
        self._folder = Path()
        self._rest_refusal = rest_refusal
        self.port = port
        self.ca_file = Path()  # known once it has started
        self._check = check
        self._stray_fails = stray_fails
        self._stack = AsyncExitStack()
        self._once: OnceService | None = None

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="simulator-"))
            certificate = make_certificate(Path(folder))
            self.ca_file = certificate.ca_file
            self._once = OnceService(self._book)
            application = web.Application(client_max_size=_MOST_BYTES)
            application.router.add_get("/ws/{method:.+}", self._live)
            home = "" if self._sign_in != "vertex" else "/publishers/google"
            place = f"/{VERTEX}" if home else ""
            application.router.add_post(f"/{{version}}{place}{home}/models/{{call}}", self._rest)
            application.router.add_get(f"/{{version}}{home}/models", self._list)
            application.router.add_get(f"/{{version}}{home}/models/{{name}}", self._describe)
            runner = web.AppRunner(application, shutdown_timeout=_STOP_WITHIN_S, access_log=None)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            stack.callback(self._once.stopping.set)
            context = certificate.server_context()
            await web.TCPSite(runner, "127.0.0.1", self.port, ssl_context=context).start()
            self.port = runner.addresses[0][1]
            self._folder = Path(folder)
            if self.account is not None:
                await self._serve_tokens(self.account, stack)
            self._stack = stack.pop_all()
        return self

    async def _serve_tokens(self, account: ServiceAccount, stack: AsyncExitStack) -> None:
        """Serve access tokens on another port, without TLS, because Google's library for tokens
        doesn't accept a certificate authority from its client."""
        tokens = web.Application()
        tokens.router.add_post("/token", account.give_token)
        runner = web.AppRunner(tokens, shutdown_timeout=_STOP_WITHIN_S, access_log=None)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        account.uri = f"http://127.0.0.1:{runner.addresses[0][1]}/token"
        account.write_key(self._folder / "account.json")

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        left = self._once.unconsumed() if self._once else []
        for connection in self.connections:
            if connection.open:
                connection.close(1001, "The simulator stops.")
        async with self._stack:
            pass
        if error is None and self._check:
            self.assert_as_scripted(left)

    def assert_as_scripted(self, more: Sequence[str] = ()) -> None:
        """Raise AssertionError if something unexpected happened or something expected did not."""
        wrong = [*self.failures, *self._book.unconsumed(), *more]
        if self._stray_fails and self.stray_bytes:
            wrong.append(f"{self.stray_bytes} bytes of sound came outside of any activity")
        if wrong:
            log = "\n  ".join(self._book.log)
            raise AssertionError("\n".join(wrong) + f"\nWhat happened:\n  {log}")

    # --- for clients

    @property
    def url(self) -> str:
        """The base URL."""
        return f"https://127.0.0.1:{self.port}"

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the section `gemini` with which Hearth reaches the service."""
        reach = {"base_url": self.url, "ca_file": str(self.ca_file)}
        if self._sign_in != "vertex":
            return {**reach, "api_key": self.key}
        _, project, _, location = VERTEX.split("/")
        file = str(self._folder / "account.json")
        vertex = {"project": project, "location": location, "credentials_file": file}
        return reach | {f"vertex_{name}": value for name, value in vertex.items()}

    # --- for tests

    @property
    def turns(self) -> list[HeardTurn]:
        """The turns so far."""
        return self._book.turns

    @property
    def connections(self) -> list[ConnectionRecord]:
        """All websockets so far, except those refused with an HTTP status."""
        return self._book.connections

    @property
    def once_requests(self) -> list[OnceRequest]:
        """The valid REST requests."""
        return self._book.once_requests

    @property
    def sessions(self) -> dict[str, Session]:
        """The conversations by name."""
        return self._book.sessions

    @property
    def failures(self) -> list[str]:
        """Events that were not scripted."""
        return self._book.failures

    @property
    def open_sockets(self) -> int:
        """Number of open websockets."""
        return sum(connection.open for connection in self.connections)

    @property
    def total_sockets(self) -> int:
        """Number of websockets so far."""
        return len(self.connections)

    @property
    def heard_samples(self) -> int:
        """Samples of sound inside activities, over all connections."""
        return self._book.heard_samples

    @property
    def stray_bytes(self) -> int:
        """Bytes of sound outside activities, over all connections."""
        return self._book.stray_bytes

    def expire_handles(self) -> None:
        """Invalidate every handle given so far."""
        self._book.expire_handles()

    async def until(self, holds: Callable[[], bool], timeout_s: float = 20.0) -> None:
        """Wait in the simulator's own event loop until something holds. Raises TimeoutError."""
        await self._book.changes.until(holds, timeout_s)

    def wait_until(self, holds: Callable[[], bool], timeout_s: float = 20.0) -> None:
        """Wait as `until` does, in another thread than the simulator's."""
        self._book.changes.wait_until(holds, timeout_s)

    # --- HTTP

    def _key_is_missing(self, request: web.Request) -> bool:
        if {"key", "access_token"} & set(request.query):
            self._book.fail("the key came in the address")
        header = "x-goog-api-key" if self._sign_in == "key" else "Authorization"
        if header in request.headers:
            return False
        self._book.refuse(Refusal(_UNREGISTERED, 403))
        return True

    def _key_is_right(self, request: web.Request) -> bool:
        match self._sign_in:
            case "key":
                return request.headers.get("x-goog-api-key") == self.key
            case "token":  # with google-genai 3.6.1
                return request.headers["Authorization"] == f"Token {self.key}"
            case "vertex":
                if "x-goog-api-key" in request.headers:
                    self._book.fail("a key came together with an access token")
                return request.headers["Authorization"] == f"Bearer {ACCESS_TOKEN}"

    def _spend(self, setup: Any) -> None:
        """Count a new session of the token. Raises Refusal.

        A public project measured in September 2026 that resumptions are not counted, but that they
        fail with an expired token.
        """
        if self._sign_in != "token":
            return
        if self.token_has_expired:
            raise Refusal("Token has expired", INTERNAL, scripted=True)
        if not setup.get("sessionResumption", {}).get("handle"):
            if not self._uses_left:
                reason = "Token has been used too many times"
                raise Refusal(reason, INTERNAL, scripted=True)
            self._uses_left -= 1

    async def _live(self, request: web.Request) -> web.StreamResponse:
        opening = self._book.take_opening()
        await self._book.clock.sleep(opening.upgrade_delay_s)
        if opening.http_status is not None:
            return http_error(opening.http_status, opening.http_message)
        if request.match_info["method"] != _LIVE[self._sign_in].format(self._book.version):
            self._book.refuse(Refusal(request.path, 404))
            return http_error(404)
        if self._key_is_missing(request):
            return http_error(403, _UNREGISTERED)
        right = self._key_is_right(request)
        if self._sign_in == "vertex" and not right:
            return http_error(401, _BAD_ACCESS_TOKEN, "UNAUTHENTICATED")
        prefix = f"{VERTEX}/publishers/google/" if self._sign_in == "vertex" else ""
        return await LiveSocket(self._book, opening, right, prefix, self._spend).serve(request)

    def _rest_error(self, request: web.Request) -> web.Response | None:
        """Return the refusal of a plain request, before it is looked at."""
        if request.match_info["version"] != self._book.version:
            self._book.refuse(Refusal(request.path_qs, 404))
            return http_error(404)
        if self._key_is_missing(request) or self._sign_in == "token":
            return http_error(403, _UNREGISTERED)
        if not self._key_is_right(request):
            self._book.refuse(Refusal(_BAD_KEY, 400))
            return http_error(400, _BAD_KEY, "API_KEY_INVALID")
        return http_error(*self._rest_refusal) if self._rest_refusal else None

    async def _describe(self, request: web.Request) -> web.StreamResponse:
        """Answer models.get (Google's reference of the Models API)."""
        name = request.match_info["name"]
        error = self._rest_error(request)
        described = self._book.described()
        if error is None and name not in described:
            error = http_error(404, f"models/{name} is not found for API version v1beta.")
        return error or web.json_response(described[name])

    async def _list(self, request: web.Request) -> web.StreamResponse:
        """Answer models.list, in pages of `pageSize` models."""
        error = self._rest_error(request)
        if error is not None:
            return error
        described = list(self._book.described().values())
        first, size = (int(request.query.get(key, usual)) for key, usual in _PAGE.items())
        following = {"nextPageToken": str(first + size)} if first + size < len(described) else {}
        return web.json_response({"models": described[first : first + size], **following})

    async def _rest(self, request: web.Request) -> web.StreamResponse:
        assert self._once is not None
        error = self._rest_error(request)
        if error is not None:
            return error
        call = re.fullmatch(r"([^:]+):streamGenerateContent", request.match_info["call"])
        if call is None or request.query.get("alt") != "sse":
            self._book.refuse(Refusal(request.path_qs, 404))
            return http_error(404)
        return await self._once.serve(request, call[1])
