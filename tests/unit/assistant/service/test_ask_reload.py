"""Tests of the program behind `systemctl reload`, run as systemd does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assistant.service.notify import News, State, write_news

SENTENCE = "What came of [x\x1b[2J\nhearth: forged]."


class Served:
    """A process that answers SIGHUP with messages."""

    def __init__(self, folder: Path, state: State) -> None:
        script = (
            "import signal, sys, time\n"
            "from pathlib import Path\n"
            "from assistant.service.notify import News, write_news\n"
            "def tell(*_):\n"
            f"    write_news(Path({str(folder)!r}), News(8, {state!r}, {SENTENCE!r}))\n"
            "signal.signal(signal.SIGHUP, tell)\n"
            "print('stands', flush=True)\n"
            "sys.stdin.read()\n"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"stands\n"

    def end(self) -> None:
        self.process.communicate()


def _ask(*words: str, folder: Path | None) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ}
    environ.pop("RUNTIME_DIRECTORY", None)
    if folder is not None:
        environ["RUNTIME_DIRECTORY"] = str(folder)
    command = [sys.executable, "-m", "assistant.service.ask_reload", *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(("state", "code"), [("done", 0), ("refused", 1)])
def test_the_outcome_is_the_exit_code_and_its_sentence_is_printed(
    tmp_path: Path, state: State, code: int
) -> None:
    write_news(tmp_path, News(7, "refused", "Of an earlier wish."))
    served = Served(tmp_path, state)
    try:
        asked = _ask(str(served.process.pid), folder=tmp_path)
    finally:
        served.end()
    assert asked.returncode == code
    assert asked.stderr == "hearth: What came of [x\\x1b[2J\\nhearth: forged].\n"


@pytest.mark.parametrize("words", [(), ("no",), ("1", "2")])
def test_nobody_is_signalled_without_a_number(words: tuple[str, ...], tmp_path: Path) -> None:
    assert _ask(*words, folder=tmp_path).returncode == 2


def test_outside_of_the_service_it_says_what_it_is_for(tmp_path: Path) -> None:
    served = Served(tmp_path, "done")
    try:
        asked = _ask(str(served.process.pid), folder=None)
    finally:
        served.end()
    assert asked.returncode == 2
    assert "ExecReload" in asked.stderr
