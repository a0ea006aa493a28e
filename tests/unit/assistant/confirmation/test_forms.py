"""Tests of answers, which are read as a whole: a table, and properties of all forms."""

from pathlib import Path

import pytest

from assistant.confirmation.forms import (
    MAX_WORDS,
    AnswerKind,
    Forms,
    is_command_like,
    languages,
    read_answer,
    wording,
    words_of,
)

TABLE = Path(__file__).with_name("answers.tsv")
ROWS = [
    tuple(line.split("\t"))
    for line in TABLE.read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
ALL = Forms(languages())
FORMS = [
    (language, kind, " ".join(phrase))
    for language in languages()
    for kind in ("yes", "no")
    for phrase in sorted(getattr(wording(language), kind))
]


@pytest.mark.parametrize(("text", "things", "asked", "reply", "codes"), ROWS)
def test_reads_the_whole_answer(text: str, things: str, asked: str, reply: str, codes: str) -> None:
    forms = Forms(codes.split())
    assert forms.read(text, things.split("|"), asked).name == reply


@pytest.mark.parametrize(
    "text",
    [
        "y\u200bes",
        "yes\u200b",
        "\u2060yes",
        "\u202eyes",
        "ye\u00ads",
        "yes\x00",
        "\ufeffyes",
        "y̸es",
    ],
)
def test_invisible_characters_are_no_yes(text: str) -> None:
    assert read_answer(text) is AnswerKind.OTHER


@pytest.mark.parametrize(("language", "kind", "text"), FORMS)
def test_each_form_is_read_so_in_its_language_and_with_all_others(
    language: str, kind: str, text: str
) -> None:
    wanted = AnswerKind.YES if kind == "yes" else AnswerKind.NO
    assert Forms([language]).read(text) is wanted
    assert ALL.read(text) is wanted
    assert not is_command_like(text)


@pytest.mark.parametrize("language", languages())
def test_there_are_enough_forms(language: str) -> None:
    least = 30 if language in ("en", "es") else 8
    found = wording(language)
    assert found is not None
    assert len(found.yes) >= least
    assert len(found.no) >= least


def test_the_six_languages_are_there() -> None:
    assert {"en", "es", "pt", "de", "fr", "vi"} <= set(languages())
    assert wording("xx") is None


@pytest.mark.parametrize("codes", [(), ("it",), ("nl-BE", "it")])
def test_english_stands_in_where_no_language_has_forms(codes: tuple[str, ...]) -> None:
    assert Forms(codes).read("yes") is AnswerKind.YES
    assert Forms(codes).read("sí") is AnswerKind.OTHER


def test_the_box_may_be_called_by_its_name() -> None:
    forms = Forms(["en"], names=["Hearth", "okay nabu"])
    assert forms.read("yes, Hearth") is AnswerKind.YES
    assert forms.read("Okay Nabu, yes please") is AnswerKind.YES
    assert forms.read("Hearth") is AnswerKind.NOTHING
    assert Forms(["en"]).read("yes, Hearth") is AnswerKind.OTHER


def test_a_long_answer_is_no_yes() -> None:
    assert read_answer("yes " * MAX_WORDS) is AnswerKind.YES
    assert read_answer("yes " * (MAX_WORDS + 1)) is AnswerKind.OTHER
    assert read_answer("yes the door " * 10_000, ["Front Door"]) is AnswerKind.OTHER


@pytest.mark.parametrize("things", [(), ("",), ("?!",), ("the",)])
def test_things_without_words_are_echoed_by_pronouns_alone(things: tuple[str, ...]) -> None:
    assert read_answer("yes, it", things) is AnswerKind.YES
    assert read_answer("yes, the door", things) is AnswerKind.OTHER


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("turn off the radio", True),
        ("unlock front door", True),
        ("yes, lock it", True),
        ("yes, the back door", True),
        ("no, the back door", True),
        ("enciende la luz", True),
        ("yes but", False),
        ("uh, kitchen", False),
        ("pues, eh, cocina", False),
        ("уes please", False),
        ("yes please", False),
        ("uh", False),
        ("", False),
        ("no thank you", False),
        ("y\u200bes go ahead please", False),
    ],
)
def test_tells_a_new_request_from_noise(text: str, is_one: bool) -> None:
    assert is_command_like(text) is is_one


def test_an_echo_of_the_question_is_no_new_request() -> None:
    forms = Forms(["en"])
    assert not forms.is_command_like("yes, the front door", ["Front Door"])


@pytest.mark.parametrize(
    ("text", "marks_tell", "words"),
    [
        ("Don't!", False, ("dont",)),
        ("l’alarme d'accord", False, ("l", "alarme", "d", "accord")),
        ("Sí, ábrela", False, ("si", "abrela")),
        ("Đúng", True, ("đúng",)),
        ("a\u00a0b\nc", False, ("a", "b", "c")),
        ("a\u200bb", False, None),
        ("a+b", False, None),
    ],
)
def test_words(text: str, marks_tell: bool, words: tuple[str, ...] | None) -> None:
    assert words_of(text, marks_tell) == words
