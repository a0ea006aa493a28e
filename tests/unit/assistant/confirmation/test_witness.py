"""An answer that cannot be heard is none, and the log says why."""

import asyncio
from unittest.mock import patch

import pytest

from assistant.confirmation.witness import Hears, Witness
from audio.errors import InputUnusable


class DeafEar:
    """Never comes to an end, or fails."""

    languages = ("en",)

    def __init__(self, fails: bool) -> None:
        self._fails = fails

    async def transcribe(self, pcm: bytes) -> str:
        if self._fails:
            raise InputUnusable("The model is gone.")
        await asyncio.get_running_loop().create_future()
        raise AssertionError("nobody ends this")

    async def spell(self, pcm: bytes) -> str:
        return await self.transcribe(pcm)


@pytest.mark.parametrize(("fails", "why"), [(True, "The model is gone."), (False, "too slow")])
async def test_why_an_answer_was_not_heard(
    fails: bool, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def ear() -> DeafEar:
        return DeafEar(fails)

    witness = Witness(("en",), None, ear, Hears(("en",), ("en",)))
    with patch("assistant.confirmation.witness.RECOGNISE_S", 0.0):
        assert await witness.recognise(b"\0\0", "en") is None
        assert await witness.spelled(b"\0\0") == ""
    assert [record.getMessage() for record in caplog.records] == [
        f"an answer could not be heard on this machine: {why}",
        f"a PIN could not be heard on this machine: {why}",
    ]
