"""Tests of what a person changes of Hearth by asking: kept, restored, and forgotten."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from assistant.config.sound import VoiceChoice
from assistant.conversation.record import FinishedTurn, TurnLog
from assistant.domain.clock import VirtualClock
from assistant.domain.records import StoreError, TurnRecord
from assistant.interfaces.controls import FASTEST, KEPT, SLOWEST, Controls
from assistant.journal.store import Store
from assistant.speech.output import SpeechOutput

NOW = datetime(2026, 11, 22, 14, 5, tzinfo=UTC)


class Mouth:
    volume = 1.0


class Stage:
    """The controls of a running process, on a real store."""

    def __init__(self, store: Store, choice: VoiceChoice) -> None:
        self.store, self.mouth, self.log = store, Mouth(), TurnLog(store)
        self.clock = VirtualClock(NOW)
        self.controls = Controls(choice, store, self.clock)
        self.told: list[str] = []

    def serve(self) -> None:
        self.controls.serve(
            cast(SpeechOutput, self.mouth),
            self.log,
            [lambda: self.told.append("forget"), lambda: self.told.append("forget too")],
            lambda: self.told.append("end"),
        )

    async def turn(self, turn_id: str, answer: str | None = "Yes.", **changes: Any) -> None:
        record = turn(turn_id, answer, **changes)
        self.log.turns.append(FinishedTurn(record, ()))
        await self.log.keep(record)


def turn(turn_id: str, answer: str | None = "Yes.", **changes: Any) -> TurnRecord:
    values = {"started_at": NOW, "source": "voice", "language": "en", "heard": "is it on"}
    return TurnRecord(turn_id=turn_id, answer=answer, **{**values, **changes})


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store(tmp_path / "hearth.db", VirtualClock(NOW)) as store:
        yield store


@pytest.fixture
def on(store: Store) -> Stage:
    stage = Stage(store, VoiceChoice(volume=0.8, speed=1.1))
    stage.serve()
    return stage


async def test_the_settings_hold_until_somebody_asks(on: Stage) -> None:
    await on.controls.restore()
    assert (on.controls.volume, on.controls.speed, on.mouth.volume) == (0.8, 1.1, 0.8)
    await on.controls.set_volume(0.3)
    await on.controls.set_speed(1.4)
    assert (on.mouth.volume, on.controls.pace(), on.controls.usual_speed) == (0.3, 1.4, 1.1)


async def test_what_was_asked_for_outlasts_the_process_and_not_the_settings(store: Store) -> None:
    choice = VoiceChoice(volume=0.8)
    await Controls(choice, store, VirtualClock(NOW)).set_volume(0.3)
    again = Stage(store, choice)
    await again.controls.restore()
    again.serve()
    assert again.mouth.volume == 0.3
    changed = Controls(VoiceChoice(volume=0.5), store, VirtualClock(NOW))
    await changed.restore()
    assert changed.volume == 0.5


@pytest.mark.parametrize(
    ("volume", "speed", "held"),
    [(-1, 0.1, (0.0, SLOWEST)), (9, 9, (1.0, FASTEST)), (0.55, 1.25, (0.55, 1.25))],
)
async def test_there_are_ends(
    on: Stage, volume: float, speed: float, held: tuple[float, float]
) -> None:
    await on.controls.set_volume(volume)
    await on.controls.set_speed(speed)
    assert (on.controls.volume, on.controls.speed) == held


async def test_a_voice_that_is_set_louder_may_be_that_loud(store: Store) -> None:
    controls = Controls(VoiceChoice(volume=1.5), store, VirtualClock(NOW))
    await controls.set_volume(2.0)
    assert controls.volume == 1.5


@pytest.mark.parametrize(
    "kept",
    [
        None,
        [],
        {"volume": 0.1},
        {"volume": "0.1", "speed": None, "settings": [0.8, 1.1]},
        {"volume": True, "speed": 99, "settings": [0.8, 1.1]},
        {"volume": -1, "speed": 0, "settings": [0.8, 1.1]},
    ],
)
async def test_odd_values_are_not_taken_up(on: Stage, kept: Any) -> None:
    await on.store.keep(KEPT, kept)
    await on.controls.restore()
    assert (on.controls.volume, on.controls.speed) == (0.8, 1.1)


class Broken:
    """A store on a full disk."""

    async def keep(self, name: str, value: Any) -> None:
        raise StoreError("The disk is full.")

    async def kept(self, name: str) -> Any | None:
        raise StoreError("The disk is full.")

    async def turns_of_people(self, limit: int) -> list[TurnRecord]:
        raise StoreError("The disk is full.")

    async def forget_words(self, turn_id: str) -> None:
        raise StoreError("The disk is full.")


async def test_a_broken_store_costs_what_it_holds() -> None:
    controls = Controls(VoiceChoice(), cast(Store, Broken()), VirtualClock(NOW))
    await controls.restore()
    with pytest.raises(StoreError):
        await controls.set_volume(0.4)
    assert controls.volume == 0.4
    with pytest.raises(StoreError):
        await controls.forget_words(1, "now")
    await controls.written(turn("now"))


async def test_the_last_answer_is_that_of_this_process_or_another(on: Stage) -> None:
    assert await on.controls.last_answer() == ""
    await on.store.record_turn(turn("other", "From the store."))
    await on.store.record_turn(
        turn("news", "Dinner!", source="announcement", started_at=NOW + timedelta(seconds=1))
    )
    assert await on.controls.last_answer() == "From the store."
    await on.turn("mine", "From here.")
    await on.turn("silent", None)
    assert await on.controls.last_answer() == "From here."
    on.clock.advance(601)
    assert await on.controls.last_answer() == ""


async def test_starting_over_and_ending_reach_those_who_talk(on: Stage) -> None:
    on.controls.start_over()
    on.controls.end()
    assert on.told == ["forget", "forget too", "end"]


async def test_before_anybody_serves_nothing_breaks(store: Store) -> None:
    controls = Controls(VoiceChoice(), store, VirtualClock(NOW))
    controls.start_over()
    controls.end()
    await controls.set_volume(0.5)
    assert await controls.last_answer() == ""
    assert await controls.forget_words(1, "now") == 0


@pytest.mark.parametrize(
    ("turns", "forgotten"), [(1, ["c"]), (2, ["b", "c"]), (9, ["a", "b", "c"])]
)
async def test_words_are_forgotten_wherever_they_were(
    on: Stage, turns: int, forgotten: list[str]
) -> None:
    for number, name in enumerate("abc"):
        await on.turn(name, started_at=NOW + timedelta(seconds=number))
    await on.store.record_turn(turn("job", source="job", started_at=NOW + timedelta(seconds=9)))
    assert await on.controls.forget_words(turns, "now") == len(forgotten)
    for name in "abc":
        kept = await on.store.turn(name)
        assert kept is not None
        assert (kept.heard is None) is (name in forgotten)
    in_memory = {one.record.turn_id: one.record for one in on.log.turns}
    assert [name for name, one in in_memory.items() if one.answer is None] == forgotten
    assert on.told == ["forget", "forget too"]


async def test_the_sentence_that_asks_for_it_is_forgotten_once_it_is_written_down(
    on: Stage,
) -> None:
    await on.controls.forget_words(1, "now")
    await on.turn("now", heard="my number is 12, forget that")
    await on.turn("next")
    for name in ("now", "next"):
        await on.controls.written(turn(name))
    now, following = await on.store.turn("now"), await on.store.turn("next")
    assert now is not None
    assert (now.heard, now.answer) == (None, None)
    assert on.log.turns[0].record.heard is None
    assert following is not None
    assert following.heard == "is it on"


async def test_what_a_program_was_answered_is_nothing_to_repeat_for_people(on: Stage) -> None:
    await on.turn("t1", "It is open.")
    await on.turn("t2", "It is shut.", source="text", caller="http:agent")
    assert await on.controls.last_answer() == "It is open."
    on.log.turns.clear()  # as after a restart: the journal tells
    assert await on.controls.last_answer() == "It is open."
    await on.turn("t3", "It rains.", source="text", caller="request")
    assert await on.controls.last_answer() == "It rains.", "people have asked for it"


async def test_forgetting_the_last_turns_means_those_of_people(on: Stage) -> None:
    await on.turn("t1", heard="a secret")
    for number in range(200):
        await on.turn(f"p{number}", source="text", caller="http:agent", heard="a program's")
    assert await on.controls.forget_words(1, "now") == 1
    forgotten, kept = await on.store.turn("t1"), await on.store.turn("p199")
    assert forgotten is not None
    assert forgotten.heard is None
    assert kept is not None
    assert kept.heard == "a program's"
