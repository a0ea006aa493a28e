"""Tests of the check of the running Hearth, which alone is given the token."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from assistant.doctor import daemon
from assistant.doctor.daemon import Daemon, judge_lag, judge_running, url_of, visit
from assistant.doctor.finding import Finding
from tests.ports import free_port
from tests.simulators.certificate import make_certificate
from tests.unit.assistant.doctor.scenes import RUNS, settings

TOKEN = "t0ken" * 5
METRICS = "# HELP x y\nhearth_loop_lag_seconds 0.0125\nhearth_resident_memory_bytes 1.5e+08\n"


class Hearth:
    """A running Hearth with scripted answers, which records the tokens it was shown."""

    def __init__(self, health: str = "ok") -> None:
        self.health = health
        self.shown: set[str] = set()

    def answer(self, body: Any) -> Callable[[web.Request], Any]:
        async def handler(request: web.Request) -> web.Response:
            self.shown.add(request.headers.get("Authorization", ""))
            if request.headers.get("Authorization") != f"Bearer {TOKEN}":
                return web.json_response({"error": {}}, status=401)
            return web.Response(text=body) if isinstance(body, str) else web.json_response(body)

        return handler

    async def healthz(self, request: web.Request) -> web.Response:
        self.shown.add(request.headers.get("Authorization", ""))
        return web.Response(text=self.health)

    async def page(self, request: web.Request) -> web.Response:
        return web.Response(text="<html></html>", content_type="text/html")


@asynccontextmanager
async def running(hearth: Hearth, port: int, **tls: Any) -> AsyncIterator[None]:
    application = web.Application()
    rows = [{"check": "token", "status": "ok", "detail": "accepted", "mend": ""}, {"check": "odd"}]
    application.router.add_get("/healthz", hearth.healthz)
    application.router.add_get("/", hearth.page)
    application.router.add_get("/v1/session", hearth.answer({}))
    application.router.add_get("/v1/state", hearth.answer({"state": "idle", "version": "1"}))
    application.router.add_get("/v1/level", hearth.answer({"rms_db": -50.0}))
    application.router.add_get("/v1/doctor", hearth.answer(rows))
    application.router.add_get("/metrics", hearth.answer(METRICS))
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, **tls).start()
    try:
        yield
    finally:
        await runner.cleanup()


async def test_it_is_asked_for_everything(tmp_path: Path) -> None:
    port = free_port()
    given = settings(tmp_path, http={"port": port, "token": TOKEN})
    async with running(Hearth(), port):
        found = await visit(given, held=True)
        assert found is not None
        theirs = await daemon.its_findings(given, found)
    assert found.lets_us_in
    assert (found.health, found.console, found.lag_s) == ("ok", True, 0.0125)
    assert found.level == {"rms_db": -50.0}
    assert found.memory_bytes == 150_000_000
    assert theirs == [Finding("token", "ok", "accepted", "")]


async def test_its_own_certificate_is_trusted_whatever_its_name(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path / "tls")
    port = free_port()
    tls = {"tls_cert": str(certificate.cert_file), "tls_key": str(certificate.key_file)}
    given = settings(tmp_path, http={"port": port, "token": TOKEN, "host": "0.0.0.0", **tls})
    async with running(Hearth(), port, ssl_context=certificate.server_context()):
        found = await visit(given, held=True)
    assert found is not None
    assert found.lets_us_in


async def test_somebody_elses_port_is_not_shown_the_token(tmp_path: Path) -> None:
    port = free_port()
    given = settings(tmp_path, http={"port": port, "token": TOKEN})
    another = Hearth()
    async with running(another, port):
        found = await visit(given, held=False)
    assert found is not None
    assert "its data folder is not" in found.problem
    assert another.shown == {""}
    async with running(Hearth("hello"), port):
        assert await visit(given, held=False) is None


async def test_nobody_answers(tmp_path: Path) -> None:
    given = settings(tmp_path, http={"port": free_port(), "token": TOKEN})
    assert await visit(given, held=False) is None
    found = await visit(given, held=True)
    assert found is not None
    assert "no answer from http://127.0.0.1:" in found.problem
    assert TOKEN not in found.problem


async def test_a_certificate_that_cannot_be_read(tmp_path: Path) -> None:
    given = settings(tmp_path, http={"port": free_port(), "tls_cert": str(tmp_path / "none.pem")})
    found = await visit(given, held=True)
    assert found is not None
    assert "cannot read http.tls_cert" in found.problem


async def test_a_token_that_is_not_its_own(tmp_path: Path) -> None:
    port = free_port()
    async with running(Hearth(), port):
        found = await visit(settings(tmp_path, http={"port": port, "token": "x" * 20}), held=True)
        assert found is not None
        assert await daemon.its_findings(settings(tmp_path), found) == []
    assert not found.lets_us_in
    assert judge_running(found, "1").status == "warn"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8765"),
        ("0.0.0.0", "http://127.0.0.1:8765"),
        ("::", "http://[::1]:8765"),
        ("fd00::1", "http://[fd00::1]:8765"),
        ("hearth.lan", "http://hearth.lan:8765"),
    ],
)
def test_where_it_is_reached(tmp_path: Path, host: str, url: str) -> None:
    assert url_of(settings(tmp_path, http={"host": host})) == url


@pytest.mark.parametrize(
    ("found", "status", "words"),
    [
        (None, "ok", "not running"),
        (RUNS, "ok", "ok, version 1, idle"),
        (replace(RUNS, memory_bytes=2**20 * 99.0), "ok", "99 MB"),
        (Daemon("u", problem="no answer from u"), "fail", "no answer from u"),
        (replace(RUNS, health="dead"), "fail", "running, but stuck"),
        (replace(RUNS, state={"troubles": {"mqtt": "No broker."}}), "warn", "ok, version"),
        (
            replace(RUNS, state={"version": "0.9"}),
            "warn",
            "version 0.9, answering; version 1 is installed",
        ),
    ],
)
def test_how_it_is_judged(found: Daemon | None, status: str, words: str) -> None:
    judged = judge_running(found, "1")
    assert judged.status == status
    assert words in judged.detail
    assert bool(judged.mend) == (status != "ok")


@pytest.mark.parametrize(
    ("found", "status", "words"),
    [
        (None, "ok", "Hearth is not running"),
        (RUNS, "ok", "does not report it"),
        (replace(RUNS, lag_s=0.004), "ok", "4 ms"),
        (replace(RUNS, lag_s=0.6), "warn", "600 ms"),
    ],
)
def test_how_late_it_is(found: Daemon | None, status: str, words: str) -> None:
    judged = judge_lag(found)
    assert judged.status == status
    assert words in judged.detail
