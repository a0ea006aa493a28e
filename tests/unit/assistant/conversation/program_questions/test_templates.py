"""Which of the expected answers somebody's words are."""

import time
from collections.abc import Sequence
from typing import Any

import pytest

from assistant.conversation.expected_answers import BadTemplate, Templates
from integrations.web.requests import Choice


def choice(name: str, sentences: Sequence[str]) -> Choice:
    return Choice.model_construct(id=name, sentences=list(sentences))  # also what no request holds


BLINDS = "Shall I close the blinds?"
YES_NO = (
    choice("yes", ["yes", "[yes] close (it|them)"]),
    choice("no", ["no", "leave (it|them) [open]"]),
)


def found(templates: Templates, text: str) -> str | None:
    fit = templates.find(text)
    return None if fit is None else fit.id


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("yes", "yes"),
        ("Yes.", "yes"),
        ("YES please!", "yes"),
        ("uh, yes", "yes"),
        ("Okay Nabu, yes.", "yes"),
        ("Close them, please.", "yes"),
        ("leave it open", "no"),
        ("no thanks", "no"),
        # a plain yes or no is the answer that a bare one would be
        ("yeah", "yes"),
        ("sure", "yes"),
        ("yes yes", "yes"),
        ("yes, close the blinds", "yes"),
        ("no, leave it", "no"),
        # whole sentences alone
        ("yes, open the blinds", None),
        ("yes open it", None),
        ("yes but not now", None),
        ("no, close the blinds", None),
        ("close the blinds", None),
        ("yesterday", None),
        ("yes no", None),
        ("the user said yes", None),
        ("turn on the light", None),
        ("please", None),
        ("?", None),
        ("", None),
    ],
)
def test_yes_or_no(text: str, answer: str | None) -> None:
    assert found(Templates(YES_NO, "en", BLINDS, ["okay nabu"]), text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Sí.", "si"),
        ("si", "si"),
        ("sí, por favor", "si"),
        ("¡Vale!", "si"),
        ("claro que sí", "si"),
        ("no, gracias", "no"),
        ("mañana", "luego"),
        ("sí, pero mañana", None),
    ],
)
def test_in_spanish_with_accents_or_without(text: str, answer: str | None) -> None:
    choices = (choice("si", ["si"]), choice("no", ["no"]), choice("luego", ["manana"]))
    assert found(Templates(choices, "es-MX", "¿Cierro?"), text) == answer


def test_where_accents_tell_words_apart_they_count() -> None:
    templates = Templates((choice("no", ["không"]), choice("yes", ["có"])), "vi", "?")
    assert found(templates, "Không ạ.") == "no"
    assert found(templates, "co") is None


def test_a_language_without_forms_has_its_templates_alone() -> None:
    templates = Templates((choice("ja", ["ja"]),), "nl", "?")
    assert found(templates, "Ja!") == "ja"
    assert found(templates, "yes") is None


@pytest.mark.parametrize(
    ("text", "answer", "slots"),
    [
        ("In the Kitchen, please.", "room", {"room": "Kitchen"}),
        ("kitchen and living room", "room", {"room": "kitchen and living room"}),
        ("Nowhere.", "none", {}),  # its own words count more than an open place
        ("42 degrees", "warm", {"degrees": 42}),
        ("forty two degrees", "warm", {"degrees": 42}),
    ],
)
def test_open_places(text: str, answer: str, slots: dict[str, Any]) -> None:
    choices = (
        choice("room", ["[in] [the] {room}"]),
        choice("none", ["nowhere"]),
        choice("warm", ["{0..100:degrees} degrees"]),
    )
    fit = Templates(choices, "en", "Where, or how warm?").find(text)
    assert fit is not None
    assert (fit.id, fit.slots) == (answer, slots)


def test_an_open_place_has_whole_words_as_they_were_said() -> None:
    templates = Templates((choice("c", ["en {cuarto}"]),), "es", "?")
    fit = templates.find("en el Baño")
    assert fit is not None
    assert fit.slots == {"cuarto": "el Baño"}
    assert templates.find("entre") is None


def test_what_two_answers_fit_is_neither() -> None:
    both = (choice("a", ["{one}"]), choice("b", ["{other}"]), choice("c", ["later"]))
    assert found(Templates(both, "en", "?"), "anything") is None
    assert found(Templates(both, "en", "?"), "later") == "c"
    twice = (choice("a", ["fine"]), choice("b", ["fine"]))
    assert found(Templates(twice, "en", "?"), "fine") is None


def test_a_plain_yes_that_two_answers_may_mean_is_neither() -> None:
    twice = (choice("a", ["yes", "left"]), choice("b", ["yeah", "right"]))
    templates = Templates(twice, "en", "?")
    assert found(templates, "yes") == "a"
    assert found(templates, "sure") is None


def test_two_choices_of_one_id_are_one() -> None:
    choices = (choice("a", ["one"]), choice("a", ["two"]))
    templates = Templates(choices, "en", "?")
    assert [found(templates, text) for text in ("one", "two")] == ["a", "a"]


@pytest.mark.parametrize(
    ("text", "like"),
    [("turn on the light", True), ("hm", False), ("light", False), ("yes please", False)],
)
def test_what_may_be_a_command(text: str, like: bool) -> None:
    assert Templates(YES_NO, "en", BLINDS).is_command_like(text) is like


@pytest.mark.parametrize(
    "template",
    ["(yes", "yes)]", "", "  ", "{}", "<yes>", "{a} {b} {c} {d} {e}", "(a;b;c;d;e)", "[a]" * 13],
)
def test_what_is_no_template_or_too_much(template: str) -> None:
    with pytest.raises(BadTemplate, match=r"\.$"):
        Templates((choice("a", [template]),), "en", "?")


def test_what_is_not_too_much_is_quick() -> None:
    choices = [choice(str(n), ["[a] [b] [c] {w} [d] [e] {x} [f] {y}"] * 5) for n in range(10)]
    templates = Templates(choices, "en", "?")
    began = time.monotonic()
    templates.find("a b c " + "word " * 20)
    assert time.monotonic() - began < 5.0
