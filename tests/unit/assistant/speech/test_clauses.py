"""Tests of the places at which an answer may be cut, in whatever pieces it comes."""

import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.speech.clauses import LONG, TOO_LONG, ClauseCutter
from assistant.speech.speakable import speakable

GOLDEN = Path(__file__).with_name("golden")


def cut(*pieces: str) -> list[str]:
    cutter = ClauseCutter()
    clauses = [clause for piece in pieces for clause in cutter.push(piece)]
    return clauses + cutter.flush()


ANSWERS = [
    ["Done."],
    ["The light is on.", "The door is locked."],
    ["Okay, sure,", "the light is on, and the fan is off.", "Bye, now."],
    ["It is 21.5 degrees.", "Humidity is 40 %."],
    ["It is 21.5°C,", "or 1,234.5 in total."],
    ["At 6:05 the sun rises.", "At 18:30 it sets."],
    ["Dr. Smith and Mrs. J. Doe called.", "They are well."],
    ["The alarm is at 6 a.m. on Monday.", "It rings at 7 p.m.", "The other is off."],
    ["Son las 6 p. m. en casa.", "Son las 7 p. m.", "La puerta está cerrada."],
    ["El Sr. López llamó,", "p. ej. ayer.", "¿Algo más?", "¡Adiós!"],
    ["Use lights,", "e.g. the lamp.", "Or fans etc. as well."],
    ["No. 5 is off.", "No.", "It is on."],
    ["Ready!", "Really?", "Yes."],
    ["Well... ok then.", "So it goes…", "The end."],
    ["Version 2026.11.1 is in configuration.yaml.", "See example.com for more."],
    ["Lights:", "- Kitchen lamp. it is on", "- Hall lamp", "1. First", "2. Second"],
    ["**Temperature**:", "21.5°C is **warm.**", "*Very.*", "Bye."],
    ["See [the docs. Really](http://a.b/c. d) now.", "Then `a. B. c` it."],
    ["The lamp (the one, in the hall) is on.", 'He said "Stop."', "Then he left."],
    ["| a | b. C |\n|---|---|\n| Dr. X. | y |", "After it."],
    ["```yaml\na: 1. B\n\nb: 2\n```", "Done."],
    ["灯已打开。", "门锁好了！"],
    ["a", "b", "c"],
]


def joined(clauses: list[str]) -> str:
    """Join the clauses to one text again: lines stay lines, CJK gets no spaces."""
    text = clauses[0]
    for before, clause in pairwise(clauses):
        line = clause[0] in "-|`12" or before[0] in "-|`1" or len(before) == 1
        text += ("\n" if line else "" if before[-1] in "。！" else " ") + clause
    return text


@pytest.mark.parametrize("clauses", ANSWERS)
def test_answers_are_cut_where_a_reader_would_breathe(clauses: list[str]) -> None:
    text = joined(clauses)
    assert cut(text) == clauses
    assert cut(*text) == clauses  # one character at a time


def corpus(dice: random.Random) -> list[str]:
    """Return answers of one to four sentences or lines from the golden corpus."""
    lines = [
        line.split("\t")[2].replace("\\n", "\n")
        for name in ("en", "es", "mixed", "others")
        for line in (GOLDEN / f"{name}.tsv").read_text("utf-8").splitlines()
    ]
    joints = [" ", " ", "\n", "\n\n"]
    return [dice.choice(joints).join(dice.sample(lines, dice.randrange(1, 5))) for _ in range(400)]


def test_ten_thousand_random_splits_give_the_same_speech() -> None:
    dice = random.Random(7)
    texts = [*map(joined, ANSWERS), *corpus(dice)]
    expected = [cut(text) for text in texts]
    for text, clauses in zip(texts, expected, strict=True):
        assert cut(*text) == clauses
    for _ in range(10_000):
        number = dice.randrange(len(texts))
        text = texts[number]
        places = sorted(dice.choices(range(len(text) + 1), k=dice.randrange(1, 9)))
        pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
        assert cut(*pieces) == expected[number], pieces


def test_what_is_said_does_not_depend_on_the_pieces() -> None:
    """Equal clauses give equal speech: the same clause is never spoken in two ways."""
    dice = random.Random(8)
    for text in corpus(dice)[:100]:
        said = [speakable(clause, "en") for clause in cut(text)]
        assert [speakable(clause, "en") for clause in cut(*text)] == said


ALPHABET = st.text('aB1 .,;:!?\n|`*()[]"…—。-', max_size=60)


@given(st.lists(ALPHABET, max_size=6))
@settings(max_examples=300, deadline=None)
def test_any_chunking_gives_the_same_clauses_and_loses_nothing(pieces: list[str]) -> None:
    text = "".join(pieces)
    whole = cut(text)
    assert cut(*pieces) == whole
    assert "".join("".join(whole).split()) == "".join(text.split())
    assert all(clause == clause.strip() != "" for clause in whole)


def test_the_first_clause_comes_as_soon_as_it_is_safe() -> None:
    cutter = ClauseCutter()
    assert cutter.push("The kitchen light,") == []
    assert cutter.push(" ") == ["The kitchen light,"]
    assert cutter.push("as you said, is on! ") == ["as you said, is on!"]
    assert cutter.push("It is 21.") == []
    assert cutter.push("5 degrees. ") == []  # a name might follow an abbreviation
    assert cutter.push("T") == ["It is 21.5 degrees."]
    assert cutter.flush() == ["T"]
    assert cutter.push("Turning it on, ") == ["Turning it on,"]  # flush has reset the cutter


@pytest.mark.parametrize(
    ("held", "given"),
    [
        ("The light is on.", True),
        ("Is it on?", True),
        ("Está encendida.", True),
        ("It is on.»", True),
        ("The light is", False),
        ("It is 21.", False),  # "5 degrees" may follow
        ("It is 7 p.m.", False),
        ("Ask Dr.", False),
        ("Lights, fans etc.", False),
        ("This is J.", False),
        ("En EE.", False),  # "UU."
        ("It is on Main St.", False),
        ("La llamada es para Ud.", False),
        ("Look [here.", False),
        ("| a | b.", False),
        ("", False),
    ],
)
def test_a_sentence_that_is_held_back_is_given_when_nothing_follows(held: str, given: bool) -> None:
    cutter = ClauseCutter()
    assert cutter.push(held) == []
    assert cutter.settle() == ([held] if given else [])
    assert cutter.push(" More. ") + cutter.flush() == (["More."] if given else [*_rest(held)])


def _rest(held: str) -> list[str]:
    cutter = ClauseCutter()
    return [*cutter.push(f"{held} More. "), *cutter.flush()]


def test_long_sentences_are_split_at_commas_then_between_words() -> None:
    with_commas = "Yes. " + "one lamp and another lamp, " * 20
    clauses = cut(with_commas)
    assert all(clause.endswith(",") for clause in clauses[1:])
    assert max(map(len, clauses)) < LONG + 40
    endless = cut("word " * 500)
    assert max(map(len, endless)) < TOO_LONG + 10
    assert " ".join(endless) == ("word " * 500).strip()


def test_a_long_sentence_is_split_before_a_joining_word() -> None:
    half = "The lamp " * 25 + "is on"
    assert cut(f"Well. {half} and {half}.") == ["Well.", half, f"and {half}."]


@pytest.mark.parametrize(
    "sentence",
    [
        "It is November 21, 2026, in the evening.",
        "Es ist der 21. November 2026 heute.",
        "Rooms 1, 2 and 3 are lit.",
        'See <a href="http://a.b/c, d. e">the docs</a> now.',
    ],
)
def test_what_belongs_together_is_not_torn_apart(sentence: str) -> None:
    clauses = cut(sentence)
    assert clauses[0].startswith(sentence[:24])
    assert cut(*sentence) == clauses


def test_an_open_bracket_does_not_hold_everything_back() -> None:
    text = "Well :( that is bad. " + "It goes on and on. " * 20
    assert len(cut(text)) > 10
