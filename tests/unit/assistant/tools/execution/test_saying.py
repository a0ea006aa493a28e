"""Tests of sentences for the home's engine on the common path: judged, said once, and checked."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from assistant.brains.gemini.event_reader import EventReader
from assistant.brains.gemini.lifecycle import LiveTimeouts
from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import (
    CALLERS,
    READ_ONLY,
    TALK,
    Decision,
    Rights,
    SentenceMatch,
    Status,
    Tier,
    ToolCall,
    ToolOutcome,
)
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.executor import CheckAnswer
from assistant.tools.execution.toolbox import Toolbox
from assistant.tools.house.intents import PROCESS
from assistant.tools.policy.rules import Rulings
from integrations.errors import IntegrationError, Refused, Unavailable
from integrations.gemini.events import FunctionCall, FunctionCalls
from integrations.home_assistant.assist import Conversation, EngineReply
from integrations.home_assistant.house import Entity, House
from integrations.home_assistant.reasons import CommandRefused, Unanswered
from tests.fakes.home import StillHome
from tests.fakes.journal import FakeJournal
from tests.unit.assistant.tools.doubles import Hub, tool

ON = SentenceMatch("turn on the fan", "en", "builtin", "HassTurnOn", {"name": "Fan"}, ("fan.bed",))
UNLOCK = SentenceMatch(
    "unlock the front door",
    "en",
    "builtin",
    "HassTurnOff",
    {"name": "Front Door"},
    ("lock.front",),
)
ASKED = SentenceMatch(
    "is the front door locked",
    "en",
    "builtin",
    "HassGetState",
    {"name": "Front Door"},
    ("lock.front",),
)
PARTY = SentenceMatch("activate party mode", "en", "trigger")
DONE = EngineReply("Turned on the fan", "action_done", succeeded=("fan.bed",))


class Engine(Conversation):
    """Says what the test sets; every sentence is recorded, and one too many fails."""

    def __init__(self, *answers: EngineReply | IntegrationError) -> None:
        self._answers = list(answers)
        self.said: list[tuple[str, str]] = []
        self.owners: list[str] = []
        self.works: Callable[[], None] = lambda: None

    async def process(self, text: str, language: str, owner: str = "") -> EngineReply:
        self.said.append((text, language))
        self.owners.append(owner)
        answer = self._answers.pop(0)
        if isinstance(answer, IntegrationError):
            raise answer
        self.works()
        return answer


class LivingPicture(StillHome):
    """A live picture that the test changes."""

    def change(self, entity_id: str, state: str) -> None:
        entities = dict(self.house.entities)
        entities[entity_id] = replace(entities[entity_id], state=state)
        self.house = replace(self.house, entities=entities)


class Stage:
    def __init__(
        self,
        house: House,
        *answers: EngineReply | IntegrationError,
        rulings: Rulings | None = None,
        check: CheckAnswer | None = None,
    ) -> None:
        self.engine, self.journal = Engine(*answers), FakeJournal()
        self.picture = LivingPicture(house)
        self.hub = Hub(tool("change"))
        self.tools = Toolbox(
            self.hub,
            self.picture,
            self.journal,
            Catalogue(),
            SystemClock(),
            wait_s=0.0,
            engine=self.engine,
            check=check,
            rulings=rulings or Rulings(),
        )

    async def say(self, match: SentenceMatch, turn_id: str = "t") -> ToolOutcome:
        call = ToolCall("s", PROCESS, {"text": match.text}, match)
        return await self.tools.call(call, turn_id, match.text)


async def test_what_is_done_is_observed_and_kept(house: House) -> None:
    stage = Stage(house, DONE)
    stage.engine.works = lambda: stage.picture.change("fan.bed", "on")
    outcome = await stage.say(ON)
    assert (outcome.status, outcome.decision, outcome.tier) == (
        Status.DONE,
        Decision.ALLOWED,
        Tier.COMFORT,
    )
    assert outcome.data == "Turned on the fan"
    assert outcome.as_asked
    assert [(one.entity_id, one.before, one.after) for one in outcome.observed] == [
        ("fan.bed", "off", "on")
    ]
    assert stage.engine.said == [("turn on the fan", "en")]
    (started,) = stage.journal.started
    assert (started.server, started.name) == ("home_assistant", PROCESS)
    assert started.arguments == {"text": ON.text, "language": "en", "intent": "HassTurnOn"}
    assert stage.journal.turns == ["t"]
    assert [one.call_id for one in stage.tools.mutations("t")] == ["s"]


async def test_it_stands_as_started_before_it_is_sent(house: House) -> None:
    stage = Stage(house, DONE)
    stage.engine.works = lambda: order.append(len(stage.journal.started))
    order: list[int] = []
    await stage.say(ON)
    assert order == [1]


async def test_the_same_sentence_is_said_once_a_turn(house: House) -> None:
    stage = Stage(house, DONE)
    both = await asyncio.gather(stage.say(ON), stage.say(ON))
    assert both[0] == both[1]
    assert len(stage.engine.said) == 1


async def test_what_the_house_does_not_show_is_not_done(house: House) -> None:
    outcome = await Stage(house, DONE).say(ON)
    assert outcome.status is Status.NOT_OBSERVED
    assert outcome.data == "Turned on the fan"


async def test_an_old_picture_shows_nothing(house: House) -> None:
    stage = Stage(house, DONE)
    stage.engine.works = lambda: setattr(stage.picture, "connected", False)
    assert (await stage.say(ON)).status is Status.NOT_OBSERVED


async def test_a_lock_is_not_opened_without_anybody_to_ask(house: House) -> None:
    stage = Stage(house)
    outcome = await stage.say(UNLOCK)
    assert (outcome.decision, outcome.status, outcome.tier) == (
        Decision.DENIED,
        Status.NOT_RUN,
        Tier.SECURE,
    )
    assert "I can't ask for it" in outcome.sentence
    assert not stage.engine.said
    assert not stage.journal.started
    assert len(stage.journal.finished) == 1
    assert not stage.tools.allows(UNLOCK, UNLOCK.text)


async def test_an_automation_of_unknown_effect_needs_the_owners_word(house: House) -> None:
    for costly in ("confirm", "allow"):
        stage = Stage(house, rulings=Rulings(costly=costly))
        assert not stage.tools.allows(PARTY, PARTY.text)
        assert (await stage.say(PARTY)).decision is Decision.DENIED
        assert not stage.engine.said


async def test_an_automation_that_was_read_is_as_free_as_what_it_does(house: House) -> None:
    party = Entity("automation.party", "Party", "on")
    others = {name: () for name in house.entities if name.startswith("automation.")}
    read = replace(
        house,
        entities={**house.entities, party.entity_id: party},
        touches={party.entity_id: frozenset({"light.kitchen"})},
        ways={party.entity_id: {"light.kitchen": "on"}},
        sentences={**others, party.entity_id: ("activate party mode [in {room}]",)},
    )
    stage = Stage(read, EngineReply("Party!", "action_done"))
    assert stage.tools.allows(PARTY, PARTY.text)
    outcome = await stage.say(PARTY)
    assert (outcome.status, outcome.tier, outcome.data) == (Status.DONE, Tier.COMFORT, "Party!")
    assert len(stage.journal.started) == 1


@pytest.mark.parametrize(
    "reply",
    [
        EngineReply("No, unavailable", "query_answer"),
        EngineReply("Sorry, I am not aware of any device", "error", code="no_valid_targets"),
    ],
)
async def test_an_answer_that_does_not_hold_is_replaced(house: House, reply: EngineReply) -> None:
    asked: list[SentenceMatch] = []

    async def check(match: SentenceMatch) -> str:
        asked.append(match)
        return "I can't reach the front door."

    outcome = await Stage(house, reply, check=check).say(ASKED)
    assert (outcome.status, outcome.data) == (Status.DONE, "I can't reach the front door.")
    assert asked == [ASKED]


async def test_an_answer_that_holds_stays_and_a_command_is_not_checked(house: House) -> None:
    checked: list[str] = []

    async def check(match: SentenceMatch) -> str:
        checked.append(match.text)
        return ""

    stage = Stage(house, EngineReply("Yes", "query_answer"), DONE, check=check)
    assert (await stage.say(ASKED)).data == "Yes"
    await stage.say(ON, "u")
    assert checked == [ASKED.text]


async def test_a_question_changes_nothing_and_is_no_mutation(house: House) -> None:
    stage = Stage(house, EngineReply("Yes", "query_answer", succeeded=("lock.front",)))
    outcome = await stage.say(ASKED)
    assert (outcome.status, outcome.tier, outcome.data) == (Status.DONE, Tier.READ, "Yes")
    assert not stage.journal.started
    assert not stage.tools.mutations("t")


async def test_what_needs_no_answer_is_done(house: House) -> None:
    never_mind = SentenceMatch("never mind", "en", "builtin", "HassNevermind")
    outcome = await Stage(house, EngineReply("", "action_done")).say(never_mind)
    assert (outcome.status, outcome.sentence, outcome.data) == (Status.DONE, "Done.", "")


@pytest.mark.parametrize(
    ("answer", "status", "sentence"),
    [
        (
            EngineReply("There are two.", "error", "no_valid_targets"),
            Status.FAILED,
            "I can't find anything like that there.",
        ),
        (
            EngineReply("", "error", "failed_to_handle"),
            Status.FAILED,
            "Home Assistant couldn't do that. Check the device, then try again.",
        ),
        (Unanswered("Lost.", timed_out=False), Status.UNKNOWN, "I lost the connection"),
        (
            Unanswered("Slow.", timed_out=True),
            Status.TIMEOUT,
            "Home Assistant took too long to answer",
        ),
        (Unavailable("Away."), Status.FAILED, "I can't reach Home Assistant"),
        (Refused("No."), Status.FAILED, "I can't reach Home Assistant"),
        (CommandRefused("No\u202e way.", "x"), Status.FAILED, "Home Assistant reported an error."),
    ],
)
async def test_what_goes_wrong_is_told_honestly(
    house: House, answer: EngineReply | IntegrationError, status: Status, sentence: str
) -> None:
    outcome = await Stage(house, answer).say(ON)
    assert outcome.status is status
    assert outcome.sentence.startswith(sentence)


async def test_a_thing_that_failed_is_named(house: House) -> None:
    reply = replace(DONE, failed=("Old \u202elamp",))
    stage = Stage(house, reply)
    stage.engine.works = lambda: stage.picture.change("fan.bed", "on")
    outcome = await stage.say(ON)
    assert outcome.status is Status.FAILED
    assert "the old lamp" in outcome.sentence


async def test_a_reply_is_one_clean_line(house: House) -> None:
    stage = Stage(house, EngineReply("One\ntwo \u202e three" + "x" * 5000, "query_answer"))
    outcome = await stage.say(ASKED)
    assert outcome.data.startswith("One two three")
    assert len(outcome.data) == 2_000


async def test_a_model_cannot_reach_the_engine(house: House) -> None:
    """Any call of a model, by any name and arguments, is a tool of the menu or nothing."""
    arguments = {"text": UNLOCK.text, "sentence": {"text": UNLOCK.text, "source": "trigger"}}
    reading = EventReader(native_voice=False, timeouts=LiveTimeouts())
    asked = reading.take(FunctionCalls((FunctionCall("1", PROCESS, arguments),)), 0.0)
    (call,) = [event for event in asked if isinstance(event, ToolCall)]
    assert call.sentence is None
    stage = Stage(house, rulings=Rulings("allow", "allow"))
    outcome = await stage.tools.call(call, "t", UNLOCK.text)
    assert outcome.status is Status.NOT_RUN
    assert "no tool called" in outcome.sentence
    assert not stage.engine.said


async def test_without_an_engine_nothing_is_said(house: House) -> None:
    tools = Toolbox(Hub(), StillHome(house), FakeJournal(), Catalogue(), SystemClock())
    outcome = await tools.call(ToolCall("s", PROCESS, {}, ON), "t", ON.text)
    assert (outcome.status, outcome.decision) == (Status.NOT_RUN, Decision.DENIED)


async def test_a_broadcast_that_nobody_took_is_not_called_done(house: House) -> None:
    said = SentenceMatch("broadcast dinner is ready", "en", "builtin", "HassBroadcast")
    outcome = await Stage(house, EngineReply("Done", "action_done")).say(said)
    assert outcome.status is Status.NOT_OBSERVED
    assert "nobody heard it" in outcome.sentence


@pytest.mark.parametrize(
    ("name", "rights", "owner"),
    [
        ("", None, ""),
        ("mcp:agent", CALLERS, "mcp:agent"),
        ("http:panel", TALK, ""),  # a person answers the program
        ("request", READ_ONLY, ""),  # a person's own request for later
    ],
)
async def test_a_sentence_is_part_of_its_callers_conversation(
    house: House, name: str, rights: Rights | None, owner: str
) -> None:
    stage = Stage(house, DONE)
    if rights is not None:
        stage.tools.restrict("t", replace(rights, highest=Tier.SECURE), name)
    assert stage.tools.caller_of("t") == owner
    await stage.say(ON)
    assert stage.engine.owners == [owner]
