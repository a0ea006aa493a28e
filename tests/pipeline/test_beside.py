"""Commands typed beside `hearth run` go through it, with its house, and end as they do alone."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assistant.cli.remote import NAME
from tests.ports import free_port

HEARTH = (sys.executable, "-m", "assistant")
_STARTS_S = 60


def environ(folder: Path, **more: str) -> dict[str, str]:
    """The demo house, no sound devices, no cloud; `more` is SECTION__KEY="value"."""
    given = {
        "ASSISTANT__DATA": str(folder),
        "HOME_ASSISTANT__URL": "demo",
        "BRAIN__ORDER": '["offline"]',
        "VOICE__ENGINE": "espeak",
        "AUDIO__INPUT": "null",
        "AUDIO__OUTPUT": "null",
        "HTTP__PORT": str(free_port()),
        **more,
    }
    plain = {name: value for name, value in os.environ.items() if not name.startswith("HEARTH_")}
    return {**plain, **{f"HEARTH_{name}": value for name, value in given.items()}}


@contextmanager
def daemon(surroundings: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """`hearth run`, ready for commands."""
    command = [*HEARTH, "run"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, env=surroundings, stderr=subprocess.PIPE, stdout=quiet, text=True
    ) as process:
        try:
            assert process.stderr is not None
            deadline = time.monotonic() + _STARTS_S
            while "started:" not in process.stderr.readline():
                assert time.monotonic() < deadline
                assert process.poll() is None
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=30)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The surroundings of a daemon that is running."""
    surroundings = environ(tmp_path_factory.mktemp("beside") / "data")
    with daemon(surroundings):
        yield surroundings


def run(surroundings: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HEARTH, *words], env=surroundings, capture_output=True, text=True, timeout=60, check=False
    )


def typed(surroundings: dict[str, str], *words: str, answer: str | None) -> tuple[int, str]:
    """Run a command at a terminal and answer its question; None: press Ctrl-C instead."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [*HEARTH, *words], surroundings)
    shown, answered = "", False
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                piece = os.read(terminal, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece.decode()
        if not answered and ("(yes or no)" in shown or "(PIN)" in shown):
            answered = True
            time.sleep(0.3)  # what is typed earlier is discarded
            os.write(terminal, b"\x03" if answer is None else f"{answer}\n".encode())
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown


def test_commands_share_the_daemons_house(house: dict[str, str]) -> None:
    done = run(house, "ask", "turn", "on", "the", "office", "light")
    assert (done.returncode, "office light" in done.stdout) == (0, True)
    assert "office light" in run(house, "ask", "which lights are on").stdout.lower()
    undone = run(house, "undo")
    assert (undone.returncode, "office light" in undone.stdout.lower()) == (0, True)
    assert "office light" not in run(house, "ask", "which lights are on").stdout.lower()


def test_the_answer_comes_quickly(house: dict[str, str]) -> None:
    """Generous here; the benchmark holds the figure. A process of its own takes seconds."""
    run(house, "ask", "what time is it")
    began = time.monotonic()
    assert run(house, "ask", "what time is it").returncode == 0
    assert time.monotonic() - began < 1.5


@pytest.mark.parametrize(
    "words",
    [
        ("ask", "--json", "what is the temperature in the bedroom"),
        ("tools", "--json"),
        ("tools", "--explain", '{"name": "HassTurnOff", "arguments": {"area": "Hall"}}', "--json"),
        ("say", "--json", "hello"),
    ],
)
def test_the_output_has_the_form_of_a_process_of_its_own(
    house: dict[str, str], words: tuple[str, ...]
) -> None:
    beside, alone = run(house, *words), run(house, *words, "--alone")
    assert beside.returncode == alone.returncode == 0, beside.stderr + alone.stderr
    ours, theirs = json.loads(beside.stdout), json.loads(alone.stdout)
    assert ours.keys() == theirs.keys()
    for same in ("answer", "decision", "clauses"):
        assert ours.get(same) == theirs.get(same)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("ask", "frobnicate the flux"), 1, ""),
        (("ask", "   "), 2, "Nothing was asked"),
        (("ask",), 2, "Nothing was asked. Try `hearth ask what time is it`."),
        (("ask", "hello", "--jsn"), 2, "did you mean --json?"),
        (("tools", "--prompt", "nobody"), 2, "no profile nobody"),
        (("tools", "--explain", "{"), 2, ""),
    ],
)
def test_failures_end_as_they_do_alone(
    house: dict[str, str], words: tuple[str, ...], code: int, told: str
) -> None:
    for done in (run(house, *words), run(house, *words, "--alone")):
        assert (done.returncode, told in done.stderr) == (code, True), done.stderr
        assert "Traceback" not in done.stderr


def test_without_a_terminal_nobody_is_asked(house: dict[str, str]) -> None:
    done = run(house, "ask", "unlock the front door")
    assert "Not done, because nobody was there to confirm it." in done.stderr


@pytest.mark.parametrize(("answer", "opens"), [("no", False), ("yes", True)])
def test_a_question_is_asked_at_the_terminal(
    house: dict[str, str], answer: str, opens: bool
) -> None:
    code, shown = typed(house, "ask", "unlock the front door", answer=answer)
    assert code == 0, shown
    assert "nobody was there" not in shown
    told = run(house, "ask", "--json", "is the front door locked").stdout
    assert ("unlock" in json.loads(told)["answer"]) is opens
    run(house, "ask", "lock the front door")


def test_ctrl_c_at_a_question_leaves_the_door_and_the_daemon(tmp_path: Path) -> None:
    house = environ(tmp_path / "data")
    with daemon(house):
        code, shown = typed(house, "ask", "unlock the front door", answer=None)
        assert code in (130, -signal.SIGINT), shown
        assert "Traceback" not in shown
        assert "unlock" not in run(house, "ask", "is the front door locked").stdout


def test_other_settings_run_on_their_own(house: dict[str, str]) -> None:
    """Settings of the terminal's environment would not apply in the daemon."""
    run(house, "ask", "turn on the desk lamp")
    other = {**house, "HEARTH_ASSISTANT__NAME": "Other"}
    assert "desk lamp" not in run(other, "ask", "which lights are on").stdout.lower()
    assert "desk lamp" in run(house, "ask", "which lights are on").stdout.lower()


def test_only_the_owner_reaches_the_socket(house: dict[str, str]) -> None:
    path = Path(house["HEARTH_ASSISTANT__DATA"]) / NAME
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("sent", [b"", b"{", b"[]\n", b'{"words": []}\n', b"\xff\n"])
def test_nonsense_ends_one_connection_alone(house: dict[str, str], sent: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(str(Path(house["HEARTH_ASSISTANT__DATA"]) / NAME))
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        assert client.recv(100) == b""
    assert run(house, "ask", "what time is it").returncode == 0


def test_what_is_asked_is_not_spoken_and_what_is_said_is(tmp_path: Path) -> None:
    sound = tmp_path / "out.wav"
    with daemon(environ(tmp_path / "data", AUDIO__OUTPUT=f"file:{sound}")):
        surroundings = environ(tmp_path / "data", AUDIO__OUTPUT=f"file:{sound}")
        del surroundings["HEARTH_HTTP__PORT"]
        assert run(surroundings, "ask", "what time is it").returncode == 0
        assert not sound.exists()
        assert run(surroundings, "say", "good", "morning").returncode == 0
    assert sound.stat().st_size > 10_000


def test_a_daemon_that_is_killed_is_told_and_nothing_runs_twice(tmp_path: Path) -> None:
    surroundings = environ(tmp_path / "data")
    with daemon(surroundings) as process:
        client = subprocess.Popen(
            [*HEARTH, "say", *["hello"] * 100],
            env=surroundings,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(2)
        process.kill()
        out, error = client.communicate(timeout=30)
    assert (client.returncode, out) == (1, "")
    assert "stopped before the command finished" in error


def test_a_daemon_that_hangs_is_told_and_does_nothing_later(tmp_path: Path) -> None:
    surroundings = environ(tmp_path / "data")
    with daemon(surroundings) as process:
        process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            done = run(surroundings, "ask", "turn on the desk lamp")
            took_s = time.monotonic() - began
        finally:
            process.send_signal(signal.SIGCONT)
        assert (done.returncode, done.stdout) == (1, "")
        assert "does not answer; try again, or run the command with --alone" in done.stderr
        assert took_s < 10
        assert "desk lamp" not in run(surroundings, "ask", "which lights are on").stdout.lower()


def test_two_terminals_get_an_answer_each(house: dict[str, str]) -> None:
    questions = ["what is the temperature in the bedroom", "what time is it"] * 3
    command = [*HEARTH, "ask", "--json"]
    asked = [
        subprocess.Popen(
            [*command, question], env=house, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        for question in questions
    ]
    answers = [json.loads(one.communicate(timeout=60)[0]) for one in asked]
    assert [one["heard"] for one in answers] == questions
    assert len({one["turn_id"] for one in answers}) == len(questions)


def test_two_texts_are_spoken_one_after_the_other(house: dict[str, str]) -> None:
    texts = [f"This is number {number}." for number in (1, 2, 3, 4)]
    said = [
        subprocess.Popen(
            [*HEARTH, "say", "--json", text],
            env=house,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for text in texts
    ]
    told = [json.loads(one.communicate(timeout=60)[0])["clauses"] for one in said]
    assert told == [[text] for text in texts]


def test_a_text_of_a_terminal_that_goes_is_no_longer_spoken(house: dict[str, str]) -> None:
    def talk(*words: str) -> subprocess.Popen[bytes]:
        command = [*HEARTH, "say", "--json", *words]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, env=house, stdout=subprocess.PIPE, stderr=quiet)

    long = talk(*["hello"] * 30)
    time.sleep(1)
    dropped = talk("never mind")
    time.sleep(1)
    dropped.send_signal(signal.SIGINT)
    assert (dropped.communicate(timeout=60)[0], dropped.returncode) == (b"", 130)
    assert json.loads(long.communicate(timeout=60)[0])["clauses"]
    assert json.loads(run(house, "say", "--json", "the end").stdout)["clauses"] == ["the end"]
    turns = json.loads(run(house, "trace", "--list", "--json").stdout)
    spoken = [turn["answer"] for turn in turns["turns"] if turn["source"] == "announcement"]
    assert "the end" in spoken
    assert "never mind" not in spoken


def test_guests_are_told_what_was_spoken_though_no_words_are_kept(tmp_path: Path) -> None:
    surroundings = environ(tmp_path / "data", POLICY__MODE="guest")
    with daemon(surroundings):
        done = run(surroundings, "say", "--json", "dinner is ready")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["clauses"] == ["dinner is ready"]


def test_a_reader_that_goes_away_is_no_trouble(house: dict[str, str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*HEARTH, "tools"]
    done = subprocess.run(
        command, env=house, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_what_a_dead_daemon_left_is_no_obstacle(tmp_path: Path) -> None:
    surroundings = environ(tmp_path / "data")
    (tmp_path / "data").mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(tmp_path / "data" / NAME))
    assert run(surroundings, "ask", "what time is it").returncode == 0
    with daemon(surroundings):
        run(surroundings, "ask", "turn on the desk lamp")
        assert "desk lamp" in run(surroundings, "ask", "which lights are on").stdout.lower()
    assert not (tmp_path / "data" / NAME).exists()


def test_a_long_path_has_a_socket_too(tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 100) / ("b" * 100)
    surroundings = environ(folder)
    with daemon(surroundings):
        run(surroundings, "ask", "turn on the desk lamp")
        assert "desk lamp" in run(surroundings, "ask", "which lights are on").stdout.lower()
