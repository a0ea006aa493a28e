"""Every key in the code has its sentence, and every sentence is said somewhere."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import assistant
from assistant.speech.catalogue import Catalogue

CODE = Path(assistant.__file__).parent
KEYS = Catalogue().keys("en")
SECTIONS = {key.partition(".")[0] for key in KEYS}
# Their keys end in words of Home Assistant's: what a state or the weather is called there.
OF_THE_HOME = {"states", "weather"}
_KEY = re.compile(rf"(?:{'|'.join(sorted(SECTIONS))})\.[a-z0-9_-]*[a-z0-9]")
_HOLE = "([a-z0-9_.-]*)"


@dataclass
class Texts:
    """All texts of the code: as they stand, as patterns with holes, and the words in them."""

    whole: set[str] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)

    def give(self, key: str) -> bool:
        """Whether the code has this key, or makes it from words that it has."""
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
    """A piece of an f-string: its text as it stands, or a hole."""
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
    """Keys are what is given first to `say`, `line`, `text` and the like, as it stands there."""
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
    assert len(keys) > 100  # they are found at all
    assert keys - KEYS == set()
    assert {text for text in given if re.fullmatch(r"[a-z]+\.[a-z_]+", text)} - KEYS == set()
