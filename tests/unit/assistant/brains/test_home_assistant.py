"""Tests of the `home-assistant` brain: it answers a sentence, or passes it on."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

import pytest

from assistant.brains.choice import Grasp
from assistant.brains.home_assistant import (
    DryRun,
    HomeAssistantBrain,
    Said,
    answer,
    call_for,
    without_wake,
)
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    ReplySettled,
    ReplyText,
    TurnDone,
    TurnRequest,
)
from assistant.domain.tool_call import Decision, SentenceMatch, Status, Tier, ToolCall, ToolOutcome
from assistant.domain.turn_audio import TurnAudio
from assistant.speech.catalogue import Catalogue
from assistant.tools.house.intents import PROCESS
from audio.errors import AudioError, DeviceLost, TookTooLong
from integrations.errors import IntegrationError, Unavailable
from integrations.home_assistant.assist import Recognized
from integrations.home_assistant.reasons import CommandRefused

TEXT = "turn on the lamp"
LAMP = Recognized(TEXT, "builtin", "HassTurnOn", {"name": "Lamp"}, ("light.lamp",))
TYPED = TurnRequest("t", "en", "text", TEXT, None)
NO_DRY_RUN = CommandRefused("Unknown command.", "unknown_command")


class Engine:
    def __init__(self, answer: Recognized | IntegrationError | None) -> None:
        self._answer = answer

    async def __call__(self, texts: Sequence[str], language: str) -> Recognized | None:
        if isinstance(self._answer, IntegrationError):
            raise self._answer
        return self._answer


class Ear:
    def __init__(self, said: Said | AudioError | None) -> None:
        self._said = said

    async def hear(self, audio: TurnAudio, language: str) -> Said | None:
        if isinstance(self._said, AudioError):
            raise self._said
        return self._said


def outcome(call: ToolCall, status: Status, sentence: str, data: str) -> ToolOutcome:
    return ToolOutcome(
        id=call.id,
        server="home_assistant",
        name=call.name,
        arguments=call.arguments,
        decision=Decision.ALLOWED,
        tier=Tier.COMFORT,
        status=status,
        observed=(),
        ms=1.0,
        sentence=sentence,
        data=data,
    )


async def play(
    engine: Recognized | IntegrationError | None = LAMP,
    *,
    ear: Said | AudioError | None = None,
    spoken: bool = False,
    next_brain: str = "",
    grasp: Grasp = Grasp.NONE,
    status: Status = Status.DONE,
    data: str = "Turned on the lamp",
) -> list[BrainEvent]:
    """Play one turn; its one call ends with `status`, and our sentence is "Ours."."""

    async def grammar(request: TurnRequest, said: Said) -> Grasp:
        return grasp

    brain = HomeAssistantBrain(
        Ear(ear),  # type: ignore[arg-type]
        DryRun(Engine(engine)),
        Catalogue(),
        grammar,
    )
    request = TurnRequest("t", "en", "voice", None, TurnAudio()) if spoken else TYPED
    turn = brain.begin(replace(request, next_brains=(next_brain,) * bool(next_brain)))
    seen: list[BrainEvent] = []
    async with aclosing(turn.events()) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, ToolCall):
                await turn.answer(outcome(event, status, "Ours.", data))
    return seen


async def test_a_typed_sentence_is_one_call_and_the_homes_own_answer() -> None:
    heard, call, *answer = await play()
    assert heard == Heard(TEXT, "en")
    assert isinstance(call, ToolCall)
    assert call.sentence == SentenceMatch(
        TEXT, "en", "builtin", "HassTurnOn", {"name": "Lamp"}, ("light.lamp",)
    )
    assert answer == [ReplyText("Turned on the lamp"), ReplySettled(), TurnDone()]


async def test_a_spoken_one_is_heard_before_it_is_tried() -> None:
    events = await play(ear=Said(TEXT, "es"), spoken=True)
    assert events[0] == Heard(TEXT, "es")
    assert isinstance(events[1], ToolCall)
    assert events[1].sentence is not None
    assert events[1].sentence.language == "es"


@pytest.mark.parametrize("status", [one for one in Status if one is not Status.DONE])
async def test_what_is_not_observed_is_told_in_our_words(status: Status) -> None:
    assert ReplyText("Ours.", language="en") in await play(status=status)


async def test_where_the_home_says_nothing_we_do() -> None:
    assert ReplyText("Ours.", language="en") in await play(data="")


@pytest.mark.parametrize("engine", [None, NO_DRY_RUN])
@pytest.mark.parametrize("spoken", [False, True])
async def test_what_is_not_known_goes_to_the_next_rung(
    engine: IntegrationError | None, spoken: bool
) -> None:
    events = await play(engine, ear=Said("tell me a joke", "en"), spoken=spoken, next_brain="local")
    fault = events[-1]
    assert isinstance(fault, BrainFault)
    assert (fault.kind, fault.retryable) == ("not_understood", False)
    assert not any(isinstance(event, ToolCall | ReplyText) for event in events)


async def test_a_sentence_for_which_the_engine_finds_no_device_goes_to_the_next_brain() -> None:
    fault = (await play(status=Status.FAILED, next_brain="local"))[-1]
    assert isinstance(fault, BrainFault)
    assert (fault.kind, fault.message) == ("not_understood", "Ours.")
    assert isinstance((await play(status=Status.TIMEOUT, next_brain="local"))[-1], TurnDone)


@pytest.mark.parametrize(
    ("next_brain", "grasp", "acts"),
    [
        ("offline", Grasp.SURE, False),
        ("offline", Grasp.GUESSED, True),
        ("offline", Grasp.NONE, True),
        ("local", Grasp.SURE, True),
    ],
)
@pytest.mark.parametrize("spoken", [False, True])
async def test_what_the_grammar_understands_better_is_left_to_it(
    next_brain: str, grasp: Grasp, acts: bool, spoken: bool
) -> None:
    events = await play(ear=Said(TEXT, "en"), spoken=spoken, next_brain=next_brain, grasp=grasp)
    assert any(isinstance(event, ToolCall) for event in events) is acts
    fault = events[-1]
    assert acts or (isinstance(fault, BrainFault) and fault.kind == "not_understood")


@pytest.mark.parametrize(
    ("ear", "spoken", "key"),
    [
        (None, False, "offline.cannot"),
        (Said("tell me a joke", "en"), True, "offline.not_caught"),
        (Said("", "en"), True, "offline.not_caught"),
        (None, True, "offline.no_ear"),
    ],
)
async def test_the_last_rung_says_so_itself(ear: Said | None, spoken: bool, key: str) -> None:
    events = await play(None, ear=ear, spoken=spoken)
    words = ReplyText(Catalogue().say(key, "en"), language="en")
    assert events[-2:] == [words, TurnDone(understood=False)]


async def test_a_home_that_is_away_is_a_fault_of_the_house() -> None:
    assert await play(Unavailable("It is away.")) == [
        BrainFault("house_away", "It is away.", retryable=False)
    ]


async def test_an_ear_that_fails_is_a_fault() -> None:
    events = await play(ear=DeviceLost("It is gone."), spoken=True)
    assert events == [BrainFault("broken", "It is gone.", retryable=False)]


@pytest.mark.parametrize("next_brain", ["", "offline"])
async def test_an_ear_that_takes_too_long_is_said_and_no_other_rung_hears_the_same(
    next_brain: str,
) -> None:
    events = await play(ear=TookTooLong("too long"), spoken=True, next_brain=next_brain)
    said = "I couldn't make that out in time. Please say it again in fewer words."
    assert events == [ReplyText(said, language="en"), TurnDone(understood=False)]


# --- The words and languages in which a sentence is tried.


class DryRunEngine:
    """An engine that knows some sentences of some languages."""

    def __init__(self, **known: str) -> None:
        self._known = known
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def __call__(self, texts: Sequence[str], language: str) -> Recognized | None:
        self.asked.append((language, tuple(texts)))
        text = next((text for text in texts if self._known.get(language) == text), None)
        slots = {"name": "Lamp"}
        return Recognized(text, "builtin", "HassTurnOn", slots, ("light.lamp",)) if text else None


async def test_a_match_says_all_that_the_policy_needs() -> None:
    found = await DryRun(DryRunEngine(en="lamp on")).match("lamp on", "en")
    slots = {"name": "Lamp"}
    assert found == SentenceMatch("lamp on", "en", "builtin", "HassTurnOn", slots, ("light.lamp",))


async def test_without_the_wake_word_in_the_same_request() -> None:
    engine = DryRunEngine(en="lamp on")
    found = await DryRun(engine, ["en"], ["okay nabu"]).match("Nabu, lamp on", "en")
    assert found is not None
    assert found.text == "lamp on"
    assert engine.asked == [("en", ("Nabu, lamp on", "lamp on"))]


async def test_an_own_sentence_is_asked_by_its_meaning() -> None:
    engine = DryRunEngine(en="lamp on")
    own = {"cosy": "lamp on"}
    dry_run = DryRun(engine, ["en"], ["okay nabu"], lambda text: own.get(text, text))
    for said in ("cosy", "Nabu, cosy"):
        found = await dry_run.match(said, "en")
        assert found is not None
        assert found.text == "lamp on"


async def test_the_persons_other_languages_follow() -> None:
    engine = DryRunEngine(es="enciende la luz")
    found = await DryRun(engine, ["en", "es"]).match("enciende la luz", "en")
    assert found is not None
    assert found.language == "es"
    assert [language for language, _ in engine.asked] == ["en", "es"]


async def test_nothing_is_nothing() -> None:
    engine = DryRunEngine(en="lamp on")
    dry_run = DryRun(engine, ["en"], ["okay nabu"])
    assert await dry_run.match("tell me a joke", "en") is None
    assert await dry_run.match("  ", "en") is None
    assert len(engine.asked) == 1


# --- Sentences as calls: most are passed on as text, several things for a list are added one by
# one.

LIST = "HassListAddItem"


def adding(item: str, text: str) -> SentenceMatch:
    slots = {"item": item, "name": "Chores"}
    return SentenceMatch(text, "en", "builtin", LIST, slots, ("todo.chores",))


def test_several_things_for_a_list_go_to_the_homes_tool() -> None:
    match = adding("milk eggs and bread", "Add milk, eggs and bread to chores.")
    arguments = {"item": "milk, eggs and bread", "name": "Chores"}
    assert call_for(match, "t") == ToolCall("t-sentence", LIST, arguments)


@pytest.mark.parametrize(
    "match",
    [
        adding("milk", "add milk to chores"),
        adding("salt and pepper", "add salt and pepper to chores"),
        SentenceMatch("one, two and three", "en", "trigger"),
        SentenceMatch("a, b", "en", "custom", "TellAll", {"item": "a b"}),
    ],
)
def test_everything_else_is_said(match: SentenceMatch) -> None:
    assert call_for(match, "t") == ToolCall("t-sentence", PROCESS, {"text": match.text}, match)


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        (PROCESS, Status.DONE, "Added milk"),
        (PROCESS, Status.NOT_OBSERVED, "Ours."),
        ("todo__HassListAddItem", Status.DONE, "Ours."),
    ],
)
def test_only_the_engine_speaks_for_the_home(name: str, status: Status, words: str) -> None:
    outcome = ToolOutcome(
        id="t-sentence",
        server="home_assistant",
        name=name,
        arguments={},
        decision=Decision.ALLOWED,
        tier=Tier.COMFORT,
        status=status,
        observed=(),
        ms=1.0,
        sentence="Ours.",
        data="Added milk",
    )
    told = answer(outcome, "en")
    assert told == ReplyText(words, language="en" if words == "Ours." else None)


# --- The wake word is removed from a transcript, and nothing else.

PHRASES = ("okay nabu", "hey jarvis")


@pytest.mark.parametrize(
    ("heard", "command"),
    [
        ("Nabu, turn on the light.", "turn on the light."),
        ("okay nabu turn on the light", "turn on the light"),
        ("OK, Naboo! Turn on the light", "Turn on the light"),
        ("bu turn on the light", "turn on the light"),
        ("turn on the light", "turn on the light"),
        ("don't turn on the light", "don't turn on the light"),
        ("a light", "a light"),
        ("Nabu", ""),
        ("", ""),
        ("turn on nabu", "turn on nabu"),
        ("is the light on", "is the light on"),
    ],
)
def test_the_wake_word_in_front(heard: str, command: str) -> None:
    assert without_wake(heard, PHRASES) == command


def test_without_wake_words_nothing_is_taken_off() -> None:
    assert without_wake("Nabu, turn on the light", ()) == "Nabu, turn on the light"
