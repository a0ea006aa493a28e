"""PINs as people say, type and transcribe them."""

import pytest

from assistant.confirmation.pin import MAX_WORDS, read_digits


@pytest.mark.parametrize(
    ("text", "languages", "digits"),
    [
        ("1234", "en", "1234"),
        ("1 2 3 4", "en", "1234"),
        ("1-2-3-4.", "en", "1234"),
        ("1,234", "en", "1234"),
        ("12:34", "en", "1234"),
        ("one two three four", "en", "1234"),
        ("One, two, three, four.", "en", "1234"),
        ("ONE 2 three 4", "en", "1234"),
        ("zero oh o nought", "en", "0000"),
        ("twelve thirty-four", "en", "1234"),
        ("twenty twenty five", "en", "2025"),
        ("twenty oh five", "en", "2005"),
        ("ninety nine ten", "en", "9910"),
        ("double five one two", "en", "5512"),
        ("one triple seven", "en", "1777"),
        ("double 5 double oh", "en", "5500"),
        ("the PIN is one two three four, please", "en", "1234"),
        ("uh, my code is 1 2 3 4. Thanks!", "en", "1234"),
        ("it's 1234", "en-GB", "1234"),
        ("uno dos tres cuatro", "es", "1234"),
        ("doce treinta y cuatro", "es", "1234"),
        ("veintidós cero nueve", "es-MX", "2209"),
        ("dieciséis dieciseis", "es", "1616"),
        ("mi PIN es doble cinco uno dos, por favor", "es", "5512"),
        ("doze trinta e quatro", "pt", "1234"),
        ("um dois três meia", "pt", "1236"),
        ("o código é um dois três quatro", "pt", "1234"),
        ("eins zwo drei vier", "de", "1234"),
        ("zwölf vierunddreißig", "de", "1234"),
        ("zwölf vier und dreissig", "de", "1234"),
        ("einundzwanzig null fünf bitte", "de", "2105"),
        ("un deux trois quatre", "fr", "1234"),
        ("douze trente-quatre", "fr", "1234"),
        ("soixante et onze vingt et un", "fr", "7121"),
        ("quatre-vingt-dix-sept quatre-vingts", "fr", "9780"),
        ("nonante-deux septante et un", "fr", "9271"),
        ("le code est un deux trois quatre s'il te plaît", "fr", "1234"),
        ("một hai ba bốn", "vi", "1234"),
        ("mười hai ba mươi tư", "vi", "1234"),
        ("không bốn hai mươi lăm", "vi", "0425"),
        ("one two three four", "es en", "1234"),
        ("uno dos tres cuatro", "en es de", "1234"),
        ("six", "en fr", "6"),
        ("one two three four", "it", "1234"),
        ("zero one", "", "01"),
    ],
)
def test_reads_digits(text: str, languages: str, digits: str) -> None:
    assert read_digits(text, languages.split()) == digits


@pytest.mark.parametrize(
    ("text", "languages"),
    [
        ("", "en"),
        ("please", "en"),
        ("the pin is", "en"),
        ("one two three four cats", "en"),
        ("unlock the door 1234", "en"),
        ("one thousand two hundred", "en"),
        ("one two three uno", "en es"),
        ("uno dos tres cuatro", "en"),
        ("double", "en"),
        ("one double", "en"),
        ("double thirty", "en"),
        ("double 12", "en"),
        ("double double five", "en"),
        ("double the pin is five", "en"),
        ("１２３４", "en"),
        ("١٢٣٤", "en"),
        ("²³", "en"),
        ("1\u200b234", "en"),
        ("1+2=3", "en"),
        ("12a4", "en"),
        ("1 " * (MAX_WORDS + 1), "en"),
        ("<1234>", "en"),
    ],
)
def test_anything_else_is_no_pin(text: str, languages: str) -> None:
    assert read_digits(text, languages.split()) == ""


def test_a_wake_word_may_stand_in_front() -> None:
    assert read_digits("Okay Nabu, one two three four", ["en"], ["okay nabu", ""]) == "1234"
    assert read_digits("Okay Nabu, one two three four", ["en"]) == ""


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "forty-two"),
        ("es", "cuarenta y dos"),
        ("pt", "quarenta e dois"),
        ("de", "zweiundvierzig"),
        ("fr", "quarante-deux"),
        ("vi", "bốn mươi hai"),
    ],
)
def test_what_two_languages_share_is_read_once(language: str, words: str) -> None:
    assert read_digits(words, [language]) == "42"
    assert read_digits(words, ["en", "es", "pt", "de", "fr", "vi"]) == "42"
