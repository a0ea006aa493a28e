"""Whatever the grammar lets through, the parser must understand."""

import random
import re

from assistant.brains.offline.grammar import READINGS, WAKE, is_talk, jsgf, vocabulary
from assistant.brains.offline.names import house_names
from assistant.brains.offline.parse import Parser
from audio.recognize.sphinx import SphinxRecognizer
from tests.corpus.house import corpus_house

SAMPLES = 600


class Sampler:
    """Speaks random sentences of a grammar in JSpeech Grammar Format."""

    def __init__(self, text: str, seed: int) -> None:
        found = re.findall(r"(?:public )?<(\w+)> = (.*?);", text, re.DOTALL)
        self._rules = {
            name: re.findall(r"<\w+>|[()\[\]|]|[^\s()\[\]|<>]+", body) for name, body in found
        }
        self._random = random.Random(seed)

    def sentence(self, rule: str) -> str:
        words, rest = self._choice(self._rules[rule])
        assert rest == []
        return " ".join(words)

    def _choice(self, tokens: list[str]) -> tuple[list[str], list[str]]:
        """One of the alternatives up to a closing bracket, and what follows."""
        alternatives: list[list[str]] = [[]]
        while tokens:
            token, tokens = tokens[0], tokens[1:]
            if token in ")]":
                break
            if token == "|":
                alternatives.append([])
            elif token in "([":
                words, tokens = self._choice(tokens)
                if token == "(" or self._random.random() < 0.5:
                    alternatives[-1].extend(words)
            elif token.startswith("<"):
                alternatives[-1].extend(self.sentence(token[1:-1]).split())
            else:
                alternatives[-1].append(token)
        return self._random.choice(alternatives), tokens


def test_every_sentence_of_the_grammar_is_a_command() -> None:
    names = house_names(corpus_house())
    parser = Parser(names)
    sampler = Sampler(jsgf(names), seed=1)
    sentences = {sampler.sentence("command") for _ in range(SAMPLES)}
    assert len(sentences) > SAMPLES // 3
    assert sorted(text for text in sentences if parser.parse(text, "en") is None) == []


def test_the_recogniser_knows_every_word_of_the_grammar() -> None:
    names = house_names(corpus_house())
    words = re.findall(r"(?<!<)\b[a-z']+\b(?!>)", jsgf(names).partition("<said> =")[2])
    ours = {*READINGS, *vocabulary(names), WAKE}
    assert set(SphinxRecognizer().unknown(words)) <= ours


def test_talk_about_a_command_is_heard_but_not_understood() -> None:
    names = house_names(corpus_house())
    parser = Parser(names)
    sampler = Sampler(jsgf(names), seed=2)
    spoken = {sampler.sentence("said") for _ in range(300)}
    talk = {text.removeprefix(f"{WAKE} ") for text in spoken}
    talk = {text for text in talk if is_talk(text) and not text.startswith("never mind")}
    assert talk
    assert [text for text in talk if parser.parse(text, "en") is not None] == []
