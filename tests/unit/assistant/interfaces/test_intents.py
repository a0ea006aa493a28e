"""What a turn was about is the first tool that it called."""

from assistant.domain.events import Happening
from assistant.interfaces.status import Intents


def call(turn_id: str, name: str) -> Happening:
    return Happening("tool_call", turn_id, {"name": name, "status": "done"})


def test_the_first_tool_counts_without_its_server() -> None:
    intents = Intents()
    assert intents.of(Happening("wake", "turn1")) is None
    assert intents.of(call("turn1", "intent__HassTurnOn")) == "HassTurnOn"
    assert intents.of(call("turn1", "intent__HassLightSet")) == "HassTurnOn"
    assert intents.of(Happening("answer", "turn1")) == "HassTurnOn"
    assert intents.of(Happening("answer", "turn2")) is None


def test_what_has_a_name_but_is_no_tool_is_none() -> None:
    assert Intents().of(Happening("button", "turn1", {"name": "listen"})) is None


def test_what_belongs_to_no_turn_is_not_remembered() -> None:
    intents = Intents()
    assert intents.of(call("", "HassTurnOn")) is None
    assert intents.of(Happening("fault")) is None


def test_only_the_newest_turns_are_remembered() -> None:
    intents = Intents()
    for number in range(33):
        intents.of(call(f"turn{number}", "HassTurnOn"))
    assert intents.of(Happening("answer", "turn0")) is None
    assert intents.of(Happening("answer", "turn32")) == "HassTurnOn"
