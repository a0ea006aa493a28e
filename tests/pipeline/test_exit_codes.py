"""The exit codes of docs/commands.md, and output that cannot be written, by running `hearth`."""

import subprocess
from pathlib import Path

import pytest

from tests.pipeline.manners import PROGRAM, environment, hearth


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("", 0),
        ("--version", 0),
        ("ask --help", 0),
        ("ask turn on the kitchen light", 0),
        ("ask --json turn on the kitchen light", 0),
        ("ask turn on the kitchen light --json", 0),
        ("ask turn --json on the kitchen light", 0),
        ("ask -- turn on the kitchen light", 0),
        ("ask unlock the front door", 0),  # waits to be confirmed
        ("ask flurble the wibble", 1),
        ("say *** **", 1),  # nothing in it can be spoken
        ("trace nothing-of-that-name", 1),
        ("aks what time is it", 2),
        ("ask", 2),
        ("ask --jsn what time is it", 2),
        ("costs --days 0", 2),
        ("ask hello --config /nowhere/hearth.toml", 2),
    ],
)
def test_exit_codes(words: str, code: int, tmp_path: Path) -> None:
    if words.startswith("say"):
        words += f" --out {tmp_path / 'said.wav'}"
    done = hearth(*words.split(), folder=tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_what_follows_two_dashes_is_text(tmp_path: Path) -> None:
    done = hearth("say", "--out", str(tmp_path / "a.wav"), "--", "minus", "--json", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout == ""
    assert "json" in done.stderr


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["costs", "--help"], ["tools"]])
def test_a_full_disk(words: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = hearth(*words, folder=tmp_path, stdout=full)
    assert done.returncode == 1
    assert done.stderr == "hearth: Cannot write the output: No space left on device.\n"


@pytest.mark.parametrize("words", [["--help"], ["tools"], ["tools", "--json"]])
def test_a_reader_that_goes_away(words: list[str], tmp_path: Path) -> None:
    running = subprocess.Popen(
        [*PROGRAM, *words],
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    running.stdout.close()
    _, complaints = running.communicate(timeout=90)
    assert complaints == b""
    assert running.returncode == 1


def test_standard_output_is_closed(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *PROGRAM, "tools"],
        env=environment(tmp_path),
        timeout=90,
        check=False,
    )
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            [b"ask", b"turn on \xff"],
            r"The argument 'turn on \udcff' is not valid UTF-8. Type it again, or check the "
            "terminal's encoding.",
        ),
        ([b"\xff"], r"Unknown command '\udcff'. Run `hearth --help` for the list."),
        ([b"ask", b"--\xff"], r"Unknown option --\udcff. Run `hearth ask --help` for help."),
    ],
)
def test_arguments_in_another_encoding(words: list[bytes], sentence: str, tmp_path: Path) -> None:
    done = hearth(*words, folder=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"hearth: {sentence}\n")


def test_a_file_name_in_another_encoding(tmp_path: Path) -> None:
    done = hearth(b"hear", b"/nowhere/\xff.wav", b"--fast", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("hearth: ")
    assert done.stderr.count("\n") == 1
