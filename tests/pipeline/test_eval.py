"""Tests of `hearth eval` with the simulated service: sentences, counts, costs and refusals."""

import importlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.cli.main import main
from assistant.domain.clock import SystemClock
from assistant.evaluation.commands import Sentence, sentences
from tests.pipeline.gemini_hearing import TOKENS, one_value, serving, surroundings
from tests.pipeline.gemini_rig import KITCHEN, TURN_ON
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Hear, OnceTurn, Say, Step, Turn

ON, OFF = "turn on the kitchen light", "turn off the dining room light"
DOOR = "unlock the front door"
LIGHT: list[Step] = [
    Hear(ON, language="en-GB"),
    Call(TURN_ON, KITCHEN, answer={"status": "done"}),
    Say("It is on."),
    Done(usage=TOKENS),
]
CLAIM: list[Step] = [Hear(OFF, language="en-GB"), Say("It is off."), Done(usage=TOKENS)]
UNLOCK: list[Step] = [
    Hear(DOOR, language="en-GB"),
    Call("intent__HassTurnOff", {"name": "Front door"}, answer={"status": "needs_confirmation"}),
    Say("I have unlocked it."),
    Done(usage=TOKENS),
]
# USD per million tokens of gemini-3.8-live, in / out: sound 3 / 12, text 0.75 / 4.5.
ONE_USD = (200 * 3 + 800 * 0.75 + 60 * 12 + 40 * 4.5) / 1e6

Choose = Callable[[str], None]


@pytest.fixture(autouse=True, scope="module")
def _sdk() -> None:
    importlib.import_module("google.genai.live")


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surroundings(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def _far_from_midnight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the clock 12 hours ahead near midnight, so that costs and report belong to one day."""
    real = SystemClock.now
    if real(SystemClock()).astimezone().hour in {0, 23}:
        monkeypatch.setattr(SystemClock, "now", lambda clock: real(clock) + timedelta(hours=12))


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that leaves only the given sentences in the table."""

    def choose(*words: str) -> None:
        chosen = [one for one in sentences() if one.words in words]
        assert len(chosen) == len(words)

        def given() -> list[Sentence]:
            return chosen

        monkeypatch.setattr("assistant.cli.eval.sentences", given)

    return choose


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return one_value(capsys.readouterr().out)


def spent_today(capsys: pytest.CaptureFixture[str]) -> float:
    assert main(["costs", "--json"]) == 0
    return float(one_value(capsys.readouterr().out)["today_usd"])


def test_what_came_of_each_and_what_it_cost(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    only: Callable[..., None],
) -> None:
    only(ON, OFF, DOOR)
    table = tmp_path / "table.md"
    service = GeminiSimulator(
        [Turn("audio", LIGHT), Turn("audio", CLAIM), Turn("audio", UNLOCK, cut=None)]
    )
    with serving(service, monkeypatch):
        assert main(["eval", "--yes", "--fast", "--json", "--out", str(table)]) == 0
    figures = told(capsys)
    assert figures["outcomes"] == {"right": 2, "asked": 0, "silent": 0, "wrong": 1}
    assert [one["outcome"] for one in figures["trials"]] == ["right", "wrong", "right"]
    assert [one["heard"] for one in figures["trials"]] == [ON, OFF, DOOR]
    assert figures["cost_usd"] >= 2 * ONE_USD
    assert figures["about"]["model"] == "gemini-3.8-live"
    assert figures["to_first_sound_ms"] is None
    assert "| all | 3 | 2 (67 %) |" in table.read_text()
    # The household's journal has the costs, and nothing of what was said.
    assert spent_today(capsys) == pytest.approx(figures["cost_usd"])
    kept = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"kitchen light" in path.read_bytes()]


def test_the_price_is_said_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], only: Callable[..., None]
) -> None:
    only(ON)
    with serving(GeminiSimulator([Turn("audio", LIGHT)]), monkeypatch):
        assert main(["eval", "--yes", "--fast"]) == 0
    shown = capsys.readouterr()
    assert "Estimated cost: $0.01. The evaluation stops before $1.00" in shown.err
    assert "go to Google's gemini-3.8-live" in shown.err
    assert shown.out.startswith("### Hearth ")


def test_latency_counts_where_it_is_spoken_in_real_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], only: Callable[..., None]
) -> None:
    only(ON)
    with serving(GeminiSimulator([Turn("audio", LIGHT)]), monkeypatch):
        assert main(["eval", "--yes", "--json"]) == 0
    spread = told(capsys)["to_first_sound_ms"]
    assert spread["count"] == 1
    assert 0 < spread["p50"] < 10_000


def test_the_other_brain(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], only: Callable[..., None]
) -> None:
    only(ON)
    service = GeminiSimulator(once=[OnceTurn(LIGHT[1:])])
    with serving(service, monkeypatch):
        assert main(["eval", "--yes", "--fast", "--json", "--brain", "gemini-once"]) == 0
    figures = told(capsys)
    assert figures["about"]["model"] == "gemini-3.8-flash"
    assert figures["outcomes"]["right"] == 1


def test_it_stops_before_the_cap(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], only: Callable[..., None]
) -> None:
    only(ON, OFF, DOOR)
    # One sentence may cost twice the estimate, some 0.0107 USD; the first one leaves less.
    with serving(GeminiSimulator([Turn("audio", LIGHT)]), monkeypatch):
        assert main(["eval", "--yes", "--fast", "--cap", "0.011"]) == 0
    shown = capsys.readouterr().out
    assert "1 of 3 generated sentences" in shown
    assert "The cap of $0.01 was reached before the remaining sentences were spoken." in shown


def test_what_was_paid_for_is_told_where_it_cannot_be_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], only: Callable[..., None]
) -> None:
    only(ON)
    with serving(GeminiSimulator([Turn("audio", LIGHT)]), monkeypatch):
        assert main(["eval", "--yes", "--fast", "--out", "/dev/full"]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("### Hearth ")
    assert "Cannot write /dev/full (No space left on device); choose another --out" in shown.err


def test_nothing_right_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], only: Callable[..., None]
) -> None:
    only(OFF)
    with serving(GeminiSimulator([Turn("audio", CLAIM)]), monkeypatch):
        assert main(["eval", "--yes", "--fast", "--json"]) == 1
    assert told(capsys)["outcomes"]["wrong"] == 1


@pytest.mark.parametrize(
    ("words", "variables", "sentence"),
    [
        ((), {}, "Add --yes"),
        (("--yes", "--cap", "0"), {}, "--cap must be more than 0"),
        (("--yes", "--cap", "nan"), {}, "--cap must be more than 0"),
        (("--yes", "--cap", "inf"), {}, "--cap must be more than 0"),
        (("--yes", "--cap", "0.001"), {}, "--cap is too small"),
        (("--yes", "--out", "no-such-folder/eval.md"), {}, "choose another --out"),
        (("--yes",), {"LIMITS__DAILY_COST_USD": "0.001"}, "limits.daily_cost_usd is reached"),
        (("--yes",), {"PRIVACY__ACCEPT_CLOUD": "false"}, "privacy.accept_cloud = true"),
        (("--yes",), {"GEMINI__API_KEY": ""}, "gemini.api_key"),
    ],
    ids=[
        "nobody agrees",
        "no cap",
        "no amount",
        "no end",
        "small cap",
        "no folder",
        "spent",
        "no consent",
        "no key",
    ],
)
def test_what_keeps_it_from_beginning(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: Sequence[str],
    variables: dict[str, str],
    sentence: str,
) -> None:
    with serving(GeminiSimulator(), monkeypatch) as service:
        for name, value in variables.items():
            monkeypatch.setenv(f"HEARTH_{name}", value)
        assert main(["eval", *words]) == 2
        assert service.total_sockets == 0
    shown = capsys.readouterr()
    assert sentence in shown.err
    assert shown.out == ""
