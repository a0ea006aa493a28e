"""Tests of Spanish as it is spoken in Spain and in Latin America."""

import pytest

from assistant.brains.offline import OfflineBrain
from assistant.brains.offline.lexicon import NameIndex
from assistant.brains.offline.names import house_names
from assistant.brains.offline.spanish import (
    asking_forms,
    in_imperative,
    tells,
    verbs_of,
    without_pronouns,
)
from assistant.brains.offline.swap import with_noun
from tests.corpus.house import corpus_house
from tests.corpus.runs import read

VERBS = verbs_of(("enciende encender", "apaga apagar", "abre abrir", "pon poner ponga"))


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("enciende encender", {"encienda", "encende", "enciendas", "encended"}),
        ("apaga apagar", {"apague", "apagad", "apaguen"}),
        ("empieza empezar", {"empiece", "empeza"}),
        ("pon poner ponga", {"pone", "pongas"}),
    ],
)
def test_forms_that_ask(verb: str, forms: set[str]) -> None:
    assert forms <= set(asking_forms(verb))


def test_pronouns_and_other_forms() -> None:
    assert without_pronouns("apagala", VERBS) == ["apaga", "enclitica"]
    assert without_pronouns("enciendamelo", VERBS) == ["encienda", "enclitico"]
    assert without_pronouns("ponle", VERBS) == ["pon"]
    assert without_pronouns("escala", VERBS) == ["escala"]
    assert all(tells(one, VERBS) for one in ("apago", "apagaron", "apagaba", "apagando"))
    assert not tells("apgaa", VERBS)  # a typing error


@pytest.mark.parametrize(
    ("text", "imperative"),
    [
        ("¿me abres la puerta?", "abre la puerta?"),
        ("¿apagas la luz?", "apaga la luz?"),
        ("a ver si me enciendes la luz", "enciende la luz"),
        ("póngame una canción y apague la luz", "pon una canción y apaga la luz"),
        ("recuérdame apagar la luz", "recuérdame apaga la luz"),
        ("siempre apagas la luz", "siempre apagas la luz"),
    ],
)
def test_the_imperative(text: str, imperative: str) -> None:
    assert in_imperative(text, VERBS) == imperative


@pytest.mark.parametrize(
    ("part", "before", "whole"),
    [
        ("y la del garaje", "enciende la luz de la cocina", "enciende la luz del garaje"),
        ("las de la oficina", "apaga las luces del salón", "apaga las luces de la oficina"),
        ("y la de la oficina", "pon la luz del salón al 30", "pon la luz de la oficina al 30"),
        (
            "la de la oficina al 50",
            "pon la luz del salón al 30 por ciento",
            "pon la luz de la oficina al 50 por ciento",
        ),
        (
            "la de la oficina al 50",
            "enciende la luz del salón",
            "enciende la luz de la oficina al 50",
        ),
        (
            "la del dormitorio",
            "baja la calefacción del salón dos grados",
            "baja la calefacción del dormitorio dos grados",
        ),
        ("el del garaje", "enciende la luz de la cocina", None),
        ("la cocina", "enciende la luz del salón", None),
    ],
)
def test_nouns_that_are_left_out(part: str, before: str, whole: str | None) -> None:
    assert with_noun(part, before, "es", NameIndex(house_names(corpus_house()))) == whole


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("¿me prendes zorblax, porfa?", 'HassTurnOn {"domain": ["light"], "name": "Zorblax"}'),
        (
            "hágame el favor de apagar el yelmar",
            'HassTurnOff {"domain": ["light"], "name": "Yelmar"}',
        ),
        ("encendé el yelmar", 'HassTurnOn {"domain": ["light"], "name": "Yelmar"}'),
        ("préndase el yelmar", 'HassTurnOn {"domain": ["light"], "name": "Yelmar"}'),
        ("bájale tantito a la música", '"volume_step": -5'),
        ("ponle 22 grados al dormitorio", '"temperature": 22'),
        ("la luz del salón más bajita", '"brightness": 30'),
        ("sube el volumen un 20 por ciento", '"volume_step": 20'),
        ("pon el volumen al 20 por ciento", '"volume_level": 20'),
        ("yelmar azul al 40 por ciento", '"brightness": 40, "color": "blue"'),
        ("me estoy helando en el dormitorio", '"temperature": 20'),
        ("me gustaría que bajaras el volumen", '"volume_step": -10'),
        ("súbele dos grados al termostato del salón", '"temperature": 23'),
        ("vuelve a encender zorblax", '"name": "Zorblax"'),
        ("¿el yelmar está encendido?", "says No, "),
        ("hace falta luz en la cocina", '"area": "Kitchen"'),
        ("ponme el ventilador de la oficina", '{"area": "Office", "domain": ["fan"]}'),
        ("apágalo todo menos la cocina", '"domain": ["light"]'),
        ("enciende el yelmar, me equivoqué, zorblax", '"name": "Zorblax"'),
        ("¿enciendes el yelmar?", '"name": "Yelmar"'),
        ("dame luz en la cocina", '"area": "Kitchen"'),
        ("quiero el termostato del dormitorio a 19", '"temperature": 19'),
        ("añade pan y leche a la lista y enciende el yelmar", '"name": "Yelmar"'),
        ("pan, leche y huevos a la lista de la compra", "pan, leche, huevos"),
    ],
)
async def test_what_people_say(brain: OfflineBrain, text: str, done: str) -> None:
    assert done in (await read(brain, text, "es")).done


@pytest.mark.parametrize(
    ("first", "second", "done"),
    [
        (
            "pon la luz de la oficina al 30 por ciento",
            "y la de la cocina también",
            '"brightness": 30',
        ),
        (
            "pon la luz de la oficina al 30 por ciento",
            "y la de la cocina al 50",
            '"brightness": 50',
        ),
        ("enciende la luz de la oficina", "y la de la cocina al 50", '"brightness": 50'),
        ("pon la luz de la oficina en rojo", "y la de la cocina también", '"color": "red"'),
        (
            "sube la calefacción del salón tres grados",
            "y la del dormitorio también",
            '"name": "Bedroom Thermostat", "temperature": 22',
        ),
    ],
)
async def test_another_device_gets_the_same_value(
    brain: OfflineBrain, first: str, second: str, done: str
) -> None:
    await read(brain, first, "es")
    assert done in (await read(brain, second, "es")).done
    brain.forget()
    assert done in (await read(brain, f"{first} {second}", "es")).done.split("; ")[-1]


@pytest.mark.parametrize(
    "text",
    [
        "no apagues zorblax",
        "no me apague usted el yelmar",
        "no quiero que enciendas zorblax",
        "no enciende zorblax",
        "a excepción de la oficina apaga todas las luces",
        "zorblax está encendida",
        "la luz de la cocina esta apagada",
        "nunca enciendas el yelmar",
        "no la enciendas, zorblax ya está encendida",
        "apagué zorblax",
        "encendí zorblax",
        "apagó zorblax",
        "ella apaga zorblax",
        "apagaban zorblax",
        "si hace frío enciende el yelmar",
        "¿quieres que encienda el yelmar?",
        "¿por qué apagas zorblax?",
        "¿por qué me apaga zorblax?",
        "siempre apagas zorblax",
        "súbela",  # the volume, a blind or a temperature
    ],
)
async def test_what_asks_for_nothing(brain: OfflineBrain, text: str) -> None:
    assert (await read(brain, text, "es")).calls == []
