"""Tests of the memory as programs and the console's page see and change it."""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from assistant.conversation.confirmation_dialog import ConfirmationDialog
from assistant.conversation.rules.events import Prompter
from assistant.domain.brain import Usage
from assistant.domain.clock import VirtualClock
from assistant.domain.events import BusEvent, EventBus
from assistant.domain.records import MemoryRecord, TurnRecord
from assistant.domain.tool_call import How, Question, Settlement, Tier
from assistant.interfaces.api.parts import Confirmations, History, Records, TurnSounds
from assistant.journal.store import Store
from assistant.sound.recordings import FOLDER, Recording, path_of, write
from integrations.web.box import ROLES, Caller, NotPossible, Unknown
from integrations.web.requests import ConfirmRequest
from tests.zone import in_zone

NOW = datetime(2026, 11, 22, 14, 5, tzinfo=UTC)
FACT = MemoryRecord("a", "The bin goes out on Tuesday", NOW, "Ana", "bin", "en", english="rubbish")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store(tmp_path / "hearth.db", VirtualClock(NOW)) as opened:
        await opened.memory.keep(FACT, MemoryRecord("b", "The cat is grey", NOW))
        yield opened


@pytest.fixture
def records(store: Store) -> Records:
    return Records(store, lambda: False, VirtualClock(NOW + timedelta(days=1)))


async def test_a_row_tells_whose_it_is_and_about_what(records: Records) -> None:
    [row, other] = await records.memories()
    assert row == {
        "id": "a",
        "text": "The bin goes out on Tuesday",
        "who": "Ana",
        "about": "bin",
        "sensitive": False,
        "created_at": "2026-11-22T14:05:00+00:00",
    }
    assert (other["who"], other["about"]) == ("", "")


async def test_a_fact_is_put_right(records: Records, store: Store) -> None:
    await records.correct("a", " The alarm code is on the bin ")
    fact = next(one for one in await store.memory.all() if one.id == "a")
    assert (fact.text, fact.who, fact.english) == ("The alarm code is on the bin", "Ana", "rubbish")
    assert fact.sensitive
    assert fact.created_at == NOW + timedelta(days=1)


@pytest.mark.parametrize(("text", "says"), [("  ", "nothing to remember"), ("x " * 300, "300")])
async def test_what_is_no_fact_is_refused(records: Records, text: str, says: str) -> None:
    with pytest.raises(NotPossible, match=says):
        await records.correct("a", text)
    assert (await records.memories())[0]["text"] == FACT.text


async def test_one_is_forgotten_or_all(records: Records) -> None:
    await records.forget_one("a")
    assert [row["id"] for row in await records.memories()] == ["b"]
    for refused in (records.forget_one("a"), records.correct("a", "Anything")):
        with pytest.raises(Unknown, match="no such fact"):
            await refused
    assert await records.forget() == 1
    assert await records.memories() == []


async def test_while_guests_are_there_nothing_is_told(store: Store) -> None:
    assert await Records(store, lambda: True, VirtualClock(NOW)).memories() == []


# The past as programs read it, from a real journal and real recordings.


NOON = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
SECOND = b"\x01\x00" * 16_000


@dataclass
class House:
    """A journal and recordings, with or without guests in the house."""

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
    """Set the time zone to UTC, so that days begin at the same time on every machine."""
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
        with pytest.raises(Unknown, match="That turn has no recording"):
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
    with pytest.raises(Unknown, match="That turn has no recording"):
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


# An administrator's answer on behalf of a person.


ADMIN = Caller("http:admin", frozenset({"admin"}))


class Waiting:
    """A waiting question whose PIN is 4711."""

    def __init__(self, how: How = "confirm") -> None:
        self.question = Question("q1", "t1", "c1", how, Tier.SECURE, "Unlock the front door?", "en")
        self.settlement: Settlement | None = None
        self.prompter: Prompter | None = None  # a person in the room is asked
        self.entered: list[tuple[str, str]] = []
        self.meanwhile: Settlement | None = None  # the person's, while the PIN is looked at

    @property
    def settled(self) -> bool:
        return self.settlement is not None

    async def enter_pin(self, typed: str, by: str) -> Settlement:
        self.entered.append((typed, by))
        self.settlement = self.meanwhile
        return Settlement("yes", f"pin {by}") if typed == "4711" else Settlement("no")

    def settle(self, settlement: Settlement) -> None:
        assert self.settlement is None
        self.settlement = settlement


def confirmations(waiting: Waiting | None, told: list[BusEvent]) -> Confirmations:
    bus = EventBus()
    bus.follow(told.append)
    return Confirmations(lambda: [cast(ConfirmationDialog | None, waiting)], bus)


async def test_a_yes_settles_it_once_and_names_who_said_it() -> None:
    waiting, told = Waiting(), list[BusEvent]()
    desk = confirmations(waiting, told)
    assert desk.rows(ADMIN) == [
        {
            "id": "q1",
            "question": "Unlock the front door?",
            "language": "en",
            "tier": "secure",
            "how": "confirm",
            "turn_id": "t1",
            "may_answer": True,
        }
    ]
    assert await desk.settle("q1", ConfirmRequest(yes=True), ADMIN) == {
        "id": "q1",
        "verdict": "yes",
    }
    assert waiting.settlement == Settlement("yes", "http:admin")
    assert [one.data for one in told] == [{"caller": "http:admin", "what": "confirm"}]
    assert desk.rows(ADMIN) == []
    with pytest.raises(Unknown):
        await desk.settle("q1", ConfirmRequest(yes=True), ADMIN)


async def test_family_members_answer_only_what_they_typed_themselves() -> None:
    ana = Caller("http:family", ROLES["family"], session="a")
    ben, guest = replace(ana, session="b"), Caller("http:guest", ROLES["guest"], session="a")
    program = Caller("http:panel", frozenset({"read", "ask", "speak"}))
    waiting = Waiting()
    desk = confirmations(waiting, [])
    for caller in (ana, ben, guest, program):  # a person in the room was asked
        assert [row["may_answer"] for row in desk.rows(caller)] == [False]
        with pytest.raises(NotPossible):
            await desk.settle("q1", ConfirmRequest(yes=True), caller)
    waiting.prompter = desk.prompter(ana)
    for caller in (ben, guest, program):
        with pytest.raises(NotPossible):
            await desk.settle("q1", ConfirmRequest(yes=True), caller)
    assert waiting.settlement is None
    assert (await desk.settle("q1", ConfirmRequest(yes=True), ana))["verdict"] == "yes"


@pytest.mark.parametrize("tier", [Tier.SECURE, Tier.COSTLY])
def test_whether_something_secure_waits(tier: Tier) -> None:
    waiting = Waiting()
    waiting.question = replace(waiting.question, tier=tier)
    desk = confirmations(waiting, [])
    assert desk.secure is (tier is Tier.SECURE)
    waiting.settle(Settlement("no"))
    assert not desk.secure
    assert not confirmations(None, []).secure


async def test_a_no_needs_no_pin_and_a_yes_does_where_one_is_asked_for() -> None:
    refused = Waiting("pin")
    await confirmations(refused, []).settle("q1", ConfirmRequest(yes=False), ADMIN)
    assert (refused.settlement, refused.entered) == (Settlement("no"), [])
    wrong = Waiting("pin")
    answer = await confirmations(wrong, []).settle("q1", ConfirmRequest(yes=True, pin="1"), ADMIN)
    assert (answer["verdict"], wrong.entered) == ("no", [("1", "http:admin")])
    right = Waiting("pin")
    await confirmations(right, []).settle("q1", ConfirmRequest(yes=True, pin="4711"), ADMIN)
    assert right.settlement == Settlement("yes", "pin http:admin")


async def test_who_answers_first_settles_it() -> None:
    waiting = Waiting("pin")
    waiting.meanwhile = Settlement("no")
    with pytest.raises(Unknown):
        await confirmations(waiting, []).settle("q1", ConfirmRequest(yes=True, pin="4711"), ADMIN)
    assert waiting.settlement == Settlement("no")


@pytest.mark.parametrize("waiting", [None, Waiting()])
async def test_what_does_not_wait_cannot_be_answered(waiting: Waiting | None) -> None:
    with pytest.raises(Unknown):
        await confirmations(waiting, []).settle("other", ConfirmRequest(yes=True), ADMIN)
