"""Names of things within sentences of ours."""

import pytest

from assistant.speech.catalogue import Catalogue
from assistant.tools.house.names import capitalised, named_thing


@pytest.mark.parametrize(
    ("name", "language", "said"),
    [
        ("Front Door", "en", "the front door"),
        ("front door", "en-GB", "the front door"),
        ("TV lamp", "en", "the TV lamp"),
        ("The cellar", "en", "The cellar"),
        ("my lamp", "en", "my lamp"),
        ("Ana's door", "en", "Ana's door"),
        ("Front Door", "it", "the front door"),  # we have no Italian, and say it in English
        ("Haustür", "de", "Haustür"),
        ("Puerta principal", "es-MX", "Puerta principal"),
        ("Cửa trước", "vi", "Cửa trước"),
    ],
)
def test_english_takes_the_article(name: str, language: str, said: str) -> None:
    assert named_thing(name, Catalogue(), language) == said


def test_a_sentence_begins_with_a_capital_letter() -> None:
    assert capitalised("the TV is on") == "The TV is on"
    assert capitalised("éteint") == "Éteint"
    assert capitalised("") == ""
