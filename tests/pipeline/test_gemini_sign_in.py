"""Tests of Gemini with an ephemeral token and through Vertex AI. Simulated service."""

import logging
from pathlib import Path
from typing import Any

import pytest

from assistant.brains.gemini.model_chain import KEPT_UNCERTAIN, GoneModel
from assistant.brains.slots import PASSING
from assistant.doctor.daemon import May
from assistant.doctor.finding import Finding
from assistant.doctor.gemini import examine_gemini
from tests.pipeline.gemini_rig import (
    ASKED,
    LIVE,
    OFFLINE,
    ONCE,
    SAID,
    SERVED,
    ended,
    gemini_settings,
    said,
    scene,
)
from tests.simulators.gemini_live import TOKEN, GeminiSimulator
from tests.simulators.google_account import ACCESS_TOKEN, EMAIL, ServiceAccount
from tests.simulators.script import Done, OnceTurn, Opening, Say, Turn
from tests.unit.assistant.doctor.scenes import scene as doctor_scene

REJECTED = (
    "Google doesn't accept my sign-in to Gemini, so I'll answer on my own. Please renew the "
    "account or token in my settings, under Gemini."
)


async def found(
    service: GeminiSimulator, folder: Path, **gemini: Any
) -> tuple[dict[str, Finding], str]:
    """Return the doctor's findings, and all their text."""
    async with service:
        settings = gemini_settings(service, folder, gemini=gemini)
        findings = await examine_gemini(doctor_scene(settings, May(try_cloud=True)))
    return {one.check: one for one in findings}, str(findings)


# --- Vertex AI


async def test_vertex_serves_spoken_and_typed_turns(
    tmp_path: Path, command: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service = GeminiSimulator([Turn("audio", SERVED), Turn("text", SERVED)], sign_in="vertex")
    async with scene(tmp_path, service, hears=True) as on:
        on.repeats = True
        assert (ended(turn := await on.hear(command)), said(turn)) == ((LIVE, None), SAID)
        assert (ended(turn := await on.ask(ASKED)), said(turn)) == ((LIVE, None), SAID)
        assert service.account is not None
        assert service.account.issued == 1, "the access token is kept"
    assert ACCESS_TOKEN not in caplog.text
    assert "PRIVATE KEY" not in caplog.text


async def test_vertex_serves_plain_requests_whatever_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"):
        monkeypatch.setenv(name, "another")
    monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", "https://elsewhere.invalid")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    service = GeminiSimulator(once=[OnceTurn(SERVED)], sign_in="vertex")
    async with scene(tmp_path, service, brain={"order": [ONCE]}) as on:
        assert (ended(turn := await on.ask(ASKED)), said(turn)) == ((ONCE, None), SAID)


async def test_a_model_that_vertex_does_not_have_is_replaced(tmp_path: Path) -> None:
    chain = ["gemini-3.8-live", "gemini-3.1-flash-live-preview"]
    service = GeminiSimulator([Turn("text", SERVED)], retired=chain[:1], sign_in="vertex")
    async with scene(tmp_path, service, gemini={"model": chain}) as on:
        assert ended(await on.ask(ASKED)) == (LIVE, None)
        stored = await on.app.home.store.kept("gemini_gone_models") or {}
        assert list(stored) == ["gemini-3.8-live vertex us-central1 v1beta1"]
        (gone,) = stored.values()  # the project may only lack access to it
        assert GoneModel(**gone).ends <= on.clock.now() + KEPT_UNCERTAIN


async def test_a_deleted_account_cannot_sign_in(tmp_path: Path) -> None:
    account = ServiceAccount(exists=False)
    service = GeminiSimulator(sign_in="vertex", account=account)
    async with scene(tmp_path, service) as on:
        turn = await on.ask(ASKED)
        assert ended(turn)[0] == OFFLINE
        assert said(turn).startswith(REJECTED)
        assert "vertex_credentials_file" in on.app.brains.chain.troubles[LIVE]


@pytest.mark.parametrize("ahead_s", [-1_800.0, 7_200.0])
async def test_a_clock_that_is_wrong_for_an_access_token_is_told_and_passes(
    tmp_path: Path, ahead_s: float
) -> None:
    account = ServiceAccount(ahead_s=ahead_s)
    service = GeminiSimulator(sign_in="vertex", account=account)
    async with scene(tmp_path, service) as on:
        assert ended(await on.ask(ASKED))[0] == OFFLINE
        slot = on.app.brains.chain.slots[0]
        assert slot.breaker.fault is not None
        assert slot.breaker.fault.kind in PASSING
        assert "check the date and time" in slot.breaker.fault.message


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "Permission 'aiplatform.endpoints.predict' denied on resource "
            "'//aiplatform.googleapis.com/projects/p' (or it may not exist).",
            "has the role Vertex AI User",
        ),
        (
            "Vertex AI API has not been used in project 5 before or it is disabled.",
            "The Vertex AI API is switched off in gemini.vertex_project",
        ),
        ("Resource has been exhausted (e.g. check quota).", "The quota of gemini.vertex_project"),
    ],
)
async def test_a_refusal_of_vertex_names_what_to_do(
    tmp_path: Path, reason: str, words: str
) -> None:
    service = GeminiSimulator(opening=Opening(refuse=(1008, reason)), sign_in="vertex")
    async with scene(tmp_path, service, brain={"order": [LIVE, OFFLINE]}) as on:
        await on.ask(ASKED)
        assert words in on.app.brains.chain.troubles[LIVE]


async def test_the_doctor_tells_that_vertex_is_used(tmp_path: Path) -> None:
    service = GeminiSimulator(once=[OnceTurn([Say("Yes."), Done()])], sign_in="vertex")
    told, text = await found(service, tmp_path)
    assert told["gemini"].detail == (
        f"allowed, with Vertex AI (project simulated-project in us-central1, as {EMAIL}); model "
        "gemini-3.8-live"
    )
    assert told["gemini answer"].status == "ok", told
    assert "PRIVATE" not in text
    assert ACCESS_TOKEN not in text


async def test_the_doctor_tells_that_the_credentials_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "account.json"
    file.write_text('{"type": "service_account", "private_key": "s3cret"}')
    told, text = await found(
        GeminiSimulator(sign_in="vertex"), tmp_path, vertex_credentials_file=str(file)
    )
    assert told["gemini"].status == "fail"
    assert f"names {file}, from which no credentials can be read" in told["gemini"].mend
    assert "s3cret" not in text


# --- Ephemeral tokens


async def test_a_token_opens_live_sessions_and_nothing_else(
    tmp_path: Path, command: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    service = GeminiSimulator([Turn("audio", SERVED), Turn("text", SERVED)], sign_in="token")
    async with scene(tmp_path, service, hears=True) as on:
        on.repeats = True
        assert (ended(turn := await on.hear(command)), said(turn)) == ((LIVE, None), SAID)
        assert (ended(turn := await on.ask(ASKED)), said(turn)) == ((LIVE, None), SAID)
        assert on.app.brains.thinker is None
        assert "An ephemeral token opens only Live sessions" in "".join(on.app.brains.notices)
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("expired", [False, True])
async def test_a_token_that_is_over_is_a_matter_of_signing_in(
    tmp_path: Path, expired: bool
) -> None:
    service = GeminiSimulator([Turn("text", SERVED)], sign_in="token")
    async with scene(tmp_path, service) as on:
        on.repeats = True
        assert ended(await on.ask(ASKED)) == (LIVE, None)
        service.token_has_expired = expired
        on.app.brains.forget()  # the next turn needs a new session
        turn = await on.ask(ASKED)
        assert ended(turn)[0] == OFFLINE
        assert said(turn).startswith(REJECTED)
        trouble = on.app.brains.chain.troubles[LIVE]
        assert "rejected the ephemeral token in gemini.api_key" in trouble
        assert TOKEN not in trouble


async def test_the_doctor_tells_that_a_token_is_used(tmp_path: Path) -> None:
    told, text = await found(GeminiSimulator(sign_in="token"), tmp_path)
    assert told["gemini"].detail == (
        "allowed, with an ephemeral token, for Live only; model gemini-3.8-live"
    )
    assert "opens only Live sessions" in told["gemini answer"].detail
    assert TOKEN not in text
