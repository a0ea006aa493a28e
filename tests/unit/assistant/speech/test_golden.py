"""Tests of the golden corpus: written text, and what a good reader would say."""

import re
from pathlib import Path

import pytest

from assistant.speech.clauses import ClauseCutter
from assistant.speech.identify import TurnLanguage, languages_of
from assistant.speech.speakable import speakable

FOLDER = Path(__file__).with_name("golden")
LANGUAGES = ("en", "es")  # languages of the mixed rows


def rows(name: str) -> list[list[str]]:
    """Return topic, language, as written, as spoken. Escapes: a line break and characters by
    number."""
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    found = [line.split("\t") for line in lines]
    for row in found:
        row[2] = row[2].replace("\\n", "\n")
        row[2] = re.sub(r"\\u([0-9a-f]{4})", lambda sign: chr(int(sign[1], 16)), row[2])
    return found


PLAIN = [*rows("en.tsv"), *rows("es.tsv"), *rows("others.tsv")]
MIXED = rows("mixed.tsv")


def test_the_corpus_is_what_it_claims() -> None:
    every = [*PLAIN, *MIXED]
    assert len(every) >= 400
    assert sum(topic == "home" for topic, *_ in every) >= len(every) / 2
    assert len(MIXED) >= 60
    assert len({(language, written) for _, language, written, _ in every}) == len(every)


@pytest.mark.parametrize(("_topic", "language", "written", "spoken"), PLAIN)
def test_golden(_topic: str, language: str, written: str, spoken: str) -> None:
    assert speakable(written, language) == spoken


@pytest.mark.parametrize(("_topic", "known", "written", "spoken"), MIXED)
def test_each_clause_has_its_language(_topic: str, known: str, written: str, spoken: str) -> None:
    turn = TurnLanguage(languages_of(LANGUAGES))
    if known != "-":
        turn.heard("", known)
    cutter = ClauseCutter()
    said = []
    for clause in [*cutter.push(written), *cutter.flush()]:
        language = turn.now(clause)
        said.append(f"[{language}] {speakable(clause, language)}")
    assert " | ".join(said) == spoken
