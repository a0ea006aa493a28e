"""The terminal's side of a command that runs in the daemon, against a daemon of a few lines."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assistant.cli import remote
from assistant.cli.remote import NAME, run_in_daemon
from assistant.domain.version import own_version


@contextmanager
def daemon(folder: Path, *replies: bytes) -> Iterator[list[dict[str, object]]]:
    """Give one reply to each line of one client, then close. Yields the lines."""
    lines: list[dict[str, object]] = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / NAME))
        listening.listen()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, connection.makefile("rwb") as stream:
                for reply in replies:
                    lines.append(json.loads(stream.readline()))
                    stream.write(reply)
                    stream.flush()

        thread = threading.Thread(target=serve)
        thread.start()
        yield lines
        thread.join(10)
        assert not thread.is_alive()


def environ(folder: Path) -> dict[str, str]:
    return {"HEARTH_ASSISTANT__DATA": str(folder), "HEARTH_CONFIG": str(folder / "none.toml")}


ACCEPTED = b'{"accepted": true}\n'


def test_the_daemons_output_and_exit_code_are_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = b'{"out": "It is five.\\n"}\n{"error": "a note\\n"}\n{"exit": 3}\n'
    with daemon(tmp_path, ACCEPTED, done) as lines:
        words = ["ask", "what", "time"]
        assert run_in_daemon(words, {**environ(tmp_path), "HEARTH_VOICE__ENGINE": "secret"}) == 3
    assert capsys.readouterr() == ("It is five.\n", "a note\n")
    assert lines[0]["words"] == words
    assert lines[0]["version"] == own_version()
    assert lines[0]["variables"] == {"HEARTH_VOICE__ENGINE": remote.fingerprint("secret")}
    assert "secret" not in json.dumps(lines)
    assert lines[1] == {"go": True}


def test_a_command_that_the_daemon_does_not_take_runs_here(tmp_path: Path) -> None:
    with daemon(tmp_path, b'{"alone": true}\n') as lines:
        assert run_in_daemon(["tools"], environ(tmp_path)) is None
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("replies", "told"),
    [
        ([b'{"busy": "Hearth is still starting"}\n'], "still starting"),
        ([b""], "has just stopped; try again"),
        ([b"nonsense\n"], "does not answer"),
        ([ACCEPTED, b""], "stopped before the command finished"),
        ([ACCEPTED, b'{"out": "half a li'], "stopped before the command finished"),
    ],
)
def test_a_daemon_that_fails_is_told_in_one_line_and_nothing_runs_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], replies: list[bytes], told: str
) -> None:
    with daemon(tmp_path, *replies):
        assert run_in_daemon(["ask", "hello"], environ(tmp_path)) == 1
    out, error = capsys.readouterr()
    assert (out, error.count("\n"), told in error) == ("", 1, True), error


def test_a_daemon_that_hangs_is_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "ANSWER_S", 0.2)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / NAME))
        listening.listen()
        assert run_in_daemon(["ask", "hello"], environ(tmp_path)) == 1
    told = "hearth: the running Hearth does not answer; try again, or run the command with --alone"
    assert capsys.readouterr() == ("", f"{told}\n")


@pytest.mark.parametrize(("signs", "code"), [(0, 1), (4, 3)])
def test_only_a_daemon_without_a_sign_of_life_is_given_up(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    signs: int,
    code: int,
) -> None:
    monkeypatch.setattr(remote, "SILENT_S", 0.4)

    def serve(listening: socket.socket, over: threading.Event) -> None:
        connection, _ = listening.accept()
        with connection, connection.makefile("rwb") as stream:
            for reply in (ACCEPTED, b""):
                stream.readline()
                stream.write(reply)
                stream.flush()
            for _ in range(signs):
                over.wait(0.2)
                stream.write(b'{"alive": true}\n')
                stream.flush()
            if signs:
                stream.write(b'{"exit": 3}\n')
                stream.flush()
            over.wait(10)

    over = threading.Event()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / NAME))
        listening.listen()
        thread = threading.Thread(target=serve, args=(listening, over))
        thread.start()
        assert run_in_daemon(["say", "hello"], environ(tmp_path)) == code
        over.set()
        thread.join(10)
    told = (
        ""
        if signs
        else "hearth: the running Hearth no longer answers; `hearth trace` shows what was done\n"
    )
    assert capsys.readouterr() == ("", told)


def test_the_reader_of_the_output_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`hearth tools | head` says nothing of a daemon that ended: see `entry.cannot_write`."""
    reading, writing = os.pipe()
    os.close(reading)
    with daemon(tmp_path, ACCEPTED, b'{"out": "a tool\\n"}\n'), os.fdopen(writing, "w") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        with pytest.raises(BrokenPipeError):
            run_in_daemon(["tools"], environ(tmp_path))
        os.dup2(os.open(os.devnull, os.O_WRONLY), closed.fileno())


def test_no_daemon(tmp_path: Path) -> None:
    assert run_in_daemon(["tools"], environ(tmp_path)) is None
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / NAME))
    assert run_in_daemon(["tools"], environ(tmp_path)) is None
    assert run_in_daemon(["tools"], environ(tmp_path / "missing" / ("x" * 150))) is None


@pytest.mark.parametrize(
    ("line", "beside"),
    [
        ("ask approve the plan and rate it - please", True),
        ("ask --json hello", True),
        ("ask -- --alone", True),
        ("ask --alone hello", False),
        ("ask hello --alo", False),
        ("ask hello --debug", False),
        ("ask -h", False),
        ("say hello --language en", True),
        ("say hello --out=x.wav", False),
        ("say hello --ou x.wav", False),
        ("ask hello --conf other.toml", False),
        ("ask hello --config=none.toml", True),
        ("tools --explain -", False),
        ("tools --explain=-", False),
        ("tools rate", False),
        ("tools approve", False),
        ("tools --prompt guests", True),
        ("undo", True),
        ("run", False),
        ("hear x.wav", False),
        ("", False),
    ],
)
def test_which_commands_go_through_the_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, beside: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / NAME))
        listening.listen()
        monkeypatch.setattr(remote, "_serve", lambda *rest: 7)
        assert run_in_daemon(line.split(), environ(tmp_path)) == (7 if beside else None)


def test_the_terminals_side_imports_next_to_nothing() -> None:
    code = "import sys, assistant.cli.entry, assistant.cli.remote; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    ).stdout.split()
    assert not {"pydantic", "httpx", "rich", "asyncio", "argparse", "mcp"} & set(loaded)
