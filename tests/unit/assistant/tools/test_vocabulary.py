"""How words are found in names and sentences, whatever language they are in."""

from collections.abc import Iterator

import pytest

from assistant.tools import vocabulary
from assistant.tools.vocabulary import LANGUAGES, entries, fold, mentions, without

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
        ("x\u0301y gate", "x\u0301y gate"),  # a mark that no letter has is left alone
    ],
)
def test_without(text: str, left: str) -> None:
    assert without("gates", text) == left


def test_fold() -> None:
    assert fold("  Ärger_mit  Đèn-Groß! ") == "arger mit den gross"
    assert fold("Đèn Ngủ", marks=True) == "đèn ngủ"


def test_every_language_has_the_same_topics() -> None:
    topics = {language: set(vocabulary._table(language)) for language in LANGUAGES}
    assert all(found == topics["en"] for found in topics.values())


@pytest.mark.parametrize("text", ["Kühlschrank", "Kuhlschrank", "Kuehlschrank", "KUEHLSCHRANK 2"])
def test_german_words_are_known_without_umlauts_too(text: str) -> None:
    assert mentions("keeps_running", text)
