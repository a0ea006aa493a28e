"""Tests of edge cases of reading: first and last days, hours and amounts, and unchanged text."""

import pytest

from assistant.speech.clauses import ClauseCutter, asks
from assistant.speech.language import spoken_language
from assistant.speech.speakable import plain, say_names, speakable

DATES = [
    ("en", "On 2026-02-30 it ends.", "On 2026-02-30 it ends."),
    ("en", "At 2026-11-23T18:30:15 it ends.",
     "At November twenty-third, twenty twenty-six, eighteen thirty and fifteen seconds it ends."),
    ("en", "On 11/12/2026.", "On November twelfth, twenty twenty-six."),
    ("en", "On 23/11/2026.", "On November twenty-third, twenty twenty-six."),
    ("en", "On 13/12/2026.", "On December thirteenth, twenty twenty-six."),
    ("en", "On 1.2.2026.", "On February first, twenty twenty-six."),
    ("en", "13/13/2026", "13 slash 13 slash 2026"),
    ("en", "Go to gate 5 A.", "Go to gate 5 A."),
    ("en", "It draws 5 A.", "It draws five amps."),
    ("es", "El 11/23/2026.", "El veintitrés de noviembre de dos mil veintiséis."),
    ("es", "El 1/2/2026.", "El uno de febrero de dos mil veintiséis."),
    ("de", "Am 1.2.2026 regnet es.", "Am ersten Februar 2026 regnet es."),
    ("de", "am 5. märz, am 6. MAI", "am fünften März, am sechsten Mai"),
    ("en", "At 2026-11-23T18:30:00 it ends.",
     "At November twenty-third, twenty twenty-six, eighteen thirty it ends."),
    ("en", "February 29 is a day.", "February twenty-ninth is a day."),
    ("en", "February 30 is none.", "February 30 is none."),
    ("en", "November 21-23.", "November twenty-first to twenty-third."),
    ("en", "November 21–23, 2026",
     "November twenty-first to twenty-third, twenty twenty-six"),
    ("en", "February 30-31.", "February 30 to 31."),
    ("en", "November 0-3.", "November 0 to 3."),
    ("es", "Del 21-23 de noviembre.", "Del veintiuno a veintitrés de noviembre."),
    ("es", "Del 0-3 de noviembre", "Del 0 a 3 de noviembre"),
    ("es", "23 de Nov.", "veintitrés de noviembre."),
    ("es", "NOVIEMBRE de 2026", "noviembre de 2026"),
    ("en", "Nov. 2026", "November 2026"),
    ("en", "Since Nov. The rest.", "Since November. The rest."),
]  # fmt: skip

TIMES = [
    ("en", "It is 23:59, not 24:10.", "It is twenty-three fifty-nine, not 24:10."),
    ("en", "at 13:30 pm", "at thirteen thirty"),
    ("en", "at 12:30 pm", "at twelve thirty PM"),
    ("es", "a las 1:05 p. m. cena", "a las una y cinco de la tarde cena"),
    ("es", "a las 12 p. m. come", "a las doce del mediodía come"),
    ("es", "a las 3 a. m. duerme", "a las tres de la madrugada duerme"),
    ("en", "1 to 2:30 PM", "one to two thirty PM"),
    ("en", "12 to 1:30 PM", "twelve to one thirty PM"),
    ("en", "13 to 7:30 PM", "13 to seven thirty PM"),
    ("en", "6:15 until 7:30 PM", "six fifteen until seven thirty PM"),
    ("en", "12:30 – 1:30 am", "twelve thirty to one thirty AM"),
    ("en", "0:05:00 left", "five minutes left"),
    ("en", "1:00:01 left", "one hour one second left"),
    ("en", "0:00:00 left", "zero seconds left"),
    ("en", "7:05:09 pm", "seven oh five PM and nine seconds"),
    ("en", "PT0M", "zero minutes"),
    ("en", "P1DT2H3M4S", "one day two hours three minutes four seconds"),
    ("en", "1h 0m", "one hour"),
]  # fmt: skip

AMOUNTS = [
    ("en", "$5-$10", "five to ten dollars"),
    ("en", "$5-€10", "five dollars-ten euros"),
    ("es", "£21-£31", "veintiuna a treinta y una libras"),
    ("es", "20 o 21 h", "veinte o veintiuna horas"),
    ("es", "1-21 h", "una a veintiuna horas"),
    ("es", "21 x 21 m", "veintiún por veintiún metros"),
    ("es", "21 lb/h", "veintiuna libras por hora"),
    ("es", "1 lb/h", "una libra por hora"),
    ("en", "+5 °C", "plus five degrees Celsius"),
    ("en", "½ l", "one half liter"),
    ("en", "1½ l", "1 and one half liters"),
    ("en", "1000th", "1000th"),
    ("es", "1000º", "1000º"),
    ("en", "It needs >= 5 W", "It needs at least five watts"),
    ("en", ">= 5 W", "at least five watts"),
    ("en", "> It is on.", "It is on."),
    ("en", "It needs ≤ 5 W", "It needs at most five watts"),
    ("en", "Min. 5 W", "Minimum five watts"),
    ("en", "it is Max. 5 W", "it is maximum five watts"),
    ("en", "It is over. Approx. 5 W", "It is over. Approximately five watts"),
    ("en", "Wait… Approx. 5 W", "Wait. Approximately five watts"),
    ("en", f"{'1234567890' * 4} W and 5 W", f"{'1234567890' * 4} W and five watts"),
    ("en", f"5 W, {'1' * 31}, 6 W, {'2' * 40}, 7 W",
     f"five watts, {'1' * 31}, six watts, {'2' * 40}, seven watts"),
]  # fmt: skip

# A language without a table: the voice says the numbers, we only remove what it cannot read.
LEFT_TO_THE_VOICE = [
    ("ja", "10² m²", "10 2 m2"),
    ("ja", "① ½", "1 ½"),
    ("ja", "don't 'quote' o'", "don't quote o"),
    ("ja", "a-b c- x -5 -y", "a-b c x -5 y"),
    ("ja", "x −5 °C", "x -5 °C"),
    ("ja", "−5 °C", "-5 °C"),
    ("ja", "a (b) c|d—e–f", "a, b, c, d, e, f"),
    ("ja", "5 * 6", "5 6"),
    ("ja", "a@b.org", "a b org"),
    ("ja", "- 5 eggs", "5 eggs"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("language", "written", "spoken"), [*DATES, *TIMES, *AMOUNTS, *LEFT_TO_THE_VOICE]
)
def test_corners(language: str, written: str, spoken: str) -> None:
    assert speakable(written, language) == spoken


@pytest.mark.parametrize("language", ["de", "es", "fr", "pt"])
def test_months_and_weekdays_are_known_in_any_case(language: str) -> None:
    spoken = spoken_language(language)
    assert spoken is not None
    for month in spoken.calendar.months:
        said = speakable(f"5 {month} 2026", language)
        for other in as_matched(month):
            assert speakable(f"5 {other} 2026", language) == said
    for day in spoken.calendar.weekdays:
        said = speakable(f"{day}, 5.3.", language)
        for other in as_matched(day):
            assert speakable(f"{other}, 5.3.", language) == said


def as_matched(word: str) -> set[str]:
    """Return spellings that `re.IGNORECASE` takes for the word, too."""
    odd = {word.replace(letter, like) for letter, like in ("iı", "iİ", "sſ", "k\N{KELVIN SIGN}")}
    return {word.upper(), word.lower(), word.capitalize(), *odd}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("write to a.b@x.org, or c@y.de", "write to a DOT b AT x DOT org, or c AT y DOT de"),
        ("see https://a.b.org/x?y. Then", "see a DOT b DOT org. Then"),
        ("@me", "@me"),
        ("open main.py", "open main DOT py"),
    ],
)
def test_the_signs_of_names_are_said_in_the_words_that_are_given(written: str, said: str) -> None:
    assert say_names(written, "DOT", "AT") == said


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("- [ ] milk\n- [x] bread\n- [X] eggs\n- [y] tea", "milk. bread, ☑. eggs, ☑. [y] tea"),
        ("Temp: 5\nHumidity: 6\nwind: 7", "Temp: 5. Humidity: 6, wind: 7"),
        ("Temp: 5.\nHumidity: 6", "Temp: 5. Humidity: 6"),
        ("Temp: 5 \nnothing", "Temp: 5 nothing"),
        ("a\\\nb: c", "a, b: c"),
        ("a  \nb", "a b"),
        ("**a**\nb: c", "a, b: c"),
        ("a<br>b<BR/>c<b>d</b>e</P>f", "a b cde f"),
        ("a \\* b `c`", "a * b c"),
        ("| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | | |\n| | | |", "1: 2, 3. 4"),
    ],
)
def test_markup_and_what_it_leaves(written: str, read: str) -> None:
    assert plain(written) == read


def test_a_very_long_clause_does_not_end_inside_a_tag() -> None:
    tag = '<a href="x" title="up and down and on">'
    cutter = ClauseCutter()
    clauses = [
        *cutter.push("word " * 39 + tag + "here</a> and there" + " it is" * 20),
        *cutter.flush(),
    ]
    assert len(clauses) > 1
    assert tag in clauses[0]


def test_a_question_may_end_in_spaces() -> None:
    assert asks("Shall I? ")
    assert not asks(" Shall I")
    assert not asks("? I see")


def test_what_follows_a_settled_sentence_is_judged_from_its_first_character() -> None:
    cutter = ClauseCutter()
    assert cutter.push("The light is on.") == []
    assert cutter.settle() == ["The light is on."]
    assert cutter.push("\nThe door is shut.\n") == ["The door is shut."]


def test_only_the_very_first_clause_may_be_short() -> None:
    text = "Now the kitchen is dark, and the hall too. "
    assert ClauseCutter().push(text)[0] == "Now the kitchen is dark,"
    cutter = ClauseCutter()
    cutter.push("Yes.")
    assert cutter.settle() == ["Yes."]
    assert cutter.push(text) == []
    assert cutter.push("Good") == ["Now the kitchen is dark, and the hall too."]
