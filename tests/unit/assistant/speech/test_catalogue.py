"""Tests that every sentence exists in every required language, with the same fields, for a
voice."""

import ast
import re
import string
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import pytest

import assistant
from assistant.domain.brain import FaultKind
from assistant.speech.catalogue import (
    AGREEING,
    LONG_LINES,
    LONG_SECTIONS,
    WHOLE,
    Catalogue,
    Line,
    fields,
    is_short,
)
from assistant.speech.speakable import speakable
from assistant.tools.house.articles import CASES

ALL = Catalogue()
OTHERS = [language for language in ALL.languages() if language != "en"]
SHORT = [language for language in ALL.languages() if language not in WHOLE]
# Fields are filled with a name that every voice says unchanged, or with a plain number.
NUMBERS = {
    "count": "3",
    "day": "21",
    "degrees": "21",
    "high": "30",
    "low": "5",
    "percent": "45",
    "year": "2026",
}


def test_the_languages_are_there() -> None:
    assert set(ALL.languages()) == {"en", "es", "pt", "de", "fr", "vi"}
    assert set(ALL.languages()) >= WHOLE


@pytest.mark.parametrize("language", sorted(WHOLE))
def test_a_whole_language_has_every_line(language: str) -> None:
    assert ALL.keys(language) == ALL.keys("en")


@pytest.mark.parametrize("language", SHORT)
def test_every_other_has_what_a_person_hears_and_nothing_unknown(language: str) -> None:
    due = {key for key in ALL.keys("en") if is_short(key)}
    assert due - ALL.keys(language) == set()
    assert ALL.keys(language) - ALL.keys("en") == set()


def test_what_nobody_hears_is_named_as_it_is() -> None:
    assert ALL.keys("en") >= LONG_LINES
    assert {key.partition(".")[0] for key in ALL.keys("en")} >= LONG_SECTIONS
    heard = {"fault", "confirm", "offline", "ladder", "timers", "policy", "undo", "announce"}
    assert not heard & {key.partition(".")[0] for key in ALL.keys("en") if not is_short(key)}


# "It's still open." German and French have no "it" for every noun, so they repeat the name.
NAMED_AGAIN = frozenset({"watch.still", "watch.now"})


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_the_same_fields(language: str) -> None:
    for key in ALL.keys(language):
        text, english = ALL.text(key, language), ALL.text(key, "en")
        again: Counter[str | None] = Counter({"name": 1} if key in NAMED_AGAIN else {})
        assert _counted(text) - again == _counted(english) - again, key
        ends = {"en": english[-1], language: text[-1]}
        assert len({mark if mark in ".?:" else "" for mark in ends.values()}) == 1, key


@pytest.mark.parametrize("language", SHORT)
def test_a_translation_is_one(language: str) -> None:
    same = {key for key in ALL.keys(language) if ALL.text(key, language) == ALL.text(key, "en")}
    words = {key for key in same if re.search(r"\w", re.sub(r"\{\w+\}", "", ALL.text(key, "en")))}
    assert words <= {
        "offline.month_4",
        "offline.month_8",
        "offline.month_9",
        "offline.month_11",
        "device.microphone",
        "timers.minute_many",
        "states.paused",
    }


@pytest.mark.parametrize("language", ALL.languages())
def test_every_sentence_is_fit_to_be_spoken(language: str) -> None:
    for key in ALL.keys(language):
        text = ALL.text(key, language)
        assert text == text.strip() != "", key
        assert not re.search(r"[_*#`<>\n\d%°€$+/&=]", re.sub(r"\{\w+(:\w+)?\}", "", text)), key
        for _, name, form, conversion in string.Formatter().parse(text):
            agreeing = form in AGREEING.get(language, ())
            assert not form or agreeing or (language == "de" and form in CASES), key
            assert not conversion, key
            assert name is None or name.isidentifier(), key


@pytest.mark.parametrize("language", ALL.languages())
def test_a_line_is_words_for_ears_already(language: str) -> None:
    for key in ALL.keys(language):
        values = {name: NUMBERS.get(name, "Lamp") for name in fields(ALL.text(key, language))}
        said = ALL.say(key, language, **values)
        assert _bare(speakable(said, language)) == _bare(said), key


def _counted(text: str) -> Counter[str | None]:
    """Return how often each field is filled in, apart from words that only agree with it."""
    agreeing = {form for forms in AGREEING.values() for form in forms}
    return Counter(
        name
        for _, name, form, _ in string.Formatter().parse(text)
        if name is not None and form not in agreeing
    )


def _bare(text: str) -> str:
    """Remove what a voice does not say: quotation marks, spaces, the last full stop."""
    return " ".join(re.sub(r"[“”„«»]", "", text).split()).rstrip(".")


@pytest.fixture
def small(tmp_path: Path) -> Catalogue:
    (tmp_path / "en.toml").write_text('[light]\non = "{name} is on."\nonly = "Only here."\n')
    (tmp_path / "es.toml").write_text('[light]\non = "{name} está encendida."\n')
    return Catalogue(tmp_path)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Lamp is on."),
        ("es", "Lamp está encendida."),
        ("es-MX", "Lamp está encendida."),
        ("fr", "Lamp is on."),
    ],
)
def test_a_language_falls_back_to_its_base_then_to_english(
    small: Catalogue, language: str, sentence: str
) -> None:
    assert small.say("light.on", language, name="Lamp") == sentence


@pytest.mark.parametrize(
    ("key", "language", "spoken_in", "own"),
    [
        ("light.on", "en", "en", "en"),
        ("light.on", "en-GB", "en-GB", "en-GB"),
        ("light.on", "es", "es", "es"),
        ("light.on", "es-MX", "es-MX", "es-MX"),
        ("light.only", "es", "en", "es"),
        ("light.only", "es-MX", "en", "es-MX"),
        ("light.on", "fr", "en", "en"),
        ("light.on", "fr-CA", "en", "en"),
    ],
)
def test_a_line_tells_which_language_it_is_in(
    small: Catalogue, key: str, language: str, spoken_in: str, own: str
) -> None:
    text = small.say(key, language, name="Lamp")
    assert small.line(key, language, name="Lamp") == Line(text, spoken_in)
    assert small.own(language) == own


def test_what_is_missing_is_an_error(small: Catalogue) -> None:
    assert small.say("light.only", "es") == "Only here."
    with pytest.raises(KeyError, match=r"light\.off"):
        small.say("light.off", "en")
    with pytest.raises(KeyError, match="name"):
        small.say("light.on", "en")


def test_a_value_with_braces_is_only_text(small: Catalogue) -> None:
    assert small.say("light.on", "en", name="{name.x}") == "{name.x} is on."


def test_a_key_that_is_no_sentence_is_refused(tmp_path: Path) -> None:
    (tmp_path / "en.toml").write_text("[light]\non = 3\n")
    with pytest.raises(TypeError, match=r"light\.on"):
        Catalogue(tmp_path)


# Every key in the code has a sentence, and every sentence is used.


CODE = Path(assistant.__file__).parent
KEYS = Catalogue().keys("en")
SECTIONS = {key.partition(".")[0] for key in KEYS}
# Their keys end in Home Assistant's own words for a state or the weather.
OF_THE_HOME = {"states", "weather"}
_KEY = re.compile(rf"(?:{'|'.join(sorted(SECTIONS))})\.[a-z0-9_-]*[a-z0-9]")
_HOLE = "([a-z0-9_.-]*)"


@dataclass
class Texts:
    """All texts of the code: literal, as patterns with holes, and the words in them."""

    whole: set[str] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    def give(self, key: str) -> bool:
        """Return whether the code has this key, or makes it from words that it has."""
        if key in self.whole:
            return True
        return any(
            all(self._has(part) for part in found.groups())
            for pattern in self.patterns
            if (found := re.fullmatch(pattern, key))
        )

    def _has(self, part: str) -> bool:
        return part in self.whole or all(word in self.words for word in re.split(r"[_.]", part))


def nodes() -> Iterator[ast.AST]:
    for path in sorted(CODE.rglob("*.py")):
        yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def texts() -> Texts:
    found = Texts(words={"", *map(str, range(13))})
    for node in nodes():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.whole.add(node.value)
            found.words |= set(re.findall(r"[a-z0-9-]+", node.value))
        elif isinstance(node, ast.JoinedStr):
            found.patterns.add("".join(map(_pattern, node.values)))
    found.patterns.discard(_HOLE)
    return found


def _pattern(part: ast.expr) -> str:
    """Return a pattern for a piece of an f-string: its literal text, or a hole."""
    if isinstance(part, ast.Constant) and isinstance(part.value, str):
        return re.escape(part.value)
    return _HOLE


def test_every_sentence_is_said_somewhere() -> None:
    code = texts()
    unused = {key for key in KEYS if not code.give(key)}
    assert {key for key in unused if key.partition(".")[0] not in OF_THE_HOME} == set()


def test_a_sentence_that_nobody_says_would_be_found() -> None:
    code = texts()
    assert not code.give("fault.zebra")
    assert not code.give("confirm.ask_zebra")
    assert not code.give("timers.zebra")


def test_every_key_in_the_code_has_its_sentence() -> None:
    """Keys are the literal first arguments of `say`, `line`, `text` and the like."""
    given = {
        node.args[0].value
        for node in nodes()
        if isinstance(node, ast.Call)
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("say", "line", "text", "with_options", "_failed", "_say")
    }
    keys = {text for text in given if _KEY.fullmatch(text)}
    assert len(keys) > 100  # guards against a search that finds nothing
    assert keys - KEYS == set()
    assert {text for text in given if re.fullmatch(r"[a-z]+\.[a-z_]+", text)} - KEYS == set()


# Every failure of a brain has its sentence.


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
