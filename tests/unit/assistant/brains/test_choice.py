"""Tests of the choice between Home Assistant's engine and Hearth's grammar."""

from contextlib import aclosing
from dataclasses import replace
from typing import Any, Literal

import pytest

from assistant.brains.choice import ENGINE, GRAMMAR, Grasp, server
from assistant.brains.offline import OfflineBrain
from assistant.domain.brain import BrainFault, ReplyText, TurnRequest
from assistant.domain.tool_call import SentenceMatch, ToolCall
from assistant.domain.turn_audio import TurnAudio
from tests.corpus.runs import corpus_brain

Source = Literal["builtin", "custom", "trigger"]
FIRST = "the first in the order"


def match(intent: str, *targets: str, source: Source = "builtin", **slots: Any) -> SentenceMatch:
    return SentenceMatch("said", "en", source, intent, slots, targets)


LAMP = match("HassTurnOn", "light.lamp")
OWN = match("HassTurnOn", "light.lamp", source="custom")
PARTY = match("", source="trigger")
TIMER = match("HassStartTimer", minutes=5)
MILK = match("HassListAddItem", "todo.list", item="milk and eggs")


@pytest.mark.parametrize(
    ("found", "grasp", "serves"),
    [
        (None, Grasp.NONE, FIRST),
        (None, Grasp.GUESSED, GRAMMAR),
        (None, Grasp.SHARED, GRAMMAR),
        (LAMP, Grasp.NONE, ENGINE),
        (LAMP, Grasp.SURE, GRAMMAR),
        (LAMP, Grasp.SHARED, FIRST),
        (LAMP, Grasp.GUESSED, ENGINE),
        (TIMER, Grasp.GUESSED, GRAMMAR),
        (MILK, Grasp.GUESSED, GRAMMAR),
        (OWN, Grasp.SURE, ENGINE),
        (PARTY, Grasp.SURE, ENGINE),
        (PARTY, Grasp.SHARED, ENGINE),
    ],
)
@pytest.mark.parametrize("first", [ENGINE, GRAMMAR])
def test_who_serves_a_sentence(
    found: SentenceMatch | None, grasp: Grasp, serves: str, first: str
) -> None:
    assert server(found, grasp, first) == (first if serves is FIRST else serves)


# --- The offline brain, with Home Assistant's engine as the next brain or before it.

ENGINE_NEXT = (ENGINE,)
KITCHEN, PLANTS = "turn on the kitchen light", "water the plants"


class Deaf:
    """A recogniser that nothing reaches."""

    languages = ("en",)

    def transcribe(self, pcm: bytes) -> str:
        raise AssertionError("this sentence is already known")


def typed(text: str, next_brains: tuple[str, ...] = ENGINE_NEXT) -> TurnRequest:
    return TurnRequest("t", "en", "text", text, None, next_brains=next_brains)


async def end_of(brain: OfflineBrain, request: TurnRequest) -> str:
    """Return "call", "words" or the kind of the fault with which the turn ends."""
    turn = brain.begin(request)
    async with aclosing(turn.events()) as events:
        async for event in events:
            if isinstance(event, ToolCall):
                return "call"
            if isinstance(event, ReplyText):
                return "words"
            if isinstance(event, BrainFault):
                return event.kind
    return ""


@pytest.mark.parametrize(
    ("text", "found", "next_brains", "end"),
    [
        (KITCHEN, LAMP, ENGINE_NEXT, "call"),
        (KITCHEN, OWN, ENGINE_NEXT, "not_understood"),
        (KITCHEN, OWN, (), "call"),
        (KITCHEN, OWN, ("local",), "call"),
        (PLANTS, PARTY, ENGINE_NEXT, "not_understood"),
        # The engine would only say that it doesn't understand this.
        (PLANTS, None, ENGINE_NEXT, "words"),
        ("turn on the sauna light", None, ENGINE_NEXT, "words"),
        ("turn on the sauna light", LAMP, ENGINE_NEXT, "not_understood"),
        (PLANTS, None, (ENGINE, "local"), "not_understood"),
        (PLANTS, None, ("local",), "not_understood"),
    ],
)
async def test_the_grammar_leaves_a_sentence_to_the_engine(
    text: str, found: SentenceMatch | None, next_brains: tuple[str, ...], end: str
) -> None:
    async def recognize(said: str, language: str) -> SentenceMatch | None:
        assert (said, language) == (text, "en")
        return found

    brain = corpus_brain(Deaf())
    brain.match = recognize
    assert await end_of(brain, typed(text, next_brains)) == end


@pytest.mark.parametrize(
    ("text", "grasp"),
    [
        (KITCHEN, Grasp.SURE),
        ("turn on the kichen light", Grasp.GUESSED),
        ("turn on the lamp", Grasp.SURE),  # there are two, so it asks
        ("add milk to the shopping list", Grasp.GUESSED),
        ("turn on the sauna light", Grasp.NONE),
        (PLANTS, Grasp.NONE),
        ("start mowing", Grasp.NONE),  # the menu has no tool for it
    ],
)
async def test_how_well_the_grammar_understands(text: str, grasp: Grasp) -> None:
    assert await corpus_brain(Deaf()).consider(typed(text), text, "en", keep=True) is grasp


async def test_what_both_can_read_is_shared_in_other_languages() -> None:
    text = "schalte Kitchen Light ein"
    assert await corpus_brain(Deaf()).consider(typed(text), text, "de", keep=True) is Grasp.SHARED


async def test_a_transcript_that_was_considered_is_not_recognised_again() -> None:
    brain, audio = corpus_brain(Deaf()), TurnAudio()
    audio.finish()
    request = TurnRequest("t", "en", "voice", None, audio)
    await brain.consider(request, KITCHEN, "en", keep=True)
    assert await end_of(brain, request) == "call"
    with pytest.raises(AssertionError, match="already known"):  # of another turn
        await end_of(brain, replace(request, turn_id="t2"))
