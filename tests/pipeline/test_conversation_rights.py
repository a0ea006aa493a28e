"""Tests that a program's model learns no more about people than its token may read.

What people have said is in memory, in timers, in the last answer and in the journal.
"""

from pathlib import Path
from typing import Any

import pytest

from assistant.domain.records import MemoryRecord, TimerRecord
from integrations.web.box import Scope
from tests.pipeline.conversations_rig import Box, box, gemini
from tests.pipeline.gemini_rig import OFFLINE, ONCE

FACT = "The key lies under the gnome"
ONCE_ONLY = {"brain": {"order": [ONCE, OFFLINE]}}


async def remember(home: Box) -> None:
    now = home.on.clock.now()
    await home.on.app.home.store.memory.keep(MemoryRecord("m1", FACT, now))


@pytest.mark.parametrize("order", [{}, ONCE_ONLY])
@pytest.mark.parametrize(
    ("by", "scopes", "turns", "told"),
    [
        ("http", ("ask",), True, False),
        ("http", ("ask", "speak"), True, False),
        ("http", ("ask", "read"), False, True),
        ("http", ("admin",), False, True),
        ("mcp", ("ask",), True, False),
        ("mcp", ("ask", "read"), False, False),
        ("mcp", ("ask", "read"), True, True),
    ],
)
async def test_what_is_remembered_is_told_to_who_may_read_it(
    tmp_path: Path,
    by: str,
    scopes: tuple[Scope, ...],
    turns: bool,
    told: bool,
    order: dict[str, Any],
) -> None:
    async with box(tmp_path, gemini(), http={"mcp_turns": turns}, **order) as home:
        await remember(home)
        token = home.token("alpha", *scopes)
        ask = home.http if by == "http" else home.mcp
        answered = str(await ask(token, "hello there"))
        answered += str(await ask(token, "what is remembered"))
        sent = home.sent()
        assert ("gnome" in str(sent)) is told, "neither in the instruction nor by recall"
        assert told or "gnome" not in answered
        await home.person("my word is aubergine")
        assert any("gnome" in one and "aubergine" in one for one in home.sent())


async def test_people_repeat_and_account_without_a_programs_words(tmp_path: Path) -> None:
    async with box(tmp_path, gemini()) as home:
        alpha = home.token("alpha", "ask")
        await home.person("my word is aubergine")
        await home.http(alpha, "my word is bandicoot")
        await home.person("say that again")
        await home.person("what did you do")
        peoples, programs = home.sent()
        assert "enigrebua" in peoples, "what people were answered last"
        assert "bandicoot" in programs
        assert "bandicoot" not in peoples
        assert "toocidnab" not in peoples, "nor what it was answered"


@pytest.mark.parametrize("reads", [False, True])
async def test_timers_of_people_have_no_names_for_a_program_that_may_not_read(
    tmp_path: Path, reads: bool
) -> None:
    async with box(tmp_path, gemini()) as home:
        token = home.token("alpha", "ask", *(("read",) if reads else ()))
        store, now = home.on.app.home.store, home.on.clock.now()
        for number, (name, caller) in enumerate([("gnome", ""), ("walnut", "http:alpha")]):
            timer = TimerRecord(
                f"t{number}", now.replace(year=now.year + 1), 600.0, now, name, caller=caller
            )
            await store.add_timer(timer)
        answered = str(await home.http(token, "which timers are there"))
        sent = str(home.sent())
        assert ("gnome" in sent) is reads
        assert "walnut" in sent, "its own it knows"
        assert reads or "gnome" not in answered


async def test_a_request_of_a_programs_is_no_sentence_of_peoples(tmp_path: Path) -> None:
    """A program's later request runs in its own conversation, a person's in the people's."""
    async with box(tmp_path, gemini()) as home:
        await home.person("my word is aubergine")
        store, now = home.on.app.home.store, home.on.clock.now()
        for number, (text, caller) in enumerate(
            [("my word is bandicoot", "http:alpha"), ("my word is artichoke", "")]
        ):
            await store.add_timer(
                TimerRecord(
                    f"t{number}", now, 0.0, now, "", kind="request", text=text, caller=caller
                )
            )
        await home.on.until(lambda: len(home.on.service.turns) == 3)
        home.assert_apart(("aubergine", "artichoke"), ("bandicoot",))
