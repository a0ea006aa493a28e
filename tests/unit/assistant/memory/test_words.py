"""Tests of which words of a fact count, and of whose words they are."""

import pytest

from assistant.memory.words import (
    asked_for,
    content_words,
    is_sensitive,
    query_of,
    speaks_of_themselves,
)
from assistant.tools.builtin.protocol import CORRECT, FORGET, REMEMBER


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


# Explicit requests in the person's own words.


@pytest.mark.parametrize(
    ("tool", "heard"),
    [
        (REMEMBER, "Please remember that the bin goes out on Tuesday"),
        (REMEMBER, "don't forget that Ana is allergic"),
        (REMEMBER, "make a note: the cat is called Max"),
        (REMEMBER, "Recuerda que la basura sale el martes"),
        (REMEMBER, "acuérdate de que soy alérgica"),
        (REMEMBER, "que no se te olvide: no te olvides de Ana"),
        (REMEMBER, "Merk dir, dass die Tonne dienstags geht"),
        (REMEMBER, "Souviens-toi que le chat s'appelle Max"),
        (REMEMBER, "Lembre que o lixo sai na terça"),
        (REMEMBER, "hãy nhớ rằng thùng rác ra ngoài thứ ba"),
        (FORGET, "forget that"),
        (FORGET, "olvida lo de la basura"),
        (FORGET, "Vergiss das mit der Tonne"),
        (CORRECT, "no, it goes out on Friday"),
        (CORRECT, "en realidad sale el viernes"),
        (CORRECT, "that has changed: it goes out on Friday"),
    ],
)
def test_they_do(tool: str, heard: str) -> None:
    assert asked_for(tool, heard)


@pytest.mark.parametrize(
    ("tool", "heard"),
    [
        (REMEMBER, "The bin goes out on Tuesday"),
        (REMEMBER, "read me that page"),
        (REMEMBER, "Ana"),
        (REMEMBER, ""),
        (REMEMBER, None),
        (FORGET, "when does the bin go out"),
        (FORGET, None),
        (CORRECT, "when does the bin go out"),
        (CORRECT, "what is on in November"),
        (CORRECT, "is there nothing on the pasta, she said, in the yard"),
        (CORRECT, None),
    ],
)
def test_they_do_not(tool: str, heard: str | None) -> None:
    assert not asked_for(tool, heard)


# Facts that are sensitive by rule, independent of the model's opinion.


@pytest.mark.parametrize(
    "text",
    [
        "I am allergic to nuts",
        "Soy alérgica a los frutos secos",
        "Grandma takes her pills at eight",
        "Mamá toma la medicación a las ocho",
        "Tom has diabetes",
        "My blood type is A positive",
        "The alarm code is 4 7 1 1",
        "The wifi password is on the fridge",
        "La contraseña del wifi es marmota",
        "El código de la alarma está en el cajón",
        "My salary comes on the first",
        "El sueldo llega el día uno",
        "My account is ES91 2100 0418 4502 0005 1332",
        "The card is 4111 1111 1111 1111",
        "The spare key is under the flower pot",
        "La llave está debajo de la maceta",
        "Das Passwort steht am Kühlschrank",
        "Le mot de passe est sur le frigo",
        "Mật khẩu ở trên tủ lạnh",
        "A senha está na geladeira",
    ],
)
def test_health_money_codes_and_keys(text: str) -> None:
    assert is_sensitive(text)


@pytest.mark.parametrize(
    "text",
    [
        "The bin goes out on Tuesday",
        "La basura sale el martes",
        "Ana's birthday is on May 4",
        "The plumber's number is 555 0142",
        "The cat is called Miércoles",
        "The key to good bread is time",
        "Tom's favourite pen is blue",
        "El gato se llama Banqueta",
        "We pinned the map to the wall",
        "The encoder is in the attic",
        "Our contact at the school is Ana",
    ],
)
def test_what_a_house_may_hear(text: str) -> None:
    assert not is_sensitive(text)
