"""Tests of a program's turn on the embedded house: within its rights, never by a person's yes."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from assistant.config.tools import Limits
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import (
    _KEPT,
    CALLERS,
    READ_ONLY,
    TALK,
    CallContext,
    Decision,
    Mode,
    PolicyContext,
    Program,
    Programs,
    Rights,
    SentenceMatch,
    Settlement,
    Status,
    Tier,
    ToolCall,
)
from assistant.tools.builtin.protocol import (
    NO_ARGUMENTS,
    AskFirst,
    BuiltIn,
    BuiltInRequest,
    BuiltInResult,
)
from assistant.tools.catalog.approvals import Consents
from assistant.tools.execution.guards import CallGuards, Guards
from assistant.tools.policy.rules import STRICT, OwnerRule, Ruling, Rulings
from tests.fakes.journal import FakeJournal
from tests.fakes.small_values import FakeValues
from tests.unit.assistant.tools.embedded import House, living

ASK = CallContext(can_ask=True)
ON, OFF = "HassTurnOn", "HassTurnOff"
LAMP, DOOR = {"name": "Hall light"}, {"name": "Front door"}
VACUUM, ROBOT = "HassVacuumStart", {"name": "Robbie"}
KITCHEN, GARDEN = "mcp:kitchen", "http:garden"
NOT_RUN = (Decision.DENIED, Status.NOT_RUN, "caller")


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with living("Hall") as house:
        yield house


async def do(
    house: House,
    tool: str,
    arguments: dict[str, Any],
    rights: Rights = CALLERS,
    caller: str = KITCHEN,
) -> Any:
    house.box.restrict(house.turn, rights, caller)
    return await house.do(tool, arguments, situation=ASK)


def told(outcome: Any) -> tuple[Decision, Status, str]:
    return outcome.decision, outcome.status, outcome.rule


class TestCallers:
    async def test_comfort_is_free(self, house: House) -> None:
        outcome = await do(house, ON, LAMP)
        assert (outcome.decision, outcome.status) == (Decision.ALLOWED, Status.DONE)

    @pytest.mark.parametrize(("tool", "arguments"), [(OFF, DOOR), (VACUUM, ROBOT)])
    async def test_what_is_gated_waits_for_nobody(
        self, house: House, tool: str, arguments: dict[str, Any]
    ) -> None:
        outcome = await do(house, tool, arguments)
        assert (outcome.decision, outcome.status) == (
            Decision.NEEDS_CONFIRMATION,
            Status.NOT_RUN,
        )
        assert "needs confirmation" in outcome.sentence
        assert house.box.question("turn", outcome.id) is None
        assert house.demo.calls == []

    async def test_nobody_else_is_kept_from_being_asked(self, house: House) -> None:
        await do(house, OFF, DOOR)
        call = ToolCall("x", OFF, DOOR)
        await house.box.call(call, "a person's", "unlock", situation=ASK)
        assert house.box.question("a person's", "x") is not None

    async def test_a_tool_of_the_room_is_not_theirs(self, house: House) -> None:
        async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
            return BuiltInResult("Done.")

        own = BuiltIn("end_talk", "Ends it.", {}, Tier.READ, run, programs=False)
        house.box.offer(own)
        assert told(await do(house, "end_talk", {})) == NOT_RUN
        outcome = await house.box.call(ToolCall("x", "end_talk", {}), "a person's")
        assert outcome.status is Status.DONE


class TestWhatPeopleHaveFreed:
    async def test_is_not_free_for_a_program(self) -> None:
        freed = Rulings(costly="allow", secure="allow")
        async with living("Hall", rulings=freed) as house:
            for tool, arguments in ((OFF, DOOR), (VACUUM, ROBOT)):
                outcome = await do(house, tool, arguments)
                assert outcome.decision is Decision.NEEDS_CONFIRMATION
                assert outcome.rule == "caller"
            assert house.demo.calls == []

    async def test_nor_by_an_always(self) -> None:
        clock = VirtualClock()
        watched = CallGuards(consents=Consents(FakeValues(), clock))
        async with living("Hall", clock=clock, governance=watched) as house:
            asked = await house.do(VACUUM, ROBOT, situation=ASK)
            question = house.box.question("turn", asked.id)
            assert question is not None
            await house.box.settle(question, Settlement("yes", "typed", always=True))
            house.turn = "later"
            again = await house.do(VACUUM, ROBOT, situation=ASK)
            assert again.decision is Decision.CONFIRMED
            house.turn = "a program's"
            outcome = await do(house, VACUUM, ROBOT)
            assert outcome.decision is Decision.NEEDS_CONFIRMATION

    async def test_nor_by_the_mode(self) -> None:
        async with living("Hall", moment=lambda: PolicyContext(mode=Mode.TRUSTING)) as house:
            outcome = await do(house, VACUUM, ROBOT)
            assert outcome.decision is Decision.NEEDS_CONFIRMATION

    async def test_nor_by_a_rule_that_is_not_about_it(self) -> None:
        rules = (OwnerRule(Ruling.ALLOW, domain="vacuum"),)
        async with living("Hall", rulings=Rulings(rules=rules)) as house:
            assert (await do(house, VACUUM, ROBOT)).decision is Decision.NEEDS_CONFIRMATION


class TestItsOwnPolicy:
    @pytest.mark.parametrize("satellite", ["mcp:kitchen", "MCP:*"])
    async def test_a_rule_lets_it(self, satellite: str) -> None:
        rules = (OwnerRule(Ruling.ALLOW, domain="vacuum", satellite=satellite),)
        async with living("Hall", rulings=Rulings(rules=rules)) as house:
            outcome = await do(house, VACUUM, ROBOT)
            assert (outcome.decision, outcome.rule) == (Decision.ALLOWED, "policy.rules[0]")
            assert outcome.status is Status.DONE

    async def test_a_rule_of_another_does_not(self) -> None:
        rules = (OwnerRule(Ruling.ALLOW, domain="vacuum", satellite="mcp:garden"),)
        async with living("Hall", rulings=Rulings(rules=rules)) as house:
            assert (await do(house, VACUUM, ROBOT)).decision is Decision.NEEDS_CONFIRMATION

    async def test_a_rule_takes_away_and_people_keep_it(self) -> None:
        rules = (OwnerRule(Ruling.DENY, domain="light", satellite=KITCHEN),)
        async with living("Hall", rulings=Rulings(rules=rules)) as house:
            outcome = await do(house, ON, LAMP)
            assert told(outcome) == (Decision.DENIED, Status.NOT_RUN, "policy.rules[0]")
            other = await house.box.call(ToolCall("x", ON, LAMP), "a person's", "light")
            assert other.status is Status.DONE

    async def test_a_rule_of_the_box_holds_for_it_too(self) -> None:
        rules = (OwnerRule(Ruling.DENY, domain="light", satellite="Nursery"),)
        here = PolicyContext(satellite=("Nursery",))
        async with living("Hall", rulings=Rulings(rules=rules), moment=lambda: here) as house:
            assert (await do(house, ON, LAMP)).rule == "policy.rules[0]"

    async def test_guests_are_guests_for_it_too(self) -> None:
        rules = (OwnerRule(Ruling.ALLOW, domain="vacuum", satellite=KITCHEN),)
        guest = PolicyContext(mode=Mode.GUEST)
        async with living("Hall", rulings=Rulings(rules=rules), moment=lambda: guest) as house:
            assert (await do(house, VACUUM, ROBOT)).decision is Decision.DENIED


LED = replace(ASK, led_by=GARDEN)


class TestTalk:
    """A person answers a program's opening line, and the model has the program's words too."""

    async def test_comfort_is_free(self, house: House) -> None:
        outcome = await house.do(ON, LAMP, situation=LED)
        assert (outcome.decision, outcome.status) == (Decision.ALLOWED, Status.DONE)

    @pytest.mark.parametrize(
        "more",
        [
            {"rulings": Rulings(costly="allow")},
            {"moment": lambda: PolicyContext(mode=Mode.TRUSTING)},
            {"rulings": Rulings(rules=(OwnerRule(Ruling.ALLOW, domain="vacuum"),))},
            {},
        ],
    )
    async def test_what_is_costly_is_asked_about_whatever_is_free(self, more: Any) -> None:
        async with living("Hall", **more) as house:
            outcome = await house.do(VACUUM, ROBOT, situation=LED)
            assert outcome.decision is Decision.NEEDS_CONFIRMATION
            assert house.demo.calls == []
            question = house.box.question("turn", outcome.id)
            assert question is not None
            assert "Robbie" in question.text
            done = await house.box.settle(question, Settlement("yes", "voice"))
            assert done is not None
            assert (done.decision, done.status) == (Decision.CONFIRMED, Status.DONE)

    @pytest.mark.parametrize(
        "rulings",
        [
            STRICT,
            Rulings(secure="allow"),
            Rulings(rules=(OwnerRule(Ruling.ALLOW, domain="lock", satellite=GARDEN),)),
        ],
    )
    async def test_nothing_secure_is_done_nor_asked_about(self, rulings: Rulings) -> None:
        async with living("Hall", rulings=rulings) as house:
            outcome = await house.do(OFF, DOOR, situation=LED, heard="unlock the front door")
            assert (outcome.decision, outcome.rule) == (Decision.DENIED, "tainted")
            assert house.box.question("turn", outcome.id) is None
            assert house.demo.calls == []
            alone = await house.box.call(ToolCall("x", OFF, DOOR), "next", "unlock", situation=ASK)
            assert alone.rule != "tainted"

    async def test_an_always_of_a_persons_is_not_meant(self) -> None:
        watched = CallGuards(consents=Consents(FakeValues(), VirtualClock()))
        async with living("Hall", clock=VirtualClock(), governance=watched) as house:
            asked = await house.do(VACUUM, ROBOT, situation=ASK)
            question = house.box.question("turn", asked.id)
            assert question is not None
            await house.box.settle(question, Settlement("yes", "typed", always=True))
            call = ToolCall("x", VACUUM, ROBOT)
            led = await house.box.call(call, "led", "vacuum", situation=LED)
            assert led.decision is Decision.NEEDS_CONFIRMATION

    async def test_a_tool_of_the_room_is_not_for_it(self, house: House) -> None:
        async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
            return BuiltInResult("Done.")

        house.box.offer(BuiltIn("forget", "Forgets.", {}, Tier.READ, run, programs=False))
        outcome = await house.do("forget", {}, situation=LED)
        assert (outcome.decision, outcome.rule) == (Decision.DENIED, "in_talk")
        assert "ask me again yourself" in outcome.sentence

    async def test_no_words_spare_the_question_of_a_built_in(self, house: House) -> None:
        def asks(arguments: Mapping[str, Any], heard: str | None) -> AskFirst | None:
            return None if heard is not None else AskFirst("remember", "it")

        async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
            return BuiltInResult("Kept.")

        house.box.offer(BuiltIn("remember", "", NO_ARGUMENTS, Tier.COMFORT, run, asks=asks))
        outcome = await house.do("remember", {}, situation=LED, heard="remember it")
        assert outcome.decision is Decision.NEEDS_CONFIRMATION

    async def test_work_that_it_begins_goes_no_further(self) -> None:
        async with living("Hall", rulings=Rulings(costly="allow", secure="allow")) as house:
            await house.do(ON, LAMP, situation=LED)
            for call, rule in (
                (ToolCall("x", VACUUM, ROBOT), "cannot_ask"),
                (ToolCall("y", OFF, DOOR), "cannot_ask"),
            ):
                outcome = await house.box.call(call, "turn-c1", "do it")
                assert (outcome.status, outcome.rule) == (Status.NOT_RUN, rule)
            assert len(house.demo.calls) == 1

    async def test_the_audit_names_whose_talk_it_was(self) -> None:
        shelf = FakeJournal()
        watched = CallGuards(audit=shelf, satellite="Hall")
        async with living("Hall", governance=watched) as house:
            await house.do(ON, LAMP, situation=LED)
        assert [row.satellite for row in shelf.rows] == [GARDEN]

    async def test_a_programs_own_turn_stays_its_own(self, house: House) -> None:
        house.box.restrict("turn", READ_ONLY, KITCHEN)
        assert told(await house.do(ON, LAMP, situation=LED)) == NOT_RUN


class TestReadOnly:
    async def test_reading_is_free(self, house: House) -> None:
        outcome = await do(house, "GetDateTime", {}, READ_ONLY)
        assert outcome.status is Status.DONE

    @pytest.mark.parametrize(("tool", "arguments"), [(ON, LAMP), (OFF, DOOR), (VACUUM, ROBOT)])
    async def test_nothing_else_is_done(
        self, house: House, tool: str, arguments: dict[str, Any]
    ) -> None:
        outcome = await do(house, tool, arguments, READ_ONLY)
        assert told(outcome) == NOT_RUN
        assert outcome.sentence == "Programs aren't allowed to do that here."
        assert house.demo.calls == []

    async def test_no_rule_lifts_it(self) -> None:
        rules = (OwnerRule(Ruling.ALLOW, domain="light", satellite="*"),)
        async with living("Hall", rulings=Rulings(rules=rules)) as house:
            assert told(await do(house, ON, LAMP, READ_ONLY)) == NOT_RUN

    async def test_sentences_for_the_home_neither(self) -> None:
        class Engine:
            async def process(self, text: str, language: str, owner: str = "") -> Any:
                raise AssertionError("it was said to the home")

        async with living("Hall", engine=Engine()) as house:
            match = SentenceMatch(
                "turn on the hall light", "en", "builtin", ON, LAMP, ("light.hall",)
            )
            call = ToolCall("s", "sentence", {}, match)
            for rights in (READ_ONLY, Rights(Tier.COMFORT, asks=False)):
                broadcast = SentenceMatch("broadcast tea", "en", "builtin", "HassBroadcast", {})
                one = match if rights is READ_ONLY else broadcast
                house.box.restrict("turn", rights, KITCHEN)
                said = ToolCall(call.id + one.intent, "sentence", {}, one)
                outcome = await house.box.call(said, "turn", one.text, situation=ASK)
                assert told(outcome) == NOT_RUN


class TestWhoseTurn:
    async def test_work_that_is_left_behind_stays_restricted(self, house: House) -> None:
        house.box.restrict("turn", READ_ONLY, KITCHEN)
        house.box.release("turn")
        call = ToolCall("x", ON, LAMP)
        assert told(await house.box.call(call, "turn-c1", "light")) == NOT_RUN
        assert told(await house.box.call(call, "turn-c1-c2", "light")) == NOT_RUN
        assert (await house.box.call(call, "turning", "light")).status is Status.DONE

    async def test_the_audit_names_it(self) -> None:
        shelf = FakeJournal()
        watched = CallGuards(audit=shelf, satellite="Hall")
        async with living("Hall", governance=watched) as house:
            await do(house, ON, LAMP)
            await do(house, OFF, DOOR)
            await house.box.call(ToolCall("x", ON, LAMP), "a person's", "light")
        assert [row.satellite for row in shelf.rows] == [KITCHEN, KITCHEN, "Hall"]

    def test_a_turn_has_the_part_of_who_began_it_or_the_talk(self) -> None:
        programs = Programs()
        programs.restrict("asked", READ_ONLY, KITCHEN)
        programs.lead("asked", GARDEN)  # its words add nothing to its rights
        programs.lead("answered", GARDEN)
        programs.release("answered")
        kitchen, garden = Program(KITCHEN, READ_ONLY), Program(GARDEN, TALK)
        for name, part in (("asked", kitchen), ("answered", garden), ("a person's", None)):
            assert programs.of(name) == part
            assert programs.of(f"{name}-c1-c2") == part

    def test_the_oldest_of_those_that_ended_are_forgotten(self) -> None:
        programs = Programs()
        programs.restrict("open", CALLERS, KITCHEN)
        for number in range(_KEPT + 1):
            programs.restrict(f"t{number}", CALLERS, KITCHEN)
            programs.release(f"t{number}")
        programs.release("nobody's")
        assert programs.of("t0") is None
        assert programs.of("t1") is not None
        assert programs.of("open") is not None


async def test_what_will_not_be_asked_uses_up_nothing_of_the_household() -> None:
    begun: list[Tier] = []

    class Counting(Guards):
        def begin(self, turn_id: str, call_key: str, tier: Tier, alike: str = "") -> str | None:
            begun.append(tier)
            return super().begin(turn_id, call_key, tier, alike)

    limits = Counting(Limits(), VirtualClock())
    async with living("Hall", governance=CallGuards(limits=limits)) as house:
        await do(house, OFF, DOOR)
    assert begun == [Tier.READ]


def test_tools_of_the_room_are_marked() -> None:
    """They are about the conversation, report what others said, or speak, as the sources show."""
    from assistant.interfaces.controls import TalkTools
    from assistant.memory.tools import Memories
    from assistant.tools.builtin.protocol import CORRECT, FORGET, RECALL, REMEMBER

    nobody: Any = None
    talk = TalkTools(nobody, nobody).tools()
    memory = Memories(nobody, nobody, nobody).tools()
    assert {tool.name: tool.programs for tool in (*talk, *memory)} == {
        "start_over": False,
        "forget_what_i_said": False,
        "end_conversation": False,
        REMEMBER: False,
        RECALL: True,
        CORRECT: False,
        FORGET: False,
    }
    assert all(tool.words for tool in memory)


@pytest.mark.parametrize(
    ("rights", "allowed"),
    [
        (None, True),
        (CALLERS, False),
        (replace(CALLERS, recalls=True), True),
        (READ_ONLY, False),
        (TALK, True),
    ],
)
async def test_what_people_have_said_is_told_to_who_may_read_it(
    house: House, rights: Rights | None, allowed: bool
) -> None:
    asked: list[BuiltInRequest] = []

    async def run(arguments: Mapping[str, Any], request: BuiltInRequest) -> BuiltInResult:
        asked.append(request)
        return BuiltInResult("Done.")

    house.box.offer(BuiltIn("recall_it", "Recalls.", {}, Tier.READ, run, words=True))
    if rights is not None:
        house.box.restrict("turn", rights, KITCHEN)
    outcome = await house.do("recall_it", {}, situation=ASK)
    assert (outcome.decision is Decision.ALLOWED) is allowed
    assert [request.recalls for request in asked] == [True] * allowed
    own = rights is not None and not rights.asks
    assert [request.caller for request in asked] == [KITCHEN if own else ""] * allowed


def test_what_people_have_asked_for_later_is_theirs() -> None:
    names = ("request", "later", "mcp:agent")
    assert [Program(name, READ_ONLY).caller for name in names] == ["", "", "mcp:agent"]
    assert Program("mcp:agent", TALK).caller == ""
