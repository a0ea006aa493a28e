"""The rung: heard or typed, tried, judged, said once, answered; or left to the next rung."""

from collections.abc import Sequence
from contextlib import aclosing

import pytest

from assistant.brains.home_assistant import DryRun, HomeAssistantBrain, Said
from assistant.domain.brain import (
    BrainEvent,
    BrainFault,
    Heard,
    ReplySettled,
    ReplyText,
    TurnDone,
    TurnRequest,
)
from assistant.domain.call import SentenceMatch, ToolCall
from assistant.domain.outcome import Decision, Status, Tier, ToolOutcome
from assistant.domain.turn_audio import TurnAudio
from assistant.speech.catalogue import Catalogue
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
    last: bool = True,
    status: Status = Status.DONE,
    data: str = "Turned on the lamp",
) -> list[BrainEvent]:
    """One turn; its one call ends with `status`, our sentence is "Ours."."""
    brain = HomeAssistantBrain(
        Ear(ear),  # type: ignore[arg-type]
        DryRun(Engine(engine)),
        Catalogue(),
        last=last,
    )
    request = TurnRequest("t", "en", "voice", None, TurnAudio()) if spoken else TYPED
    turn = brain.begin(request)
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
    events = await play(engine, ear=Said("tell me a joke", "en"), spoken=spoken, last=False)
    fault = events[-1]
    assert isinstance(fault, BrainFault)
    assert (fault.kind, fault.retryable) == ("not_understood", False)
    assert not any(isinstance(event, ToolCall | ReplyText) for event in events)


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


@pytest.mark.parametrize("last", [True, False])
async def test_an_ear_that_takes_too_long_is_said_and_no_other_rung_hears_the_same(
    last: bool,
) -> None:
    events = await play(ear=TookTooLong("too long"), spoken=True, last=last)
    said = "I could not make that out in time; please say it again, in few words."
    assert events == [ReplyText(said, language="en"), TurnDone(understood=False)]
