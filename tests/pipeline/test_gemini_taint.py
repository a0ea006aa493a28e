"""Tests that a conversation that has read foreign text opens nothing until that is forgotten."""

from pathlib import Path

import pytest

from tests.pipeline.gemini_rig import scene
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Say, Turn

LIST = Call("todo__get_items", {"todo_list": "Shopping list"})
UNLOCK = Call("intent__HassTurnOff", {"name": "Front door"})
REFUSED = "I've read text from an outside source in this conversation"


class Types:
    """A person at the keyboard who says yes to everything."""

    async def ask(self, question: str, *, hidden: bool) -> str | None:
        return "yes"


async def test_it_outlasts_the_turn_and_ends_with_the_talk(tmp_path: Path) -> None:
    turns = [
        Turn("text", [LIST, Say("Milk."), Done()]),
        Turn("text", [Say("Fine."), Done()]),
        Turn("text", [UNLOCK, Say("I have unlocked it."), Done()], cut=None),
        Turn("text", [UNLOCK, Say("I have unlocked it."), Done()], cut=None),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), prompter=Types()) as on:
        assert on.app.home.demo is not None
        await on.ask("what is on the shopping list?")
        await on.ask("how are you?")
        third = await on.ask("unlock the front door")
        assert third.outcomes[0].rule == "tainted"
        assert (third.record.answer or "").startswith(REFUSED)
        assert on.app.home.demo.states["lock.front_door"] == "locked"
        # The model has forgotten what it read, so the request on its own is done.
        fourth = await on.ask("unlock the front door")
        assert fourth.outcomes[0].confirmed_by == "typed"
        assert on.app.home.demo.states["lock.front_door"] != "locked"


@pytest.mark.parametrize("first", ["GetDateTime", "find_devices"])
async def test_what_nobody_else_wrote_leaves_the_talk_clean(tmp_path: Path, first: str) -> None:
    turns = [
        Turn("text", [Call(first, {}), Say("So it is."), Done()]),
        Turn("text", [UNLOCK, Say("I have unlocked it."), Done()], cut=None),
    ]
    async with scene(tmp_path, GeminiSimulator(turns), prompter=Types()) as on:
        await on.ask("tell me")
        turn = await on.ask("unlock the front door")
        assert turn.outcomes[0].confirmed_by == "typed"
