"""Tests of finding words in names and sentences, in any language."""

from collections.abc import Iterator

import pytest

from assistant.domain.tool_call import Tier
from assistant.tools import vocabulary
from assistant.tools.house.intents import Action
from assistant.tools.policy.risk import weigh
from assistant.tools.policy.words import wants_open
from assistant.tools.vocabulary import LANGUAGES, entries, fold, mentions, without
from assistant.tools.vocabulary.exceptions import exception_last
from integrations.home_assistant.house import Entity, House

TABLES = {
    "de": {"gates": ["*tor", "tür*", "*klappe", "*lür!"]},
    "en": {"gates": ["gate", "front door"]},
    "es": {"gates": ["portón"]},
    "fr": {"gates": []},
    "pt": {"gates": []},
    "vi": {"gates": ["cổng"]},
}


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(vocabulary, "_table", TABLES.__getitem__)
    _forget()
    yield
    _forget()


def _forget() -> None:
    caches = (vocabulary.entries, vocabulary._patterns, vocabulary._mentions, vocabulary.without)
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    "text",
    [
        "Hofstor",
        "TOR",
        "Türöffner",
        "turoffner",
        "the gate",
        "switch.front_door_relay",
        "Portón",
        "porton",
        "Cổng sau",
    ],
)
def test_found_in(text: str) -> None:
    assert mentions("gates", text)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    "text", ["", "Torte", "Gates", "aggregate", "front left door", "Công tắc", "kitchen"]
)
def test_not_found_in(text: str) -> None:
    assert not mentions("gates", text)


@pytest.mark.usefixtures("tables")
def test_any_text_counts() -> None:
    assert mentions("gates", "Relay 4", "Gate")


@pytest.mark.usefixtures("tables")
def test_unknown_topic() -> None:
    with pytest.raises(KeyError):
        entries("nonsense", "en")


@pytest.mark.usefixtures("tables")
def test_an_entry_with_an_exclamation_mark_keeps_its_marks() -> None:
    assert mentions("gates", "Haustlür")
    assert not mentions("gates", "Haustlur")


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Old front_door Relay", "old relay"),
        ("Cổng sau", "sau"),
        ("Công tắc", "công tắc"),
        ("Ofenklappe Küche gate", "küche"),
        ("Kitchen", "kitchen"),
        ("x\u0301y gate", "x\u0301y gate"),  # a mark that belongs to no letter is kept
    ],
)
def test_without(text: str, left: str) -> None:
    assert without("gates", text) == left


def test_fold() -> None:
    assert fold("  Ärger_mit  Đèn-Groß! ") == "arger mit den gross"
    assert fold("Đèn Ngủ", marks=True) == "đèn ngủ"


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ("Except for the hall, all lights off", "all lights off Except for the hall"),
        (
            "leave the hall light on but turn off the rest",
            "turn off the rest except the hall light",
        ),
        ("turn everything off and keep the hall on", "turn everything off except the hall"),
        ("deja la cocina encendida y apaga el resto", "apaga el resto excepto la cocina"),
        ("lass die Küche an, und alles andere aus", "alles andere aus außer die Küche"),
        ("turn off the hall and leave the rest", "turn off the hall"),
        ("leave the hall on", "leave the hall on"),
        (
            "turn off the hall and leave the kitchen on",
            "turn off the hall and leave the kitchen on",
        ),
        ("I'm leaving, turn off the rest", "I'm leaving, turn off the rest"),
    ],
)
def test_an_exception_goes_to_the_end(said: str, last: str) -> None:
    assert exception_last(said) == last


def test_every_language_has_the_same_topics() -> None:
    topics = {language: set(vocabulary._table(language)) for language in LANGUAGES}
    assert all(found == topics["en"] for found in topics.values())


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("abre la verja", True),
        ("abrir el portón", True),
        ("abra a janela", True),
        ("destrava a porta", True),
        ("pon una alarma el 3 de abril", False),
        ("põe um alarme para 3 de abril", False),
        ("manda um abraço", False),
        ("sube la calefacción al abrigo del viento", False),
    ],
)
def test_words_that_only_begin_like_opening_ask_for_none(text: str, opens: bool) -> None:
    assert wants_open(text) is opens


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("Trava elétrica", True),
        ("Trava infantil", False),
        ("Grille d'entrée", True),
        ("Grille-pain", False),
        ("Porte-serviettes", False),
        ("Porte d'entrée", True),
        ("Riegel Haustür", True),
        ("Abridor de puerta", True),
        ("Abridor de garagem", True),
        ("Plafonnier porte d'entrée", False),
        ("Holofote do portão", False),
    ],
)
def test_names_of_relays_that_let_somebody_in(name: str, asked: bool) -> None:
    relay = Entity("switch.x", name, "off")
    tier = weigh("switch.x", Action.ON, {}, House(entities={"switch.x": relay}), {}).tier
    assert (tier is Tier.SECURE) is asked


@pytest.mark.parametrize("name", ["Tủ lạnh", "switch.tu_lanh", "switch.may_chu", "Bể cá"])
def test_things_that_must_run_are_known_without_their_marks(name: str) -> None:
    assert mentions("keeps_running", name)


def test_a_screen_is_no_blind() -> None:
    assert not mentions("asked_blinds", "màn hình phòng khách")
    assert mentions("asked_blinds", "màn cửa phòng khách")


@pytest.mark.parametrize("text", ["Kühlschrank", "Kuhlschrank", "Kuehlschrank", "KUEHLSCHRANK 2"])
def test_german_words_are_known_without_umlauts_too(text: str) -> None:
    assert mentions("keeps_running", text)
