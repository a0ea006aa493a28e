"""Whatever a brain fails of has its sentence."""

from typing import get_args

import pytest

from assistant.domain.brain import FaultKind
from assistant.speech.catalogue import Catalogue

ALL = Catalogue()


@pytest.mark.parametrize("language", ALL.languages())
@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_each_kind_of_fault_is_one_or_two_sentences_without_fields(
    kind: str, language: str
) -> None:
    assert f"fault.{kind}" in ALL.keys(language)
    sentence = ALL.say(f"fault.{kind}", language)
    assert sentence.endswith(".")
    assert sentence.count(".") <= 2


@pytest.mark.parametrize("language", ALL.languages())
def test_a_missing_key_says_where_to_get_one_and_where_it_goes(language: str) -> None:
    sentence = ALL.say("fault.sign_in", language)
    assert "Google AI Studio" in sentence
    assert "Gemini" in sentence.rpartition("Studio")[2]
