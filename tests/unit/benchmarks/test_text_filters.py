"""Tests of the comparison of text filters, also without an available peer."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.benchmarks.filter_document import code, document
from tests.benchmarks.filter_lines import Column, Line, by_ear, read_lines, theirs
from tests.benchmarks.filter_peers import PEERS, Answer, Peer, ask
from tests.benchmarks.peers.environment import PeerMissing
from tests.benchmarks.report import filters
from tests.benchmarks.report.line import Measured, Verdict

PEER = Peer("peer", "1.0", "filter(text)", "markup", frozenset({"en"}))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("At six  five a.m.", "at six five AM"),
        ("Done!", "done"),
        ("The H V A C is off", "the HVAC is off."),
        ("one hundred and two watts", "one hundred two watts"),
        ("twenty one percent", "twenty-one percent"),
        ("12 lamps", "twelve lamps"),
        ("Lamp: off\nDoor: open", "Lamp: off. Door: open"),
        ('the "hall" (left)', "the hall, left"),
    ],
)
def test_what_nobody_hears_is_no_difference(said: str, expected: str) -> None:
    assert by_ear(said) == by_ear(expected)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("six:five AM", "six five AM"),
        ("-five degrees", "minus five degrees"),
        ("twenty-one°C", "twenty-one degrees Celsius"),
        ("light.kitchen is on", "kitchen is on"),
        ("the **lamp**", "the lamp"),
        ("on 💡", "on"),
        ("one/two cup", "one half cup"),
    ],
)
def test_what_is_heard_is_one(said: str, expected: str) -> None:
    assert by_ear(said) != by_ear(expected)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("a *b*", "`a *b*`"),
        ("| a |\n|---|", "`\\| a \\| ⏎ \\|---\\|`"),
        ("`light.hall` is on", "`` `light.hall` is on ``"),
        ("a `` b ` c", "```a `` b ` c```"),
        (" \n", "(nothing)"),
    ],
)
def test_a_cell_shows_the_text_to_the_letter(text: str, cell: str) -> None:
    assert code(text) == cell


LINES = [
    Line("prompt", "en", "**On**", "On"),
    Line("common answer", "en", "5%", "five percent"),
    Line("common answer", "es", "**Sí**", "Sí"),
]


def test_the_document_counts_and_says_what_nobody_claims() -> None:
    ours = Column("Hearth", "", ("On", "five percent", "Sí"), (True, True, True))
    peer = theirs("peer", Answer("1.0", ["on", "5%", "**Sí**"], [1.0]), LINES)
    assert peer.right == (True, False, False)
    assert (ours.clean(), peer.clean()) == (3, 2)
    written = document(LINES, [ours, peer], [PEER], "2026-11-22")
    assert "| Hearth | 2 | 1 | 3 |" in written
    assert "| peer 1.0 | 1 | 0 (not made for it) | 2 |" in written
    assert "| prompt, en | `**On**` | On | ✓ | ✓ `on` |" in written
    assert "| common answer, en | `5%` | five percent | ✓ | ✗ `5%` |" in written
    assert "| `**Sí**` | Sí | ✓ | (not made for it) `**Sí**` |" in written
    assert "Of these 3 lines, 1 come from" in written


class Commands:
    """A replacement for the machine that records commands, and answers with what is set."""

    def __init__(self, version: str = "1.0", fails_at: str = "") -> None:
        self.seen: list[Sequence[str]] = []
        self._version = version
        self._fails_at = fails_at

    def __call__(self, command: Sequence[str], text: str) -> str:
        self.seen.append(command)
        if self._fails_at and self._fails_at in command:
            raise subprocess.CalledProcessError(1, command, stderr="warning\nno such package\n")
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True, exist_ok=True)
        if "-I" not in command:
            return ""
        spoken = [written.upper() for written in json.loads(text)]
        answer = {"version": self._version, "spoken": spoken, "ms": [2.0] * int(command[-1])}
        return f"a banner\n{json.dumps(answer)}\n"


def test_a_peer_is_installed_once(tmp_path: Path) -> None:
    commands = Commands()
    said: list[str] = []
    first = ask(PEER, ["a"], said.append, commands, tmp_path)
    assert first == Answer("1.0", ["A"], [2.0])
    again = ask(PEER, ["b"], said.append, commands, tmp_path, passes=3)
    assert again == Answer("1.0", ["B"], [2.0] * 3)
    assert [command[-1] for command in commands.seen] == [
        str(tmp_path / "filters-peer-1.0"), "peer==1.0", "1", "3",
    ]  # fmt: skip
    assert len(said) == 1


def test_a_broken_installation_is_made_anew(tmp_path: Path) -> None:
    with pytest.raises(PeerMissing, match=r"^filters-peer-1\.0: no such package$"):
        ask(PEER, ["a"], print, Commands(fails_at="pip"), tmp_path)
    commands = Commands()
    ask(PEER, ["a"], print, commands, tmp_path)
    assert len(commands.seen) == 3


def test_a_peer_of_another_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PeerMissing, match="another answer"):
        ask(PEER, ["a"], print, Commands(version="2.0"), tmp_path)


def test_a_filter_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(PeerMissing, match="no such package"):
        ask(PEER, ["a"], print, Commands(fails_at="-I"), tmp_path)


def test_the_report_has_the_peers_that_there_are_and_names_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = read_lines()
    there, away = PEERS

    def asked(peer: Peer, texts: Sequence[str], *_: object, passes: int) -> Answer:
        if peer is away:
            raise PeerMissing(f"{peer.title}: no wheel")
        return Answer(peer.version, [line.expected for line in lines], [0.001] * passes)

    monkeypatch.setattr(filters, "ask", asked)
    monkeypatch.setattr(filters, "how_many", lambda *_: 1)
    part = filters.part()
    wrong, cost = part.lines
    assert (wrong.peer, wrong.ours.p50, wrong.verdict) == (there.title, 0, Verdict.KEPT)
    assert cost.theirs == Measured((0.001,) * filters.ROUNDS, "ms of CPU")
    assert f"The peer speaks {len(lines)} of {len(lines)} lines correctly." in cost.remark
    assert f"{away.title}: no wheel is missing." in part.text
    assert list(part.versions) == [there.package]


def test_without_peers_ours_stands_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(peer: Peer, *_: object, **__: object) -> Answer:
        raise PeerMissing(peer.title)

    monkeypatch.setattr(filters, "ask", missing)
    monkeypatch.setattr(filters, "how_many", lambda *_: 1)
    assert [line.theirs for line in filters.part().lines] == [None, None]
