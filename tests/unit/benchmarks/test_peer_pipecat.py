"""Tests of the figures of pipecat's program and environment, and of our installation."""

import json
from pathlib import Path

import pytest

from tests.benchmarks.installed import EXTRAS, HEARTH, hearth_mb, required
from tests.benchmarks.peers.pipecat import PROGRAM, heard, installed_mb, lines_to_write

PROGRAM_TEXT = '''"""A program."""

import json
from pipecat.pipeline import (
    Pipeline,
)


def tool() -> None:
    """Not counted."""
    # nor is this

    Pipeline(json)


def measured() -> None:
    pass
'''


def test_only_what_an_owner_writes_is_counted(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM_TEXT)
    assert lines_to_write(program) == 5  # the import, the head of the tool and its one line


def test_the_program_has_all_that_is_counted() -> None:
    assert 40 < lines_to_write(PROGRAM) < 120


def test_an_answer_as_it_comes() -> None:
    told = json.loads('{"began": 1.5, "heard": null, "ended": [2.0, 3.0]}')
    one = heard(told)
    assert (one.began, one.audible, one.ended) == (1.5, None, (2.0, 3.0))


def test_an_environment_is_weighed_without_pip_and_compiled_files(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    for name, size in {
        "peer/code.py": 2**20,
        "peer/__pycache__/code.pyc": 2**20,
        "peer-1.0.dist-info/RECORD": 0,
        "pip/code.py": 2**20,
        "pip-25.0.dist-info/RECORD": 2**20,
    }.items():
        file = packages / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes(size))
    assert installed_mb(tmp_path / "bin" / "python") == (1.0, 1)


def test_what_hearth_requires_and_nothing_of_its_tests() -> None:
    found = required(HEARTH, EXTRAS)
    assert {"numpy", "mcp", "google-genai", "piper-tts", "pocketsphinx"} <= set(found)
    assert not {"pytest", "mypy"} & set(found)
    size, count = hearth_mb()
    assert count == len(found)
    assert size == pytest.approx(300, rel=0.5)
