"""A notification with buttons, as a question that can be spoken."""

from typing import Any

import pytest

from assistant.confirmation.forms import languages, wording
from assistant.conversation.expected_answers import Templates
from assistant.interfaces.device.messages import Asked, Words, question_of

YES_NO = [{"action": "CLOSE", "title": "Yes"}, {"action": "LEAVE", "title": "No"}]


def asked(data: dict[str, Any], codes: tuple[str, ...] = ("en",)) -> Asked | None:
    return question_of(data, Words("Shall I close the blinds?"), codes)


def of(actions: list[Any], codes: tuple[str, ...] = ("en",), **data: Any) -> Asked:
    found = asked({"actions": actions, **data}, codes)
    assert found is not None
    return found


def understood(question: Asked, sentence: str, language: str = "en") -> str | None:
    """The action that a sentence is taken for."""
    request = question.request
    found = Templates(request.answers, language, request.question).find(sentence)
    return None if found is None else found.id


@pytest.mark.parametrize(
    ("sentence", "action"),
    [
        ("Yes.", "CLOSE"),
        ("go ahead, please", "CLOSE"),
        ("that's right", "CLOSE"),
        ("No!", "LEAVE"),
        ("not now, thanks", "LEAVE"),
        ("yes no", None),
        ("the kitchen", None),
    ],
)
def test_a_yes_and_a_no_are_understood_however_they_are_said(
    sentence: str, action: str | None
) -> None:
    assert understood(of(YES_NO), sentence) == action


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("Yes, close it", "No, thanks"),
        ("OK", "Cancel"),
        ("Yes, close the blinds", "Leave it"),
    ],
)
def test_titles_that_mean_yes_and_no(yes: str, no: str) -> None:
    question = of([{"action": "A", "title": yes}, {"action": "B", "title": no}])
    assert understood(question, "yeah") == "A"
    assert understood(question, "nope") == "B"
    assert understood(question, yes) == "A"


def test_of_two_that_mean_yes_each_has_its_title_alone() -> None:
    question = of([{"action": "ALL", "title": "Yes, all"}, {"action": "ONE", "title": "Yes, one"}])
    assert [one.sentences for one in question.request.answers] == [["Yes all"], ["Yes one"]]


@pytest.mark.parametrize("code", languages())
def test_every_language_has_its_own_yes_and_no(code: str) -> None:
    forms = wording(code)
    assert forms is not None
    for question in (of(YES_NO, (code,)), of(YES_NO, languages())):
        for phrases, action in ((forms.yes, "CLOSE"), (forms.no, "LEAVE")):
            said = [understood(question, " ".join(phrase), code) for phrase in sorted(phrases)[::9]]
            assert set(said) == {action}


def test_other_titles_are_the_answers_and_sentences_may_be_given() -> None:
    question = of(
        [
            {"action": "A", "title": "The [big] lamp (left)"},
            {"action": "B", "title": "B", "sentences": ["(the|a) small [one]", ""]},
            {"action": "C", "title": "C", "sentences": "neither"},
            {"action": "D", "title": "D", "sentences": {"no": 1}},
        ]
    )
    assert [(one.id, one.sentences) for one in question.request.answers] == [
        ("A", ["The big lamp left"]),
        ("B", ["(the|a) small [one]"]),
        ("C", ["neither"]),
        ("D", ["D"]),
    ]


def test_a_reply_takes_any_words() -> None:
    question = of([{"action": "REPLY", "title": "Say"}])
    assert (question.reply, question.request.answers) == ("REPLY", [])
    question = of([*YES_NO, {"action": "MORE", "title": "Tell", "behavior": "textInput"}])
    assert question.reply == "MORE"
    assert understood(question, "go ahead") == "CLOSE"
    assert understood(question, "in an hour, when it is dark") == "MORE"


def test_how_it_is_asked_and_what_its_event_will_hold() -> None:
    question = of(
        YES_NO,
        tag="blinds",
        action_data={"room": "hall"},
        timeout="15",
        volume="0.5",
        priority="high",
        preannounce=False,
        expire=60,
    )
    assert question.told == {"tag": "blinds", "action_data": {"room": "hall"}}
    request = question.request
    assert request.question == "Shall I close the blinds?"
    assert (request.timeout_s, request.volume, request.priority) == (15.0, 0.5, "high")
    assert (request.preannounce, request.expire_s) == (False, 60.0)


def test_the_language_of_the_question_has_its_yes_too() -> None:
    question = of([{"action": "A", "title": "OK"}, {"action": "B", "title": "No"}], language="es")
    assert understood(question, "claro que sí", "es") == "A"


def test_a_time_limit_for_a_phone_is_not_ours() -> None:
    assert of(YES_NO, timeout=300).request.timeout_s == of(YES_NO).request.timeout_s


@pytest.mark.parametrize(
    "actions",
    [
        None,
        [],
        "YES",
        {"action": "A", "title": "A"},
        [{"title": "no action"}],
        [{"action": "URI", "title": "Open", "uri": "/lovelace"}],
        [{"action": "A", "title": ""}],
        [{"action": "A" * 101, "title": "A"}],
        [7, None],
    ],
)
def test_without_a_button_to_be_answered_it_is_no_question(actions: Any) -> None:
    assert asked({"actions": actions}) is None
