"""Setup in the browser: its HTTP paths, and the server of the set-up mode.

Only the browser that an owner's link has signed in may use the paths, and only while this server
runs: the console of `hearth run` doesn't have them.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, SecretStr
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp

from assistant.config.schema import Settings
from assistant.domain.clock import SystemClock
from assistant.interfaces.http import console_link, open_guard
from assistant.setup.session import SetupSession
from integrations.errors import Misconfigured
from integrations.serving import serving
from integrations.tls import server_context
from integrations.web.api import SigningIn, web_app
from integrations.web.guard import Guard
from integrations.web.pages import console_routes, health_route
from integrations.web.paths import Call, Path, routes_of
from integrations.web.problems import Refused
from integrations.web.requests import LanguageTag, Secret, Wish

LINK_MINUTES = 60
_PORTS = 10  # ports to try, if Hearth itself already uses the configured one
_ONLY_OWNER = "Only the browser that opened the set-up link can do this."
_BASE = "/v1/setup"

Text = Annotated[str, Field(max_length=300)]
Code = Annotated[SecretStr, Field(min_length=1, max_length=2_000)]


class HomeStep(Wish):
    """Search the network, or try an address, and a token or a sign-in for it."""

    search: bool = False
    url: Text = ""
    token: Secret | None = None
    code: Code | None = None  # from Home Assistant's sign-in page
    page: Text = ""  # the address to which that page sent the code


class RoomStep(Wish):
    room: Text


class LanguagesStep(Wish):
    languages: Annotated[list[LanguageTag], Field(min_length=1, max_length=6)]


class SoundStep(Wish):
    """Look for devices, choose two, play a greeting, or listen for the wake word."""

    look: bool = False
    input: Text = ""
    output: Text = ""
    play: bool = False
    language: Text = ""  # of the greeting
    listen: bool = False


class VoiceStep(Wish):
    engine: Annotated[str, Field(pattern="^(piper|espeak)$")]
    voices: dict[str, Text] = Field(default_factory=dict, max_length=20)  # by language


class WakeStep(Wish):
    word: Text
    sensitivity: Annotated[str, Field(pattern="^(low|normal|high)$")]


class GeminiStep(Wish):
    accept: bool
    key: Secret | None = None


class OpenersStep(Wish):
    look: bool = False
    harmless: list[Text] = Field(default_factory=list, max_length=2_000)


class SkipStep(Wish):
    step: Text


class FinishStep(Wish):
    open_console: bool


def setup_paths(session: SetupSession) -> Sequence[Path]:
    """Return the paths of the set-up mode. Every answer is the state of all steps."""
    return (
        Path(
            *("GET", _BASE, "admin", "Get the steps of setup."),
            *(_owner(_only_look, session), 200, dict[str, Any]),
        ),
        Path(
            *("GET", f"{_BASE}/events", "admin", "Follow levels and downloads."),
            *(_events(session), 200, str, "text/event-stream"),
        ),
        _step("home-assistant", HomeStep, lambda call: _home(session, call.wanted), session),
        _step("room", RoomStep, lambda call: session.room(call.wanted.room), session),
        _step(
            *("languages", LanguagesStep),
            *(lambda call: session.languages(call.wanted.languages), session),
        ),
        _step("sound", SoundStep, lambda call: _sound(session, call.wanted), session),
        _step(
            *("voice", VoiceStep),
            *(lambda call: session.voice(call.wanted.engine, call.wanted.voices), session),
        ),
        _step(
            *("wake", WakeStep),
            *(lambda call: session.wake(call.wanted.word, call.wanted.sensitivity), session),
        ),
        _step("gemini", GeminiStep, lambda call: _gemini(session, call.wanted), session),
        _step("openers", OpenersStep, lambda call: _openers(session, call.wanted), session),
        _step("skip", SkipStep, lambda call: _skip(session, call.wanted), session),
        _step(
            *("finish", FinishStep),
            *(lambda call: session.finish(open_console=call.wanted.open_console), session),
        ),
    )


Work = Callable[[Call], Awaitable[None]]


def _step(name: str, body: type[Wish], work: Work, session: SetupSession) -> Path:
    return Path(
        *("POST", f"{_BASE}/{name}", "admin", f"Answer the step {name}."),
        *(_owner(work, session), 200, dict[str, Any]),
        body=body,
        problems={409: "The sound is being tested already."},
    )


def _owner(work: Work, session: SetupSession) -> Callable[[Call], Awaitable[Mapping[str, Any]]]:
    async def handle(call: Call) -> Mapping[str, Any]:
        _check_owner(call)
        await work(call)
        return await asyncio.to_thread(session.state)  # it looks for model files

    return handle


def _check_owner(call: Call) -> None:
    # A token, even the administrator's, belongs to a program.
    if not call.caller.session:
        raise Refused(403, "forbidden", _ONLY_OWNER)


async def _only_look(call: Call) -> None:
    """Change nothing."""


def _events(session: SetupSession) -> Callable[[Call], Response]:
    def handle(call: Call) -> Response:
        _check_owner(call)
        told = session.events.since(call.request.headers.get("last-event-id"), None)
        headers = {"X-Accel-Buffering": "no"}
        return StreamingResponse(told, media_type="text/event-stream", headers=headers)

    return handle


async def _home(session: SetupSession, wanted: HomeStep) -> None:
    if wanted.search:
        await session.search()
    if wanted.url:
        await session.home(wanted.url, _plain(wanted.token), _plain(wanted.code), wanted.page)


async def _sound(session: SetupSession, wanted: SoundStep) -> None:
    if wanted.look:
        await session.look_for_devices()
    if wanted.input and wanted.output:
        await session.sound(wanted.input, wanted.output)
    if wanted.play:
        await session.play(wanted.language)
    if wanted.listen:
        await session.listen()


async def _gemini(session: SetupSession, wanted: GeminiStep) -> None:
    await session.gemini(accept=wanted.accept, key=_plain(wanted.key))


async def _openers(session: SetupSession, wanted: OpenersStep) -> None:
    if wanted.look:
        await session.look_for_openers()
    else:
        session.rate(wanted.harmless)


async def _skip(session: SetupSession, wanted: SkipStep) -> None:
    session.skip(wanted.step)


def _plain(secret: SecretStr | None) -> str:
    return secret.get_secret_value().strip() if secret is not None else ""


@dataclass(frozen=True, slots=True)
class SetupServer:
    link: str  # signs one browser in as the owner
    port: int


@asynccontextmanager
async def serving_setup(
    settings: Settings, host: str, session: SetupSession
) -> AsyncIterator[SetupServer]:
    """Serve the console in set-up mode on `host`, and yield a one-time link to it. If the
    configured port is in use, one of the next ports is used. Raises ConfigError and
    Misconfigured."""
    guard = await open_guard(settings)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(session.open())
        port = await _serve(stack, settings, host, setup_app(session, guard, host))
        stack.callback(session.events.close)  # otherwise the server would wait for open streams
        here = settings.http.model_copy(update={"host": host, "port": port})
        there = settings.model_copy(update={"http": here})
        link = await asyncio.to_thread(console_link, there, SystemClock().now(), LINK_MINUTES)
        yield SetupServer(link, port)


def setup_app(session: SetupSession, guard: Guard, host: str) -> ASGIApp:
    """Return the console in set-up mode. It has none of the paths of a running Hearth."""
    paths = (*SigningIn(guard, setting_up=True).paths(), *setup_paths(session))
    pages = [health_route(lambda: "ok"), *console_routes(guard.ingress)]
    return web_app([*pages, *routes_of(paths, guard)], host)


async def _serve(stack: AsyncExitStack, settings: Settings, host: str, app: ASGIApp) -> int:
    http = settings.http
    tls = server_context(http.tls_cert, http.tls_key) if http.tls_cert else None
    last = http.port + _PORTS - 1 if http.port else 0
    for port in range(http.port, last):
        try:
            return await stack.enter_async_context(serving(app, host, port, tls))
        except Misconfigured:
            continue  # most likely, a running Hearth is using it
    return await stack.enter_async_context(serving(app, host, last, tls))
