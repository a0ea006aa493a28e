"""Tests of the way from a fresh Debian to a first answer, typed as a person does."""

import asyncio
import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Sequence

import pytest

from integrations.demo_home.rest import DemoHome
from tests.install.releases import RELEASES
from tests.install.stage import INSTALLER, Box, box
from tests.service.machine import MachineError

pytestmark = [pytest.mark.service, pytest.mark.timeout(900)]

_QUIET_S = 3.0  # a question has been asked, and nothing more comes
_LONGEST_S = 600.0
_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

# The commands on the first screen of the documents.
_COMMANDS = (
    "sudo apt install git",
    "git clone ADDRESS hearth",
    f"sudo {INSTALLER}",
    'hearth ask "turn on the kitchen light"',
)


class _Asked:
    """A run at a terminal; answers each question by the first words that it has in `answers`."""

    def __init__(self, there: Box, answers: Sequence[tuple[str, str]]) -> None:
        self._there = there
        self._answers = answers
        self.questions: list[str] = []
        self.shown = ""

    def run(self, command: Sequence[str]) -> None:
        """Run it to its end. Raises MachineError with all output if it fails."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [*self._there.machine._enter(), "env", "-i", *_SURROUNDINGS, *command],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        ends = time.monotonic() + _LONGEST_S
        try:
            while self._read(master, process) and time.monotonic() < ends:
                pass
        finally:
            process.kill()
            code = process.wait()
            os.close(master)
        if code != 0:
            raise MachineError(f"it ended with {code}: {self.shown}")

    def _read(self, master: int, process: "subprocess.Popen[bytes]") -> bool:
        if select.select([master], [], [], _QUIET_S)[0]:
            try:
                piece = os.read(master, 4096)
            except OSError:  # the other end is closed
                process.wait(30)
                return False
            self.shown += _STYLE.sub("", piece.decode(errors="replace"))
            return bool(piece)
        line = self.shown.rsplit("\n", 1)[-1].strip()
        if line.endswith((":", "]")):
            self.questions.append(line)
            os.write(master, f"{self._answer(self.shown[-800:])}\n".encode())
        return True

    def _answer(self, recent: str) -> str:
        """Return the answer whose words come last in the output, or Enter if there is none."""
        found = max(self._answers, key=lambda one: recent.rfind(one[0]))
        return found[1] if recent.rfind(found[0]) > 0 else ""


_SURROUNDINGS = (
    "HOME=/root",
    "LANG=C.UTF-8",
    "TERM=xterm",
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
)


@pytest.mark.parametrize("release", RELEASES)
async def test_from_a_fresh_debian_to_an_answer(
    release: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with DemoHome() as home:
        with box(release) as there:
            answers = [
                ("1  Home Assistant", home.url),
                ("Access token", home.token),
                ("Which room is this box in?", "Kitchen"),
                ("Which languages do you speak", ""),
                ("Use Gemini?", ""),
                ("Open it to your home network?", ""),
            ]
            asked = _Asked(there, answers)
            started = time.monotonic()
            await asyncio.to_thread(asked.run, [INSTALLER])
            answer = await asyncio.to_thread(
                there.machine.run, ["hearth", "ask", "turn on the kitchen light"]
            )
            minutes = (time.monotonic() - started) / 60
    assert "Turned on the kitchen light." in answer.stdout
    assert len(_COMMANDS) <= 5
    assert 3 <= len(asked.questions) <= 8, asked.questions
    with capsys.disabled():
        print(
            f"\n{release}: {len(_COMMANDS)} commands typed, {len(asked.questions)} questions "
            f"asked, {minutes:.1f} minutes without the clone"
        )
