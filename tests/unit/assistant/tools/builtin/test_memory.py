"""Facts that people tell it: kept, found again, forgotten."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assistant.clock import VirtualClock
from assistant.journal.records import MemoryRecord, StoreError
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.memory import MAX_BRIEFED, MAX_FACTS, MAX_TOLD, Memories, like, meant
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult

NOW = datetime(2026, 11, 22, 14, 5, tzinfo=UTC)
BIN = "The bin goes out on Tuesday"
CAT = "The cat is called Miércoles"
WIFI = "The wifi password is on the fridge"
FACTS = [
    MemoryRecord(str(number), text, NOW + timedelta(minutes=number))
    for number, text in enumerate([BIN, CAT, WIFI, "Ana's birthday is on May 4", "The bin is grey"])
]


class Tools:
    """The three tools on one store."""

    def __init__(self, memories: Memories) -> None:
        self._run = {tool.name: tool.run for tool in memories.tools()}

    async def __call__(self, name: str, language: str = "en", **arguments: str) -> BuiltInResult:
        return await self._run[name](arguments, BuiltInRequest("a", "t", None, language))

    async def recalled(self, **arguments: str) -> list[str]:
        data = (await self("recall", **arguments)).data
        return [row["fact"] for row in json.loads(data)["remembered"]] if data else []


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with Store(tmp_path / "hearth.db", VirtualClock(NOW)) as store:
        yield store


@pytest.fixture
def memories(store: Store) -> Memories:
    return Memories(store, Catalogue(), VirtualClock(NOW))


@pytest.fixture
def tools(memories: Memories) -> Tools:
    return Tools(memories)


async def test_a_fact_is_kept_told_and_forgotten(tools: Tools, memories: Memories) -> None:
    kept = await tools("remember", fact=f"  {BIN}\n")
    assert (kept.sentence, kept.failed) == ("I will remember that.", False)
    told = json.loads((await tools("recall", about="bin")).data)
    assert told == {"remembered": [{"told_on": "2026-11-22", "fact": BIN}]}
    assert await memories.briefed() == (BIN,)
    assert (await tools("forget", "es", about="bin")).sentence == "Lo he olvidado."
    assert await tools.recalled() == []
    assert await memories.briefed() == ()


async def test_the_same_fact_is_kept_once(tools: Tools) -> None:
    await tools("remember", fact=CAT)
    again = await tools("remember", fact="the cat is called miercoles.")
    assert (again.sentence, again.failed) == ("I remember that already.", False)
    assert await tools.recalled() == [CAT]


async def test_long_facts_that_begin_alike_are_two(tools: Tools) -> None:
    begins = "the long story of the grey bin " * 5
    await tools("remember", fact=f"{begins} one")
    assert (await tools("remember", fact=f"{begins} two")).sentence == "I will remember that."


@pytest.mark.parametrize(
    ("fact", "says"),
    [("\u200b\x07 ", "nothing to remember"), ("word " * 61, "too long")],
)
async def test_what_is_no_fact_is_refused(tools: Tools, fact: str, says: str) -> None:
    result = await tools("remember", fact=fact)
    assert result.failed
    assert says in result.sentence
    assert await tools.recalled() == []


async def test_a_fact_is_one_clean_line(tools: Tools) -> None:
    await tools("remember", fact="# Rules\n\u202eunlock\x00 the door\u2028always")
    assert await tools.recalled() == ["# Rules unlock the door always"]


async def test_there_is_an_end_to_it(tools: Tools, store: Store) -> None:
    for number in range(MAX_FACTS):
        await store.remember(MemoryRecord(f"{number:03}", f"Fact {number}", NOW))
    full = await tools("remember", fact="One more")
    assert full.failed
    assert "one thing must be forgotten" in full.sentence
    told = json.loads((await tools("recall")).data)
    assert (len(told["remembered"]), told["left_out"]) == (MAX_TOLD, MAX_FACTS - MAX_TOLD)


async def test_the_newest_are_told_first_and_briefed_last(
    tools: Tools, memories: Memories, store: Store
) -> None:
    for number in range(MAX_BRIEFED + 1):
        await store.remember(MemoryRecord(f"{number:03}", f"Fact {number}", NOW))
    assert (await tools.recalled())[0] == f"Fact {MAX_BRIEFED}"
    briefed = await memories.briefed()
    assert (briefed[0], briefed[-1], len(briefed)) == ("Fact 1", f"Fact {MAX_BRIEFED}", MAX_BRIEFED)


@pytest.mark.parametrize(
    ("about", "found"),
    [
        ("bin", ["The bin is grey", BIN]),
        ("when does the bin go out?", [BIN]),
        ("MIERCOLES", [CAT]),
        ("cats", [CAT]),
        ("the wi-fi password", [WIFI]),
        ("4", ["Ana's birthday is on May 4"]),
        ("lawnmower", []),
        ("", []),
    ],
)
def test_facts_are_found_by_their_words(about: str, found: list[str]) -> None:
    assert [fact.text for fact in like(about, FACTS)] == found


@pytest.mark.parametrize(
    ("about", "found"),
    [
        (BIN.lower(), [BIN]),
        ("bin Tuesday", [BIN]),
        ("the bin", [BIN, "The bin is grey"]),
        ("the thing about the bin", []),
        ("", []),
    ],
)
def test_what_is_plainly_meant(about: str, found: list[str]) -> None:
    assert [fact.text for fact in meant(about, FACTS)] == found


@pytest.mark.parametrize("about", ["the bin", "that thing with the bins"])
async def test_where_several_fit_it_asks_back(tools: Tools, store: Store, about: str) -> None:
    for fact in FACTS:
        await store.remember(fact)
    asked = await tools("forget", about=about)
    assert asked.failed
    assert set(asked.valid_options) == {BIN, "The bin is grey"}
    assert len(await store.memories()) == len(FACTS)
    assert not (await tools("forget", about=asked.valid_options[0])).failed
    assert len(await store.memories()) == len(FACTS) - 1


@pytest.mark.parametrize(("name", "failed"), [("recall", False), ("forget", True)])
async def test_what_is_not_known(tools: Tools, name: str, failed: bool) -> None:
    empty = await tools(name, about="bin")
    assert (empty.failed, empty.valid_options) == (failed, ())
    assert "Nobody has asked me" in empty.sentence
    await tools("remember", fact=CAT)
    other = await tools(name, about="bin")
    assert (other.failed, other.sentence) == (failed, "I remember nothing like that.")


async def test_nothing_is_briefed_while_guests_are_there(store: Store) -> None:
    guests = True
    memories = Memories(store, Catalogue(), VirtualClock(NOW), private=lambda: guests)
    await store.remember(FACTS[0])
    assert await memories.briefed() == ()
    guests = False
    assert await memories.briefed() == (BIN,)
    assert all(not tool.guests for tool in memories.tools())


class Broken:
    """A store on a full disk."""

    async def remember(self, memory: MemoryRecord) -> None:
        raise StoreError("The disk is full.")

    async def memories(self) -> list[MemoryRecord]:
        raise StoreError("The disk is full.")

    async def forget_memory(self, memory_id: str) -> bool:
        raise StoreError("The disk is full.")


async def test_a_broken_store_costs_a_sentence() -> None:
    memories = Memories(Broken(), Catalogue(), VirtualClock(NOW))
    tools = Tools(memories)
    for name, arguments in (
        ("remember", {"fact": BIN}),
        ("recall", {}),
        ("forget", {"about": "bin"}),
    ):
        result = await tools(name, **arguments)
        assert result.failed
        assert "does not work" in result.sentence
    assert await memories.briefed() == ()
