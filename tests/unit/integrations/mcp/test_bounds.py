"""Limits for a server's output, its retries and its log."""

import json
import logging

import pytest

from integrations.errors import SignInAgain, Unavailable
from integrations.mcp.listing import Hidden
from integrations.mcp.servers import McpResult, McpTool, ServerSpec
from integrations.mcp.transport import (
    MAX_LINE,
    PAUSE_S,
    PROGRAM_PAUSE_S,
    SIGN_IN_PAUSE_S,
    SLOW_PAUSE_S,
    STEADY_S,
    Chatter,
    Pauses,
    secrets_of,
    shown_line,
)
from integrations.mcp.wire import BYTES, MESSAGES, Allowance, Flow

PROGRAM = ServerSpec(
    "p",
    "stdio",
    command="x",
    args=("--api-key=in-an-argument", "-y"),
    env={"KEY": "in-the-environment", "DEBUG": "1"},
    headers={"X": "in-a-header"},
)
FAR = ServerSpec("f", "http", url="http://127.0.0.1:9")
PROBLEM = Unavailable("x")


def test_an_allowance_fills_with_time_and_never_over() -> None:
    allowance = Allowance(10, 2)
    assert [allowance.take(4, 0.0) for _ in range(3)] == [True, True, False]
    assert not allowance.take(4, 0.5)
    assert allowance.take(4, 1.0)
    assert not allowance.take(11, 1000.0)
    assert allowance.take(10, 1000.0)


def test_a_flow_is_bounded_in_bytes_and_in_messages() -> None:
    assert Flow().take(b"x" * BYTES[0], 0.0)
    assert not Flow().take(b"x" * (BYTES[0] + 1), 0.0)
    assert Flow().take(b"\n" * MESSAGES[0], 0.0)
    assert not Flow().take(b"\n" * (MESSAGES[0] + 1), 0.0)


class TestPauses:
    def test_failed_openings_wait_longer_and_longer(self) -> None:
        for spec, (low, high) in ((FAR, PAUSE_S), (PROGRAM, PROGRAM_PAUSE_S)):
            pauses, waited = Pauses(spec), []
            for _ in range(40):
                pauses.failed(PROBLEM, 0.0, 100.0)
                waited.append(pauses.not_before_s - 100.0)
            assert waited[:3] == [low, 2 * low, 4 * low]
            assert waited[-1] == high

    def test_whoever_made_wait_is_waited_for_less_often(self) -> None:
        pauses = Pauses(FAR)
        pauses.failed(PROBLEM, 30.0, 100.0)
        assert pauses.not_before_s == 100.0 + SLOW_PAUSE_S

    def test_a_server_that_opens_begins_afresh(self) -> None:
        pauses = Pauses(FAR)
        pauses.failed(PROBLEM, 0.0, 0.0)
        pauses.failed(PROBLEM, 0.0, 0.0)
        pauses.opened(1.0)
        pauses.ended(PROBLEM, 2.0)
        pauses.failed(PROBLEM, 0.0, 100.0)
        assert pauses.not_before_s == 100.0 + PAUSE_S[0]

    def test_a_program_that_ends_is_started_at_once_and_then_less_often(self) -> None:
        pauses, waited = Pauses(PROGRAM), []
        for _ in range(4):
            pauses.opened(100.0)
            pauses.ended(PROBLEM, 101.0)
            waited.append(max(0.0, pauses.not_before_s - 101.0))
        assert waited == [0.0, 0.5, 1.0, 2.0]

    def test_a_program_that_ran_long_begins_afresh(self) -> None:
        pauses = Pauses(PROGRAM)
        for _ in range(5):
            pauses.opened(0.0)
            pauses.ended(PROBLEM, 1.0)
        pauses.opened(50.0)
        pauses.ended(PROBLEM, 50.0 + STEADY_S)
        assert pauses.not_before_s < 50.0 + STEADY_S

    def test_a_session_that_was_left_is_no_failure(self) -> None:
        pauses = Pauses(PROGRAM)
        for _ in range(5):
            pauses.opened(0.0)
            pauses.ended(None, 1.0)
        assert pauses.not_before_s == 0.0

    def test_a_refused_credential_is_tried_seldom(self) -> None:
        for spec in (FAR, PROGRAM):
            pauses = Pauses(spec)
            pauses.failed(SignInAgain("x"), 0.0, 10.0)
            assert pauses.not_before_s == 10.0 + SIGN_IN_PAUSE_S
        pauses = Pauses(FAR)
        pauses.ended(SignInAgain("x"), 10.0)
        assert pauses.not_before_s == 10.0 + SIGN_IN_PAUSE_S


class TestChatter:
    def test_secrets_of_a_server(self) -> None:
        assert set(secrets_of(PROGRAM)) == {
            "in-the-environment",
            "in-a-header",
            "in-an-argument",
            "--api-key=in-an-argument",
        }

    @pytest.mark.parametrize(
        ("said", "shown"),
        [
            ("key in-the-environment!", "key ***!"),
            ("--api-key=in-an-argument", "***"),
            ("a\x1b[31mb\u202ec\td ", "a\x1b[31mb\u202ec\td"),
            ("x" * 1000, "x" * MAX_LINE),
            ("y" * (MAX_LINE - 2) + "in-the-environment", "y" * (MAX_LINE - 2) + "**"),
            ("", ""),
        ],
    )
    def test_a_line_is_starred_and_cut(self, said: str, shown: str) -> None:
        assert shown_line(said, secrets_of(PROGRAM)) == shown

    def test_lines_in_pieces(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG, logger="integrations.mcp.transport")
        chatter = Chatter(PROGRAM)
        for piece in (b"one in-the-env", b"ironment\ntwo \xff", b"\n\n", b"z" * 10_000_000, b"end"):
            chatter.feed(piece)
        chatter.end()
        chatter.end()
        lines = [record.getMessage() for record in caplog.records]
        assert lines[:2] == ["p: one ***", "p: two \N{REPLACEMENT CHARACTER}"]
        assert lines[2:] == ["p: " + "z" * MAX_LINE]
        assert {record.levelno for record in caplog.records} == {logging.DEBUG}


# Names of tools in `allow` and `deny` may have wildcards.


@pytest.mark.parametrize(
    ("patterns", "name", "meant"),
    [
        (("write_file",), "write_file", True),
        (("write_file",), "write_files", False),
        (("write_*",), "write_file", True),
        (("write_*",), "overwrite_file", False),
        (("*file",), "write_file", True),
        (("get_?",), "get_a", True),
        (("get_?",), "get_ab", False),
        (("*",), "anything", True),
        (("list", "read*"), "read_text", True),
        (("a[b]",), "a[b]", True),
        (("a[b]",), "ab", False),
        ((), "anything", False),
    ],
)
def test_which_tools_are_meant(patterns: tuple[str, ...], name: str, meant: bool) -> None:
    spec = ServerSpec("x", "stdio", allow=patterns, deny=patterns)
    assert (spec.allows(name), spec.denies(name)) == (meant, meant)


def test_capitals_hide_no_tool_and_free_none() -> None:
    spec = ServerSpec("x", "stdio", allow=("read_*",), deny=("delete_*",))
    assert spec.denies("Delete_All")
    assert not spec.allows("Read_all")


# A server's texts lose its secrets and are otherwise unchanged.


KEY = "k3y-'of'-\"the\"-vault"
SPEC = ServerSpec(
    "vault",
    "http",
    url="https://someone:passw0rd-far@127.0.0.1/mcp?key=in-the-address&page=2",
    headers={"Authorization": "Bearer t0ken-of-far", "X-Mode": "true"},
    env={"KEY": KEY, "MODE": "on", "FOLDER": "/home/somebody/vault"},
)
HIDDEN = Hidden(SPEC)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f"KEY={KEY}!", "KEY=***!"),
        (str({"KEY": KEY}), "{'KEY': '***'}"),
        (json.dumps({"KEY": KEY}), '{"KEY": "***"}'),
        ("authorization: Bearer t0ken-of-far", "authorization: ***"),
        ("the token t0ken-of-far is old", "the token *** is old"),
        ("GET /mcp?key=in-the-address&page=2", "GET /mcp?key=***&page=2"),
        ("someone:passw0rd-far@127.0.0.1", "someone:***@127.0.0.1"),
        ("it is true that /home/somebody/vault/a.md is on", None),
        ("", None),
    ],
)
def test_texts(said: str, told: str | None) -> None:
    assert HIDDEN.text(said) == (said if told is None else told)
    assert HIDDEN.result(McpResult(said, True)) == McpResult(said if told is None else told, True)


def test_what_is_told_of_a_tool() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": ["x", KEY], "default": 3}}}
    tool = McpTool("vault", "t", f"T {KEY}", f"Uses {KEY}.", schema, read_only=True)
    hidden = HIDDEN.tool(tool)
    assert (hidden.title, hidden.description, hidden.name) == ("T ***", "Uses ***.", "t")
    assert hidden.input_schema["properties"]["a"] == {"enum": ["x", "***"], "default": 3}
    plain = McpTool("vault", "t", "T", "Does it.", {"type": "object"}, read_only=True)
    assert HIDDEN.tool(plain) == plain
