"""Tests of sentences that continue a conversation."""

import pytest

from assistant.brains.offline import OfflineBrain
from assistant.domain.brain import PEOPLE
from assistant.domain.tool_call import SentenceMatch
from tests.corpus.runs import read
from tests.unit.assistant.brains.offline.calls import in_area, lit, off, on, placed, warm

_THERMOSTATS = "says Do you mean the living room thermostat or the bedroom thermostat?"
_WHICH = "says Please say its name or its room: which one do you mean?"
_LAMPS = "says Do you mean the lamp in the living room or the lamp in the bedroom?"


@pytest.mark.parametrize(
    ("sentences", "done"),
    [
        (["turn the lamp on", "the bedroom one"], [_LAMPS, '"area": "Bedroom"']),
        (["turn the lamp on", "the second one"], [_LAMPS, '"area": "Bedroom"']),
        (["turn the lamp on", "both"], [_LAMPS, "; "]),
        (["turn the lamp on", "not the bedroom one"], [_LAMPS, '"area": "Living Room"']),
        (["turn the lamp on", "not the bedroom, the living room one"], [_LAMPS, "Living Room"]),
        (["turn the lamp on", "the one upstairs"], [_LAMPS, '"area": "Bedroom"']),
        (["turn the lamp on", "either"], [_LAMPS, '"area": "Living Room"']),
        (["turn the lamp on", "the kitchen one", "bedroom"], [_LAMPS, _LAMPS, '"area": "Bedroom"']),
        (["turn the lamp on", "turn off the bedroom"], [_LAMPS, "HassTurnOff"]),
        (["turn it off", "the yelmar"], [_WHICH, off("Yelmar")]),
        (["turn it off", "the second"], [_WHICH, ""]),
        (["lock it"], ['"name": "Front Door"']),
        (["turn the lamp on", "never mind"], [_LAMPS, "says OK."]),
        (["turn the lamp on", "what time is it"], [_LAMPS, "says It's 12:00."]),
        (["i'm freezing", "the living room"], [_THERMOSTATS, warm("Living Room Thermostat", 22)]),
        (
            ["turn on zorblax", "turn on yelmar", "turn them off"],
            [on("Zorblax"), on("Yelmar"), f"{off('Zorblax')}; {off('Yelmar')}"],
        ),
        (
            ["turn on the yelmar", "make it warmer"],
            [on("Yelmar"), '"temperature": 4000'],
        ),
        (
            ["open the tramontz blind halfway", "a bit further"],
            [placed("Tramontz Blind", 50), placed("Tramontz Blind", 10)],
        ),
        (
            ["what's the temperature in the bedroom", "turn it up"],
            ["18 degrees", warm("Bedroom Thermostat", 20)],
        ),
        (
            ["turn on the zorblax", "and the yelmar too", "turn them off again"],
            [on("Zorblax"), on("Yelmar"), off("Yelmar")],
        ),
        (
            ["turn on the kitchen light", "what about the office"],
            [on("Kitchen Light"), in_area("HassTurnOn", "Office")],
        ),
        (
            ["set zorblax to thirty percent", "make that 50"],
            [lit("Zorblax", 30), lit("Zorblax", 50)],
        ),
        (
            ["turn on the office fan", "turn it off"],
            [on("Office Fan", "fan"), off("Office Fan", "fan")],
        ),
        # A sentence is completed with words of the one before.
        (
            ["turn on zorblax and yelmar", "not yelmar"],
            [on("Zorblax"), off("Yelmar")],
        ),
        (["turn on zorblax", "not yelmar"], [on("Zorblax"), ""]),
        (
            ["set the bedroom thermostat to 19", "same in the living room"],
            [warm("Bedroom Thermostat", 19), '{"area": "Living Room", "temperature": 19}'],
        ),
        (["is the front door locked", "unlock it then"], ["says", "HassTurnOff"]),
        (
            ["turn up the music", "thanks", "a bit less"],
            ['"volume_step": 10', "says", '"volume_step": -5'],
        ),
        (["turn on zorblax", "that reminds me of him", "me too"], [on("Zorblax"), "", ""]),
    ],
)
async def test_conversations(brain: OfflineBrain, sentences: list[str], done: list[str]) -> None:
    for sentence, expected in zip(sentences, done, strict=True):
        assert expected in (await read(brain, sentence)).done


async def test_a_spanish_conversation(brain: OfflineBrain) -> None:
    await read(brain, "enciende zorblax", "es")
    assert (await read(brain, "apágala", "es")).done == off("Zorblax")
    assert (await read(brain, "y yelmar también", "es")).done == off("Yelmar")


async def test_what_the_engine_did_is_part_of_the_conversation(brain: OfflineBrain) -> None:
    done = SentenceMatch("turn on zorblax", "en", "builtin", "HassTurnOn", {}, ("light.zorblax",))
    brain.note(PEOPLE, done)
    assert (await read(brain, "and yelmar too")).done == on("Yelmar")
    assert (await read(brain, "turn it off again")).done == off("Yelmar")
