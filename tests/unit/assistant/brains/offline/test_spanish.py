"""Tests of Spanish as it is spoken in Spain and in Latin America."""

from collections.abc import Iterator

import pytest

from assistant.brains.offline import OfflineBrain
from assistant.brains.offline.spanish_verbs import asking_forms, tells, without_pronouns
from audio.recognize.sphinx import SphinxRecognizer
from tests.corpus.runs import corpus_brain, read


@pytest.fixture(scope="module")
def house_brain() -> Iterator[OfflineBrain]:
    brain = corpus_brain(SphinxRecognizer())
    yield brain
    brain.close()


@pytest.fixture
def brain(house_brain: OfflineBrain) -> OfflineBrain:
    house_brain.forget()
    return house_brain


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("enciende encender", {"encienda", "encende", "enciendas", "me enciendes"}),
        ("apaga apagar", {"apague", "apagad", "apaguen"}),
        ("empieza empezar", {"empiece", "empeza"}),
        ("pon poner ponga", {"pone", "pongas", "me pones"}),
    ],
)
def test_forms_that_ask(verb: str, forms: set[str]) -> None:
    assert forms <= set(asking_forms(verb))


def test_pronouns_and_other_forms() -> None:
    assert without_pronouns("apagala", {"apaga"}) == ["apaga", "enclitico"]
    assert without_pronouns("prendamela", {"prenda"}) == ["prenda", "enclitico"]
    assert without_pronouns("bajale", {"baja"}) == ["baja"]
    assert without_pronouns("escala", {"baja"}) == ["escala"]
    assert all(tells(one, {"apag"}) for one in ("apago", "apagaron", "apagaba", "apagando"))
    assert not tells("apgaa", {"apag"})  # a typing error


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
        ("ponme el ventilador de la oficina", '{"area": "Office", "domain": ["fan"]}'),
        ("apágalo todo menos la cocina", '"domain": ["light"]'),
    ],
)
async def test_what_people_say(brain: OfflineBrain, text: str, done: str) -> None:
    assert done in (await read(brain, text, "es")).done


@pytest.mark.parametrize(
    "text",
    [
        "no apagues zorblax",
        "no me apague usted el yelmar",
        "nunca enciendas el yelmar",
        "no la enciendas, zorblax ya está encendida",
        "apagué zorblax",
        "encendí zorblax",
        "apagó zorblax",
        "ella apaga zorblax",
        "apagaban zorblax",
        "si hace frío enciende el yelmar",
    ],
)
async def test_what_asks_for_nothing(brain: OfflineBrain, text: str) -> None:
    assert (await read(brain, text, "es")).calls == []
