"""Tests of asking other converters: over google-genai's wire, in a separate process."""

import gc
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from google.genai import live

from tests.benchmarks import converters, declarations, schema_comparison
from tests.benchmarks.converters import PEERS, Ours, running
from tests.benchmarks.peers._converters import Reports, Session, declared, genai
from tests.benchmarks.peers.environment import PeerMissing
from tests.benchmarks.report import conversion
from tests.benchmarks.schema_comparison import Column, Comparison, compare
from tests.benchmarks.schema_corpus import cases
from tests.benchmarks.schema_document import cell, document
from tests.benchmarks.schema_judge import Judged, Verdict

TOOL = {
    "name": "dim",
    "description": "Dims",
    "inputSchema": {"type": "object", "properties": {"step": {"type": "integer"}}},
}
GENAI = replace(PEERS[-1], version=version("google-genai"))  # the one that is here


def quiet(_: str) -> None:
    """Nobody listens."""


async def test_what_is_declared_is_what_google_genai_sends() -> None:
    answer = await declared(genai(), Session(), Reports(), TOOL)
    assert answer["declaration"]["name"] == "dim"
    assert answer["declaration"]["parameters"]["properties"]["step"] == {"type": "INTEGER"}


async def test_nobody_elses_sockets_are_touched() -> None:
    before = vars(live)["ws_connect"]
    await Session().sent([])
    assert vars(live)["ws_connect"] is before
    with pytest.raises(AttributeError):
        await Session().sent([5])
    assert vars(live)["ws_connect"] is before


async def test_what_a_converter_raises_is_the_answer() -> None:
    closed = {**TOOL, "inputSchema": {"type": "object", "additionalProperties": False}}
    answer = await declared(genai(), Session(), Reports(), closed)
    assert answer["error"].startswith("AttributeError: ")


async def test_a_peer_answers_from_its_own_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converters, "python_of", lambda *_: Path(sys.executable))
    some = [case for case in cases() if case.name in ("turn-on", "play", "doorbell")]
    async with running(GENAI, quiet) as theirs:
        made = await theirs.converted(some)
        assert [one.declaration.get("name") for one in made] == [case.tool for case in some]
        assert await theirs.ms([case.listed() for case in some]) > 0
        assert theirs.versions["google-genai"] == GENAI.version


@pytest.mark.parametrize(
    ("package", "other", "words"),
    [("nothing", "1", "KeyError: 'nothing'"), ("google-genai", "0.1", "there is ")],
)
async def test_a_peer_that_is_not_as_it_should_be(
    monkeypatch: pytest.MonkeyPatch, package: str, other: str, words: str
) -> None:
    monkeypatch.setattr(converters, "python_of", lambda *_: Path(sys.executable))
    with pytest.raises(PeerMissing, match=words):
        async with running(replace(GENAI, package=package, version=other), quiet) as theirs:
            await theirs.converted(cases()[:1])


async def test_without_peers_ours_is_compared_with_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any) -> Path:
        raise PeerMissing("it is not there")

    monkeypatch.setattr(converters, "python_of", missing)
    found = await compare(1, quiet, sizes=(4,))
    assert [column.title for column in found.columns] == ["Hearth"]
    assert set(found.missing.values()) == {"it is not there"}
    assert len(found.ms[4]["Hearth"]) == 1
    peer = PEERS[-1]
    assert f"| {peer.package} {peer.version} | it is not there |" in document(found, "2026-11-23")


async def test_ours_needs_some_time() -> None:
    ours, tools = Ours(), [TOOL] * 50
    gc.collect()
    gc.disable()  # one that falls into the smaller part would be most of it
    try:
        assert await ours.ms(tools) > ours.own_ms(tools) > 0
    finally:
        gc.enable()


def test_the_document_has_every_tool_and_every_reason() -> None:
    two = tuple(cases()[:2])
    right = (Judged(Verdict.RIGHT), Judged(Verdict.RIGHT))
    bad = (
        Judged(Verdict.CRASH, "KeyError: `x`"),
        Judged(Verdict.LOSS, "missing in the declaration: b"),
    )
    columns = (Column("Hearth", right, 1), Column("peer 1.0", bad))
    written = document(Comparison(two, columns, {}, {}, {}), "2026-11-23")
    assert "| Hearth | 0 | 0 | 0 | 2 | 1 |" in written
    assert "| peer 1.0 | 1 | 0 | 1 | 0 | 0 |" in written
    assert f"| {two[0].name} | ✓ | crash |" in written
    assert f"- {two[1].name}\n  - peer: `missing in the declaration: b`" in written
    assert "  - peer: `` KeyError: `x` ``" in written


def test_a_long_reason_is_cut() -> None:
    assert len(cell("x" * 500)) == 162
    assert schema_comparison.SIZES == (16, 50, 500, 1_000)


def test_the_report_sets_ours_beside_each_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    two = tuple(cases()[:2])
    ours = Column("Hearth", (Judged(Verdict.RIGHT), Judged(Verdict.RIGHT)))
    peer = Column("peer 1.0", (Judged(Verdict.CRASH, "a"), Judged(Verdict.WRONG, "b")))
    ms: dict[int, dict[str, tuple[float, ...]]] = {
        16: {"Hearth": (2.0, 3.0), "peer 1.0": (1.0, 1.0)}
    }

    async def found(*_: Any) -> Comparison:
        return Comparison(two, (ours, peer), {"away 2.0": "no wheel"}, ms, {16: 0.5})

    monkeypatch.setattr(conversion, "compare", found)
    monkeypatch.setattr(declarations, "COUNT", 8)
    part = conversion.part()
    lines = {(line.subject, line.peer): line for line in part.lines}
    crash = lines['tools with the result "crash"', "peer 1.0"]
    assert (crash.ours.p50, crash.most) == (0, 0)
    assert crash.theirs is not None
    assert crash.theirs.p50 == 1
    slower = lines["declaring 16 tools", "peer 1.0"]
    assert slower.ratio == 2.5
    assert slower.remark.startswith("Hearth's own code,")
    assert "takes 0.5 ms of this" in slower.remark
    assert "the peer crashes on 1 tools and converts 1 wrongly" in slower.remark
    assert ("away 2.0", "no wheel", "", "", "", "") in part.tables[0].rows
