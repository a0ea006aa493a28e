"""Tests of device names in the report of the sound check, on root's terminal."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

_FILE = Path(__file__).parents[2] / "deploy/install/sound_check.py"


def _sound_check() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sound_check", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("played 1 s: a speaker", "played 1 s: a speaker"),
        ("played 1 s: \x1b[2J\x1b]0;owned\x07mine", "played 1 s: [2J]0;ownedmine"),
        ("two\nlines\tand\r\na tab", "two lines and a tab"),
        ("turned \u202eround\x9b31m", "turned round31m"),
        ("x" * 900, "x" * 500),
    ],
)
def test_a_name_cannot_steer_the_terminal(
    sentence: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module = _sound_check()
    module.tell(True, sentence)
    module.tell(False, sentence)
    assert capsys.readouterr().out == f"ok\t{shown}\nfail\t{shown}\n"
