"""Tests of what the offline brain says about its calls."""

from dataclasses import replace
from typing import Any

import pytest

from assistant.brains.offline import OfflineBrain
from assistant.brains.offline.answers import not_understood
from assistant.domain.brain import TurnRequest
from assistant.domain.tool_call import Decision, Observed, Status
from assistant.speech.catalogue import Catalogue
from tests.corpus.house import corpus_house
from tests.corpus.runs import run


def typed(text: str, language: str = "en") -> TurnRequest:
    return TurnRequest("t", language, "text", text, None)


@pytest.mark.parametrize(
    ("outcome", "answer"),
    [
        ({"status": Status.NOT_OBSERVED}, "I tried, but I can't see that the front door"),
        ({"status": Status.TIMEOUT}, "Home Assistant took too long to answer"),
        ({"status": Status.FAILED, "sentence": "The lock is jammed."}, "The lock is jammed."),
        ({"status": Status.FAILED}, "Sorry, that didn't work for the front door."),
        (
            {"decision": Decision.DENIED, "status": Status.NOT_RUN, "sentence": "Not without you."},
            "Not without you.",
        ),
        (
            {"observed": (Observed("lock.front_door", "unlocked", "locking"),)},
            "Locking the front door.",
        ),
        ({}, "Locked the front door."),
        (
            {"observed": (Observed("lock.front_door", "locked", "locked"),)},
            "The front door is already locked.",
        ),
    ],
)
async def test_the_answer_tells_what_became_of_the_call(
    brain: OfflineBrain, outcome: dict[str, Any], answer: str
) -> None:
    turn = await run(brain, typed("lock the front door"), **outcome)
    assert turn.answer.startswith(answer)


@pytest.mark.parametrize(
    ("text", "seen", "language", "answer"),
    [
        (
            "turn off the lights in the hall",
            [("light.hall", "off", "off"), ("light.brivana", "off", "off")],
            "en",
            "The lights in the hall are already off.",
        ),
        (
            "turn off the lights in the hall",
            [("light.hall", "on", "off"), ("light.brivana", "off", "off")],
            "en",
            "Turned off the lights in the hall.",
        ),
        ("apaga zorblax", [("light.zorblax", "off", "off")], "es", "He apagado zorblax."),
        ("schalte zorblax aus", [("light.zorblax", "off", "off")], "de", "Zorblax ist schon aus."),
        (
            "set zorblax to 30 percent",
            [("light.zorblax", "on 30 %", "on 30 %")],
            "en",
            "Set zorblax to 30 percent.",
        ),
    ],
)
async def test_what_was_already_so_is_said_so(
    brain: OfflineBrain, text: str, seen: list[tuple[str, str, str]], language: str, answer: str
) -> None:
    observed = tuple(Observed(*one) for one in seen)
    turn = await run(brain, typed(text, language), observed=observed)
    assert turn.answer == answer


async def test_examples_are_of_this_room_and_of_things_that_work() -> None:
    house = corpus_house()
    things = dict(house.entities)
    things["light.hall"] = replace(things["light.hall"], state="unavailable")
    told = not_understood("xyzzy", replace(house, entities=things), "hall", Catalogue(), "en")
    assert told.startswith("I didn't understand that. Try “turn on the brivana lamp” or ")
    assert "garage" not in told  # no example opens anything
