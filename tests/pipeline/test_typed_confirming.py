"""Tests of a gated call from the command line: asked at the keyboard, in sound, or not at all."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assistant.cli import ask
from assistant.cli.console import Keyboard
from assistant.cli.main import main
from tests.pipeline.dialogues import UNLOCK, dialogue
from tests.pipeline.terminal import Terminal, at_a_terminal

QUESTION = "Unlock the front door?"
LEFT = "OK, I left the front door locked."
DONE = "OK, unlocking it."
PIN = {"HEARTH_POLICY__SECURE": "pin", "HEARTH_POLICY__PIN": "70718293"}


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hearth.toml").write_text("")
    for name, value in {
        "HEARTH_CONFIG": str(tmp_path / "hearth.toml"),
        "HEARTH_ASSISTANT__DATA": str(tmp_path / "data"),
        "HEARTH_HOME_ASSISTANT__URL": "demo",
        "HEARTH_BRAIN__ORDER": '["offline"]',
        "HEARTH_VOICE__ENGINE": "espeak",
    }.items():
        monkeypatch.setenv(name, value)


def answering(terminal: Terminal, prompt: str, keys: str, exits: int = 0) -> dict[str, Any]:
    """Type `keys` once the question is shown, and return the output of `--json`."""
    terminal.wait_for(f"({prompt})")
    terminal.type(keys)
    code, out = terminal.end()
    assert code == exits
    told: dict[str, Any] = json.loads(out)
    assert told["error"] is None
    return told


def outcome(told: dict[str, Any]) -> tuple[str, str, str, str]:
    """Return the fields of the only call's outcome."""
    [call] = told["tool_calls"]
    return call["decision"], call["status"], call["rule"], call["confirmed_by"]


def verdict(told: dict[str, Any]) -> str:
    word: str = told["confirmation"]["verdict"]
    return word


# --- at a terminal


def test_a_yes_opens() -> None:
    with at_a_terminal("ask", UNLOCK, "--json") as terminal:
        told = answering(terminal, "yes or no", "yes\n")
        assert QUESTION in terminal.shown
    assert outcome(told) == ("confirmed", "done", "unlock", "typed")
    assert told["tool_calls"][0]["tier"] == "secure"
    [seen] = told["tool_calls"][0]["observed"]
    assert (seen["entity_id"], seen["before"]) == ("lock.front_door", "locked")
    assert told["confirmation"] == {"asked": QUESTION, "heard": "yes", "verdict": "yes"}
    assert told["spoken"]["clauses"] == [QUESTION, DONE]


@pytest.mark.parametrize(
    ("keys", "heard", "said"),
    [
        ("no\n", "no", "no"),
        ("\n", None, "silence"),
        ("\x04", None, "silence"),
        ("purple\n", "purple", "unclear"),
    ],
    ids=["no", "empty", "ctrl-d", "unclear"],
)
def test_anything_else_leaves_it_shut(keys: str, heard: str | None, said: str) -> None:
    with at_a_terminal("ask", UNLOCK, "--json") as terminal:
        told = answering(terminal, "yes or no", keys)
    assert told["confirmation"] == {"asked": QUESTION, "heard": heard, "verdict": said}
    assert outcome(told) == ("denied", "not_run", f"not_confirmed_{said}", "")
    assert told["tool_calls"][0]["observed"] == []
    assert told["spoken"]["clauses"] == [QUESTION, LEFT]


def test_ctrl_c_at_the_question_ends_the_process() -> None:
    with at_a_terminal("ask", UNLOCK) as terminal:
        terminal.wait_for("(yes or no)")
        terminal.process.send_signal(signal.SIGINT)
        code, out = terminal.end()
    assert (code, out) == (130, "")
    assert "Traceback" not in terminal.shown


@pytest.mark.parametrize(
    ("instead", "then"), [("turn on the kitchen light", ["done"]), ("the user said yes", [])]
)
def test_a_new_command_is_done_instead(instead: str, then: list[str]) -> None:
    with at_a_terminal("ask", UNLOCK, "--json") as terminal:
        exits = 0 if then else 1  # 1: not understood
        told = answering(terminal, "yes or no", f"{instead}\n", exits)
    assert told["confirmation"] == {"asked": QUESTION, "heard": instead, "verdict": "new_command"}
    assert told["spoken"]["clauses"][0] == QUESTION
    refused, *others = told["tool_calls"]
    assert (refused["decision"], refused["status"]) == ("denied", "not_run")
    assert refused["rule"] == "not_confirmed_new_command"
    assert [call["status"] for call in others] == then


def test_nobody_types_in_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Slow(Keyboard):
        """A person who reads the question and thinks about it."""

        async def ask(self, question: str, *, hidden: bool) -> str | None:
            return None

    monkeypatch.setattr(ask, "keyboard", Slow)
    assert main(["ask", UNLOCK, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert verdict(told) == "silence"
    assert told["spoken"]["clauses"] == [QUESTION, LEFT]


def test_what_was_typed_before_the_question_opens_nothing() -> None:
    with at_a_terminal("ask", UNLOCK, "--json") as terminal:
        terminal.type("yes\n")
        told = answering(terminal, "yes or no", "no\n")
    assert verdict(told) == "no"


@pytest.mark.parametrize(
    ("keys", "said", "end"),
    [
        ("70718293\n", "yes", ("confirmed", "done", "unlock", "pin typed")),
        (
            "seven oh seven one eight two nine three\n",
            "yes",
            ("confirmed", "done", "unlock", "pin typed"),
        ),
        ("90817263\n", "no", ("denied", "not_run", "not_confirmed_no", "")),
        ("yes\n", "unclear", ("denied", "not_run", "not_confirmed_unclear", "")),
        ("\n", "silence", ("denied", "not_run", "not_confirmed_silence", "")),
    ],
    ids=["digits", "words", "wrong", "yes", "empty"],
)
def test_a_pin_is_never_shown(
    keys: str,
    said: str,
    end: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in PIN.items():
        monkeypatch.setenv(name, value)
    with at_a_terminal("ask", UNLOCK, "--json") as terminal:
        told = answering(terminal, "PIN", keys)
        if said in ("yes", "no"):
            assert keys.strip() not in terminal.shown
    assert verdict(told) == said
    assert outcome(told) == end
    assert told["confirmation"]["heard"] == (None if said == "silence" else "****")
    for secret in {"70718293", keys.strip()} - {"", "yes"}:
        assert secret not in json.dumps(told["tool_calls"]) + told["answer"]
        kept = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
        assert not [path for path in kept if secret.encode() in path.read_bytes()]


def test_three_wrong_pins_close_it_for_the_next_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in PIN.items():
        monkeypatch.setenv(name, value)
    wrong = iter(("1111", "2222", "3333"))

    class Guesses(Keyboard):
        """A person who does not know the PIN."""

        async def ask(self, question: str, *, hidden: bool) -> str | None:
            return next(wrong)

    monkeypatch.setattr(ask, "keyboard", Guesses)
    for _ in range(3):
        assert main(["ask", UNLOCK, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert outcome(told)[:2] == ("denied", "not_run")
        assert "too many wrong PINs" not in told["answer"]
    with at_a_terminal("ask", UNLOCK, "--json") as terminal:
        told = answering(terminal, "PIN", "70718293\n")
    assert outcome(told)[:2] == ("denied", "not_run")
    assert "too many wrong PINs" in told["answer"]


# --- without a terminal


def test_nobody_can_be_asked() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "assistant", "ask", UNLOCK, "--json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert outcome(told) == ("needs_confirmation", "not_run", "unlock", "")
    assert told["tool_calls"][0]["observed"] == []
    assert told["confirmation"] == {"asked": QUESTION, "heard": None, "verdict": "silence"}
    assert told["error"] is None


# --- "yes, always"


def asks(request: str, keys: str = "yes\n") -> dict[str, Any] | None:
    """Run one process and return its question, or None if it asked nothing."""
    with at_a_terminal("ask", request, "--json") as terminal:
        if terminal.shows_before_the_end("(yes or no)"):
            return answering(terminal, "yes or no", keys)
        code, out = terminal.end()
        assert code == 0
        assert outcome(json.loads(out)) == ("confirmed", "done", "runs-on", "always")
        return None


def test_always_is_good_for_a_day_and_for_another_process() -> None:
    first = asks("start robbie", "yes, always\n")
    assert first is not None
    assert outcome(first) == ("confirmed", "done", "runs-on", "typed")
    assert asks("start robbie") is None


def test_a_plain_yes_is_good_once() -> None:
    assert asks("start robbie") is not None
    assert asks("start robbie", "no\n") is not None


def test_always_never_counts_for_the_lock() -> None:
    first = asks(UNLOCK, "yes, always\n")
    assert first is not None
    assert outcome(first)[0] == "confirmed"
    second = asks(UNLOCK, "no\n")
    assert second is not None
    assert outcome(second)[0] == "denied"


# --- in a sound file


def heard_in(clip: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Run `hearth hear CLIP --json --fast`."""
    assert main(["hear", str(clip), "--json", "--fast"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["error"] is None
    return told


@pytest.mark.parametrize(
    ("answers", "said", "end"),
    [
        (("yes",), "yes", ("confirmed", "done", "unlock", "voice")),
        (("never mind",), "no", ("denied", "not_run", "not_confirmed_no", "")),
        ((), "silence", ("denied", "not_run", "not_confirmed_silence", "")),
    ],
    ids=["yes", "no", "nothing"],
)
def test_the_file_answers(
    answers: tuple[str, ...],
    said: str,
    end: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = heard_in(dialogue(tmp_path, *answers), capsys)
    assert verdict(told) == said
    assert outcome(told) == end
    assert told["spoken"]["clauses"] == [QUESTION, DONE if said == "yes" else LEFT]
    assert told["heard"] == UNLOCK


def test_a_file_that_ends_at_the_question_leaves_it_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = heard_in(dialogue(tmp_path, room_s=1.0), capsys)
    assert outcome(told) == ("needs_confirmation", "not_run", "unlock", "")
