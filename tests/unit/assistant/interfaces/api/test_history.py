"""What has been, as programs read it: out of a real journal and real recordings."""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assistant.domain.brain import Usage
from assistant.domain.clock import VirtualClock
from assistant.domain.records import TurnRecord
from assistant.interfaces.api.parts import History, TurnSounds
from assistant.journal.store import Store
from assistant.sound.recordings import FOLDER, Recording, path_of, write
from integrations.web.box import Unknown
from tests.zone import in_zone

NOON = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
SECOND = b"\x01\x00" * 16_000


@dataclass
class House:
    """A journal, recordings, and whether guests are there."""

    store: Store
    history: History
    data: Path
    guests: list[bool] = field(default_factory=lambda: [False])

    async def turn(self, turn_id: str, at: datetime, cost: float = 0.0) -> None:
        usage = Usage(input_tokens=100, output_tokens=10, by_modality={"input_audio": 100})
        record = TurnRecord(turn_id, at, "voice", "en", brain="gemini-live", heard="lights on")
        await self.store.record_turn(replace(record, cost_usd=cost, usage=usage, model="m"))

    def record(self, turn_id: str, name: str = "20261123T120000.000000Z-turn-word") -> Path:
        recording = Recording(name, "turn", NOON, "word", 0.9, 1.0, turn_id)
        write(self.data / FOLDER, recording, SECOND)
        os.utime(self.data / FOLDER, (1, len(list((self.data / FOLDER).iterdir()))))
        return path_of(self.data, recording)


@pytest.fixture(autouse=True)
def _utc() -> Iterator[None]:
    """Days begin where the tests say so, wherever the machine stands."""
    with in_zone("UTC"):
        yield


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock = VirtualClock(NOON)
    guests = [False]
    async with Store(tmp_path / "hearth.db", clock) as store:
        history = History(store, TurnSounds(tmp_path), lambda: guests[0], 2.5, clock)
        yield House(store, history, tmp_path, guests)


async def test_turns_page_by_page(house: House) -> None:
    for number in range(5):
        # Two of them began at the same instant.
        await house.turn(f"t{number}", NOON + timedelta(seconds=number // 2))
    pages, before = [], None
    while rows := await house.history.turns(2, before):
        pages.append([row["turn_id"] for row in rows])
        before = pages[-1][-1]
    assert pages == [["t4", "t3"], ["t2", "t1"], ["t0"]]
    with pytest.raises(Unknown, match="no such turn"):
        await house.history.turns(2, "t9")


async def test_a_turn_tells_whether_its_sound_is_kept(house: House) -> None:
    await house.turn("t1", NOON)
    await house.turn("t2", NOON + timedelta(seconds=1))
    assert [row["has_sound"] for row in await house.history.turns(9, None)] == [False, False]
    path = house.record("t1")
    house.record("", "20261123T120001.000000Z-wake-word")  # of no turn
    assert [row["has_sound"] for row in await house.history.turns(9, None)] == [False, True]
    assert (await house.history.turn("t1"))["has_sound"]
    assert not (await house.history.turn("t2"))["has_sound"]
    assert await house.history.sound("t1") == path
    assert path.read_bytes()[44:] == SECOND
    for missing in ("t2", "", "../t1"):
        with pytest.raises(Unknown, match="No sound"):
            await house.history.sound(missing)


async def test_a_recording_that_is_made_meanwhile_is_found_and_one_that_is_gone_is_not(
    house: House,
) -> None:
    await house.turn("t1", NOON)
    path = house.record("t1")
    assert (await house.history.turn("t1"))["has_sound"]
    await house.turn("t2", NOON)
    house.record("t2", "20261123T120001.000000Z-turn-word")
    assert (await house.history.turn("t2"))["has_sound"]
    path.unlink()
    os.utime(house.data / FOLDER, (1, 99))
    assert not (await house.history.turn("t1"))["has_sound"]


async def test_a_recording_that_is_just_being_written_is_looked_at_again(house: House) -> None:
    await house.turn("t1", NOON)
    house.record("t1")
    row = next((house.data / FOLDER).glob("*.json"))
    whole = row.read_text()
    row.write_text("")  # made, and not written yet
    os.utime(house.data / FOLDER)  # just now
    assert not (await house.history.turn("t1"))["has_sound"]
    row.write_text(whole)  # which does not change the folder
    assert (await house.history.turn("t1"))["has_sound"]


async def test_guests_hear_no_recordings_of_the_house(house: House) -> None:
    await house.turn("t1", NOON)
    house.record("t1")
    house.guests[0] = True
    history = house.history
    assert [row["has_sound"] for row in await history.turns(9, None)] == [False]
    assert not (await history.turn("t1"))["has_sound"]
    with pytest.raises(Unknown, match="No sound"):
        await history.sound("t1")
    house.guests[0] = False
    assert (await history.turn("t1"))["has_sound"]


async def test_a_turn_is_marked_and_the_mark_taken_back(house: House) -> None:
    await house.turn("t1", NOON)
    await house.history.mark("t1", "misheard")
    assert (await house.history.turn("t1"))["mark"] == "misheard"
    assert (await house.history.shares(1))["misheard"] == 1
    await house.history.mark("t1", "")
    assert (await house.history.turn("t1"))["mark"] == ""
    shares = await house.history.shares(1)
    assert (shares["turns"], shares["right"], shares["misheard"]) == (1, 1, 0)
    with pytest.raises(Unknown, match="no such turn"):
        await house.history.mark("t9", "wrong")


async def test_costs_are_of_whole_days_with_today_among_them(house: House) -> None:
    midnight = NOON.replace(hour=0)
    await house.turn("t1", midnight, 0.25)
    await house.turn("t2", NOON, 0.5)
    await house.turn("t3", midnight - timedelta(seconds=1), 1.0)
    told = await house.history.costs(1)
    assert (told["today_usd"], told["cap_usd"]) == (0.75, 2.5)
    (row,) = told["days"]
    assert {name: row[name] for name in ("day", "brain", "model", "turns", "cost_usd")} == {
        "day": "2026-11-23",
        "brain": "gemini-live",
        "model": "m",
        "turns": 2,
        "cost_usd": 0.75,
    }
    assert (row["input_tokens"], row["output_tokens"]) == (200, 20)
    assert [row["day"] for row in (await house.history.costs(2))["days"]] == [
        "2026-11-23",
        "2026-11-22",
    ]
    assert (await house.history.costs(2))["today_usd"] == 0.75


async def test_faults_are_told_with_their_times(house: House) -> None:
    await house.store.reports.begin_fault("microphone", "It is not there.", NOON)
    (fault,) = await house.history.faults(1)
    assert fault == {
        "what": "microphone",
        "problem": "It is not there.",
        "began_at": NOON.isoformat(),
        "ended_at": None,
        "settled": False,
    }
    await house.store.reports.end_fault("microphone", NOON)
    (fault,) = await house.history.faults(30)
    assert fault["ended_at"] == NOON.isoformat()
