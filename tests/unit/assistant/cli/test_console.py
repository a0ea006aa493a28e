"""Tests of the console's output and of a person at a keyboard, on a pseudo-terminal."""

import json
import os
import pty
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pytest
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from assistant.cli.console import Keyboard, Terminal, keyboard, stacked, worded
from assistant.cli.terminal import say, say_json
from tests.unit.assistant.cli.hostile import EVIL, printed

QUESTION = "Unlock the front door?"


@dataclass(frozen=True)
class Desk:
    """A pseudo-terminal."""

    hand: int  # what a person types is written here, and what is shown is read
    screen: TextIO

    def shown(self) -> str:
        return os.read(self.hand, 4096).decode()

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.hand)[3] & termios.ECHO)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    master, slave = pty.openpty()
    with (
        os.fdopen(slave, encoding="utf-8") as stdin,
        os.fdopen(slave, "w", closefd=False, encoding="utf-8") as screen,
    ):
        monkeypatch.setattr(sys, "stdin", stdin)
        yield Desk(master, screen)
    os.close(master)


class Asking(Keyboard):
    """Types `keys` as soon as the question is shown."""

    def __init__(self, desk: Desk, keys: bytes = b"", wait_s: float = 5.0) -> None:
        super().__init__(wait_s)
        self.echoed: bool | None = None  # while they typed
        self._console.file = Screen(desk, keys, self)  # type: ignore[assignment]


class Screen:
    """Standard error, as the question sees it."""

    def __init__(self, desk: Desk, keys: bytes, asking: Asking) -> None:
        self._desk = desk
        self._keys = keys
        self._asking = asking

    def write(self, text: str) -> int:
        self._desk.screen.write(text)
        self.flush()
        if QUESTION in text:
            self._asking.echoed = self._desk.echoes
            os.write(self._desk.hand, self._keys)
        return len(text)

    def flush(self) -> None:
        self._desk.screen.flush()


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (b"yes\n", "yes"),
        (b" yes, please \n", "yes, please"),
        ("sí\n".encode(), "sí"),
        (b"\n", None),
        (b"   \n", None),
        (b"\x04", None),
        (b"yes\x04", "yes"),  # without a line's end, which nothing may wait for
        (b"yes\nno\n", "yes"),
        (b"\xff\xfe\n", "\ufffd\ufffd"),
    ],
)
async def test_a_line_is_an_answer(desk: Desk, keys: bytes, line: str | None) -> None:
    assert await Asking(desk, keys).ask(QUESTION, hidden=False) == line


async def test_nothing_in_time(desk: Desk) -> None:
    assert await Asking(desk, wait_s=0.01).ask(QUESTION, hidden=False) is None


async def test_what_is_typed_before_the_question_is_no_answer(desk: Desk) -> None:
    os.write(desk.hand, b"yes\n")
    assert await Asking(desk, b"no\n").ask(QUESTION, hidden=False) == "no"


async def test_a_pin_is_not_shown(desk: Desk) -> None:
    asked = Asking(desk, b"1234\n")
    assert await asked.ask(QUESTION, hidden=True) == "1234"
    assert asked.echoed is False, "somebody may type as soon as the question is there"
    assert "1234" not in desk.shown()
    assert desk.echoes


async def test_the_terminal_shows_again_after_a_pin_that_never_came(desk: Desk) -> None:
    assert await Asking(desk, wait_s=0.01).ask(QUESTION, hidden=True) is None
    assert desk.echoes


async def test_a_yes_is_shown(desk: Desk) -> None:
    asked = Asking(desk, b"yes\n")
    await asked.ask(QUESTION, hidden=False)
    assert asked.echoed
    assert "yes\r\n" in desk.shown()


def test_who_is_at_a_terminal(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", desk.screen)
    assert keyboard() is not None
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert keyboard() is None


def _table(*cells: RenderableType) -> Table:
    table = Table()
    table.add_row(*cells)
    return table


@pytest.mark.parametrize(
    "drawn",
    [
        EVIL,
        Text(EVIL, style="red"),
        _table(EVIL, Text(EVIL)),
        stacked(EVIL, Text(EVIL)),
        _table(stacked(EVIL)),
        worded("[red]{name}[/] and {name}", name=EVIL),
    ],
    ids=["str", "text", "table", "lines", "lines in a table", "our words"],
)
def test_whatever_is_drawn(
    drawn: RenderableType,
    colours: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    Terminal().print(drawn)
    Terminal(stderr=True, style="dim").print(drawn, style="bold")
    printed(capsys)


def test_our_own_words_keep_their_colours_and_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "2000"}.items():
        monkeypatch.setenv(name, value)
    terminal = Terminal()
    terminal.tell("[red]wrong[/] {name} [bold]{count}[/]", name="Küche ❤️ °", count=3)
    assert capsys.readouterr().out == ("\x1b[31mwrong\x1b[0m Küche ❤️ ° \x1b[1m3\x1b[0m\n")
    inner = Text("a\x1bb", spans=[*Text("a\x1bb", "").spans])
    inner.stylize("green", 2, 3)  # behind what gets longer
    terminal.tell("[bold]{inner}[/]", inner=inner)
    assert capsys.readouterr().out == "\x1b[1ma\\x1b\x1b[0m\x1b[1;32mb\x1b[0m\n"
    say("one", "two")
    say()
    assert capsys.readouterr().out == "one\ntwo\n"
    say("three", error=True)
    assert capsys.readouterr().err == "three\n"


def test_json_means_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    value = {EVIL: [EVIL, "Küche 🙂 ❤️", 1.5, None]}
    say_json(value)
    written = capsys.readouterr().out
    assert json.loads(written) == value
    assert "Küche 🙂 ❤️" in written
    assert [one for one in ("\\u202e", "\\u007f", "\\udb40\\udc41") if one not in written] == []
