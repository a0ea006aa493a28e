"""Tests that no secret is ever disclosed during a whole day with secrets in every place.

Turns succeed, fail and time out; servers disclose their environment and headers in every answer and
error; tokens are wrong. Then all output is searched: standard output and error of each command with
--debug, the journal's bytes, every file of the data folder, and everything that Gemini was sent.
Only the settings hold secrets, and only the intended recipient of a secret gets it.
"""

import asyncio
import base64
import contextlib
import json
import sys
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from aiohttp import web
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from assistant.cli.main import main
from assistant.config.masked_log import STARS
from integrations.demo_home.rest import DemoHome
from integrations.serving import serving as serving_app
from tests.pipeline.canary import SECRETS, files, leaks, toml
from tests.pipeline.gemini_hearing import surroundings
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.records import HeardTurn, OnceRequest
from tests.simulators.script import Call, Done, Say, Step
from tests.simulators.threads import in_thread

TELLTALE = Path(__file__).with_name("telltale.py")
KEY = SECRETS["Gemini's key"]
HOUSE = SECRETS["the house's token"]
_LAMP = {"name": "Office light"}
_DOOR = {"name": "Front door"}


class Noting(GeminiSimulator):
    """The simulated service, which also records each request's line and headers."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        super().__init__(
            respond=self._respond,
            respond_once=self._respond_once,
            key=KEY,
            refusals=["1007 API key not", "400 API key not"],
            check=False,
        )

    async def _live(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.path_qs, dict(request.headers)))
        return await super()._live(request)

    async def _rest(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.path_qs, dict(request.headers)))
        return await super()._rest(request)

    def _respond(self, turn: HeardTurn) -> Sequence[Step]:
        setup = self.connections[turn.connection].setup
        assert setup is not None
        return _deeds(turn.text, [one.name for one in setup.tools.functions])

    def _respond_once(self, request: OnceRequest) -> Sequence[Step]:
        if request.responses:
            return [Say("So it is."), Done()]
        return _deeds(" ".join(request.texts), request.functions)

    def sent(self) -> list[tuple[str, bytes]]:
        """Return everything that the service got, except the header with its key."""
        got: list[tuple[str, object]] = [
            (f"Gemini's request {line}", {**headers, "x-goog-api-key": ""})
            for line, headers in self.requests
        ]
        for one in self.connections:
            setup = one.setup.raw if one.setup is not None else None
            got.append((f"Gemini's talk {one.index}", [setup, one.contents, one.updates]))
            got.append((f"Gemini's answers {one.index}", one.answers))
        got += [(f"what Gemini was asked in turn {one.index}", one.text) for one in self.turns]
        got += [(f"Gemini's REST {one.index}", one.raw) for one in self.once_requests]
        return [(where, json.dumps(what, ensure_ascii=False).encode()) for where, what in got]


def _deeds(text: str, offered: Sequence[str]) -> list[Step]:
    """Return the model's steps for a sentence: one call of the tool that it names, and some
    words."""
    for words, tool, arguments in (
        ("turn on the office light", "HassTurnOn", _LAMP),
        ("unlock the front door", "HassTurnOff", _DOOR),
        ("use spill", "spill", {}),
        ("use blurt", "blurt", {}),
        ("use brag", "brag", {}),
        ("use stall", "stall", {}),
        ("use fall", "fall", {}),
    ):
        if words in text:
            named = [name for name in offered if name.endswith(tool)]
            # Only tools of the servers are called without having been sent: the service fails if
            # the house's are missing, as when Home Assistant is away.
            name = named[0] if named or tool.startswith("Hass") else tool
            return [Call(name, arguments), Say("So it is."), Done()]
    return [Say("I do not know."), Done()]


class FarServer:
    """A tool server on the network that discloses each request's headers in its error."""

    def __init__(self) -> None:
        self.heard: list[dict[str, str]] = []

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/mcp", self._answer, methods=["GET", "POST", "DELETE"])])

    async def _answer(self, request: Request) -> Response:
        headers = dict(request.headers)
        self.heard.append(headers)
        if len(self.heard) % 2:
            return PlainTextResponse(f"Unhandled error, headers were {headers}", 500)
        error = {"code": -32000, "message": f"Not for {headers}"}
        asked = json.loads(await request.body() or b"{}")
        return JSONResponse({"jsonrpc": "2.0", "id": asked.get("id"), "error": error})


@contextlib.contextmanager
def _around(far: FarServer) -> Iterator[tuple[str, str]]:
    """Run the house and the far server in a thread and yield their addresses."""
    begun, stop, addresses = threading.Event(), asyncio.Event(), list[str]()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with DemoHome(token=HOUSE) as home, serving_app(far.app, "127.0.0.1", 0) as port:
            addresses.extend((home.url, f"http://127.0.0.1:{port}/mcp"))
            begun.set()
            await stop.wait()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run, name="surroundings", daemon=True)
    thread.start()
    assert begun.wait(20.0), "the house did not start"
    try:
        yield addresses[0], addresses[1]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20.0)


def _settings(folder: Path, notes: Path, gemini: GeminiSimulator, house: str, far: str) -> str:
    """Return settings with a secret in every possible place."""
    return f"""
[home_assistant]
url = {toml(house)}
token = {toml(HOUSE)}

[gemini]
api_key = {toml(KEY)}
base_url = {toml(gemini.url)}
ca_file = {toml(str(gemini.ca_file))}

[policy]
secure = "pin"
pin = {toml(SECRETS["the PIN"])}

[http]
token = {toml(SECRETS["the administrator's token"])}

[mqtt]
password = {toml(SECRETS["the broker's password"])}

[[mcp.servers]]
name = "vault"
command = {toml(sys.executable)}
args = [{toml(str(TELLTALE))}, {toml(str(notes))}]
env = {{ SECRET = {toml(SECRETS["a server's environment"])} }}
allow = ["spill", "blurt", "brag", "stall", "fall"]
timeout_s = 5.0

[[mcp.servers]]
name = "far"
transport = "http"
url = {toml(far)}
headers = {{ Authorization = {toml(SECRETS["a server's header"])} }}
timeout_s = 1.0
"""


Run = Callable[..., None]


def _a_day(run: Run) -> None:
    """Play a day from the morning on. Turns in which the PIN is typed or spoken belong here too."""
    run("doctor")
    run("doctor", "--json")
    run("tools")
    run("tools", "--json")
    run("tools", "--prompt")
    run("tools", "--explain", json.dumps({"name": "HassTurnOff", "arguments": _DOOR}))
    run("ask", "turn on the office light")
    run("ask", "unlock the front door", "--json")
    for tool in ("spill", "blurt", "brag", "stall", "fall"):
        run("ask", f"use {tool}", "--json")
    run("ask", "use spill", BRAIN__ORDER='["gemini-once", "offline"]')
    run("ask", "use brag", "--json", BRAIN__ORDER='["gemini-once", "offline"]')
    run("ask", "turn off the office light", GEMINI__API_KEY=SECRETS["a wrong key of Gemini"])
    run("ask", "what time is it", "--json", GEMINI__CA_FILE="/dev/null")
    stranger = SECRETS["a wrong token of the house"]
    run("ask", "turn on the office light", HOME_ASSISTANT__TOKEN=stranger)
    run("doctor", HOME_ASSISTANT__TOKEN=stranger)
    run("tools", HOME_ASSISTANT__TOKEN=stranger)
    run("ask", "unlock the front door", "--json", POLICY__PIN="not even digits")
    run("ask", "hello", HTTP__PORT=SECRETS["the administrator's token"])
    run("trace", "last")
    run("trace", "last", "--json")
    run("audit")
    run("audit", "--json")


def test_no_secret_is_seen_all_day(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    surroundings(tmp_path, monkeypatch)
    monkeypatch.delenv("HEARTH_HOME_ASSISTANT__URL")
    monkeypatch.setenv("HEARTH_BRAIN__ORDER", '["gemini-live", "offline"]')
    notes = tmp_path_factory.mktemp("notes") / "environments"
    out: list[tuple[str, bytes]] = []
    codes: list[tuple[tuple[str, ...], int]] = []

    def run(*words: str, **settings: str) -> None:
        with monkeypatch.context() as here:
            for name, value in settings.items():
                here.setenv(f"HEARTH_{name}", value)
            codes.append((words, main([*words, "--debug"])))
        told = capfd.readouterr()
        out.append((f"the output of {words}", told.out.encode()))
        out.append((f"the errors of {words}", told.err.encode()))

    far = FarServer()
    with in_thread(Noting()) as gemini, _around(far) as (house, address):
        assert isinstance(gemini, Noting)
        text = _settings(tmp_path, notes, gemini, house, address)
        (tmp_path / "hearth.toml").write_text(text)
        _a_day(run)
        sent = gemini.sent()
    assert leaks([*out, *sent, *files(tmp_path, besides=["hearth.toml"])]) == []
    _assert_it_was_a_day(codes, out, sent)
    _assert_each_got_its_own(notes, far, gemini)


def _assert_it_was_a_day(
    codes: Sequence[tuple[tuple[str, ...], int]],
    out: Sequence[tuple[str, bytes]],
    sent: Sequence[tuple[str, bytes]],
) -> None:
    """Check that calls succeeded, were refused, failed and timed out; otherwise nothing is
    proven."""
    turns = [json.loads(text) for _, text in out if text.startswith(b'{"turn_id"')]
    calls = {call["name"]: call["status"] for turn in turns for call in turn.get("tool_calls", ())}
    assert calls == {
        "intent__HassTurnOff": "not_run",
        "spill": "failed",
        "blurt": "failed",
        "brag": "done",
        "stall": "timeout",
        "fall": "unknown",
    }
    ends = [code for words, code in codes if words[0] == "ask"]
    assert (ends.count(0), ends.count(1), ends.count(2)) == (7, 5, 2)
    stars = STARS.encode()
    assert any(stars in text for where, text in out if where.startswith("the errors")), "no log"
    assert any(stars in text for _, text in sent), "Gemini was told nothing of the servers"


def _assert_each_got_its_own(notes: Path, far: FarServer, gemini: Noting) -> None:
    """Check that each secret was given to its recipient, and to nobody else."""
    environments = notes.read_bytes()
    assert {name.partition(" in ")[0] for name in leaks([("it", environments)])} == {
        "a server's environment"
    }
    headers = json.dumps(far.heard).encode()
    assert {name.partition(" in ")[0] for name in leaks([("it", headers)])} == {"a server's header"}
    keys = {headers.get("x-goog-api-key") for _, headers in gemini.requests}
    assert keys == {KEY, SECRETS["a wrong key of Gemini"]}


@pytest.mark.parametrize("name", SECRETS)
def test_every_form_of_a_secret_would_be_found(name: str) -> None:
    secret = SECRETS[name]
    for shown in (
        secret,
        urllib.parse.quote(secret, safe=""),
        json.dumps({"a": secret}),
        repr([secret]),
        base64.b64encode(b"a" + secret.encode()).decode(),
        base64.urlsafe_b64encode(b"user:" + secret.encode() + b"!").decode(),
    ):
        assert leaks([("a log", f"before {shown} after".encode())]), shown
    assert leaks([("a log", b"nothing of it is here: c4nary 90734618")]) == []
