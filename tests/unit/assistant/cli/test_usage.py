"""Tests of what `hearth` answers without loading a command, and of each command's help."""

import subprocess
import sys

import pytest

from assistant.cli.commands import COMMANDS
from assistant.cli.main import _load, main
from assistant.domain.version import own_version

VERBS = {
    *("Start", "Try", "Write", "Check", "Run", "Speak", "Show", "List", "Measure", "Create"),
    *("Print", "Back", "Remove", "Set", "Undo"),
}


def _code(*words: str) -> int | str | None:
    """The exit code of a command."""
    try:
        return main(words)
    except SystemExit as end:
        return end.code


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_without_a_command_it_prints_help(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _code(*words) == 0
    told = capsys.readouterr()
    assert told.err == ""
    for name, listed in COMMANDS.items():
        assert f"{name} {listed.summary}" in " ".join(told.out.split())
    assert all(len(line) <= 80 for line in told.out.splitlines())


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_its_version(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _code(word) == 0
    assert capsys.readouterr().out == f"hearth {own_version()}\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["aks"],
            "Unknown command 'aks'. Did you mean `hearth ask`? Run `hearth --help` for the list.",
        ),
        (["xyzzy"], "Unknown command 'xyzzy'. Run `hearth --help` for the list."),
        (
            ["--verson"],
            "Unknown option --verson. Did you mean --version? Run `hearth --help` for the "
            "commands.",
        ),
        (
            ["--config", "x", "ask"],
            "Unknown option --config. Options come after the command. Run `hearth --help` for "
            "the commands.",
        ),
        (
            ["ask", "--jsn", "hello"],
            "Unknown option --jsn; did you mean --json? Run `hearth ask --help` for help.",
        ),
        (
            ["ask", "hello", "--frobnicate=3"],
            "Unknown option --frobnicate. Run `hearth ask --help` for help.",
        ),
        (
            ["token", "list", "--jsom"],
            "Unknown option --jsom; did you mean --json? Run `hearth token list --help` for help.",
        ),
        (
            ["tools", "aprove"],
            "ACTION cannot be 'aprove'; did you mean approve? Run `hearth tools --help` for help.",
        ),
        (["hear"], "FILE.wav is missing. Run `hearth hear --help` for help."),
        (["costs", "now"], "Unexpected argument 'now'. Run `hearth costs --help` for help."),
        (
            ["costs", "--days", "few"],
            "--days must be a number, not 'few'. Run `hearth costs --help` for help.",
        ),
        (["costs", "--days"], "--days needs a value. Run `hearth costs --help` for help."),
        (
            ["hear", "x.wav", "--fast", "--realtime"],
            "--realtime and --fast cannot be used together. Run `hearth hear --help` for help.",
        ),
        (
            ["audit", "--decision", "denid"],
            "--decision cannot be 'denid'; did you mean denied? Run `hearth audit --help` for "
            "help.",
        ),
    ],
)
def test_wrong_usage_is_answered_in_one_line(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _code(*words) == 2
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"hearth: {sentence}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    listed = COMMANDS[name]
    assert _code(name, "--help") == 0
    told = capsys.readouterr().out
    assert f"\n{listed.summary}.\n" in told
    assert listed.summary.split()[0].rstrip(",") in VERBS
    assert not listed.summary.endswith(".")
    examples = _load(name).examples
    assert len(examples) >= (1 if name in ("unregister", "undo") else 2)
    for example in examples:
        assert example.startswith(f"hearth {name}")
        assert f"\n  {example}\n" in told


def test_help_and_version_load_no_command() -> None:
    """They answer in a blink, because nothing heavy is imported for them."""
    script = (
        "import sys\n"
        "from assistant.cli.entry import main\n"
        "sys.argv[1:] = [sys.argv[1]]\n"
        "main()\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'pydantic', 'rich', 'asyncio', 'numpy'}, loaded\n"
    )
    for word in ("--help", "--version", "aks"):
        done = subprocess.run(
            [sys.executable, "-c", script, word], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
