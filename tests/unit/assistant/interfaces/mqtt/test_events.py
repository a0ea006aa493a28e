"""What happens goes out with its turn's id, and with words only where they may."""

import json

import pytest

from assistant.domain.events import Happening
from assistant.interfaces.mqtt.interface import answered, event
from integrations.web.requests import QuestionAnswer

HEARD = Happening("heard", "turn1", {"language": "en"}, {"text": "lights on"})


def test_a_heard_sentence_without_its_words() -> None:
    told = event(HEARD, None, words=False)
    assert told is not None
    assert json.loads(told) == {"event_type": "heard", "turn_id": "turn1", "language": "en"}


def test_and_with_them() -> None:
    told = event(HEARD, None, words=True)
    assert told is not None
    assert json.loads(told)["text"] == "lights on"


def test_what_is_too_long_is_told_without_its_details() -> None:
    told = event(
        Happening("tool_call", "turn1", {"entities": ["light.x"] * 2000}), "HassTurnOn", words=True
    )
    assert told is not None
    assert json.loads(told) == {
        "event_type": "tool_call",
        "turn_id": "turn1",
        "intent": "HassTurnOn",
    }


@pytest.mark.parametrize("words", [False, True])
def test_an_answer_goes_to_who_asked(words: bool) -> None:
    answer = QuestionAnswer(
        result="answered", id="yes", sentence="yes please", slots={"room": "kitchen"}, turn_id="t1"
    )
    told = json.loads(answered("blinds", answer, words=words))
    assert told.pop("sentence", None) == ("yes please" if words else None)
    assert told == {
        "event_type": "answered",
        "id": "blinds",
        "result": "answered",
        "answer": "yes",
        "slots": {"room": "kitchen"},
        "turn_id": "t1",
    }


def test_a_question_that_could_not_be_asked_is_not_one_that_nobody_answered() -> None:
    told = json.loads(answered("blinds", None, words=True))
    assert (told["result"], told["answer"], told["id"]) == ("not_possible", None, "blinds")
