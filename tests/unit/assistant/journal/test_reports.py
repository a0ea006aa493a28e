"""Tests of the journal's reports on many turns: costs, shares, marks and faults."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from assistant.domain.brain import Usage
from assistant.domain.clock import VirtualClock
from assistant.domain.records import ErrorRecord, TurnRecord
from assistant.domain.tool_call import Decision, Status
from assistant.journal.reports import (
    Call,
    CommandTurn,
    CostRow,
    Share,
    Shares,
    first_midnight,
    share_of,
    shares_of,
)
from assistant.journal.store import Store
from tests.unit.assistant.journal.samples import a_call, an_outcome
from tests.zone import in_zone

WEEK = timedelta(days=7)


async def keep(store: Store, clock: VirtualClock, turn_id: str, **fields: Any) -> TurnRecord:
    turn = TurnRecord(turn_id, clock.now(), **{"source": "voice", "language": "en", **fields})
    await store.record_turn(turn)
    return turn


async def test_costs_are_summed_by_day_brain_and_model(store: Store, clock: VirtualClock) -> None:
    live = {"brain": "gemini-live", "model": "gemini-3.8-live", "cost_usd": 0.25}
    await keep(store, clock, "old", **live, usage=Usage(1, 1))
    clock.advance(2 * 24 * 3600)
    since = clock.now()
    some = Usage(50, 5, {"input_audio": 40, "output_text": 5}, estimated=True)
    await keep(store, clock, "a", **live, usage=Usage(100, 10, {"input_audio": 90}))
    await keep(store, clock, "b", **live, usage=some)
    await keep(store, clock, "c", brain="offline")
    await keep(store, clock, "d", source="job", **{**live, "model": "gemini-3.8-flash"})
    await keep(store, clock, "news", source="announcement")
    clock.advance(24 * 3600)
    await keep(store, clock, "e", brain="offline")
    first = since.astimezone().date()
    assert await store.reports.costs(since) == [
        CostRow(first + timedelta(days=1), "offline", "", 1, 0.0, 0, 0),
        CostRow(
            first,
            "gemini-live",
            "gemini-3.8-live",
            2,
            0.5,
            150,
            15,
            {"input_audio": 130, "output_text": 5},
            0.25,
        ),
        CostRow(first, "gemini-live", "gemini-3.8-flash", 1, 0.25, 0, 0),
        CostRow(first, "offline", "", 1, 0.0, 0, 0),
    ]
    assert isinstance(first, date)


@pytest.mark.parametrize(
    ("days", "midnight"),
    [
        (1, "2026-11-02T00:00:00+01:00"),
        (9, "2026-10-25T00:00:00+02:00"),  # the clocks went back on that day
        (400, "2025-09-29T00:00:00+02:00"),
    ],
)
def test_so_many_days_begin_with_their_own_midnight(days: int, midnight: str) -> None:
    with in_zone("Europe/Madrid"):
        now = datetime(2026, 11, 2, 8, 30, tzinfo=UTC).astimezone()
        assert first_midnight(days, now).isoformat() == midnight
        assert first_midnight(10**9, now) < datetime(1950, 1, 1, tzinfo=UTC)


async def test_a_mark_stays_when_the_turn_is_written_again(
    store: Store, clock: VirtualClock
) -> None:
    turn = await keep(store, clock, "t1")
    assert await store.reports.mark("t1", "wrong")
    await store.record_turn(replace(turn, cost_usd=1.0))
    assert await store.turn("t1") == replace(turn, cost_usd=1.0, mark="wrong")
    assert await store.reports.mark("t1", "")
    assert (await store.turn("t1")) == replace(turn, cost_usd=1.0)
    assert not await store.reports.mark("nobody", "wrong")


async def test_only_what_a_person_asked_for_is_the_last_command(
    store: Store, clock: VirtualClock
) -> None:
    since = clock.now()
    assert await store.reports.last_command(since) is None
    meant = await keep(store, clock, "meant")
    clock.advance(1)
    await keep(store, clock, "program", source="text", caller="mqtt")
    await keep(store, clock, "news", source="announcement")
    await keep(store, clock, "silence", error=ErrorRecord("no_speech", "Nothing was said."))
    await keep(store, clock, "marking")
    await store.finish_call("marking", replace(an_outcome(), name="that_was_wrong"))
    assert await store.reports.last_command(since) == meant
    assert await store.reports.last_command(since + timedelta(seconds=0.5)) is None
    # The clock was a day ahead, so the turns dated then are not the last.
    clock.set_ahead(-24 * 3600)
    assert await store.reports.last_command(clock.now() - WEEK) is None


async def test_the_shares_of_a_week(store: Store, clock: VirtualClock) -> None:
    since = clock.now()
    await keep(store, clock, "right")
    await store.finish_call("right", an_outcome())
    clock.advance(600)
    await keep(store, clock, "corrected")
    clock.advance(30)
    await keep(store, clock, "undoing")
    await store.finish_call("undoing", replace(an_outcome(), name="undo"))
    clock.advance(600)
    await keep(store, clock, "refused")
    refused = replace(an_outcome(), decision=Decision.DENIED, status=Status.NOT_RUN)
    await store.finish_call("refused", refused)
    await keep(store, clock, "misheard")
    await store.reports.mark("misheard", "misheard")
    await keep(store, clock, "failed", understood=False)
    await keep(store, clock, "echo", error=ErrorRecord("echo", None))
    await keep(store, clock, "marking")
    await store.finish_call("marking", replace(an_outcome(), name="that_was_wrong"))
    await keep(store, clock, "marking too")
    marking = replace(a_call(clock, turn_id="marking too"), name="that_was_wrong")
    await store.start_call(marking)
    await keep(store, clock, "under way")
    await store.start_call(a_call(clock, turn_id="under way"))
    expected = Shares(turns=7, right=3, corrected=1, refused=1, misheard=1, failed=1)
    assert await store.reports.shares(since) == expected
    assert await store.reports.shares(clock.now() + timedelta(seconds=1)) == Shares()


async def test_faults_begin_once_and_end(store: Store, clock: VirtualClock) -> None:
    reports, since = store.reports, clock.now()
    await reports.begin_fault("microphone", "It is gone.", clock.now())
    clock.advance(60)
    await reports.begin_fault("microphone", "It is still gone.", clock.now())
    await reports.begin_fault("mqtt", "The broker is away.", clock.now())
    await reports.end_fault("microphone", clock.now())
    await reports.end_fault("loudspeaker", clock.now())  # there was no such fault
    mqtt, microphone = await reports.faults(since)
    assert (mqtt.what, mqtt.ended_at) == ("mqtt", None)
    assert microphone.problem == "It is gone."
    assert (microphone.began_at, microphone.ended_at) == (since, since + timedelta(seconds=60))
    clock.advance(3600)
    await reports.settle_faults()  # the next process does this when it starts
    (settled,) = [one for one in await reports.faults(clock.now()) if one.what == "mqtt"]
    assert settled.settled
    assert settled.ended_at == clock.now()


async def test_faults_are_forgotten_by_their_age(store: Store, clock: VirtualClock) -> None:
    since = clock.now()
    await store.reports.begin_fault("mqtt", "The broker is away.", clock.now())
    await store.reports.begin_fault("microphone", "It is gone.", clock.now())
    await store.reports.end_fault("mqtt", clock.now())
    clock.advance(31 * 24 * 3600)
    await store.erase_old(keep_days=30, transcript_hours=24)
    # The fault still lasts.
    assert [one.what for one in await store.reports.faults(since)] == ["microphone"]


NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DONE: Call = ("HassTurnOn", Decision.ALLOWED, Status.DONE)
FAILED: Call = ("HassTurnOn", Decision.ALLOWED, Status.FAILED)
DENIED: Call = ("HassTurnOff", Decision.DENIED, Status.NOT_RUN)
UNANSWERED: Call = ("HassTurnOff", Decision.NEEDS_CONFIRMATION, Status.NOT_RUN)
COMMAND = CommandTurn(NOW, "", "", (DONE,))


def undo(after_s: float, status: Status = Status.DONE, name: str = "undo") -> CommandTurn:
    at = NOW + timedelta(seconds=after_s)
    return CommandTurn(at, "", "", ((name, Decision.ALLOWED, status),))


@pytest.mark.parametrize(
    ("command", "share"),
    [
        (COMMAND, "right"),
        (replace(COMMAND, calls=()), "right"),
        (replace(COMMAND, mark="misheard"), "misheard"),
        (replace(COMMAND, mark="wrong", calls=(DENIED,)), "corrected"),
        (replace(COMMAND, calls=(DONE, DENIED)), "refused"),
        (replace(COMMAND, calls=(UNANSWERED,)), "refused"),
        (replace(COMMAND, calls=(FAILED,)), "failed"),
        (replace(COMMAND, calls=(FAILED, DONE)), "right"),  # the model has corrected it
        (replace(COMMAND, calls=(DONE, FAILED)), "failed"),
        (replace(COMMAND, error="timeout"), "failed"),
        (replace(COMMAND, error="interrupted"), "right"),
        (replace(COMMAND, calls=(), error="not_understood"), "failed"),
    ],
)
def test_one_command(command: CommandTurn, share: Share) -> None:
    assert share_of(command, None) == share


@pytest.mark.parametrize(
    ("following", "share"),
    [
        (undo(20), "corrected"),
        (undo(20, name="correct_last"), "corrected"),
        (undo(121), "right"),
        (undo(20, Status.FAILED), "right"),  # there was nothing to undo
        (replace(COMMAND, at=NOW + timedelta(seconds=20)), "right"),
    ],
)
def test_the_next_command_may_take_it_back(following: CommandTurn, share: Share) -> None:
    assert share_of(COMMAND, following) == share


def test_they_add_up() -> None:
    later = [replace(COMMAND, at=NOW + timedelta(minutes=number)) for number in range(1, 4)]
    failed = replace(later[1], error="timeout")
    commands = [COMMAND, undo(20), later[0], failed, replace(later[2], mark="misheard")]
    assert shares_of(commands) == Shares(turns=5, right=2, corrected=1, misheard=1, failed=1)
    assert shares_of([]) == Shares()
