"""Tests of articles, contractions and endings in Spanish, Portuguese, French and German."""

import pytest

from assistant.speech.catalogue import Catalogue
from assistant.tools.house.articles import agreeing, noun_of, noun_of_all, with_article
from assistant.tools.house.names import in_cases, named_thing, spoken_place, spoken_things
from assistant.tools.vocabulary import entries

CATALOGUE = Catalogue()


@pytest.mark.parametrize(
    ("name", "language", "said"),
    [
        ("Puerta del Garaje", "es", "la puerta del garaje"),
        ("Luces del salón", "es", "las luces del salón"),
        ("Portones", "es", "los portones"),
        ("Luz de Ana", "es", "la luz de Ana"),
        ("La terraza", "es", "La terraza"),
        ("Agua caliente", "es", "el agua caliente"),
        ("Patio light", "es", "Patio light"),
        ("Garage door", "es", "Garage door"),
        ("Roomba", "es", "Roomba"),
        ("TV", "es", "la TV"),
        ("Portão", "pt", "o portão"),
        ("Portões", "pt", "os portões"),
        ("Janelas da sala", "pt", "as janelas da sala"),
        ("Entrée", "fr", "l'entrée"),
        ("Volets du Salon", "fr", "les volets du salon"),
        ("Hall", "fr", "le hall"),
        ("Garage door", "fr", "Garage door"),
        ("Garagentor", "de", "das Garagentor"),
        ("küche", "de", "die Küche"),
        ("Vorhang", "de", "den Vorhang"),
        ("Storch", "de", "Storch"),
        ("Cửa trước", "vi", "Cửa trước"),
    ],
)
def test_the_article_of_a_name(name: str, language: str, said: str) -> None:
    assert with_article(name, language) == said


@pytest.mark.parametrize(
    ("key", "language", "names", "said"),
    [
        ("confirm.ask_open", "es", ["Puerta", "Portón"], "¿Abro la puerta y el portón?"),
        ("confirm.ask_open", "es", [("Garage door", "Portón")], "¿Abro el portón?"),
        ("confirm.ask_open", "es-MX", ["Garage door"], "¿Abro Garage door?"),
        ("confirm.ask_open", "de", ["Vorhang"], "Soll ich den Vorhang öffnen?"),
        ("confirm.ask_open", "pt", ["Portão"], "Abro o portão?"),
        ("confirm.ask_open", "vi", ["Cửa"], "Tôi mở Cửa nhé?"),
    ],
)
def test_a_question_names_things_with_articles(
    key: str, language: str, names: list[str | tuple[str, ...]], said: str
) -> None:
    assert CATALOGUE.say(key, language, names=spoken_things(names)) == said


@pytest.mark.parametrize(
    ("language", "place", "said"),
    [
        ("es", "dormitorio", "las luces del dormitorio"),
        ("es", "Cocina", "las luces de la cocina"),
        ("es", "Narnia", "las luces de Narnia"),
        ("pt", "quarto", "as luzes do quarto"),
        ("pt", "cozinha", "as luzes da cozinha"),
        ("fr", "salon", "les lumières du salon"),
        ("fr", "chambre", "les lumières de la chambre"),
        ("fr", "entrée", "les lumières de l'entrée"),
        ("de", "wohnzimmer", "die Lichter im Wohnzimmer"),
        ("de", "Küche", "die Lichter in der Küche"),
    ],
)
def test_a_preposition_joins_the_article(language: str, place: str, said: str) -> None:
    assert CATALOGUE.say("offline.lights_here", language, place=spoken_place(place)) == said


@pytest.mark.parametrize(
    ("key", "language", "name", "said"),
    [
        ("tools.still_reports", "pt", "Luzes", "as luzes ainda estão X"),
        ("tools.still_reports", "fr", "Volets", "les volets sont toujours X"),
        ("tools.still_reports", "fr", "Volet", "le volet est toujours X"),
        ("tools.still_reports", "de", "Rollläden", "die Rollläden sind noch X"),
        ("tools.still_reports", "de", "Rollladen", "der Rollladen ist noch X"),
        ("tools.still_reports", "de", "Lampe", "die Lampe ist noch X"),
        ("watch.not_reached", "fr", "Volets", "les volets n'ont pas fait ce que tu as demandé."),
        (
            "watch.not_reached",
            "de",
            "Rollläden",
            "die Rollläden haben nicht getan, was du wolltest.",
        ),
        ("watch.not_opened", "pt", "Persianas", "as persianas não abriram."),
        ("watch.not_closed", "de", "Garagentor", "das Garagentor ist nicht zugegangen."),
    ],
)
def test_a_verb_agrees_with_its_name(key: str, language: str, name: str, said: str) -> None:
    thing = named_thing(name, CATALOGUE, language)
    assert CATALOGUE.say(key, language, name=thing, state="X") == said


@pytest.mark.parametrize(
    ("language", "names", "said"),
    [
        ("pt", ["Porta"], "Não sei o que a porta faz. Continuo mesmo assim?"),
        ("pt", ["Porta", "Luz"], "Não sei o que a porta e a luz fazem. Continuo mesmo assim?"),
        ("fr", ["Porte"], "Je ne sais pas ce que fait la porte. Je continue quand même?"),
        (
            *("fr", ["Porte", "Lampe"]),
            "Je ne sais pas ce que font la porte et la lampe. Je continue quand même?",
        ),
        ("de", ["Tür"], "Ich weiß nicht, was die Tür tut. Soll ich es trotzdem machen?"),
        (
            *("de", ["Tür", "Lampe"]),
            "Ich weiß nicht, was die Tür und die Lampe tun. Soll ich es trotzdem machen?",
        ),
    ],
)
def test_a_verb_agrees_with_several_names(language: str, names: list[str], said: str) -> None:
    things = spoken_things(names)
    assert CATALOGUE.say("confirm.ask_unknown_thing", language, names=things) == said


def test_several_german_names_have_the_case_of_their_sentence() -> None:
    names = [named_thing(name, CATALOGUE, "de") for name in ("Fernseher", "Lampe")]
    both = in_cases(names, " und ".join)
    assert both == "der Fernseher und die Lampe"
    said = "ich erreiche den Fernseher und die Lampe nicht"
    assert CATALOGUE.say("house_state.unreachable", "de", names=both, state="X") == said
    said = "vom Fernseher und der Lampe bekomme ich keinen Messwert"
    assert CATALOGUE.say("house_state.unreported", "de", names=both, state="X") == said


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("house_state.unreachable", "ich erreiche den Fernseher nicht"),
        ("house_state.unreported", "vom Fernseher bekomme ich keinen Messwert"),
        ("house_state.other", "der Fernseher: X"),
    ],
)
def test_a_german_name_has_the_case_of_its_sentence(key: str, said: str) -> None:
    names = named_thing("Fernseher", CATALOGUE, "de")
    assert CATALOGUE.say(key, "de", names=names, state="X") == said


def test_an_article_within_the_persons_words_is_not_joined() -> None:
    said = CATALOGUE.say("audit.other_heard", "es", time="8:00", heard="sal de el baño", told="")
    assert "de el baño" in said


def test_many_names_are_counted() -> None:
    names = spoken_things([f"Luz {number}" for number in range(10)])
    assert names.within("es").endswith("la luz 7 y 2 más")


@pytest.mark.parametrize(
    ("word", "names", "language", "said"),
    [
        ("encendido", ["Luz"], "es", "encendida"),
        ("encendido", ["Luz", "Lámpara"], "es", "encendidas"),
        ("encendido", ["Luz", "Ventilador"], "es", "encendidos"),
        ("cerrado con llave", ["Puerta"], "es", "cerrada con llave"),
        ("en pausa", ["Radio"], "es", "en pausa"),
        ("limpiando", ["Aspiradora"], "es", "limpiando"),
        ("abriéndose", ["Puertas"], "es", "abriéndose"),
        ("limpando", ["Luzes"], "pt", "limpando"),
        ("ligado", ["Luzes"], "pt", "ligadas"),
        ("allumé", ["Lampes"], "fr", "allumées"),
        ("éteint", ["Radio"], "fr", "éteinte"),
        ("encendido", ["Luz", "Roomba"], "es", "encendido"),
        ("limpiando", ["Puerta"], "es", "limpiando"),
        ("abrindo", ["Porta"], "pt", "abrindo"),
    ],
)
def test_a_state_agrees(word: str, names: list[str], language: str, said: str) -> None:
    assert agreeing(word, noun_of_all(names, language), language) == said


@pytest.mark.parametrize("language", ["es", "pt", "fr", "de"])
def test_no_noun_has_two_genders(language: str) -> None:
    genders = [set(entries(one, language)) for one in ("masculine", "feminine", "neuter")]
    assert sum(map(len, genders)) == len(set.union(*genders))
    for gender, words in zip(("masculine", "feminine", "neuter"), genders, strict=True):
        for word in words:
            noun = noun_of(word, language)
            assert noun is not None, word
            assert noun.gender == gender, word


def test_a_german_name_is_a_subject() -> None:
    assert named_thing("Vorhang", CATALOGUE, "de") == "der Vorhang"
