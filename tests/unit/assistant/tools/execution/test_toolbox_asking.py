"""Tests of gated calls on the embedded house: frozen, asked about once, and settled once."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import (
    CallContext,
    Decision,
    Question,
    Settlement,
    Status,
    Tier,
    ToolCall,
    ToolOutcome,
    Verdict,
)
from assistant.tools.builtin.protocol import (
    NO_ARGUMENTS,
    AskFirst,
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
)
from assistant.tools.catalog.approvals import Consents
from assistant.tools.execution.guards import CallGuards
from assistant.tools.execution.requests import EXPIRES_S, way_of
from assistant.tools.policy.rules import Rulings
from integrations.home_assistant.house import House as LiveHouse
from tests.fakes.journal import FakeJournal
from tests.fakes.small_values import FakeValues
from tests.unit.assistant.tools.embedded import House, living

ASK = CallContext(can_ask=True, spoken=True)
OFF, ON, DOOR = "HassTurnOff", "HassTurnOn", {"name": "Front door"}
GARAGE = {"name": "Garage door"}
VACUUM, ROBOT = "HassVacuumStart", {"name": "Robbie"}
YES = Settlement("yes", "voice")


class Room:
    """Media players that may or may not be pausable."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.resumed = 0

    async def __call__(self) -> "Room":
        return self

    async def resume(self) -> None:
        self.resumed += 1


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with living("Hall") as house:
        yield house


async def ask(house: House, tool: str = OFF, arguments: Any = DOOR, **more: Any) -> Question | None:
    outcome = await house.do(tool, arguments, situation=more.pop("situation", ASK), **more)
    assert outcome.decision is Decision.NEEDS_CONFIRMATION
    assert outcome.status is Status.NOT_RUN
    return house.box.question(house.turn, outcome.id)


async def asked(house: House, tool: str = OFF, arguments: Any = DOOR, **more: Any) -> Question:
    question = await ask(house, tool, arguments, **more)
    assert question is not None
    return question


async def test_a_gated_call_is_answered_at_once_and_nothing_is_sent(house: House) -> None:
    question = await asked(house)
    assert (question.text, question.how, question.tier) == (
        "Unlock the front door?",
        "confirm",
        Tier.SECURE,
    )
    assert house.demo.calls == []
    assert house.journal.started == []


async def test_a_yes_runs_it_once(house: House) -> None:
    question = await asked(house)
    outcome = await house.box.settle(question, YES)
    assert outcome is not None
    assert (outcome.decision, outcome.status) == (Decision.CONFIRMED, Status.DONE)
    assert outcome.confirmed_by == "voice"
    assert [name for name, _ in house.demo.calls] == ["intent__HassTurnOff"]
    assert await house.box.settle(question, YES) is None  # a question settles only one call
    assert len(house.demo.calls) == 1


@pytest.mark.parametrize("verdict", ["no", "silence", "unclear", "new_command"])
async def test_anything_else_leaves_it_as_it_is(house: House, verdict: Verdict) -> None:
    question = await asked(house)
    outcome = await house.box.settle(question, Settlement(verdict))
    assert outcome is not None
    assert (outcome.decision, outcome.status) == (Decision.DENIED, Status.NOT_RUN)
    assert outcome.sentence == "OK, I left the front door locked."
    assert house.state("lock.front_door") == "locked"
    assert await house.box.settle(question, YES) is None
    assert house.demo.calls == []


async def test_a_question_that_nobody_could_be_asked_stays_open_in_the_journal(
    house: House,
) -> None:
    question = await asked(house)
    assert await house.box.settle(question, None) is None
    assert await house.box.settle(question, YES) is None
    assert house.journal.finished[-1].decision is Decision.NEEDS_CONFIRMATION


async def test_an_equal_call_waits_for_the_same_question(house: House) -> None:
    await asked(house)
    assert await ask(house) is None


async def test_one_question_at_a_time(house: House) -> None:
    question = await asked(house)
    assert await ask(house, ON, GARAGE) is None  # it waits behind the first call
    assert await house.box.settle(question, YES) is not None
    assert [arguments for _, arguments in house.demo.calls] == [
        {"name": "Front door", "domain": ["lock"]} if "domain" in house.demo.calls[0][1] else DOOR
    ]


async def test_a_second_call_of_the_sentence_is_asked_about_after_the_first(house: House) -> None:
    first = await asked(house)
    assert await ask(house, ON, GARAGE) is None
    assert await ask(house, ON, GARAGE) is None  # an equal call is asked about only once
    assert await house.box.settle(first, Settlement("no")) is not None
    second = await house.box.next_question("turn", Settlement("no"))
    assert isinstance(second, Question)
    assert (second.text, second.tier) == ("Open the garage door?", Tier.SECURE)
    assert house.demo.calls == []
    outcome = await house.box.settle(second, YES)
    assert outcome is not None
    assert (outcome.decision, outcome.status) == (Decision.CONFIRMED, Status.DONE)
    assert await house.box.next_question("turn", YES) is None


async def test_a_no_is_not_asked_away_by_another_call_that_does_it(house: House) -> None:
    first = await asked(house)
    assert await ask(house, "script__welcome_home", {}) is None  # which unlocks the same door
    await ask(house, ON, GARAGE)
    await house.box.settle(first, Settlement("no"))
    same = await house.box.next_question("turn", Settlement("no"))
    assert isinstance(same, ToolOutcome)
    assert same.rule == "not_confirmed_no"
    other = await house.box.next_question("turn", Settlement("no"))
    assert isinstance(other, Question)
    assert other.text == "Open the garage door?"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (OFF, DOOR),
        (OFF, {"name": "front door"}),
        (OFF, {"name": "lock.front_door"}),
        (OFF, {**DOOR, "domain": ["lock"]}),
        ("intent__HassTurnOff", DOOR),
    ],
)
async def test_the_same_call_waits_for_the_same_answer(
    house: House, tool: str, arguments: dict[str, Any]
) -> None:
    first = await asked(house)
    assert await ask(house, tool, arguments) is None
    settled = await house.box.settle(first, YES)
    assert settled is not None
    assert await house.box.next_question("turn", YES) is None
    again = await house.do(tool, arguments, situation=ASK)
    assert (again.status, again.rule) == (Status.DONE, "done_already")
    assert len(house.demo.calls) == 1


async def test_two_rooms_to_clean_are_two_calls(house: House) -> None:
    clean = (await house.box.menu()).find("HassVacuumCleanArea")
    assert clean is not None
    assert way_of(clean).selecting == {"name"}, "the area is what it cleans"
    for area in ("Kitchen", "Hall", "Hall"):
        await house.do(clean.declaration.name, {**ROBOT, "area": area}, situation=ASK)
    assert [given["area"] for _, given in house.demo.calls] == ["Kitchen", "Hall"]


async def test_another_turn_takes_nothing_of_what_waits(house: House) -> None:
    first = await asked(house)
    await ask(house, ON, GARAGE)
    other = await house.box.call(ToolCall("x", OFF, DOOR), "another", "unlock", situation=ASK)
    assert other.rule == "busy"
    await house.box.settle(first, YES)
    assert isinstance(await house.box.next_question("turn", YES), Question)


@pytest.mark.parametrize("verdict", ["silence", "new_command"])
async def test_where_nobody_answers_the_second_is_not_asked_about(
    house: House, verdict: Verdict
) -> None:
    first = await asked(house)
    await ask(house, ON, GARAGE)
    await house.box.settle(first, Settlement(verdict))
    left = await house.box.next_question("turn", Settlement(verdict))
    assert isinstance(left, ToolOutcome)
    assert (left.decision, left.status) == (Decision.DENIED, Status.NOT_RUN)
    assert (left.rule, left.sentence) == (
        f"not_confirmed_{verdict}",
        "OK, I didn't open the garage door.",
    )
    assert await house.box.next_question("turn", Settlement(verdict)) is None
    assert house.demo.calls == []


async def test_where_nobody_could_be_asked_what_waits_stays_as_it_is(house: House) -> None:
    first = await asked(house)
    await ask(house, ON, GARAGE)
    await house.box.settle(first, None)
    assert await house.box.next_question("turn", None) is None
    assert await house.box.next_question("turn", YES) is None


async def test_the_second_waits_for_no_turn_but_its_own(house: House) -> None:
    first = await asked(house)
    await ask(house, ON, GARAGE)
    await house.box.settle(first, YES)
    assert await house.box.next_question("another", YES) is None
    other = await house.box.call(ToolCall("x", OFF, DOOR), "another", "unlock", situation=ASK)
    assert house.box.question("another", other.id) is not None
    busy = await house.box.next_question("turn", YES)
    assert isinstance(busy, ToolOutcome)
    assert busy.rule == "busy"


async def test_text_read_meanwhile_keeps_the_second_from_being_asked() -> None:
    rules = CallGuards(taints=lambda entry: entry.suffix == "GetDateTime")
    async with living("Hall", governance=rules) as house:
        first = await asked(house)
        await ask(house, ON, GARAGE)
        await house.do("GetDateTime", {})
        await house.box.settle(first, Settlement("no"))
        refused = await house.box.next_question("turn", Settlement("no"))
        assert isinstance(refused, ToolOutcome)
        assert refused.rule == "tainted"


@pytest.mark.parametrize("has_pin", [False, True])
async def test_the_second_too_needs_a_quiet_room(has_pin: bool) -> None:
    room = Room(quiet=True)
    rules = CallGuards(hush=room, has_pin=has_pin)
    async with living("Hall", governance=rules) as house:
        first = await asked(house)
        await ask(house, ON, GARAGE)
        await house.box.settle(first, YES)
        room.quiet = False
        second = await house.box.next_question("turn", YES)
        if has_pin:
            assert isinstance(second, Question)
            assert second.how == "pin"
        else:
            assert isinstance(second, ToolOutcome)
            assert second.rule == "noisy"


async def test_a_question_of_another_turn_is_not_taken_over(house: House) -> None:
    await asked(house)
    call = ToolCall("x", OFF, DOOR)
    other = await house.box.call(call, "another", "unlock", situation=ASK)
    assert other.rule == "busy"


async def test_a_late_yes_is_none() -> None:
    clock = VirtualClock()
    async with living("Hall", clock=clock) as house:
        question = await asked(house)
        clock.advance(EXPIRES_S)
        assert await house.box.settle(question, YES) is None
        assert house.demo.calls == []


async def test_a_forged_question_is_none(house: House) -> None:
    question = await asked(house)
    assert await house.box.settle(replace(question, id="q"), YES) is None
    assert house.demo.calls == []


async def test_what_would_touch_something_else_by_now_is_not_run(house: House) -> None:
    question = await asked(house, ON, {"area": "Garage", "domain": ["cover"]})
    house.demo.house.alter("cover.garage_door", exposed=False)
    await house.home.wait_for(
        ["cover.garage_door"], lambda now: not now.entities["cover.garage_door"].exposed, 2.0
    )
    outcome = await house.box.settle(question, YES)
    assert outcome is not None
    assert (outcome.decision, outcome.rule) == (Decision.DENIED, "changed_meanwhile")
    assert house.demo.calls == []


@pytest.mark.parametrize(
    ("situation", "rule"),
    [
        (CallContext(), "cannot_ask"),
        (replace(ASK, near_own_speech=True), "own_speech"),
        (replace(ASK, searched=True), "tainted"),
    ],
)
async def test_when_it_may_not_even_be_asked(
    house: House, situation: CallContext, rule: str
) -> None:
    outcome = await house.do(OFF, DOOR, situation=situation)
    assert (outcome.decision, outcome.rule) == (Decision.DENIED, rule)
    assert house.box.question("turn", outcome.id) is None


async def test_nothing_secure_follows_text_from_outside() -> None:
    rules = CallGuards(taints=lambda entry: entry.suffix == "find_devices")
    async with living("Hall", governance=rules) as house:
        await house.do("GetDateTime", {})
        assert (await ask(house)) is not None
    async with living("Hall", governance=CallGuards(taints=lambda entry: True)) as house:
        await house.do("GetDateTime", {})
        outcome = await house.do(OFF, DOOR, situation=ASK)
        assert (outcome.decision, outcome.rule) == (Decision.DENIED, "tainted")
        # Another turn is not tainted by it.
        call = ToolCall("x", OFF, DOOR)
        other = await house.box.call(call, "another", "unlock", situation=ASK)
        assert other.decision is Decision.NEEDS_CONFIRMATION


@pytest.mark.parametrize(
    ("read_in", "follows_in"),
    [("turn", "turn-think"), ("turn-think", "turn"), ("turn-think", "turn-think-deeper")],
)
async def test_work_begun_in_a_turn_and_the_turn_have_read_the_same(
    read_in: str, follows_in: str
) -> None:
    """Long thinking makes its own calls: the turn learns of what they read, and they of what it
    read."""
    rules = CallGuards(taints=lambda entry: entry.suffix == "GetDateTime")
    free = Rulings(secure="allow")
    async with living("Hall", governance=rules, rulings=free) as house:
        await house.box.call(ToolCall("1", "GetDateTime", {}), read_in)
        outcome = await house.box.call(ToolCall("2", OFF, DOOR), follows_in, situation=ASK)
        assert (outcome.decision, outcome.rule) == (Decision.DENIED, "tainted")
        other = await house.box.call(ToolCall("3", OFF, DOOR), "turning", situation=ASK)
        assert other.decision is Decision.ALLOWED


async def test_after_text_from_outside_no_words_of_the_person_spare_the_question() -> None:
    """Otherwise a page could have things remembered in a turn in which somebody says "remember"."""

    def asks(arguments: Mapping[str, Any], heard: str | None) -> AskFirst | None:
        return None if heard is not None else AskFirst("remember", "it")

    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        return BuiltInResult("Kept.")

    note = BuiltIn("remember", "", NO_ARGUMENTS, Tier.COMFORT, run, asks=asks)
    rules = CallGuards(taints=lambda entry: entry.suffix == "GetDateTime")
    async with living("Hall", governance=rules) as house:
        house.box.offer(note)

        async def remember(name: str, turn_id: str, situation: CallContext = ASK) -> Decision:
            call = ToolCall(name, "remember", {})
            words = "remember it twice"
            return (await house.box.call(call, turn_id, words, situation=situation)).decision

        assert await remember("1", "turn") is Decision.ALLOWED
        await house.do("GetDateTime", {})
        assert await remember("2", "turn") is Decision.NEEDS_CONFIRMATION
        assert await remember("3", "another") is Decision.ALLOWED
    async with living("Hall") as house:
        house.box.offer(note)
        assert await remember("4", "turn", replace(ASK, searched=True)) is (
            Decision.NEEDS_CONFIRMATION
        )


class TestMedia:
    async def test_what_plays_is_paused_for_the_question_and_plays_on(self) -> None:
        room = Room(quiet=True)
        async with living("Hall", governance=CallGuards(hush=room)) as house:
            question = await asked(house)
            assert room.resumed == 0
            await house.box.settle(question, Settlement("no"))
            assert room.resumed == 1

    async def test_what_cannot_be_paused_could_say_yes(self) -> None:
        async with living("Hall", governance=CallGuards(hush=Room(quiet=False))) as house:
            outcome = await house.do(OFF, DOOR, situation=ASK)
            assert (outcome.decision, outcome.rule) == (Decision.DENIED, "noisy")

    async def test_but_it_does_not_know_the_pin(self) -> None:
        noisy = CallGuards(hush=Room(quiet=False), has_pin=True)
        async with living("Hall", governance=noisy) as house:
            assert (await asked(house)).how == "pin"

    @pytest.mark.parametrize(
        ("by", "decision", "rule"),
        [("voice", Decision.DENIED, "noisy"), ("typed", Decision.CONFIRMED, "unlock")],
    )
    async def test_a_room_that_has_become_loud_may_have_said_yes(
        self, by: str, decision: Decision, rule: str
    ) -> None:
        room = Room(quiet=True)
        async with living("Hall", governance=CallGuards(hush=room)) as house:
            question = await asked(house)
            room.quiet = False  # a film has started since
            outcome = await house.box.settle(question, Settlement("yes", by))
            assert outcome is not None
            assert (outcome.decision, outcome.rule) == (decision, rule)
            assert room.resumed == 1
            assert bool(house.demo.calls) is (decision is Decision.CONFIRMED)

    async def test_what_costs_is_no_matter_of_quiet(self) -> None:
        room = Room(quiet=True)
        async with living("Hall", governance=CallGuards(hush=room)) as house:
            question = await asked(house, VACUUM, ROBOT)
            room.quiet = False
            outcome = await house.box.settle(question, YES)
            assert outcome is not None
            assert outcome.decision is Decision.CONFIRMED

    async def test_a_typed_request_needs_no_quiet(self) -> None:
        async with living("Hall", governance=CallGuards(hush=Room(quiet=False))) as house:
            typed = replace(ASK, spoken=False)
            assert (await asked(house, situation=typed)).how == "confirm"


def loud(name: str) -> BuiltIn:
    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        return BuiltInResult("Said.")

    return BuiltIn(name, name, NO_ARGUMENTS, Tier.COMFORT, run, sounds=name == "announce")


def _all_play(now: LiveHouse) -> bool:
    players = [one for one in now.entities.values() if one.domain == "media_player"]
    return all(one.state == "playing" for one in players if "speaker" in one.entity_id)


SPEAKER = {"name": "Kitchen speaker"}
LOUD = [
    ("HassMediaNext", {"area": "Living room"}),
    ("HassMediaUnpause", SPEAKER),
    ("HassSetVolume", {**SPEAKER, "volume_level": 80}),
    ("HassTurnOn", SPEAKER),
    ("HassTurnOn", {"name": "Coffee machine"}),  # the switch may belong to a radio
    ("announce", {}),
]
SILENT = [("HassTurnOn", {"name": "Hall light"}), ("GetDateTime", {}), ("timer", {})]


class TestNothingSounds:
    @pytest.fixture
    async def house(self) -> AsyncIterator[House]:
        async with living("Hall") as house:
            players = ("media_player.kitchen_speaker", "media_player.living_room_speaker")
            for name in players:
                house.demo.house.write(name, "playing")
            assert await house.home.wait_for(players, _all_play, 5.0)
            house.box.offer(loud("announce"), loud("timer"))
            yield house

    async def call(self, house: House, turn: str, tool: str, arguments: Any) -> ToolOutcome:
        return await house.box.call(ToolCall(f"{turn}-1", tool, arguments), turn, "do it")

    @pytest.mark.parametrize("turn", ["turn", "another"])
    @pytest.mark.parametrize(("tool", "arguments"), LOUD)
    async def test_while_a_secure_question_waits(
        self, house: House, turn: str, tool: str, arguments: Any
    ) -> None:
        question = await asked(house)
        assert house.box.asks_aloud
        held = await self.call(house, turn, tool, arguments)
        assert (held.decision, held.rule, held.status) == (
            Decision.DENIED,
            "busy",
            Status.NOT_RUN,
        )
        assert house.demo.calls == []
        await house.box.settle(question, Settlement("no"))
        assert not house.box.asks_aloud
        after = await self.call(house, f"{turn} later", tool, arguments)
        assert after.decision is Decision.ALLOWED
        assert after.status is not Status.NOT_RUN

    @pytest.mark.parametrize(("tool", "arguments"), SILENT)
    async def test_what_nobody_hears_goes_on(self, house: House, tool: str, arguments: Any) -> None:
        await asked(house)
        outcome = await self.call(house, "another", tool, arguments)
        assert outcome.status is Status.DONE

    @pytest.mark.parametrize(
        ("tool", "arguments", "situation"),
        [(VACUUM, ROBOT, ASK), (OFF, DOOR, replace(ASK, spoken=False))],
    )
    async def test_of_what_is_not_secure_or_typed_nothing_waits(
        self, house: House, tool: str, arguments: Any, situation: CallContext
    ) -> None:
        await asked(house, tool, arguments, situation=situation)
        assert not house.box.asks_aloud
        outcome = await self.call(house, "another", *LOUD[0])
        assert outcome.decision is Decision.ALLOWED

    async def test_not_even_what_was_said_yes_to_for_today(self) -> None:
        clock, shelf = VirtualClock(), FakeValues()
        rules = CallGuards(consents=Consents(shelf, clock))
        async with living("Hall", clock=clock, governance=rules) as house:
            question = await asked(house, VACUUM, ROBOT)
            await house.box.settle(question, Settlement("yes", "voice", always=True))
            await asked(house, id="door")
            held = await self.call(house, "another", VACUUM, ROBOT)
            assert (held.decision, held.rule) == (Decision.DENIED, "busy")

    async def test_a_question_that_has_expired_holds_nothing_back(self) -> None:
        clock = VirtualClock()
        async with living("Hall", clock=clock) as house:
            await asked(house)
            clock.advance(EXPIRES_S)
            assert not house.box.asks_aloud


class TestAlways:
    async def test_it_is_not_asked_again_until_midnight(self) -> None:
        clock, shelf = VirtualClock(), FakeValues()
        rules = CallGuards(consents=Consents(shelf, clock))
        async with living("Hall", clock=clock, governance=rules) as house:
            question = await asked(house, VACUUM, ROBOT)
            assert question.tier is Tier.COSTLY
            done = await house.box.settle(question, Settlement("yes", "voice", always=True))
            assert done is not None
            assert done.decision is Decision.CONFIRMED
            house.turn = "later"
            again = await house.do(VACUUM, ROBOT, situation=ASK)
            assert (again.decision, again.confirmed_by) == (Decision.CONFIRMED, "always")
            house.turn = "the next day"
            clock.advance(timedelta(days=1).total_seconds())
            assert (await ask(house, VACUUM, ROBOT)) is not None

    async def test_a_call_made_twice_at_once_is_sent_once(self) -> None:
        class SlowValues(FakeValues):
            async def kept(self, name: str) -> Any | None:
                await asyncio.sleep(0)
                return await super().kept(name)

        clock, shelf = VirtualClock(), SlowValues()
        rules = CallGuards(consents=Consents(shelf, clock))
        async with living("Hall", clock=clock, governance=rules) as house:
            question = await asked(house, VACUUM, ROBOT)
            await house.box.settle(question, Settlement("yes", "voice", always=True))
            house.turn = "later"
            both = [house.do(VACUUM, ROBOT, situation=ASK) for _ in range(2)]
            first, second = await asyncio.gather(*both)
            assert [first.confirmed_by, second.confirmed_by] == ["always"] * 2
            assert second.rule == "done_already"
            assert len(house.box.mutations("later")) == 1

    async def test_never_for_a_lock(self) -> None:
        clock, shelf = VirtualClock(), FakeValues()
        rules = CallGuards(consents=Consents(shelf, clock))
        async with living("Hall", clock=clock, governance=rules) as house:
            question = await asked(house)
            await house.box.settle(question, Settlement("yes", "voice", always=True))
            assert shelf.values == {}
            house.turn = "later"
            house.demo.house.write("lock.front_door", "locked")
            assert (await ask(house)) is not None

    async def test_only_for_the_exact_call(self) -> None:
        clock, shelf = VirtualClock(), FakeValues()
        rules = CallGuards(consents=Consents(shelf, clock))
        async with living("Hall", clock=clock, governance=rules) as house:
            question = await asked(house, VACUUM, ROBOT)
            await house.box.settle(question, Settlement("yes", "voice", always=True))
            house.turn = "another"
            assert (await ask(house, VACUUM, {})) is not None


async def test_pin_and_phone_by_the_settings() -> None:
    async with living("Hall", rulings=Rulings(secure="pin")) as house:
        assert (await asked(house)).how == "pin"
    async with living("Hall", rulings=Rulings(secure="phone")) as house:
        assert (await asked(house)).how == "phone"


async def test_every_step_is_in_the_audit() -> None:
    shelf = FakeJournal()
    async with living("Hall", governance=CallGuards(audit=shelf, satellite="Hall")) as house:
        question = await asked(house, heard="unlock the front door")
        await house.box.settle(question, YES)
    assert [(row.decision, row.confirmed_by) for row in shelf.rows] == [
        (Decision.NEEDS_CONFIRMATION, ""),
        (Decision.CONFIRMED, "voice"),
    ]
    assert {row.heard for row in shelf.rows} == {"unlock the front door"}
    assert {row.call_id for row in shelf.rows} == {"c1"}
    assert shelf.rows[-1].entities == ("lock.front_door",)


@pytest.mark.parametrize(
    ("situation", "rule"),
    [(replace(ASK, near_own_speech=True), "own_speech"), (replace(ASK, searched=True), "tainted")],
)
async def test_an_owner_who_asks_for_no_yes_has_the_guards_all_the_same(
    situation: CallContext, rule: str
) -> None:
    async with living("Hall", rulings=Rulings(secure="allow")) as house:
        outcome = await house.do(OFF, DOOR, situation=situation)
        assert (outcome.decision, outcome.status, outcome.rule) == (
            Decision.DENIED,
            Status.NOT_RUN,
            rule,
        )
        assert house.demo.calls == []
        assert (await house.do(OFF, DOOR, situation=ASK)).decision is Decision.ALLOWED
