"""The talk itself: begun anew, forgotten, ended."""

from typing import Any, cast

import pytest

from assistant.domain.records import StoreError
from assistant.interfaces.control_tools import TalkTools
from assistant.interfaces.controls import Controls
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult


class Talk(Controls):
    """A talk that notes what is done to it."""

    def __init__(self, turns: int | None = 5) -> None:
        self._turns = turns  # None: the store is broken
        self.told: list[Any] = []

    def start_over(self) -> None:
        self.told.append("over")

    async def forget_words(self, turns: int, turn_id: str) -> int:
        if self._turns is None:
            raise StoreError("The disk is full.")
        self.told.append((turns, turn_id))
        return min(turns, self._turns)

    def end(self) -> None:
        self.told.append("end")


async def use(name: str, talk: Talk, language: str = "en", **arguments: Any) -> BuiltInResult:
    tools = {tool.name: tool for tool in TalkTools(cast(Controls, talk), Catalogue()).tools()}
    return await tools[name].run(arguments, BuiltInRequest("a", "turn", None, language))


@pytest.mark.parametrize(
    ("name", "arguments", "told", "says"),
    [
        ("start_over", {}, "over", "start over"),
        ("end_conversation", {}, "end", "All right"),
        ("forget_what_i_said", {}, (1, "turn"), "erased"),
        ("forget_what_i_said", {"turns": 4}, (4, "turn"), "erased"),
    ],
)
async def test_each_does_its_work(
    name: str, arguments: dict[str, Any], told: Any, says: str
) -> None:
    talk = Talk()
    result = await use(name, talk, **arguments)
    assert talk.told == [told]
    assert says in result.sentence
    assert not result.failed


async def test_where_there_is_nothing_to_forget() -> None:
    assert "nothing written down" in (await use("forget_what_i_said", Talk(0))).sentence


async def test_what_could_not_be_erased_is_said() -> None:
    result = await use("forget_what_i_said", Talk(None), "es")
    assert (result.sentence, result.failed) == ("No he podido borrarlo.", True)
