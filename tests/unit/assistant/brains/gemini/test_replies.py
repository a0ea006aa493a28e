"""What of the transcript is said."""

import pytest

from assistant.brains.gemini.event_reader import EchoFilter, SilenceFilter


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["Yes.", " It is on."], "Yes. It is on."),
        (["[Silence]"], ""),
        (["[silence] Yes."], " Yes."),
        (["Yes. [Sil", "ence] No."], "Yes.  No."),
        (list("a[Silence]b"), "ab"),
        (["[Si[Silence]lence]"], "[Silence]"),
        (["See [Sil"], "See [Sil"),
        (["[list", "]"], "[list]"),
    ],
)
def test_the_silence_token_is_never_said(pieces: list[str], said: str) -> None:
    silence = SilenceFilter()
    text = "".join(silence.push(piece) for piece in pieces) + silence.flush()
    assert text == said


def test_what_is_certain_is_given_at_once() -> None:
    assert SilenceFilter().push("Yes, [S") == "Yes, "


@pytest.fixture
def echo() -> EchoFilter:
    filter = EchoFilter()
    filter.called([{"name": "Kitchen Light", "domain": ["light"], "slots": {"item": "Milk"}}])
    return filter


@pytest.mark.parametrize("text", ["Kitchen Light", "kitchen light.", "light", " milk "])
def test_an_echo_of_an_argument_is_dropped_while_the_call_is_open(
    echo: EchoFilter, text: str
) -> None:
    assert echo.push(text, with_sound=False, answered=False) == ""
    echo.sound()
    assert echo.flush() == ""


@pytest.mark.parametrize(
    ("text", "with_sound"),
    [("The kitchen light is on.", False), ("Kitchen Light", True), ("Kitchen", False)],
)
def test_real_text_stays(echo: EchoFilter, text: str, with_sound: bool) -> None:
    assert echo.push(text, with_sound, answered=True) == text


def test_an_echo_after_the_answer_gives_way_to_the_sentence(echo: EchoFilter) -> None:
    assert echo.push("Kitchen Light", with_sound=False, answered=True) == ""
    assert echo.push("It is on.", with_sound=False, answered=True) == "It is on."


def test_a_sentence_that_begins_like_an_argument_is_whole(echo: EchoFilter) -> None:
    assert echo.push("Milk", with_sound=False, answered=True) == ""
    assert echo.push(" is on your list.", with_sound=False, answered=True) == (
        "Milk is on your list."
    )


@pytest.mark.parametrize(("sounded", "said"), [(True, "Milk."), (False, "")])
def test_a_last_word_is_said_if_it_was_heard(echo: EchoFilter, sounded: bool, said: str) -> None:
    echo.push("Milk.", with_sound=False, answered=True)
    if sounded:
        echo.sound()
    assert echo.flush() == said


def test_later_in_the_answer_an_argument_is_a_word_like_any_other(echo: EchoFilter) -> None:
    echo.push("I have put it there: ", with_sound=False, answered=True)
    assert echo.push("milk", with_sound=False, answered=True) == "milk"


def test_without_a_call_nothing_is_an_echo() -> None:
    assert EchoFilter().push("Milk", with_sound=False, answered=True) == "Milk"
