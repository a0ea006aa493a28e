"""Processes are found again by number and birth, and ended."""

import os
import sys
from pathlib import Path

import pytest

from tests.home_assistant.real import process

LOYAL = "import time; print('up', flush=True); time.sleep(60)"


@pytest.fixture
def pid_file(tmp_path: Path) -> Path:
    """Where the number is kept."""
    return tmp_path / "pid"


def test_it_runs_until_it_is_stopped(tmp_path: Path, pid_file: Path) -> None:
    process.launch([sys.executable, "-c", LOYAL], dict(os.environ), tmp_path / "log", pid_file)
    assert process.running(pid_file) is not None
    assert not process.stop(pid_file)
    assert process.running(pid_file) is None
    assert not pid_file.exists()


def test_another_process_of_that_number_is_left_alone(pid_file: Path) -> None:
    pid_file.write_text(f"{os.getpid()} 1\n")
    assert process.running(pid_file) is None
    assert not process.stop(pid_file)  # else this test ended here


def test_stopping_what_never_ran_does_nothing(pid_file: Path) -> None:
    assert not process.stop(pid_file)
