"""Which words of a fact count, and who speaks in them."""

import pytest

from assistant.memory.words import content_words, query_of, speaks_of_themselves


@pytest.mark.parametrize(
    ("text", "language", "own"),
    [
        ("I am allergic to nuts", "en", True),
        ("I'm allergic to nuts", "en-GB", True),
        ("i’ve got two cars", "en", True),
        ("The red bike is mine.", "en", True),
        ("My mother is called Rosa", "en", True),
        ("Ana is allergic to nuts", "en", False),
        ("The bin goes out on Tuesday", "en", False),
        ("Mia likes mint", "en", False),
        ("Soy alérgica a las nueces", "es", True),
        ("Mi coche es rojo", "es-MX", True),
        ("Me gusta el té", "es", True),
        ("Ana es alérgica a las nueces", "es", False),
        ("El coche de Miguel es rojo", "es", False),
        ("Ich mag keinen Tee", "de", True),
        ("Die Tonne ist grau", "de", False),
        ("J'aime le thé", "fr", True),
        ("Le mois de mai", "fr", False),
        ("Tôi thích trà", "vi", True),
        ("Buổi tối có họp", "vi", False),
        ("Eu moro aqui", "pt", True),
        ("I am allergic", "xx", False),
    ],
)
def test_a_person_speaks_of_themselves(text: str, language: str, own: bool) -> None:
    assert speaks_of_themselves(text, language) is own


def test_a_query_has_only_words_that_say_something() -> None:
    assert query_of("When does the bin go out?") == '"bin" OR "out"'
    assert query_of("¿Qué recuerdas de la CONTRASEÑA?") == '"contrasena"*'
    assert query_of("what do you remember of it") == ""
    assert query_of("") == ""


def test_no_word_of_a_query_is_an_operator() -> None:
    query = query_of('cat" OR text:* NEAR(dog, 2) AND NOT zebra - ^') or ""
    assert query == '"cat" OR "text"* OR "near"* OR "dog" OR "2" OR "zebra"*'


def test_a_query_has_an_end() -> None:
    assert query_of(" ".join(f"word{n}" for n in range(1000))).count(" OR ") == 23


def test_plurals_and_accents_do_not_count() -> None:
    assert content_words("The CATS of Málaga") == content_words("cat, Malaga")
