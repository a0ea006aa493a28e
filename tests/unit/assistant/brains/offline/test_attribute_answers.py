"""Tests of answers from attributes, in languages that inflect names."""

import pytest

from assistant.brains.offline.attribute_answers import read_out
from assistant.brains.offline.parse import ParsedCommand
from assistant.brains.offline.sentences import READING
from assistant.speech.catalogue import Catalogue
from tests.unit.assistant.tools.house.things import house_of, thing

HOUSE = house_of(
    thing("media_player.tv", "Fernseher", "playing", attributes={"volume_level": 0.4}),
    thing("climate.hall", "Thermostat", "heat", attributes={"temperature": 21}),
)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("playing", "Gerade spielt der Fernseher."),
        ("volume", "Die Lautstärke vom Fernseher beträgt 40 Prozent."),
        ("target", "Der Thermostat ist auf 21 Grad eingestellt."),
    ],
)
def test_german_names_have_the_right_case(asked: str, answer: str) -> None:
    command = ParsedCommand(READING, "", response=asked)
    assert read_out(command, HOUSE, Catalogue(), "de") == answer
