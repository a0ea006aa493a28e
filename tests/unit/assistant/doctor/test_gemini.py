"""Tests of the checks of Gemini; nothing is sent before the owner has agreed."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from assistant.brains.gemini.repair import NAME, RefusedPart, key_of
from assistant.brains.slots import start_of_day
from assistant.config.schema import Settings
from assistant.doctor import gemini
from assistant.doctor.daemon import May
from assistant.doctor.finding import Finding, Status
from assistant.doctor.gemini import examine_gemini
from assistant.domain.brain import Usage
from assistant.domain.clock import SystemClock
from assistant.journal.store import Store
from integrations.gemini.access import Access
from integrations.gemini.models import model_row
from tests.ports import free_port
from tests.simulators.certificate import make_certificate
from tests.unit.assistant.doctor.scenes import scene, settings

KEY = "AIza" + "k3y" * 11 + "xy"
PREVIEW = "gemini-3.1-flash-live-preview"
CLOUD = May(try_cloud=True)


def allowed(folder: Path, **given: Any) -> Settings:
    return settings(folder, privacy={"accept_cloud": True}, gemini={"api_key": KEY, **given})


async def found(settings: Settings, may: May | None = None) -> dict[str, Finding]:
    findings = await examine_gemini(scene(settings, may))
    assert KEY not in str(findings)
    return {finding.check: finding for finding in findings}


@pytest.mark.parametrize(
    ("sections", "status", "words"),
    [
        ({}, "ok", "accept_cloud is false"),
        ({"brain": {"order": ["offline"]}, "privacy": {"accept_cloud": True}}, "ok", "brain.order"),
        ({"privacy": {"accept_cloud": True}}, "fail", "no key"),
        (
            {"privacy": {"accept_cloud": True}, "gemini": {"api_key": "k3y"}},
            "fail",
            "the key is malformed",
        ),
    ],
)
async def test_nobody_is_asked_without_a_yes_and_a_key(
    tmp_path: Path, sections: dict[str, Any], status: Status, words: str
) -> None:
    told = await found(settings(tmp_path, **sections), CLOUD)
    assert list(told) == ["gemini"]
    assert told["gemini"].status == status
    assert words in told["gemini"].detail


async def test_refused_parts_of_the_set_up_are_told_until_they_expire(tmp_path: Path) -> None:
    given, clock = allowed(tmp_path), SystemClock()
    now = clock.now()
    rows = [
        asdict(RefusedPart("custom vocabulary", "Refused.", (now + timedelta(days=7)).isoformat())),
        asdict(RefusedPart("Google Search", "Refused.", (now - timedelta(days=1)).isoformat())),
        {"part": "something new"},
    ]
    model = key_of(given.gemini.model[0], "v1beta")
    async with Store(given.database, clock) as store:
        await store.keep(NAME, {model: rows})
    told = (await found(given))["gemini"]
    until = (now + timedelta(days=7)).astimezone()
    assert told.status == "ok"
    assert told.detail.endswith(
        f", without the features that the service rejected (until {until:%Y-%m-%d}): custom "
        "vocabulary"
    )


async def test_the_last_test_is_told(tmp_path: Path) -> None:
    given, clock = allowed(tmp_path), SystemClock()
    for stored, words in (
        ({"day": "2026-11-27", "first_sound_ms": 1812}, "2026-11-27: first sound after 1,812 ms"),
        ({"day": "2026-11-27"}, "2026-11-27: no spoken answer"),
    ):
        async with Store(given.database, clock) as store:
            await store.keep(gemini.LAST_TEST, stored)
        assert (await found(given))["gemini"].detail.endswith(f"; tested on {words}")
    assert gemini.told_of_test(["something else"]) == ""


def test_a_key_by_its_form() -> None:
    for key, url, status in (
        (KEY, "", "ok"),
        ("b" * 40, "", "warn"),
        ("short", "", "fail"),
        ("short", "https://own.lan", "ok"),
        ("auth_tokens/" + "a" * 64, "", "ok"),
    ):
        assert gemini.judge_sign_in(Access(key, url), "m").status == status


@pytest.mark.parametrize(
    ("day", "status", "words"),
    [
        (date(2026, 10, 17), "ok", "no shutdown announced for the next 30 days"),
        (date(2026, 10, 18), "warn", f"can shut down {PREVIEW} from 2026-11-17 on, in 30 days"),
        (date(2026, 11, 16), "warn", "from 2026-11-17 on, tomorrow"),
        (date(2026, 11, 17), "warn", "from 2026-11-17 on, today"),
        (date(2026, 11, 18), "warn", f"the shutdown of {PREVIEW} for 2026-11-17, which is past"),
    ],
)
def test_a_shutdown_is_told_30_days_before_and_when_it_is_past(
    day: date, status: Status, words: str
) -> None:
    rows = [("gemini.model", model_row(PREVIEW)[0]), ("gemini.once_model", model_row("f")[0])]
    told = gemini.judge_offered(rows, {}, day)
    assert (told.status, words in told.detail) == (status, True), told
    mend = f"replace {PREVIEW} with gemini-3.8-live in gemini.model"
    assert told.mend == ("" if status == "ok" else mend)


def test_a_model_whose_successor_is_in_the_list_is_removed() -> None:
    live = model_row("gemini-3.8-live")[0]
    rows = [("gemini.model", model_row(PREVIEW)[0]), ("gemini.model", live)]
    told = gemini.judge_offered(rows, {}, date(2026, 11, 27))
    assert told.mend == f"remove {PREVIEW} from gemini.model"


async def test_the_doctor_looks_at_both_models(tmp_path: Path) -> None:
    given = {"model": "gemini-live-2.5-flash-preview", "base_url": "https://127.0.0.1:9"}
    told = (await found(allowed(tmp_path, **given)))["gemini models"]
    assert told.detail == (
        "Google announced the shutdown of gemini-live-2.5-flash-preview for 2025-12-09, which is "
        "past"
    )
    told = (await found(allowed(tmp_path, base_url="https://127.0.0.1:9")))["gemini models"]
    assert told.detail.startswith("gemini-3.8-live, gemini-3.8-flash: no shutdown announced")


class Service:
    """A Gemini that describes models and says one word, over TLS."""

    def __init__(self, word: str = "Yes.") -> None:
        self.word = word
        self.paths: list[str] = []

    async def describe(self, request: web.Request) -> web.Response:
        self.paths.append(request.path)
        if request.headers.get("x-goog-api-key") != KEY:
            refusal = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}
            return web.json_response({"error": refusal}, status=400)
        return web.json_response({"name": "models/x", "displayName": "x"})

    async def say(self, request: web.Request) -> web.Response:
        self.paths.append(request.path)
        content = {"role": "model", "parts": [{"text": self.word}]}
        usage = {"promptTokenCount": 8, "candidatesTokenCount": 1, "totalTokenCount": 9}
        told = {
            "candidates": [{"content": content, "finishReason": "STOP"}],
            "usageMetadata": usage,
        }
        return web.Response(text=f"data: {json.dumps(told)}\n\n", content_type="text/event-stream")


@asynccontextmanager
async def serving(service: Service, folder: Path, *, expired: bool = False) -> AsyncIterator[Any]:
    """Yield the settings `base_url` and `ca_file` that reach the service."""
    certificate = await asyncio.to_thread(make_certificate, folder, expired=expired)
    application = web.Application()
    application.router.add_get("/v1beta/models/{name}", service.describe)
    application.router.add_post("/v1beta/models/{call}", service.say)
    runner = web.AppRunner(application)
    await runner.setup()
    port = free_port()
    context = certificate.server_context()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=context).start()
    try:
        yield {"base_url": f"https://127.0.0.1:{port}", "ca_file": str(certificate.ca_file)}
    finally:
        await runner.cleanup()


async def test_it_is_reached_and_told_nothing(tmp_path: Path) -> None:
    service = Service()
    async with serving(service, tmp_path / "tls") as reach:
        told = await found(allowed(tmp_path, **reach))
    assert list(told) == ["gemini", "gemini models", "gemini connection"]
    assert told["gemini connection"].status == "ok"
    assert "valid for" in told["gemini connection"].detail
    assert service.paths == []


async def test_a_word_on_request(tmp_path: Path) -> None:
    service = Service()
    async with serving(service, tmp_path / "tls") as reach:
        given = allowed(tmp_path, **reach)
        told = await found(given, CLOUD)
    assert told["gemini answer"].status == "ok", told
    midnight = start_of_day(SystemClock().now())
    async with Store(given.database, SystemClock()) as store:
        assert 0 < await store.spent_since(midnight) < 0.001
    assert "(9 tokens)" in told["gemini answer"].detail
    assert [path.rpartition(":")[2] for path in service.paths][1] == "streamGenerateContent"


async def test_no_word_where_the_day_has_cost_enough(tmp_path: Path) -> None:
    service = Service()
    async with serving(service, tmp_path / "tls") as reach:
        given = allowed(tmp_path, **reach)
        cap = given.limits.model_copy(update={"daily_cost_usd": 0.0})
        told = await found(given.model_copy(update={"limits": cap}), CLOUD)
    assert "not tried" in told["gemini answer"].detail
    assert service.paths == []


async def test_a_key_that_google_refuses(tmp_path: Path) -> None:
    other = "AIza" + "x" * 35
    async with serving(Service(), tmp_path / "tls") as reach:
        told = await found(allowed(tmp_path, **{**reach, "api_key": other}), CLOUD)
    assert told["gemini answer"].status == "fail"
    assert "gemini.api_key" in told["gemini answer"].mend
    assert other not in str(told)


async def test_a_certificate_that_has_expired(tmp_path: Path) -> None:
    async with serving(Service(), tmp_path / "tls", expired=True) as reach:
        told = await found(allowed(tmp_path, **reach), CLOUD)
    assert list(told) == ["gemini", "gemini models", "gemini connection"]
    assert told["gemini connection"].status == "fail"
    assert "expired" in told["gemini connection"].detail
    assert "clock" in told["gemini connection"].mend


@pytest.mark.parametrize(
    ("url", "words"),
    [("https://127.0.0.1:9", "cannot reach"), ("https://nowhere.invalid", "nowhere.invalid")],
)
async def test_it_is_not_reached(tmp_path: Path, url: str, words: str) -> None:
    told = await found(allowed(tmp_path, base_url=url))
    assert told["gemini connection"].status == "fail"
    assert words in told["gemini connection"].detail
    assert "DNS" in told["gemini connection"].mend


def test_how_a_connection_is_judged() -> None:
    now = datetime(2026, 11, 23, tzinfo=UTC)
    soon = "Nov 30 00:00:00 2026 GMT"
    assert gemini.judge_reached("own.lan", soon, now).status == "warn"
    google = gemini.judge_reached("generativelanguage.googleapis.com", soon, now)
    assert (google.status, "valid for 7 days" in google.detail) == ("ok", True)
    assert gemini.judge_reached("own.lan", None, now).status == "warn"
    wrong = gemini.judge_failure("own.lan", ssl.SSLError(1, "[SSL] wrong"))
    assert (wrong.status, "cannot set up TLS" in wrong.detail) == ("fail", True)
    assert gemini.judge_word("", Usage(3, 0), "a", "b").status == "warn"
