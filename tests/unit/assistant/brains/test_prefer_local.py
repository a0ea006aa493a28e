"""Tests of a sentence that the home and the model both get, of which only one acts."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from assistant.brains.home_assistant import DryRun
from assistant.brains.prefer_local import LISTEN_ON_S, Mode, PreferLocalBrain
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    Reached,
    ReplyAudio,
    ReplyText,
    Serving,
    Spent,
    TurnDone,
    TurnRequest,
    Usage,
)
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import Decision, SentenceMatch, Status, Tier, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from integrations.errors import Unavailable
from integrations.home_assistant.assist import Recognized, Source
from integrations.owner import OwnedTasks

SENTENCE = "activate party mode"
PARTY = "Party mode is on."
MINE = "I cannot do that."
LIGHT = ToolCall("1", "intent__HassTurnOn", {"name": "light"})
OVER = Reached("upload_done")
HEARD = Heard(SENTENCE, "en")
COST = Spent(Usage(900, 40), 0.01)
BROKEN = BrainFault("unreachable", "The connection is gone.", retryable=True)
SPOKEN = TurnRequest("t", "en", "voice", None, None)

ANSWER = "its answer"  # a step: go on when a call was answered
Script = list[BrainEvent | float | str | Exception]  # a number: s of silence


class Model:
    """A brain that plays one script; see `Script`."""

    name = "gemini-live"

    def __init__(self, clock: VirtualClock, script: Script) -> None:
        self._clock = clock
        self._script = script
        self.begun = self.closed = False
        self.answers: dict[str, ToolOutcome] = {}
        self._answered = asyncio.Event()

    def begin(self, request: TurnRequest) -> "Model":
        return self

    def anticipate(self) -> None:
        raise AssertionError("nobody anticipates here")

    async def events(self) -> AsyncGenerator[BrainEvent]:
        self.begun = True
        try:
            for step in self._script:
                if isinstance(step, float):
                    await self._clock.sleep(step)
                elif isinstance(step, Exception):
                    raise step
                elif isinstance(step, str):
                    await self._answered.wait()
                else:
                    yield step
        finally:
            self.closed = True

    async def answer(self, outcome: ToolOutcome) -> None:
        assert outcome.id not in self.answers, "a call is answered once"
        self.answers[outcome.id] = outcome
        self._answered.set()


@dataclass
class Home:
    """An engine that knows one sentence, and who may say it."""

    clock: VirtualClock
    source: Source = "trigger"
    takes_s: float = 0.005  # of a dry run
    allowed: bool = True
    away: bool = False
    status: Status = Status.DONE
    runs_s: float = 0.01
    speech: str = PARTY
    tried: list[str] = field(default_factory=list)
    said: list[ToolCall] = field(default_factory=list)

    async def recognize(self, texts: Sequence[str], language: str) -> Recognized | None:
        self.tried += texts
        await self.clock.sleep(self.takes_s)
        if self.away:
            raise Unavailable("The home is away.")
        return Recognized(SENTENCE, self.source) if SENTENCE in texts else None

    def allows(self, match: SentenceMatch, heard: str | None) -> bool:
        assert heard is not None
        return self.allowed

    async def run(self, call: ToolCall) -> ToolOutcome:
        await self.clock.sleep(self.runs_s)
        if call.sentence is not None:
            self.said.append(call)
        status = self.status if call.sentence is not None else Status.DONE
        sentence = "Denied." if status is Status.NOT_RUN else "Done."
        data = self.speech if call.sentence is not None and status is Status.DONE else ""
        done = (Decision.ALLOWED, Tier.COSTLY, status, (), 1.0, sentence, data)
        return ToolOutcome(call.id, "home_assistant", call.name, call.arguments, *done)


@dataclass
class Stage:
    """One turn that both get."""

    clock: VirtualClock = field(default_factory=VirtualClock)
    mode: Mode = "sentences"

    def __post_init__(self) -> None:
        self.home = Home(self.clock)
        self.events: list[BrainEvent] = []
        self.at: list[float] = []  # s, of each event

    @asynccontextmanager
    async def model(self, script: Script) -> AsyncIterator[Model]:
        model = Model(self.clock, script)
        dry_run = DryRun(self.home.recognize, ["en"])
        async with OwnedTasks() as tasks:
            self.brain = PreferLocalBrain(
                model, dry_run, self.home.allows, self.mode, Catalogue(), self.clock, tasks
            )
            yield model

    async def play(self, script: Script, request: TurnRequest = SPOKEN) -> Model:
        """Play the whole turn; calls run beside it, as in the turn's runner."""
        async with self.model(script) as model:
            turn = self.brain.begin(request)

            async def run(call: ToolCall) -> None:
                await turn.answer(await self.home.run(call))

            async def take() -> None:
                async with asyncio.TaskGroup() as calls, aclosing(turn.events()) as events:
                    async for event in events:
                        self.events.append(event)
                        self.at.append(self.clock.monotonic())
                        if isinstance(event, ToolCall):
                            calls.create_task(run(event))

            async with asyncio.TaskGroup() as group:
                taking = group.create_task(take())
                for _ in range(40):
                    await self.clock.run(0.25)
                    if taking.done():
                        break
                assert taking.done(), f"the turn hangs after {self.events}"
            return model

    @property
    def words(self) -> str:
        return "".join(one.delta for one in self.events if isinstance(one, ReplyText))

    @property
    def calls(self) -> list[str]:
        return [one.id for one in self.events if isinstance(one, ToolCall)]

    def when(self, event: BrainEvent) -> float:
        return self.at[self.events.index(event)]


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_a_sentence_of_the_homes_is_done_by_the_home_and_told_once(stage: Stage) -> None:
    script: Script = [OVER, 0.3, HEARD, 0.5, ReplyText("I cannot do that."), COST, TurnDone()]
    model = await stage.play(script)
    assert stage.calls == ["t-sentence"]
    assert stage.words == PARTY
    assert Serving("home-assistant") in stage.events
    assert COST in stage.events  # what the model cost is not forgotten
    assert stage.events[-1] == TurnDone()
    assert model.closed
    assert not model.answers


HOMES, MODELS = ["t-sentence"], ["1"]
I_CANNOT: Script = [ReplyText("I cannot do that."), TurnDone()]
INSIDE = RuntimeError("inside")
PIECES: Script = [Heard("activate", "en"), 0.02, HEARD, 0.02, Heard(f"{SENTENCE} later", "en"), 0.4]
# What differs at home, what the model does once the sentence is over, and who has acted.
TURNS: dict[str, tuple[dict[str, Any], Script, str, list[str], list[str]]] = {
    "words are held": ({}, [HEARD, *I_CANNOT], PARTY, HOMES, []),
    "sound is held": ({}, [HEARD, ReplyAudio(b"..", 24_000), TurnDone()], PARTY, HOMES, []),
    "a late call is answered from the sentence": (
        {}, [HEARD, 0.5, LIGHT, ANSWER, *I_CANNOT], PARTY, HOMES, ["1"],
    ),
    "it is not known": (
        {}, [Heard("turn on the light"), 0.4, LIGHT, 0.1, *I_CANNOT], MINE, MODELS, ["1"],
    ),
    "the match is late": ({"takes_s": 0.2}, [HEARD, 1.0, *I_CANNOT], MINE, [], []),
    "it is not allowed": ({"allowed": False}, [HEARD, 0.3, *I_CANNOT], MINE, [], []),
    "it is denied at last": (
        {"status": Status.NOT_RUN}, [HEARD, LIGHT, 0.1, *I_CANNOT], MINE, HOMES + MODELS, ["1"],
    ),
    "it is built in": ({"source": "builtin"}, [HEARD, 0.3, *I_CANNOT], MINE, [], []),
    "it is built in, always": (
        {"source": "builtin", "mode": "always"}, [HEARD, 0.3, *I_CANNOT], PARTY, HOMES, [],
    ),
    "it is custom": ({"source": "custom"}, [HEARD, 0.3, *I_CANNOT], PARTY, HOMES, []),
    "the home is away": ({"away": True}, [HEARD, 0.3, *I_CANNOT], MINE, [], []),
    "it fails after the sentence": ({}, [HEARD, 0.1, BROKEN], PARTY, HOMES, []),
    "it breaks meanwhile": ({"runs_s": 1.0}, [HEARD, 0.1, INSIDE], PARTY, HOMES, []),
    "it breaks with the transcript": ({}, [HEARD, INSIDE], PARTY, HOMES, []),
    "it comes in pieces": ({}, [*PIECES, *I_CANNOT], MINE, [], []),
}  # fmt: skip


@pytest.mark.parametrize(
    ("home", "script", "words", "calls", "answered"), TURNS.values(), ids=TURNS.keys()
)
async def test_who_acts(
    home: dict[str, Any], script: Script, words: str, calls: list[str], answered: list[str]
) -> None:
    stage = Stage(mode=home.get("mode", "sentences"))
    for name, value in home.items():
        setattr(stage.home, name, value)
    model = await stage.play([OVER, 0.3, *script])
    assert (stage.words, stage.calls, list(model.answers)) == (words, calls, answered)
    assert bool(stage.home.said) == ("t-sentence" in calls)
    assert not any(isinstance(event, ReplyAudio | BrainFault) for event in stage.events)
    assert stage.events[-1] == TurnDone()


async def test_calls_before_the_transcript_are_answered_from_the_sentence(stage: Stage) -> None:
    script: Script = [OVER, 0.3, LIGHT, 0.01, HEARD, ANSWER, ReplyText("On it."), TurnDone()]
    model = await stage.play(script)
    assert stage.calls == ["t-sentence"]
    answered = model.answers["1"]
    assert (answered.status, answered.name) == (Status.DONE, LIGHT.name)
    assert "Done." in answered.sentence
    assert stage.words == PARTY


async def test_a_call_is_held_for_100_ms_of_a_slow_verdict_and_the_match_is_dropped(
    stage: Stage,
) -> None:
    stage.home.takes_s = 2.0
    await stage.play([OVER, 0.3, HEARD, LIGHT, 3.0, ReplyText("It is on."), TurnDone()])
    assert stage.calls == ["1"]
    assert stage.when(LIGHT) == pytest.approx(0.4)
    assert stage.words == "It is on."
    assert not stage.home.said


async def test_without_a_transcript_a_call_is_held_for_100_ms(stage: Stage) -> None:
    await stage.play([OVER, 0.3, LIGHT, 1.0, HEARD, ReplyText("It is on."), TurnDone()])
    assert stage.when(LIGHT) == pytest.approx(0.4)
    assert stage.calls == ["1"]
    assert not stage.home.said


async def test_one_that_fails_before_any_transcript_fails(stage: Stage) -> None:
    await stage.play([OVER, 0.3, BROKEN])
    assert stage.events[-1] == BROKEN
    assert not stage.home.tried


async def test_one_that_breaks_breaks(stage: Stage) -> None:
    with pytest.raises(ExceptionGroup) as raised:
        await stage.play([OVER, RuntimeError("inside")])
    assert raised.group_contains(RuntimeError, match="inside")


async def test_one_that_breaks_while_its_sentence_is_denied_breaks_at_once(stage: Stage) -> None:
    stage.home.status, stage.home.runs_s = Status.NOT_RUN, 1.0
    with pytest.raises(ExceptionGroup) as raised:
        await stage.play([OVER, 0.3, HEARD, 0.1, RuntimeError("inside")])
    assert raised.group_contains(RuntimeError, match="inside")


async def test_one_that_ends_without_an_end_is_not_waited_for(stage: Stage) -> None:
    await stage.play([OVER, 0.3, Heard("turn on the light"), ReplyText("It is")])
    assert stage.words == "It is"
    assert stage.at[-1] < 1.0


async def test_a_question_of_the_homes_is_not_kept_from_its_answer(stage: Stage) -> None:
    stage.home.speech = "Which room? "
    model = await stage.play([OVER, 0.3, HEARD, 2.0, TurnDone()])
    assert stage.words == "Which room? "
    assert stage.at[-1] < 0.7
    assert model.closed


async def test_a_sentence_that_failed_at_home_is_told_honestly(stage: Stage) -> None:
    stage.home.status = Status.UNKNOWN
    model = await stage.play([OVER, 0.3, HEARD, 0.3, LIGHT, 0.2, TurnDone()])
    assert stage.words == "Done."  # our sentence of the outcome, not the home's reply
    assert model.answers["1"].status is Status.UNKNOWN


async def test_a_silent_model_is_listened_to_for_a_while_only(stage: Stage) -> None:
    model = await stage.play([OVER, 0.3, HEARD, 60.0, TurnDone()])
    assert stage.words == PARTY
    assert stage.at[-1] < 1.0 + LISTEN_ON_S
    assert model.closed


async def test_a_typed_sentence_of_the_homes_is_not_sent_to_the_model(stage: Stage) -> None:
    request = TurnRequest("t", "en", "text", SENTENCE, None)
    model = await stage.play([ReplyText("I cannot."), TurnDone()], request)
    assert not model.begun
    assert stage.words == PARTY
    assert stage.events[-1] == TurnDone()


@pytest.mark.parametrize("why", ["unknown", "slow", "denied", "denied at last", "away"])
async def test_any_other_typed_sentence_is_the_models(stage: Stage, why: str) -> None:
    stage.home.takes_s = 0.5 if why == "slow" else 0.005
    stage.home.allowed = why != "denied"
    stage.home.status = Status.NOT_RUN if why == "denied at last" else Status.DONE
    stage.home.away = why == "away"
    text = "hello" if why == "unknown" else SENTENCE
    words = ReplyText("Hello.")
    await stage.play([words, TurnDone()], TurnRequest("t", "en", "text", text, None))
    assert stage.words == "Hello."
    assert stage.events[-1] == TurnDone()
    assert stage.when(words) <= 0.1 + 1e-6


CUTS = {"listening": 0.1, "held": 0.31, "the sentence runs": 0.4, "it is listened on": 1.0}


@pytest.mark.parametrize("at", CUTS.values(), ids=CUTS.keys())
async def test_wherever_it_is_cancelled_nothing_goes_on(stage: Stage, at: float) -> None:
    stage.home.takes_s, stage.home.runs_s = 0.03, 0.2
    async with stage.model([OVER, 0.3, HEARD, LIGHT, 60.0]) as model:
        turn = stage.brain.begin(SPOKEN)
        runs: list[asyncio.Task[None]] = []

        async def run(call: ToolCall) -> None:
            await turn.answer(await stage.home.run(call))

        async def take() -> None:
            async with aclosing(turn.events()) as events:
                async for event in events:
                    if isinstance(event, ToolCall):
                        runs.append(asyncio.ensure_future(run(event)))

        taking = asyncio.ensure_future(take())
        await stage.clock.run(at)
        taking.cancel()
        await stage.clock.run(1.0)  # a call that was sent is answered all the same
        assert taking.cancelled()
        assert model.closed
        assert all(task.done() and task.exception() is None for task in runs)
        assert stage.clock.sleepers == 0


async def test_a_turn_that_is_cut_off_closes_the_models(stage: Stage) -> None:
    async with stage.model([OVER, 0.3, HEARD, 60.0]) as model:
        turn = stage.brain.begin(SPOKEN)
        events = turn.events()
        assert await anext(events) == OVER
        await events.aclose()
        assert model.closed
