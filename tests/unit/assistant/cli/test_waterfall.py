"""A turn as people see it at a terminal."""

import io
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from assistant.cli.console import Terminal
from assistant.cli.trace import show
from assistant.domain.brain import Usage
from assistant.domain.clock import VirtualClock
from assistant.domain.outcome import Status
from assistant.domain.records import CallRecord, TurnRecord
from tests.unit.assistant.journal.samples import a_call, a_turn, an_audit

TURN = replace(
    a_turn(VirtualClock()),
    started_at=datetime(2026, 1, 1, 12, tzinfo=UTC),
    caller="",
    model="gemini-3.8-live",
    usage=Usage(812, 96),
    cost_usd=0.0021,
    mark="wrong",
    timeline={
        "wake": 500.0,
        "speech_start": 800.0,
        "speech_end": 2000.0,
        "end_of_turn": 2300.0,
        "heard": 2400.0,
        "first_tool_call": 3900.0,
        "last_tool_result": 4000.0,
        "first_audio_out": 4100.0,
        "answer_done": 5000.0,
    },
)


def shown(turn: TurnRecord, calls: list[CallRecord], width: int, colours: bool = False) -> str:
    clock, out = VirtualClock(), io.StringIO()
    console = Terminal(file=out, width=width, force_terminal=colours)
    show(console, turn, calls, [an_audit(clock)])
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 110, 200])
def test_it_fits_any_terminal(width: int) -> None:
    out = shown(TURN, [replace(a_call(VirtualClock()), status=Status.DONE)], width)
    assert max(map(len, out.splitlines())) <= width
    (longest,) = [line for line in out.splitlines() if "longest wait" in line]
    assert longest.startswith("thinking")
    assert "1500 ms" in longest
    assert out.count("◆") == 1  # the wake word, a moment


def test_all_of_it_is_told() -> None:
    out = shown(TURN, [replace(a_call(VirtualClock()), status=Status.DONE)], 100)
    for told in (
        "enciende la luz",
        "HassTurnOn(name=Küche) done",
        "confirmed by voice",
        "Unlock Front Door? yes",
        "La luz está encendida.",
        "timeout: The house did not answer.",
        "marked       wrong",
        "first sound  2100 ms after the last word",
        "$0.0021, 812 tokens in and 96 out, gemini-3.8-live",
    ):
        assert told in out


def test_words_of_others_are_no_markup() -> None:
    turn = replace(TURN, heard="[red]turn[/] it [bold]on", answer="[/nothing]")
    out = shown(turn, [], 80)
    assert "[red]turn[/] it [bold]on" in out
    assert "[/nothing]" in out


def test_a_turn_without_anything() -> None:
    out = shown(TurnRecord("t1", TURN.started_at, "text", "en"), [], 80)
    assert out.count("(nothing, or erased)") == 2
    assert "no brain" in out


def test_there_are_colours_where_people_look() -> None:
    assert "\x1b[" in shown(TURN, [], 80, colours=True)
