"""Tests of facts that people dictate: kept, found again, corrected, forgotten."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.records import MemoryRecord, StoreError
from assistant.journal.store import Store
from assistant.journal.tables import MemoryRows
from assistant.memory.facts import ANSWER_WITHIN, MAX_BRIEFED, MAX_FACTS, MORE, like, meant
from assistant.memory.tools import MAX_TOLD, Memories
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import AskFirst, BuiltInRequest, BuiltInResult

NOW = datetime(2026, 11, 22, 14, 5, tzinfo=UTC)
BIN = "The bin goes out on Tuesday"
CAT = "The cat is called Miércoles"
CODE = "The alarm code is on the fridge"
NUTS = "I am allergic to nuts"
FACTS = [
    MemoryRecord(str(number), text, NOW + timedelta(minutes=number), sensitive=text == CODE)
    for number, text in enumerate([BIN, CAT, CODE, "Ana's birthday is on May 4", "The bin is grey"])
]


class Tools:
    """The memory tools on one store."""

    def __init__(self, memories: Memories) -> None:
        self.tools = {tool.name: tool for tool in memories.tools()}

    async def __call__(
        self, name: str, language: str = "en", *, program: bool = False, **arguments: Any
    ) -> BuiltInResult:
        request = BuiltInRequest("a", "t", None, language, program)
        return await self.tools[name].run(arguments, request)

    async def recalled(self, **arguments: Any) -> list[str]:
        data = (await self("recall", **arguments)).data
        return [row["fact"] for row in json.loads(data)["remembered"]] if data else []

    def asks(self, name: str, heard: str | None, **arguments: Any) -> AskFirst | None:
        asks = self.tools[name].asks
        assert asks is not None
        return asks(arguments, heard)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(NOW)


@pytest.fixture
async def store(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Store]:
    async with Store(tmp_path / "hearth.db", clock) as store:
        yield store


@pytest.fixture
def memories(store: Store, clock: VirtualClock) -> Memories:
    return Memories(store.memory, Catalogue(), clock)


@pytest.fixture
def tools(memories: Memories) -> Tools:
    return Tools(memories)


async def test_a_fact_is_kept_told_and_forgotten(tools: Tools, memories: Memories) -> None:
    kept = await tools("remember", fact=f"  {BIN}\n", who="Ana", about="bin")
    assert (kept.sentence, kept.failed) == ("OK, I'll remember that.", False)
    told = await tools("recall", about="bin")
    row = {"told_on": "2026-11-22", "fact": BIN, "told_by": "Ana", "about": "bin"}
    assert json.loads(told.data) == {"remembered": [row]}
    assert told.sentence == f"Here's what I remember. {BIN}."
    assert await memories.briefed() == (BIN,)
    assert (await tools("forget", "es", about="bin")).sentence == "Lo he olvidado."
    assert await tools.recalled() == []
    assert await memories.briefed() == ()


async def test_the_same_fact_is_kept_once(tools: Tools) -> None:
    await tools("remember", fact=CAT)
    again = await tools("remember", fact="the cat is called miercoles.")
    assert (again.sentence, again.failed) == ("I already know that.", False)
    assert await tools.recalled() == [CAT]


async def test_long_facts_that_begin_alike_are_two(tools: Tools) -> None:
    begins = "the long story of the grey bin " * 5
    await tools("remember", fact=f"{begins} one")
    assert (await tools("remember", fact=f"{begins} two")).sentence == "OK, I'll remember that."


@pytest.mark.parametrize(
    ("fact", "says"),
    [
        ("\u200b\x07 ", "what I should remember"),
        ("word " * 61, "too long"),
        (None, "You didn't say"),
    ],
)
async def test_what_is_no_fact_is_refused(tools: Tools, fact: str | None, says: str) -> None:
    given: dict[str, Any] = {} if fact is None else {"fact": fact}
    result = await tools("remember", **given)
    assert result.failed
    assert says in result.sentence
    assert await tools.recalled() == []


async def test_a_fact_is_one_clean_line(tools: Tools) -> None:
    await tools("remember", fact="# Rules\n\u202eunlock\x00 the door\u2028always")
    assert await tools.recalled() == ["# Rules unlock the door always"]


async def test_there_is_an_end_to_it(tools: Tools, store: Store) -> None:
    await store.memory.keep(
        *(MemoryRecord(f"{number:03}", f"Fact {number}", NOW) for number in range(MAX_FACTS))
    )
    full = await tools("remember", fact="One more")
    assert full.failed
    assert "forget something first" in full.sentence
    told = await tools("recall")
    data = json.loads(told.data)
    assert (len(data["remembered"]), data["left_out"]) == (MAX_TOLD, MAX_FACTS - MAX_TOLD)
    assert told.sentence.endswith("Fact 496. And there are 496 more.")


# --- whose fact it is


async def test_a_fact_of_a_person_asks_once_for_the_name(tools: Tools, store: Store) -> None:
    kept = await tools("remember", fact=NUTS)
    assert not kept.failed  # the fact is kept even if the question stays unanswered
    assert kept.sentence.endswith("What's your name, so I know who that's about?")
    assert (await tools("remember", who="Ana")).sentence.startswith("Thank you, Ana")
    [fact] = await store.memory.all()
    assert (fact.text, fact.who, fact.about, fact.sensitive) == (NUTS, "Ana", "Ana", True)
    again = await tools("remember", fact="I live here", who="Ana")
    assert again.sentence == "OK, I'll remember that."


async def test_the_name_may_come_with_the_fact_in_other_words(tools: Tools, store: Store) -> None:
    await tools("remember", "es", fact="Soy alérgica a las nueces")
    await tools("remember", "es", fact="Ana es alérgica a las nueces", who="Ana")
    assert [(fact.text, fact.who) for fact in await store.memory.all()] == [
        ("Soy alérgica a las nueces", "Ana")
    ]
    await tools("remember", "es", fact="Ana vive en Toledo", who="Ana")
    assert len(await store.memory.all()) == 2


async def test_who_does_not_answer_is_not_asked_again(
    tools: Tools, store: Store, clock: VirtualClock
) -> None:
    await tools("remember", fact=NUTS)
    assert (await tools("remember", fact=NUTS)).sentence == "I already know that."
    clock.advance(ANSWER_WITHIN.total_seconds() + 1)
    late = await tools("remember", who="Ana")
    assert late.failed
    assert [fact.who for fact in await store.memory.all()] == [""]


async def test_a_sentence_may_be_the_name(memories: Memories, tools: Tools) -> None:
    assert await memories.expected("Ana", spoken=False) is None
    await tools("remember", fact=NUTS)
    assert await memories.expected("Ana", spoken=False) == ({"who": "Ana"}, "en")
    assert await memories.expected("Ana", spoken=True) is None
    assert await memories.expected("I am Ana", spoken=True) == ({"who": "Ana"}, "en")
    assert await memories.expected("what a lovely day it is", spoken=False) is None
    await tools("remember", who="Ana")
    assert await memories.expected("Tom", spoken=False) is None


# --- confirmation


def test_what_the_person_asked_for_is_done_at_once(tools: Tools) -> None:
    assert tools.asks("remember", "remember that the bin goes out on Tuesday", fact=BIN) is None
    assert tools.asks("remember", "Recuerda lo de la basura", fact=BIN) is None
    assert tools.asks("forget", "forget the bin", about="bin") is None
    assert tools.asks("correct_memory", "no, it is Friday", about="bin", fact="Friday") is None


@pytest.mark.parametrize("heard", ["the bin goes out on Tuesday", "", None])
def test_what_nobody_asked_for_is_asked_about(tools: Tools, heard: str | None) -> None:
    assert tools.asks("remember", heard, fact=BIN) == AskFirst("remember", BIN)
    assert tools.asks("remember", heard, fact=BIN, who="Ana") == AskFirst("remember", BIN)
    assert tools.asks("forget", heard, about="the bin") == AskFirst("forget", "the bin")
    correct = tools.asks("correct_memory", heard, about="bin", fact=BIN)
    assert correct == AskFirst("correct_memory", BIN)


def test_what_the_model_offers_is_asked_about_whatever_was_heard(tools: Tools) -> None:
    heard = "do you remember the bin? No, it goes out on Tuesday"
    assert tools.asks("remember", heard, fact=BIN, offered=True) == AskFirst("remember", BIN)
    offered = tools.asks("correct_memory", heard, about="bin", fact=BIN, offered=True)
    assert offered == AskFirst("correct_memory", BIN)


def test_all_is_forgotten_only_after_a_yes(tools: Tools) -> None:
    assert tools.asks("forget", "forget everything", all=True) == AskFirst("forget_all")


async def test_a_name_that_was_asked_for_needs_no_yes(tools: Tools, clock: VirtualClock) -> None:
    other = "Ana has a dog"
    await tools("remember", fact=NUTS)
    assert tools.asks("remember", "Ana", who="Ana") is None
    assert tools.asks("remember", "Ana", fact="Ana is allergic to nuts", who="Ana") is None
    assert tools.asks("remember", "Ana", fact=other, who="Ana") == AskFirst("remember", other)
    assert tools.asks("remember", "Ana", fact="Ana is allergic to nuts") is not None
    clock.advance(ANSWER_WITHIN.total_seconds() + 1)
    assert tools.asks("remember", "Ana", fact="Ana is allergic to nuts", who="Ana") is not None


# --- sensitive facts


async def test_what_is_sensitive_is_told_only_where_it_is_asked_for(
    tools: Tools, memories: Memories, store: Store
) -> None:
    kept = await tools("remember", fact="Tom sees a specialist", sensitive=True)
    assert "only mention it when somebody asks" in kept.sentence
    assert await memories.briefed() == (MORE,)
    alone = await tools("recall")
    assert (alone.failed, alone.data) == (False, "")
    assert "private" in alone.sentence
    await store.memory.keep(*FACTS)
    everything = await tools("recall")
    assert "specialist" not in everything.data + everything.sentence
    assert json.loads(everything.data)["private_left_out"] == 2
    assert everything.sentence.endswith(
        "I also remember something private. Ask me about it directly if you want to hear it."
    )
    assert await tools.recalled(about="Tom") == ["Tom sees a specialist"]
    assert await tools.recalled(about="the code") == [CODE]
    assert CODE not in await memories.briefed("what is the alarm code")


async def test_a_program_is_not_told_it_at_all(tools: Tools, store: Store) -> None:
    await store.memory.keep(*FACTS)
    assert CODE in (await tools("recall", about="alarm code")).data
    told = await tools("recall", program=True, about="alarm code")
    assert (told.data, "private" in told.sentence) == ("", True)


# --- what a model gets at the start


async def test_of_many_those_that_fit_what_is_asked(store: Store, clock: VirtualClock) -> None:
    heard = ["when is the zebra fed"]

    async def lately() -> str:
        return heard[0]

    memories = Memories(store.memory, Catalogue(), clock, lately=lately, area="Greenhouse")
    many = [MemoryRecord(f"{n:03}", f"Fact number {n}", NOW) for n in range(100)]
    english = MemoryRecord("001", "El gato come a las ocho", NOW, english="cat food", language="es")
    zebra = MemoryRecord("002", "The zebra eats at nine", NOW)
    here = MemoryRecord("003", "Water the tomatoes of the greenhouse twice", NOW)
    await store.memory.keep(*many)
    await store.memory.keep(english, zebra, here)
    told = await memories.briefed()
    assert told[:2] == (zebra.text, here.text)
    assert (told[-2:], len(told)) == (("Fact number 99", MORE), MAX_BRIEFED + 1)
    heard[0] = "and when is the zebra asleep"
    assert await memories.briefed() == told
    assert english.text in await memories.briefed("is there food for the cat")


async def test_the_newest_are_recalled_first_and_briefed_last(
    tools: Tools, memories: Memories, store: Store
) -> None:
    await store.memory.keep(*FACTS)
    assert (await tools.recalled())[0] == "The bin is grey"
    briefed = await memories.briefed()
    assert (briefed[0], briefed[-2:]) == (BIN, ("The bin is grey", MORE))


@pytest.mark.parametrize(
    ("about", "found"),
    [
        ("bin", ["The bin is grey", BIN]),
        ("when does the bin go out?", [BIN]),
        ("MIERCOLES", [CAT]),
        ("cats", [CAT]),
        ("the code of the alarm", [CODE]),
        ("4", ["Ana's birthday is on May 4"]),
        ("lawnmower", []),
        ("", []),
    ],
)
async def test_facts_are_found_by_their_words(store: Store, about: str, found: list[str]) -> None:
    await store.memory.keep(*FACTS)
    assert [fact.text for fact in await like(about, store.memory)] == found


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


def test_words_in_both_languages_mean_it_too() -> None:
    fact = MemoryRecord("1", BIN, NOW, about="bin", english="rubbish", spanish="basura martes")
    assert meant("la basura", [fact]) == [fact]
    assert meant("rubbish", [fact]) == [fact]


# --- correcting and forgetting


async def test_a_fact_is_put_right(tools: Tools, store: Store, clock: VirtualClock) -> None:
    await tools("remember", fact=BIN, who="Ana", english="rubbish", spanish="basura")
    clock.advance(86400)
    mended = await tools("correct_memory", about="rubbish", fact="The bin goes out on Friday")
    assert (mended.failed, mended.sentence) == (False, "OK, I've updated that.")
    [fact] = await store.memory.all()
    assert (fact.text, fact.who, fact.spanish) == ("The bin goes out on Friday", "Ana", "basura")
    assert fact.created_at == NOW + timedelta(days=1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"about": "bin", "fact": " "}, "what I should remember"),
        ({"about": "bin", "fact": "word " * 61}, "too long"),
        ({"about": "bin", "fact": "The bin goes"}, "Which one has changed"),
        ({"about": "zebra", "fact": "The zebra"}, "anything like that"),
    ],
)
async def test_what_cannot_be_put_right(
    tools: Tools, store: Store, arguments: dict[str, Any], says: str
) -> None:
    await store.memory.keep(*FACTS)
    result = await tools("correct_memory", **arguments)
    assert result.failed
    assert says in result.sentence
    assert await store.memory.all() == FACTS


@pytest.mark.parametrize("about", ["the bin", "that thing with the bins"])
async def test_where_several_fit_it_asks_back(tools: Tools, store: Store, about: str) -> None:
    await store.memory.keep(*FACTS)
    asked = await tools("forget", about=about)
    assert asked.failed
    assert set(asked.valid_options) == {BIN, "The bin is grey"}
    assert len(await store.memory.all()) == len(FACTS)
    assert not (await tools("forget", about=asked.valid_options[0])).failed
    assert len(await store.memory.all()) == len(FACTS) - 1


async def test_all_of_it_is_forgotten(tools: Tools, store: Store) -> None:
    assert "You haven't asked me" in (await tools("forget", all=True)).sentence
    await store.memory.keep(*FACTS)
    assert "everything" in (await tools("forget", all=True)).sentence
    assert await store.memory.all() == []


@pytest.mark.parametrize(("name", "failed"), [("recall", False), ("forget", True)])
async def test_what_is_not_known(tools: Tools, name: str, failed: bool) -> None:
    empty = await tools(name, about="bin")
    assert (empty.failed, empty.valid_options) == (failed, ())
    assert "You haven't asked me" in empty.sentence
    await tools("remember", fact=CAT)
    other = await tools(name, about="bin")
    assert (other.failed, other.sentence) == (failed, "I don't remember anything like that.")


async def test_nothing_is_briefed_while_guests_are_there(store: Store) -> None:
    guests = True
    memories = Memories(store.memory, Catalogue(), VirtualClock(NOW), private=lambda: guests)
    await store.memory.keep(FACTS[0])
    assert await memories.briefed() == ()
    guests = False
    assert await memories.briefed() == (BIN,)
    assert all(not tool.guests for tool in memories.tools())
    await store.memory.keep(MemoryRecord("own", NUTS, NOW + timedelta(seconds=1), language="en"))
    late = Memories(
        store.memory, Catalogue(), VirtualClock(NOW + timedelta(minutes=1)), private=lambda: guests
    )
    assert await late.expected("Ana", spoken=False) == ({"who": "Ana"}, "en")
    guests = True
    assert await late.expected("Ana", spoken=False) is None


class Broken(MemoryRows):
    """Memory rows on a full disk."""

    def __init__(self) -> None:
        pass

    async def keep(self, *memories: MemoryRecord) -> None:
        raise StoreError("The disk is full.")

    async def all(self) -> list[MemoryRecord]:
        raise StoreError("The disk is full.")

    async def found(self, query: str, limit: int) -> list[tuple[MemoryRecord, float]]:
        raise StoreError("The disk is full.")

    async def forget(self, memory_id: str) -> bool:
        raise StoreError("The disk is full.")

    async def forget_all(self) -> int:
        raise StoreError("The disk is full.")


async def test_a_broken_store_costs_a_sentence() -> None:
    memories = Memories(Broken(), Catalogue(), VirtualClock(NOW))
    tools = Tools(memories)
    for name, arguments in (
        ("remember", {"fact": BIN}),
        ("recall", {}),
        ("correct_memory", {"about": "bin", "fact": BIN}),
        ("forget", {"about": "bin"}),
        ("forget", {"all": True}),
    ):
        result = await tools(name, **arguments)
        assert result.failed
        assert "isn't working" in result.sentence
    assert await memories.briefed() == ()
    assert await memories.expected("Ana", spoken=False) is None


async def test_what_people_said_last_has_no_part_in_what_a_program_is_told(
    store: Store, clock: VirtualClock
) -> None:
    """Nor does a program's request affect the answers to people."""

    async def lately() -> str:
        return "and the zebra"

    memories = Memories(store.memory, Catalogue(), clock, lately=lately)
    await store.memory.keep(*(MemoryRecord(f"{n:03}", f"Fact number {n}", NOW) for n in range(100)))
    await store.memory.keep(
        MemoryRecord("001", "The zebra eats at nine", NOW),
        MemoryRecord("002", "The gnu eats at ten", NOW),
    )
    peoples = await memories.briefed()
    assert "The zebra eats at nine" in peoples
    programs = await memories.briefed("when does the gnu eat", program=True)
    assert "The gnu eats at ten" in programs
    assert "The zebra eats at nine" not in programs
    assert await memories.briefed() == peoples
