"""Tests of a person who says a command until it is answered."""

from pathlib import Path
from typing import cast

import pytest

from tests.benchmarks._household import Box, Household
from tests.devices.daemon import Daemon


class Person(Household):
    """Says it without a sound server."""

    async def say(self) -> None:
        """It has been said."""


class Answers:
    """A replacement for a daemon that answers one of the commands, counted from 1."""

    def __init__(self, answered: int) -> None:
        self.asked = 0
        self._answered = answered

    async def says(self, words: str, within_s: float) -> str:
        self.asked += 1
        if self.asked != self._answered:
            raise AssertionError(f"{within_s:g} s without {words!r}: ['listening']")
        return words


@pytest.mark.parametrize("answered", [1, 3])
async def test_a_command_is_said_until_it_is_answered(answered: int) -> None:
    daemon = Answers(answered)
    said = await Person({}, Path("command.wav")).turn(Box(1, cast("Daemon", daemon)))
    assert said == daemon.asked == answered


async def test_a_box_that_does_not_answer_is_told_with_its_last_words() -> None:
    daemon = Answers(0)
    with pytest.raises(RuntimeError, match=r"none of 4 spoken commands .* 20 s .*'listening'"):
        await Person({}, Path("command.wav")).turn(Box(1, cast("Daemon", daemon)))
    assert daemon.asked == 4
