"""Tests that the store keeps what it is given, and deletes it in time."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from assistant.domain.clock import VirtualClock
from assistant.domain.records import (
    AnnouncementRecord,
    ConfirmationRecord,
    ErrorRecord,
    Source,
    TurnRecord,
    is_peoples,
)
from assistant.domain.tool_call import Decision, Observed, Status
from assistant.journal.store import Store
from tests.unit.assistant.journal.samples import a_call, a_timer, a_turn, an_outcome


async def test_a_turn_comes_back_whole(store: Store, clock: VirtualClock) -> None:
    await store.record_turn(a_turn(clock))
    assert await store.turn("t1") == a_turn(clock)
    bare = TurnRecord("t2", clock.now(), "text", "en")
    await store.record_turn(bare)
    assert await store.turn("t2") == bare
    assert await store.turn("none") is None


async def test_turns_come_newest_first(store: Store, clock: VirtualClock) -> None:
    assert await store.last_turn() is None
    for number in range(4):
        await store.record_turn(a_turn(clock, f"t{number}"))
        clock.advance(0.5)
    assert [turn.turn_id for turn in await store.turns(3)] == ["t3", "t2", "t1"]
    last = await store.last_turn()
    assert last
    assert last.turn_id == "t3"


async def test_the_last_turn_is_one_that_somebody_asked_for(
    store: Store, clock: VirtualClock
) -> None:
    await store.record_turn(TurnRecord("news", clock.now(), "announcement", "en"))
    assert await store.last_turn() is None
    later: tuple[tuple[str, Source], ...]
    later = (("asked", "text"), ("cost", "job"), ("more news", "announcement"))
    for turn_id, source in later:
        clock.advance(1)
        await store.record_turn(replace(a_turn(clock, turn_id), source=source))
    last = await store.last_turn()
    assert last is not None
    assert last.turn_id == "asked"
    assert [turn.turn_id for turn in await store.turns(9)] == ["more news", "cost", "asked", "news"]


async def test_what_was_spent_since_an_instant(store: Store, clock: VirtualClock) -> None:
    assert await store.spent_since(clock.now()) == 0.0
    for number in range(3):
        await store.record_turn(replace(a_turn(clock, f"t{number}"), cost_usd=2.0**number))
        clock.advance(60)
    assert await store.spent_since(clock.now() - timedelta(seconds=180)) == 7.0
    # Including the row itself.
    assert await store.spent_since(clock.now() - timedelta(seconds=120)) == 6.0
    assert await store.spent_since(clock.now() - timedelta(seconds=180), ["t1", "tx"]) == 5.0
    assert await store.spent_since(clock.now()) == 0.0


async def test_a_call_is_started_then_ended_in_its_place(store: Store, clock: VirtualClock) -> None:
    await store.start_call(a_call(clock, "c1"))
    await store.start_call(a_call(clock, "c2"))
    assert [call.status for call in await store.calls("t1")] == [None, None]
    began = clock.now()
    clock.advance(1)
    await store.finish_call("t1", an_outcome("c1"))
    first, second = await store.calls("t1")
    assert (first.id, first.status, first.decision) == ("c1", Status.DONE, Decision.CONFIRMED)
    assert first.observed == (Observed("light.kitchen", "off", "on"),)
    assert (first.started_at, first.ms, first.sentence) == (began, 250.0, "The light is on.")
    assert second.status is None


async def test_a_call_that_was_never_sent_is_kept_too(store: Store, clock: VirtualClock) -> None:
    denied = replace(an_outcome("c9"), decision=Decision.DENIED, status=Status.NOT_RUN)
    await store.finish_call("t1", denied)
    (call,) = await store.calls("t1")
    assert (call.decision, call.status) == (Decision.DENIED, Status.NOT_RUN)
    assert call.started_at == clock.now() - timedelta(milliseconds=250)


async def test_the_same_call_id_in_two_turns_is_two_calls(
    store: Store, clock: VirtualClock
) -> None:
    await store.start_call(a_call(clock, "1", "t1"))
    await store.start_call(a_call(clock, "1", "t2"))
    assert len(await store.calls("t1")) == len(await store.calls("t2")) == 1


async def test_timers_run_until_acknowledged_or_cancelled(path: Path, clock: VirtualClock) -> None:
    async with Store(path, clock) as store:
        for name, minutes in (("late", 9), ("soon", 1), ("mid", 5)):
            await store.add_timer(a_timer(clock, name, minutes))
        clock.advance(120)  # "soon" rings and stays until it has been heard
    async with Store(path, clock) as store:
        assert [timer.id for timer in await store.timers()] == ["soon", "mid", "late"]
        assert await store.acknowledge_timer("soon") is True
        assert await store.acknowledge_timer("soon") is False
        assert await store.cancel_timer("mid") is True
        assert await store.cancel_timer("none") is False
        (late,) = await store.timers()
    assert late == replace(a_timer(clock, "late", 9), due=late.due, created_at=late.created_at)
    assert late.due - late.created_at == timedelta(minutes=9)


async def test_a_timer_stands_still_and_goes_on(path: Path, clock: VirtualClock) -> None:
    async with Store(path, clock) as store:
        timer = a_timer(clock, "pasta", 9)
        await store.add_timer(timer)
        still = replace(timer, due=clock.now(), paused_s=12.5)
        assert await store.change_timer(still) is True
        assert await store.timers() == [still]
        assert await store.change_timer(timer) is True
        assert await store.timers() == [timer]
        assert await store.cancel_timer("pasta") is True
        assert await store.change_timer(still) is False


async def test_a_write_of_another_process_changes_the_stamp(
    path: Path, clock: VirtualClock
) -> None:
    async with Store(path, clock) as ours, Store(path, clock) as theirs:
        before = ours.stamp()
        await ours.timers()
        assert ours.stamp() == before
        await theirs.add_timer(a_timer(clock, "pasta", 9))
        assert ours.stamp() != before


async def test_an_announcement_is_begun_once_and_only_in_time(
    store: Store, clock: VirtualClock
) -> None:
    def announcement(name: str, lasts_s: float | None) -> AnnouncementRecord:
        expires = clock.now() + timedelta(seconds=lasts_s) if lasts_s else None
        return AnnouncementRecord(name, "Dinner!", clock.now(), expires, {"volume": 0.5})

    for name, lasts in (("short", 10), ("long", 100), ("ever", None)):
        await store.add_announcement(announcement(name, lasts))
    assert [a.id for a in await store.pending_announcements()] == ["short", "long", "ever"]
    clock.advance(10)
    assert [a.id for a in await store.pending_announcements()] == ["long", "ever"]
    assert await store.start_announcement("long") is True
    assert await store.start_announcement("long") is False
    assert await store.finish_announcement("ever") is True
    assert await store.finish_announcement("ever") is False
    assert await store.pending_announcements() == []


async def test_words_go_after_hours_and_rows_after_days(
    store: Store, clock: VirtualClock, path: Path
) -> None:
    await store.record_turn(a_turn(clock, "old"))
    await store.finish_call("old", an_outcome())
    assert [call.reason for call in await store.calls("old")] == ["no such service: geheim"]
    for name in ("said", "unsaid"):
        await store.add_announcement(AnnouncementRecord(name, f"{name} Geheimnis", clock.now()))
    await store.start_announcement("said")
    clock.advance(3601)
    new_began = clock.now()
    await store.record_turn(a_turn(clock, "new"))
    await store.erase_old(keep_days=30, transcript_hours=1)

    old, (call,) = await store.turn("old"), await store.calls("old")
    assert old
    assert (old.heard, old.answer, old.clauses, old.cut_at) == (None, None, (), None)
    assert old.error == ErrorRecord("timeout", None)
    assert old.confirmation == ConfirmationRecord(None, None, "yes")
    assert (old.timeline["wake"], old.cost_usd, old.brain) == (812.5, 0.25, "offline")
    assert (call.arguments, call.sentence, call.status) == ({}, None, Status.DONE)
    assert call.reason == ""
    assert await store.turn("new") == replace(a_turn(clock, "new"), started_at=new_began)
    assert [a.text for a in await store.pending_announcements()] == ["unsaid Geheimnis"]

    clock.advance(30 * 86400 + 1)
    await store.erase_old(keep_days=30, transcript_hours=1)
    assert await store.turns(9) == []
    assert await store.calls("old") == []
    assert len(await store.pending_announcements()) == 1


async def test_erased_words_are_in_no_file(store: Store, clock: VirtualClock, path: Path) -> None:
    await store.record_turn(replace(a_turn(clock), heard="xylophonsonate"))
    assert any(b"xylophonsonate" in part.read_bytes() for part in path.parent.iterdir())
    clock.advance(10)
    await store.erase_old(keep_days=30, transcript_hours=0)
    assert not any(b"xylophonsonate" in part.read_bytes() for part in path.parent.iterdir())


async def test_running_timers_are_never_forgotten(store: Store, clock: VirtualClock) -> None:
    await store.add_timer(a_timer(clock, "forgotten", 1))
    await store.add_timer(a_timer(clock, "heard", 1))
    await store.acknowledge_timer("heard")
    clock.advance(400 * 86400)
    await store.erase_old(keep_days=1, transcript_hours=1)
    assert [timer.id for timer in await store.timers()] == ["forgotten"]


async def test_only_the_owner_may_read(store: Store, clock: VirtualClock, path: Path) -> None:
    await store.record_turn(a_turn(clock))
    assert path.parent.stat().st_mode & 0o777 == 0o700
    modes = {part.name: part.stat().st_mode & 0o777 for part in path.parent.iterdir()}
    assert {"hearth.db", "hearth.db-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}


async def test_what_is_to_come_is_kept_whole(store: Store, clock: VirtualClock) -> None:
    command = replace(
        a_timer(clock, "c", 9),
        kind="command",
        text="turn off the lights",
        payload={"tool": "HassTurnOff", "arguments": {"area": "Küche"}, "heard": None},
        rule={"at": "07:00:00", "sun": None, "offset_min": 0, "weekdays": [], "dates": []},
        caller="mqtt",
    )
    await store.add_timer(command)
    assert await store.timers() == [command]


async def test_an_occurrence_is_taken_once(store: Store, clock: VirtualClock) -> None:
    alarm = replace(a_timer(clock, "a", 9), kind="alarm", rule={"weekdays": ["mon"]})
    rings = replace(alarm, id="a-1", rule=None)
    following = alarm.due + timedelta(days=7)
    await store.add_timer(alarm)
    assert await store.take_occurrence(alarm, rings, following) is True
    assert await store.take_occurrence(alarm, replace(rings, id="a-2"), following) is False
    assert await store.timers() == [rings, replace(alarm, due=following)]
    last = replace(alarm, due=following)
    assert await store.take_occurrence(last, replace(rings, id="a-3", due=following), None) is True
    assert [timer.id for timer in await store.timers()] == ["a-1", "a-3"]
    await store.cancel_timer("a-1")
    assert await store.take_occurrence(rings, last, None) is False


async def test_work_is_begun_once_and_known_after_a_restart(
    path: Path, clock: VirtualClock
) -> None:
    async with Store(path, clock) as store:
        await store.add_timer(a_timer(clock, "c", 9))
        assert await store.begin_timer("c") is True
        assert await store.begin_timer("c") is False
        assert await store.timers() == []
    async with Store(path, clock) as store:
        assert [timer.id for timer in await store.begun_timers()] == ["c"]
        assert await store.finish_timer("c", known=False) is True
        assert await store.finish_timer("c") is False
        assert await store.begun_timers() == []


async def test_words_of_what_is_over_are_erased(
    store: Store, clock: VirtualClock, path: Path
) -> None:
    secret = {"heard": "xylophonsonate"}
    await store.add_timer(
        replace(
            a_timer(clock, "c", 1), text="xylophonsonate", payload=secret, name="xylophonsonate"
        )
    )
    await store.begin_timer("c")
    await store.finish_timer("c")
    clock.advance(7200)
    await store.erase_old(keep_days=30, transcript_hours=1)
    assert not any(b"xylophonsonate" in part.read_bytes() for part in path.parent.iterdir())


async def test_every_write_of_a_timer_is_on_the_disk_when_it_returns(
    store: Store, clock: VirtualClock
) -> None:
    """SQLite guarantees it: `synchronous = FULL` syncs the log before a commit returns."""
    timer = a_timer(clock, "a", 9)
    told: list[str] = []
    await store._database.run(lambda db: db.set_trace_callback(told.append))
    writes = (
        lambda: store.add_timer(timer),
        lambda: store.change_timer(replace(timer, paused_s=1.0)),
        lambda: store.take_occurrence(timer, replace(timer, id="b"), timer.due),
        lambda: store.begin_timer("a"),
        lambda: store.finish_timer("a"),
        lambda: store.acknowledge_timer("b"),
        lambda: store.cancel_timer("b"),
    )
    for write in writes:
        told.clear()
        await write()
        assert told[0] == "PRAGMA synchronous = FULL"
        assert told[-1] == "COMMIT"
        assert [line for line in told if line.startswith("PRAGMA")] == told[:1]


async def test_turns_of_people_are_no_typed_ones_of_programs(
    store: Store, clock: VirtualClock
) -> None:
    rows: tuple[tuple[str, Source, str], ...] = (
        ("spoken", "voice", ""),
        ("pressed", "voice", "http:panel"),
        ("typed", "text", ""),
        ("later", "text", "request"),
        ("program", "text", "http:panel"),
        ("news", "announcement", ""),
    )
    for turn_id, source, caller in rows:
        clock.advance(1)
        turn = replace(a_turn(clock, turn_id), source=source, caller=caller)
        await store.record_turn(turn)
        assert is_peoples(turn) is (turn_id not in ("program", "news"))
    found = [turn.turn_id for turn in await store.turns_of_people(9)]
    assert found == ["later", "typed", "pressed", "spoken"]
    assert [turn.turn_id for turn in await store.turns_of_people(1)] == ["later"]


async def test_the_uses_of_a_tool_are_counted_from_a_time_on(
    store: Store, clock: VirtualClock
) -> None:
    await store.start_call(a_call(clock, "1", "old"))
    clock.advance(3_600)
    since = clock.now()
    first, other = a_call(clock, "1"), a_call(clock, "2")
    for call in (first, other, replace(other, id="3", name="Other")):
        await store.start_call(call)
    assert await store.tool_uses(since) == {
        (first.server, first.name): 2,
        (first.server, "Other"): 1,
    }
