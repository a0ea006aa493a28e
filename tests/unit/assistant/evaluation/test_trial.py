"""Tests of the figures of `hearth eval`, as JSON and as a table."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.conversation.record import FinishedTurn
from assistant.domain.brain import Usage
from assistant.domain.records import ErrorRecord
from assistant.evaluation.commands import Outcome, Sentence, parse_wish
from assistant.evaluation.trial import Circumstances, Stage, Trial, as_json, as_markdown
from tests.pipeline.rig import offline_settings, pipeline

ABOUT = Circumstances(
    "0.1.0", "gemini-live", "gemini-3.8-live", "piper", "", "aarch64", "2026-11-23", True, 60, 0.5
)


def trial(
    number: int, outcome: Outcome, ms: float | None, language: str = "en", acted: bool = False
) -> Trial:
    words = parse_wish(f"sentence | {number}", "light.kitchen=on")
    return Trial(
        Sentence(number, language, "slt", words),
        outcome,
        acted,
        "heard\nthis",
        "Said.",
        "" if ms is not None else "timeout",
        ms,
        0.002,
        Usage(1_000, 50),
        True,
    )


TRIALS = [
    trial(1, Outcome.RIGHT, 500.0, acted=True),
    trial(2, Outcome.WRONG, 700.0, acted=True),
    trial(3, Outcome.WRONG, 600.0),
    trial(4, Outcome.SILENT, None, "es"),
]


def test_json() -> None:
    told = json.loads(json.dumps(as_json(TRIALS, ABOUT)))
    assert told["said"] == 4
    assert told["outcomes"] == {"right": 1, "asked": 0, "silent": 1, "wrong": 2}
    assert told["by_language"]["es"] == {"right": 0, "asked": 0, "silent": 1, "wrong": 0}
    assert told["to_first_sound_ms"] == {"count": 3, "p50": 600.0, "p95": pytest.approx(690.0)}
    assert told["cost_usd"] == pytest.approx(0.008)
    assert told["tokens"] == {"input": 4_000, "output": 200}
    assert told["about"]["model"] == "gemini-3.8-live"
    assert [one["error"] for one in told["trials"]] == [None, None, None, "timeout"]


def test_what_is_shared_holds_no_password() -> None:
    about = replace(ABOUT, base_url="https://me:secret@proxy.example:8443/v1?key=secret")
    told = as_json(TRIALS, about)["about"]["base_url"], as_markdown(TRIALS, about)
    assert told[0] == "https://proxy.example:8443/v1"
    assert "service at https://proxy.example:8443/v1." in told[1]
    assert "secret" not in told[1]


def test_a_table_to_share() -> None:
    table = as_markdown(TRIALS, ABOUT)
    assert "| en | 3 | 1 (33 %) | 0 (0 %) | 0 (0 %) | 2 (67 %) | 1 |" in table
    assert "| all | 4 | 1 (25 %) | 0 (0 %) | 1 (25 %) | 2 (50 %) | 1 |" in table
    assert "600 ms at the median, 690 ms at the 95th percentile of 3" in table
    assert "Total cost: $0.0080, $0.00200 per sentence (4,000 tokens in, 200 out)" in table
    assert "The cap of $0.50 was reached before the remaining sentences were spoken." in table
    assert "| silent (timeout) | sentence / 4 | heard this | Said. |" in table
    assert "sentence / 1 |" not in table


def test_in_a_hurry_no_latency_is_told() -> None:
    hurried = replace(ABOUT, realtime=False, sentences=4)
    assert as_json(TRIALS, hurried)["to_first_sound_ms"] is None
    table = as_markdown(TRIALS, hurried)
    assert "first sound" not in table
    assert "cap" not in table


def test_nothing_was_said() -> None:
    assert as_json([], ABOUT)["cost_usd"] == 0
    assert "| all | 0 | 0 (-) |" in as_markdown([], ABOUT)


async def test_what_turns_did_and_how_the_house_is_put_back(tmp_path: Path) -> None:
    async with pipeline(offline_settings(tmp_path)) as app:
        stage = Stage(app)
        await stage.reset({"light.hall": "on"})
        assert stage.now()["light.hall"] == "on"
        await app.runner.ask("turn on the kitchen light")
        await app.runner.ask("unlock the front door")
        seen = await stage.look_at(app.log.turns)
        assert seen.changed == {"light.kitchen"}
        assert seen.did == ("intent__HassTurnOn",)
        [denied] = seen.denied
        assert "Front door" in denied
        assert (seen.woken, seen.failed, seen.understood) == (True, False, True)
        await stage.reset({})
        assert (await stage.look(None)).changed == frozenset()
        assert stage.now()["light.hall"] == "off"
        last = app.log.turns[-1]
        slow = replace(last.record, error=ErrorRecord("timeout", None), clauses=("Too long.",))
        assert (await stage.look(FinishedTurn(slow, ()))).failed
        mute = replace(slow, clauses=())
        assert not (await stage.look(FinishedTurn(mute, ()))).failed
