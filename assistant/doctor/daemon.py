"""Asks the running Hearth about its state, through its HTTP interface. The token is sent only while
a running Hearth holds the data folder's lock."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from assistant.app.process import is_held
from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.doctor.finding import Check, Finding, Found, bad, good, odd
from assistant.domain.clock import SystemClock
from assistant.domain.version import own_version
from assistant.interfaces.http import Links
from assistant.interfaces.http_tokens import HASHED

VISIT_S = 5.0  # seconds for all requests
_FINDINGS_S = 60.0  # seconds; Hearth runs its own checks meanwhile
_SLOW_S = 0.25  # delay from which speech stutters and answers are late
_LAG = re.compile(r"^hearth_loop_lag_seconds (\S+)$", re.MULTILINE)
_MEMORY = re.compile(r"^hearth_resident_memory_bytes (\S+)$", re.MULTILINE)
_EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "[::1]"}
_STATUSES = ("ok", "warn", "fail")


@dataclass(frozen=True, slots=True)
class Daemon:
    """State of the running Hearth. Fields are None or empty if it didn't report them."""

    url: str
    health: str = ""  # "ok", "degraded" or "dead"; "" without a response
    problem: str = ""  # why there is no response or access is refused
    state: Mapping[str, Any] | None = None  # response of `GET /v1/state`
    level: Mapping[str, Any] | None = None  # response of `GET /v1/level`
    lag_s: float | None = None  # longest delay of its event loop in the last minute
    memory_bytes: float | None = None  # memory of its process
    console: bool = False  # True if the console page is served

    @property
    def lets_us_in(self) -> bool:
        return self.state is not None


async def visit(settings: Settings, *, held: bool, links: bool = False) -> Daemon | None:
    """Return the state of the running Hearth, or None if there is none.

    `held` is True if another process holds the data folder's lock. With `links`, a one-time link
    may be created to sign in.
    """
    url = url_of(settings)
    try:
        async with asyncio.timeout(VISIT_S), _client(settings, url) as client:
            health = await client.get("/healthz")
            word = health.text.strip()
            if word not in ("ok", "degraded", "dead"):
                return Daemon(url, problem=f"another program answers at {url}") if held else None
            if not held:
                return Daemon(url, word, f"its data folder is not {settings.data_folder}")
            async with _signed_in(settings, client, links=links):
                return await _asked(client, url, word)
    except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        if not held:
            return None
        return Daemon(url, problem=_why(error, url))


def _why(error: Exception, url: str) -> str:
    """Describe an error without its text, because the text can contain a URL with secrets."""
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return f"no answer from {url} in time"
    if isinstance(error, OSError):
        return f"cannot read http.tls_cert ({error.strerror or type(error).__name__})"
    return f"no answer from {url} ({type(error).__name__})"


async def _asked(client: httpx.AsyncClient, url: str, health: str) -> Daemon:
    state = await client.get("/v1/state")
    console = await client.get("/")
    page = console.status_code == 200 and "html" in console.headers.get("content-type", "")
    if state.status_code != 200:
        problem = f"it refuses access (status {state.status_code})"
        return Daemon(url, health, problem, console=page)
    level = await client.get("/v1/level")
    figures = await client.get("/metrics")
    told = figures.text if figures.status_code == 200 else ""
    return Daemon(
        url,
        health,
        state=_object(state),
        level=_object(level) if level.status_code == 200 else None,
        lag_s=_figure(_LAG, told),
        memory_bytes=_figure(_MEMORY, told),
        console=page,
    )


async def its_findings(settings: Settings, daemon: Daemon) -> list[Finding]:
    """Return the running Hearth's own findings, or [] if it doesn't respond. The running Hearth can
    read secrets that are hidden from the user who runs `hearth doctor`."""
    try:
        async with (
            asyncio.timeout(_FINDINGS_S),
            _client(settings, daemon.url) as client,
            _signed_in(settings, client, links=True),
        ):
            answer = await client.get("/v1/doctor", timeout=_FINDINGS_S)
            rows = answer.json() if answer.status_code == 200 else []
    except (TimeoutError, httpx.HTTPError, OSError, ValueError):
        return []
    told = rows if isinstance(rows, list) else []
    return [
        Finding(str(row["check"]), row["status"], str(row["detail"]), str(row["mend"]))
        for row in told
        if isinstance(row, dict) and row.get("status") in _STATUSES
    ]


def url_of(settings: Settings) -> str:
    http = settings.http
    host = _EVERYWHERE.get(http.host, http.host)
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"{'https' if http.tls_cert else 'http'}://{host}:{http.port}"


@asynccontextmanager
async def _signed_in(
    settings: Settings, client: httpx.AsyncClient, *, links: bool
) -> AsyncIterator[None]:
    given = settings.http.token.get_secret_value()
    token = "" if given.startswith(HASHED) else given
    async with signed_in(client, token, settings.data_folder if links else None):
        yield


def _client(settings: Settings, url: str) -> httpx.AsyncClient:
    """Return a client that trusts the certificate in `http.tls_cert`, whatever its host name.
    Raises OSError."""
    verify: ssl.SSLContext | bool = False
    if settings.http.tls_cert:
        verify = ssl.create_default_context(cafile=str(Path(settings.http.tls_cert).expanduser()))
        verify.check_hostname = False
        verify.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return httpx.AsyncClient(base_url=url, verify=verify, timeout=VISIT_S, trust_env=False)


def _object(answer: httpx.Response) -> Mapping[str, Any]:
    try:
        value = answer.json()
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _figure(pattern: re.Pattern[str], text: str) -> float | None:
    found = pattern.search(text)
    try:
        return float(found[1]) if found else None
    except ValueError:
        return None


def judge_running(daemon: Daemon | None, version: str) -> Found:
    """Check the running Hearth's state. `version` is the version of this program."""
    if daemon is None:
        return good("not running (start it with `hearth run`)")
    if not daemon.health:
        return bad(
            f"running, but {daemon.problem}",
            "check its log (journalctl -u hearth), then restart it",
        )
    if daemon.health == "dead":
        return bad("running, but stuck", "restart it: systemctl restart hearth")
    if not daemon.lets_us_in:
        return odd(
            f"{daemon.health}, but {daemon.problem}",
            "run `hearth doctor` as the user that Hearth runs as",
        )
    return _judge_told(daemon, daemon.state or {}, version)


def _judge_told(daemon: Daemon, state: Mapping[str, Any], version: str) -> Found:
    theirs = str(state.get("version") or version)
    told = f"{daemon.health}, version {theirs}, {state.get('state', 'answering')}"
    if daemon.memory_bytes:
        told += f", {daemon.memory_bytes / 2**20:.0f} MB"
    troubles = state.get("troubles")
    if isinstance(troubles, dict) and troubles:
        return odd(told, "; ".join(f"{what}: {why}" for what, why in troubles.items()))
    if theirs != version:
        return odd(
            f"{told}; version {version} is installed", "restart it: systemctl restart hearth"
        )
    return good(told)


def judge_lag(daemon: Daemon | None) -> Found:
    if daemon is None:
        return good("Hearth is not running")
    if daemon.lag_s is None:
        return good("the running Hearth does not report it")
    told = f"at most {daemon.lag_s * 1000:.0f} ms late in the last minute"
    if daemon.lag_s > _SLOW_S:
        return odd(told, "stop other programs on this machine, or use a faster one")
    return good(told)


async def _running(daemon: Daemon | None) -> Found:
    return judge_running(daemon, own_version())


async def _lag(daemon: Daemon | None) -> Found:
    return judge_lag(daemon)


RUNNING_CHECKS: Sequence[Check[Daemon | None]] = (
    Check("running", _running),
    Check("loop lag", _lag),
)


# The service's token can be a systemd credential that no other process can read. Anyone who can
# write to the data folder can create a one-time link, so without the token the doctor creates one,
# uses it immediately and ends the session afterwards.


_SESSION = "/v1/session"
_MINUTES = 1  # minutes for which the link is valid


@asynccontextmanager
async def signed_in(
    client: httpx.AsyncClient, token: str, links_in: Path | None
) -> AsyncIterator[None]:
    """Sign the client in as an administrator, with the token or a one-time link. If neither works,
    the client stays signed out. `links_in` is the data folder in which to create the link, or None.
    Raises httpx.HTTPError."""
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
            with suppress(httpx.HTTPError):  # the session expires by itself if this fails
                await client.delete(_SESSION, headers={"Origin": str(client.base_url).rstrip("/")})


async def _by_link(client: httpx.AsyncClient, folder: Path) -> bool:
    try:
        code = await asyncio.to_thread(Links(folder).make, SystemClock().now(), _MINUTES)
    except ConfigError:
        return False
    return (await client.post(_SESSION, json={"code": code})).status_code == 204


@dataclass(frozen=True, slots=True)
class May:
    """Permissions for checks that users could notice. All are off by default."""

    listen: bool = False  # open the microphone
    play: bool = False  # play a short tone
    try_cloud: bool = False  # have Gemini say a word, which costs less than a cent
    # Sign in to a running Hearth, and have it check the parts whose secrets only it can read.
    ask_daemon: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """The settings, the permissions and the running Hearth's state, for the checks."""

    settings: Settings
    may: May
    daemon: Daemon | None  # state of the running Hearth, or None
    config: Path | None = None  # configuration file; None for the default

    @property
    def free(self) -> bool:
        return self.daemon is None


async def open_scene(settings: Settings, may: May, config: Path | None = None) -> Scene:
    held = await asyncio.to_thread(is_held, settings.data_folder)
    daemon = await visit(settings, held=held, links=may.ask_daemon)
    return Scene(settings, may, daemon, config)
