"""Tests without Gemini or its requirements: one sentence names the remedy, and it goes on."""

import os
import subprocess
from pathlib import Path

import pytest

from assistant.app.build import open_app
from assistant.cli.main import main
from integrations.gemini.access import KEY_PAGE, NO_KEY
from tests.pipeline.gemini_hearing import HEARTH, office_lights, one_value, serving, surroundings
from tests.pipeline.rig import offline_settings
from tests.shared_data import REPOSITORY
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.models import MODELS, ModelRules
from tests.simulators.script import (
    Call,
    Done,
    Drop,
    HttpError,
    OnceTurn,
    Opening,
    Say,
    Step,
    Turn,
)

KEY = "AIzaSyD-0123456789_abcdefghijklmnopqrst"
WRONG = "AIzaSyW-9876543210_zyxwvutsrqponmlkjihg"
OFF = "turn off the dining room light"
ALONE = (
    "I don't have a valid Gemini key, so I'll answer on my own. Please create one in Google AI "
    "Studio and add it to my settings, under Gemini."
)
SIGN_IN = (
    "I don't have a valid Gemini key. Please create one in Google AI Studio and add it to my "
    "settings, under Gemini."
)


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surroundings(tmp_path, monkeypatch)


def _dining_room() -> list[Step]:
    off = Call("intent__HassTurnOff", {"area": "dining room", "domain": ["light"]})
    return [off, Say("The dining room is dark."), Done()]


@pytest.mark.parametrize("way", ["ask", "hear"])
def test_no_key(way: str, command: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [OFF] if way == "ask" else [str(command), "--fast"]
    assert main([way, *given, "--json"]) == 0
    captured = capsys.readouterr()
    told = one_value(captured.out)
    assert told["brain"] == "offline"
    assert [call["status"] for call in told["tool_calls"]] == ["done"]
    assert captured.err.count(f"hearth: {NO_KEY}\n") == 1
    assert KEY_PAGE in NO_KEY
    assert "gemini.api_key" in NO_KEY
    assert "Traceback" not in captured.err


async def test_no_key_is_told_once_by_a_process_that_stays(tmp_path: Path) -> None:
    settings = offline_settings(
        tmp_path,
        brain={"order": ["gemini-live", "gemini-once", "offline"]},
        privacy={"accept_cloud": True},
    )
    async with open_app(settings, None, hears=False, resident=True) as app:
        assert app.notices == (NO_KEY,)
        for said in (OFF, "turn on the kitchen light"):
            await app.runner.ask(said)
        answers = [turn.record.answer or "" for turn in app.log.turns]
    assert answers[0].startswith(f"{ALONE} ")
    assert "Gemini" not in answers[1]
    assert "kitchen" in answers[1].lower()


@pytest.mark.parametrize("consent", ["true", "false"])
def test_nothing_but_gemini_and_no_way_to_it(
    consent: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEARTH_BRAIN__ORDER", '["gemini-live", "gemini-once"]')
    monkeypatch.setenv("HEARTH_PRIVACY__ACCEPT_CLOUD", consent)
    assert main(["ask", OFF]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    assert line.startswith('hearth: no brain in brain.order is available; add "offline" to it.')
    assert ("gemini.api_key" if consent == "true" else "privacy.accept_cloud") in line


def test_a_model_that_nobody_knows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The service refuses every field that such a model may not take, so none of them is sent."""
    monkeypatch.setenv("HEARTH_GEMINI__MODEL", "gemini-9-live")
    monkeypatch.setenv("HEARTH_GEMINI__THINKING", "high")
    bare = {**MODELS, "gemini-9-live": ModelRules(live=True)}
    simulator = GeminiSimulator([Turn("text", _dining_room())], models=bare)
    with serving(simulator, monkeypatch) as service:
        assert main(["ask", OFF, "--json"]) == 0
        setup = service.connections[0].setup
    captured = capsys.readouterr()
    assert one_value(captured.out)["brain"] == "gemini-live"
    assert setup is not None
    assert (setup.model, setup.vocabulary, setup.language_codes) == ("gemini-9-live", (), ())
    assert captured.err.count('gemini.model = "gemini-9-live"') == 1
    assert "most cautious settings" in captured.err


def test_the_prompt_can_be_seen_without_gemini(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--prompt"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("You are Hearth")
    assert "Kitchen light" in told


def _refuses(why: str) -> GeminiSimulator:
    if why == "it is not valid":
        return GeminiSimulator(key=KEY, refusals=["1007 API key not", "400 API key not"])
    openings, once = [Opening(http_status=403)], [OnceTurn([HttpError(403)])]
    return GeminiSimulator(key=WRONG, openings=openings, once=once)


@pytest.mark.parametrize("why", ["it is not valid", "it may not"])
def test_a_key_that_is_refused(
    why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(_refuses(why), monkeypatch, key=WRONG):
        assert main(["ask", OFF, "--json"]) == 0
    captured = capsys.readouterr()
    told = one_value(captured.out)
    assert told["brain"] == "offline"
    assert told["answer"].startswith(f"{ALONE} ")
    assert "dining room" in told["answer"]
    assert [call["status"] for call in told["tool_calls"]] == ["done"]
    assert captured.err.count("hearth: gemini-live: Gemini rejected gemini.api_key") == 1
    assert KEY_PAGE in captured.err


def test_a_key_that_is_refused_and_nobody_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEARTH_BRAIN__ORDER", '["gemini-live"]')
    with serving(GeminiSimulator(key=KEY, refusals=["1007 API"]), monkeypatch, key=WRONG):
        assert main(["ask", OFF, "--json"]) == 1
    told = one_value(capsys.readouterr().out)
    assert (told["answer"], told["error"]["kind"]) == (SIGN_IN, "sign_in")
    assert KEY_PAGE in told["error"]["message"]
    assert "gemini.api_key" in told["error"]["message"]


def _answers(how: str) -> GeminiSimulator:
    """Return a service that behaves in the given way."""
    match how:
        case "served":
            return GeminiSimulator([Turn("text", _dining_room())], key=KEY)
        case "served once":
            openings = [Opening(http_status=503)] * 2
            return GeminiSimulator(openings=openings, once=[OnceTurn(_dining_room())], key=KEY)
        case "lost":
            once = [OnceTurn([HttpError(500)])] * 2
            return GeminiSimulator([Turn("text", [Drop()])] * 2, once=once, key=KEY)
        case _:
            return GeminiSimulator(key="other", refusals=["1007 API key", "400 API key"])


@pytest.mark.parametrize("how", ["served", "served once", "lost", "refused"])
def test_the_key_is_nowhere(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(_answers(how), monkeypatch, key=KEY):
        assert main(["ask", OFF, "--debug"]) == 0
        assert main(["trace", "last", "--debug"]) == 0
        assert main(["trace", "last", "--json"]) == 0
    captured = capsys.readouterr()
    assert " INFO " in captured.err  # everything is logged, with times and levels
    for text in (captured.out, captured.err):
        assert KEY not in text
    kept = [file for file in (tmp_path / "data").rglob("*") if file.is_file()]
    assert kept
    assert [file for file in kept if KEY.encode() in file.read_bytes()] == []


def test_the_key_is_nowhere_in_another_process(
    command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = [*HEARTH, "hear", str(command), "--fast", "--debug"]
    with serving(GeminiSimulator([Turn("audio", office_lights())], key=KEY), monkeypatch):
        done = subprocess.run(
            program,
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONASYNCIODEBUG": "1"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "The office lights are" in done.stdout
    assert KEY not in done.stdout + done.stderr
    assert not any(
        KEY.encode() in file.read_bytes()
        for file in (tmp_path / "data").rglob("*")
        if file.is_file()
    )


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("GEMINI__API_KEY", f"{KEY} {KEY}", 0),  # unusable: the next brain answers
        ("GEMINI__MODL", "x", 2),
        ("GEMINI__BASE_URL", "nowhere", 2),
        ("GEMINI__CA_FILE", "/no/such/file.pem", 0),
    ],
    ids=["two keys", "no such setting", "no address", "no such file"],
)
def test_an_error_does_not_quote_the_key(
    name: str,
    value: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HEARTH_GEMINI__API_KEY", KEY)
    monkeypatch.setenv("HEARTH_GEMINI__BASE_URL", "https://127.0.0.1:9")
    monkeypatch.setenv(f"HEARTH_{name}", value)
    assert main(["ask", OFF, "--debug"]) == code
    captured = capsys.readouterr()
    assert KEY not in captured.out + captured.err
    setting = name.lower().replace("__", ".")
    assert setting in captured.err.lower() or f"hearth_{name.lower()}" in captured.err.lower()
