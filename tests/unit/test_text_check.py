"""Tests that the check of texts finds what it is made for, and nothing else."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "deploy/development/text_check.py"
HOOK = FILE.with_name("commit-msg")
spec = importlib.util.spec_from_file_location("text_check", FILE)
assert spec is not None
assert spec.loader is not None
text_check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(text_check)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty repository that is checked in place of this one."""
    monkeypatch.setattr(text_check, "ROOT", tmp_path)
    (tmp_path / "assistant").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "It listens anew.\n"),
        ("assistant/en.toml", 'done = "It is set."\n'),
        ("assistant/a.py", '"""Ask whoever speaks."""\n'),
        ("assistant/a.py", "x = 1  # the house is away\n"),
        ("assistant/a.py", 'x = f"{1} may be whoever"\n'),
        ("assistant/a.py", '"""Whether it rings."""\n'),
        ("assistant/a.py", 'def f():\n    """That one."""\n'),
    ],
)
def test_a_stilted_phrase_is_found_with_its_place(checkout: Path, name: str, text: str) -> None:
    (checkout / name).write_text(text)
    found = text_check.check_texts([])
    assert found
    assert all(line.startswith(f"{name}:") for line in found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "It listens again, renewed.\n"),
        ("assistant/a.py", 'anew = 1\n"""A list of those who spoke."""\n'),  # a name in code
        ("assistant/a.py", '"""Whatever the microphone hears."""\n'),
        ("assistant/es.toml", 'x = "anew"\n'),
        ("assistant/en-picture.png", "whoever"),
    ],
)
def test_plain_text_passes(checkout: Path, name: str, text: str) -> None:
    (checkout / name).write_text(text)
    assert text_check.check_texts([]) == []


def test_only_the_files_that_were_named_are_read(checkout: Path) -> None:
    (checkout / "assistant/a.py").write_text("# whoever\n")
    (checkout / "assistant/b.py").write_text("# whoever\n")
    found = text_check.check_texts([str(checkout / "assistant/b.py")])
    assert [line.split(":")[0] for line in found] == ["assistant/b.py"]


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("", "is empty"),
        ("x" * 73, "has 73 characters"),
        ("speech: say numbers.", "full stop"),
        ("Adds a test", 'begins with "Adds"'),
        ("speech: fixed the plural", 'begins with "fixed"'),
        ("speech: changing the plural", 'begins with "changing"'),
        ("speech: mend a plural\nIt was wrong.", "second line"),
    ],
)
def test_a_subject_is_refused_with_its_reason(message: str, fault: str) -> None:
    assert any(fault in line for line in text_check.check_subject(message))


@pytest.mark.parametrize(
    "message",
    [
        "speech: mend a plural",
        "tools/policy: address locks by area\n\nThe area was ignored.\n",
        "Make the gate faster",
        "Merge branch 'x' of a name that is much longer than any subject that a person would write",
        "docs: move the reports\n# Please enter the commit message\n",
        "x" * 72,
    ],
)
def test_a_good_subject_passes(message: str) -> None:
    assert text_check.check_subject(message) == []


def test_the_hook_refuses_a_commit(tmp_path: Path) -> None:
    message = tmp_path / "message"
    message.write_text("Added things.\n")
    hook = subprocess.run(
        [HOOK, message],
        capture_output=True,
        text=True,
        env={"PYTHON": sys.executable, "PATH": "/usr/bin:/bin"},
        cwd=FILE.parent,
        timeout=30,
        check=False,
    )
    assert hook.returncode == 1
    assert "imperative" in hook.stderr
