"""Tests of one turn in a few requests: what is sent, what is called, and how it ends."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

import pytest

from assistant.brains.briefing.briefer import STAY_SILENT, Briefing
from assistant.brains.dialogue import ROUNDS
from assistant.brains.gemini_once import GeminiOnceBrain
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    NotMeant,
    Reached,
    ReplyText,
    Spent,
    Thought,
    TurnDone,
    TurnRequest,
    Usage,
)
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import ToolCall
from assistant.domain.turn_audio import TurnAudio
from integrations.errors import (
    Blocked,
    Exhausted,
    IntegrationError,
    Unavailable,
)
from integrations.gemini.declarations import Declaration
from integrations.gemini.events import FunctionCall, TokensUsed
from integrations.gemini.live import FunctionAnswer
from integrations.gemini.models import Prices, model_row
from integrations.gemini.once import (
    OnceCalls,
    OnceClient,
    OnceConversation,
    OnceEnd,
    OnceEvent,
    OnceSetup,
    OnceText,
    Picture,
)
from tests.unit.assistant.brains.gemini.doubles import ScriptedBriefer
from tests.unit.assistant.brains.scripted import House, outcome_of, play

ROW = replace(
    model_row("gemini-3.8-flash")[0],
    prices=(Prices(text_in=1.0, audio_in=2.0, text_out=4.0, audio_out=8.0),),
)
LIGHT = Declaration("light", "Turns it on.", None, ())
BRIEFING = Briefing("Be brief.", (LIGHT,), (), (), "high", "")
TYPED = TurnRequest("t", "en", "text", "turn on the light", None)
STOP = OnceEnd("STOP")

Round = Sequence[OnceEvent | IntegrationError]


class Conversation(OnceConversation):
    """Plays one script per request."""

    def __init__(self, setup: OnceSetup, rounds: list[Round]) -> None:
        self.setup = setup
        self.told: list[str | bytes | tuple[Picture, str] | list[FunctionAnswer]] = []
        self.may_call: list[bool] = []
        self.open = 0
        self._rounds = rounds

    def hear(self, pcm: bytes) -> None:
        self.told.append(pcm)

    def read(self, text: str) -> None:
        self.told.append(text)

    def see(self, picture: Picture, text: str) -> None:
        self.told.append((picture, text))

    def answer(self, answers: Sequence[FunctionAnswer]) -> None:
        self.told.append(list(answers))

    async def stream(self, *, may_call: bool = True) -> AsyncGenerator[OnceEvent]:
        self.may_call.append(may_call)
        self.open += 1
        try:
            for step in self._rounds.pop(0):
                if isinstance(step, IntegrationError):
                    raise step
                yield step
        finally:
            self.open -= 1


class Service(OnceClient):
    """A service for one conversation."""

    def __init__(self, *rounds: Round) -> None:
        self._rounds = list(rounds)
        self.conversation: Conversation | None = None
        self.briefer = ScriptedBriefer(BRIEFING)

    def converse(self, setup: OnceSetup) -> Conversation:
        assert self.conversation is None
        self.conversation = Conversation(setup, self._rounds)
        return self.conversation

    @property
    def talk(self) -> Conversation:
        assert self.conversation is not None
        return self.conversation

    def assert_consumed(self) -> None:
        assert not self._rounds, "a request was not made"
        assert self.talk.open == 0


Play = Callable[..., Service]


@pytest.fixture
def service() -> Iterator[Play]:
    """Yield a function that makes the service; everything scripted must be requested."""
    made: list[Service] = []

    def make(*rounds: Round) -> Service:
        made.append(Service(*rounds))
        return made[-1]

    yield make
    for each in made:
        each.assert_consumed()


@pytest.fixture
def house() -> House:
    return House()


async def run(
    service: Service, house: House | None = None, request: TurnRequest = TYPED
) -> list[BrainEvent]:
    turn = GeminiOnceBrain(service, service.briefer, ROW).begin(request)
    return await play(turn, house or House())


def calls(*names: str) -> OnceCalls:
    return OnceCalls(tuple(FunctionCall(f"f{at}", name, {}) for at, name in enumerate(names)))


async def test_a_typed_turn(service: Play) -> None:
    made = service([OnceText("It "), OnceText("is on."), STOP])
    assert await run(made, request=replace(TYPED, profile="night")) == [
        Heard("turn on the light"),
        Reached("first_upload"),
        ReplyText("It "),
        ReplyText("is on."),
        TurnDone(),
    ]
    assert made.briefer.profiles == ["night"]
    # The profile thinks, but a plain command does not pay for it.
    assert made.talk.setup == OnceSetup(ROW, "Be brief.", (LIGHT,), "")
    assert made.talk.told == ["turn on the light"]


async def test_a_spoken_turn_waits_for_the_end_of_the_sentence(service: Play) -> None:
    made = service([OnceText("Yes."), STOP])
    audio = TurnAudio()
    audio.append(b"\1\0" * 160)
    request = TurnRequest("t", "en", "voice", None, audio)
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(run(made, request=request))
        await VirtualClock().settle()
        assert made.briefer.profiles == [""]  # what can be done before is done
        assert made.talk.told == []
        audio.append(b"\2\0" * 160)
        audio.finish()
    assert made.talk.told == [b"\1\0" * 160 + b"\2\0" * 160]
    # It cannot report what was heard.
    assert turn.result() == [Reached("first_upload"), ReplyText("Yes."), TurnDone()]


async def test_what_it_must_know_to_understand_the_turn_comes_before_it(service: Play) -> None:
    made = service([OnceText("Yes."), STOP])
    await run(made, request=replace(TYPED, note="(You have just said hello.)"))
    assert made.talk.told == ["(You have just said hello.)", "turn on the light"]


async def test_calls_are_run_together_and_answered_together(service: Play, house: House) -> None:
    made = service(
        [calls("light", "read"), STOP],
        [OnceText("Done."), STOP],
    )
    events = await run(made, house)
    assert events[2:] == [
        ToolCall("f0", "light", {}),
        ToolCall("f1", "read", {}),
        ReplyText("Done."),
        TurnDone(),
    ]
    _, answers = made.talk.told
    response = {"status": "done", "retryable": False, "sentence": "The light is on."}
    assert answers == [
        FunctionAnswer("f0", "light", response),
        FunctionAnswer("f1", "read", response),
    ]
    assert made.talk.may_call == [True, True]


async def test_a_chain_of_calls_keeps_what_is_said_apart(service: Play, house: House) -> None:
    made = service(
        [OnceText("One moment."), calls("read"), STOP],
        [calls("light"), STOP],
        [OnceText("It is "), OnceText("on."), STOP],
    )
    events = await run(made, house)
    assert "".join(e.delta for e in events if isinstance(e, ReplyText)) == "One moment. It is on."
    assert len(house.deeds) == 1


async def test_no_call_of_an_answer_that_breaks_off_is_run(service: Play, house: House) -> None:
    made = service([OnceText("I will"), Unavailable("It broke off.")])
    events = await run(made, house)
    assert events[-1] == BrainFault("unreachable", "It broke off.", retryable=True)
    assert house.deeds == []


async def test_what_took_too_long_is_told_as_that(service: Play) -> None:
    error = Unavailable("It took too long.")
    error.__cause__ = TimeoutError()
    assert (await run(service([error])))[-1] == BrainFault("timeout", "It took too long.", True)


def empty(reason: str) -> BrainFault:
    return BrainFault("empty", f"Gemini gave an empty answer ({reason}).", retryable=True)


@pytest.mark.parametrize(
    ("rounds", "end"),
    [
        ([[STOP]], [Reached("first_upload"), empty("STOP")]),
        ([[OnceText(" \n"), STOP]], [Reached("first_upload"), empty("STOP")]),
        ([[OnceText("One moment."), calls("light"), STOP], [OnceEnd(None)]], [TurnDone()]),
        ([[OnceText("One moment."), calls("light"), STOP], [STOP]], [TurnDone()]),
        ([[calls("light"), STOP], [OnceEnd("MAX_TOKENS")]], [empty("MAX_TOKENS")]),
        ([[calls("light"), STOP], [calls(STAY_SILENT), STOP]], [NotMeant()]),
        ([[OnceText("Well, "), calls(STAY_SILENT), STOP]], [empty("STOP")]),
    ],
    ids=["nothing", "blank", "calls", "calls, stop", "cut off", "silent", "silent after words"],
)
async def test_how_an_answer_ends(
    service: Play, house: House, rounds: list[Round], end: list[BrainEvent]
) -> None:
    assert (await run(service(*rounds), house))[-len(end) :] == end


async def test_speech_that_was_not_meant_ends_without_words(service: Play, house: House) -> None:
    made = service([calls("light", STAY_SILENT), STOP])
    assert (await run(made, house))[2:] == [NotMeant()]
    assert house.deeds == []


async def test_the_last_request_of_a_turn_is_without_calls(service: Play, house: House) -> None:
    chain: list[Round] = [
        [OnceCalls((FunctionCall(f"f{at}", "read", {}),)), STOP] for at in range(ROUNDS - 1)
    ]
    made = service(*chain, [OnceText("Enough."), STOP])
    assert (await run(made, house))[-1] == TurnDone()
    assert made.talk.may_call == [True] * (ROUNDS - 1) + [False]


async def test_a_model_that_calls_all_the_same_is_left(service: Play, house: House) -> None:
    chain: list[Round] = [
        [OnceCalls((FunctionCall(f"f{at}", "read", {}),)), STOP] for at in range(ROUNDS)
    ]
    events = await run(service(*chain), house)
    assert events[-1] == BrainFault("broken", "Gemini did not stop calling tools.", False)
    assert len(house.reads) == ROUNDS - 1


async def test_every_request_is_paid(service: Play, house: House) -> None:
    used = TokensUsed(1_000_000, 100_000, {"input_audio": 600_000})
    made = service([calls("read"), used, STOP], [OnceText("Yes."), used, Blocked("x")])
    events = await run(made, house)
    cost = [event for event in events if isinstance(event, Spent)]
    assert [event.usage for event in cost] == [
        Usage(1_000_000, 100_000, {"input_audio": 600_000})
    ] * 2
    assert cost[0].cost_usd == pytest.approx(0.4 + 1.2 + 0.4)


async def test_a_result_that_comes_after_the_end_is_dropped(service: Play) -> None:
    made = service([calls("slow"), STOP])
    turn = GeminiOnceBrain(made, made.briefer, ROW).begin(TYPED)
    await turn.answer(outcome_of(ToolCall("f0", "slow", {})))  # before it has begun
    call = ToolCall("f0", "slow", {})
    async with aclosing(turn.events()) as events:
        async for event in events:
            if event == call:
                break
    await turn.answer(outcome_of(call))
    await turn.answer(outcome_of(call))
    assert made.talk.open == 0


async def test_a_closed_turn_closes_its_request(service: Play) -> None:
    made = service([OnceText("Half a"), OnceText("sentence"), STOP])
    async with aclosing(GeminiOnceBrain(made, made.briefer, ROW).begin(TYPED).events()) as events:
        async for event in events:
            if isinstance(event, ReplyText):
                break
        assert made.talk.open == 1
    assert made.talk.open == 0


# --- thinking, outside of a turn


async def think(
    service: Service,
    house: House,
    rounds: int = 15,
    bill: list[Spent] | None = None,
    picture: Picture | None = None,
) -> Thought:
    async def spend(spent: Spent) -> None:
        if bill is not None:
            bill.append(spent)

    brain = GeminiOnceBrain(service, service.briefer, ROW)
    return await brain.think(
        "why?",
        instruction="Think.",
        declarations=(LIGHT,),
        call=house.call,
        rounds=rounds,
        thinking="high",
        spend=spend,
        picture=picture,
    )


async def test_a_question_about_a_picture_goes_with_it(service: Play, house: House) -> None:
    shown = Picture(b"jpeg", "image/jpeg")
    made = service([OnceText("A dog."), STOP])
    assert (await think(made, house, picture=shown)).text == "A dog."
    assert made.talk.told == [(shown, "why?")]


async def test_a_question_is_worked_on_with_tools(service: Play, house: House) -> None:
    used = TokensUsed(1_000_000, 0)
    made = service(
        [calls("read", "read"), used, STOP],
        [OnceText(" Because of "), OnceText("that. "), used, STOP],
    )
    bill: list[Spent] = []
    assert await think(made, house, bill=bill) == Thought("Because of that.")
    assert bill == [Spent(Usage(1_000_000, 0), 1.0, ROW.name)] * 2
    assert made.talk.setup == OnceSetup(ROW, "Think.", (LIGHT,), "high")
    assert made.talk.told[0] == "why?"
    assert made.briefer.profiles == []


async def test_calls_that_come_together_run_side_by_side(service: Play, house: House) -> None:
    made = service([calls("slow", "slow"), STOP], [OnceText("Yes."), STOP])
    async with asyncio.TaskGroup() as group:
        thought = group.create_task(think(made, house))
        await VirtualClock().settle()
        assert len(house.deeds) == 2
        house.go_on.set()
    assert thought.result().text == "Yes."


async def test_a_failure_leaves_what_it_cost(service: Play, house: House) -> None:
    made = service([OnceText("Half"), TokensUsed(1_000_000, 0), Exhausted("No quota.")])
    bill: list[Spent] = []
    result = await think(made, house, bill=bill)
    assert result == Thought("Half", BrainFault("quota", "No quota.", retryable=False))
    assert bill == [Spent(Usage(1_000_000, 0), 1.0, ROW.name)]


async def test_the_rounds_are_bounded(service: Play, house: House) -> None:
    made = service([calls("read"), STOP], [OnceText("Enough."), STOP])
    assert (await think(made, house, rounds=2)).text == "Enough."
    assert made.talk.may_call == [True, False]


async def test_what_a_tool_raises_comes_out(service: Play) -> None:
    class Broken(House):
        async def call(self, call: ToolCall) -> object:  # type: ignore[override]
            raise RuntimeError("The journal is gone.")

    with pytest.RaisesGroup(RuntimeError):
        await think(service([calls("read"), STOP]), Broken())
