"""Tests of the tools that change the voice, repeat the last answer, or restart the conversation."""

from typing import Any, cast

import pytest

from assistant.domain.records import StoreError
from assistant.interfaces.controls import MAX_ANSWER, Controls, TalkTools, VoiceTools
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.protocol import BuiltInRequest, BuiltInResult


class Voice(Controls):
    """A voice with volumes from 0 to `loudest` and speeds from 0.5 to 2."""

    usual_speed = 1.1
    volume: float = 0.5
    speed: float = 1.0
    loudest: float = 1.0

    def __init__(self, volume: float = 0.5, speed: float = 1.0, loudest: float = 1.0) -> None:
        self.volume, self.speed, self.loudest = volume, speed, loudest
        self.answer = "The light is on."
        self.broken = False

    async def set_volume(self, volume: float) -> None:
        self.volume = min(self.loudest, max(0.0, volume))
        self._write_down()

    async def set_speed(self, speed: float) -> None:
        self.speed = min(2.0, max(0.5, speed))
        self._write_down()

    async def last_answer(self) -> str:
        self._write_down()
        return self.answer

    def _write_down(self) -> None:
        if self.broken:
            raise StoreError("The disk is full.")


async def use(name: str, voice: Voice, language: str = "en", **arguments: Any) -> BuiltInResult:
    tools = {tool.name: tool for tool in VoiceTools(cast(Controls, voice), Catalogue()).tools()}
    return await tools[name].run(arguments, BuiltInRequest("a", "t", None, language))


@pytest.mark.parametrize(
    ("volume", "arguments", "after", "says"),
    [
        (0.5, {"change": "louder"}, 0.6, "at 60 percent"),
        (0.5, {"change": "quieter"}, 0.4, "at 40 percent"),
        (0.95, {"change": "louder"}, 1.0, "at 100 percent"),
        (1.0, {"change": "louder"}, 1.0, "as loud as it can be"),
        (0.15, {"change": "quieter"}, 0.1, "at 10 percent"),
        (0.1, {"change": "quieter"}, 0.1, "already very quiet"),
        (0.0, {"change": "quieter"}, 0.0, "already very quiet"),
        (0.0, {"change": "louder"}, 0.1, "at 10 percent"),
        (0.5, {"percent": 0}, 0.0, "at 0 percent"),
        (0.5, {"percent": 50}, 0.5, "at 50 percent"),
        (0.5, {"percent": 100, "change": "quieter"}, 1.0, "at 100 percent"),
    ],
)
async def test_volume(volume: float, arguments: dict[str, Any], after: float, says: str) -> None:
    voice = Voice(volume)
    result = await use("voice_volume", voice, **arguments)
    assert voice.volume == after
    assert says in result.sentence
    assert not result.failed


async def test_volume_beyond_its_own_where_the_settings_are_louder() -> None:
    voice = Voice(1.4, loudest=1.5)
    assert "150 percent" in (await use("voice_volume", voice, change="louder")).sentence
    assert "por ciento" in (await use("voice_volume", voice, "es", change="quieter")).sentence


async def test_volume_of_nothing_asks_back() -> None:
    voice = Voice()
    result = await use("voice_volume", voice)
    assert result.failed
    assert len(result.valid_options) == 3
    assert voice.volume == 0.5


@pytest.mark.parametrize(
    ("speed", "change", "after", "says"),
    [
        (1.0, "slower", 0.85, "more slowly"),
        (1.0, "faster", 1.15, "speak faster"),
        (1.7, "normal", 1.1, "normal speed"),
        (1.1, "normal", 1.1, "normal speed"),
        (0.5, "slower", 0.5, "any slower"),
        (0.6, "slower", 0.5, "more slowly"),
        (2.0, "faster", 2.0, "any faster"),
    ],
)
async def test_speed(speed: float, change: str, after: float, says: str) -> None:
    voice = Voice(speed=speed)
    result = await use("voice_speed", voice, change=change)
    assert voice.speed == pytest.approx(after)
    assert says in result.sentence


async def test_the_answer_once_more() -> None:
    voice = Voice()
    assert (await use("repeat", voice)).sentence == "The light is on."
    voice.answer = "a" * 9_000
    assert len((await use("repeat", voice)).sentence) == MAX_ANSWER
    voice.answer = ""
    nothing = await use("repeat", voice, "es")
    assert nothing.failed
    assert nothing.sentence == "Hace un rato que no he dicho nada que pueda repetir."


async def test_a_broken_store_changes_nothing_for_now() -> None:
    voice = Voice()
    voice.broken = True
    assert "60 percent" in (await use("voice_volume", voice, change="louder")).sentence
    assert "speak faster" in (await use("voice_speed", voice, change="faster")).sentence
    assert (await use("repeat", voice)).failed


@pytest.mark.parametrize(("own", "names"), [(True, 3), (False, 2)])
def test_the_pace_of_a_models_voice_is_its_own(own: bool, names: int) -> None:
    tools = VoiceTools(cast(Controls, Voice()), Catalogue(), own_voice=own).tools()
    assert sum(tool.needed() for tool in tools) == names


def test_guests_may_change_the_voice_and_hear_no_old_answer() -> None:
    tools = VoiceTools(cast(Controls, Voice()), Catalogue()).tools()
    assert {tool.name for tool in tools if not tool.guests} == {"repeat"}


# The conversation itself: restarted, forgotten, ended.


class Talk:
    """A conversation that records what is done to it."""

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


async def use_talk(name: str, talk: Talk, language: str = "en", **arguments: Any) -> BuiltInResult:
    tools = {tool.name: tool for tool in TalkTools(cast(Controls, talk), Catalogue()).tools()}
    return await tools[name].run(arguments, BuiltInRequest("a", "turn", None, language))


@pytest.mark.parametrize(
    ("name", "arguments", "told", "says"),
    [
        ("start_over", {}, "over", "start over"),
        ("end_conversation", {}, "end", "OK"),
        ("forget_what_i_said", {}, (1, "turn"), "erased"),
        ("forget_what_i_said", {"turns": 4}, (4, "turn"), "erased"),
    ],
)
async def test_each_does_its_work(
    name: str, arguments: dict[str, Any], told: Any, says: str
) -> None:
    talk = Talk()
    result = await use_talk(name, talk, **arguments)
    assert talk.told == [told]
    assert says in result.sentence
    assert not result.failed


async def test_where_there_is_nothing_to_forget() -> None:
    assert "nothing to erase" in (await use_talk("forget_what_i_said", Talk(0))).sentence


async def test_what_could_not_be_erased_is_said() -> None:
    result = await use_talk("forget_what_i_said", Talk(None), "es")
    assert (result.sentence, result.failed) == ("No he podido borrarlo.", True)
