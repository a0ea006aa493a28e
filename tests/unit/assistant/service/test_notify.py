"""Tests of the messages to the service manager, byte for byte."""

import os
import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from assistant.service.notify import (
    LONGEST_S,
    Manager,
    Starts,
    pause_s,
    runtime_folder,
    service_manager,
)


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as server:
        server.bind(str(tmp_path / "notify"))
        server.setblocking(False)
        yield server


def _told(listener: socket.socket) -> list[str]:
    return listener.recv(4096).decode().splitlines()


def _all_told(listener: socket.socket) -> list[str]:
    lines = []
    with suppress(BlockingIOError):
        while True:
            lines += _told(listener)
    return lines


def test_each_word(listener: socket.socket) -> None:
    manager = Manager(listener.getsockname(), 20.0)
    manager.ready("Listens")
    assert _told(listener) == ["READY=1", "STATUS=Listens"]
    manager.alive()
    assert _told(listener) == ["WATCHDOG=1"]
    manager.extend(1.5)
    assert _told(listener) == ["EXTEND_TIMEOUT_USEC=1500000"]
    manager.reloading()
    reloading, stamp, status = _told(listener)
    assert (reloading, status) == ("RELOADING=1", "STATUS=Listens")
    assert stamp.startswith("MONOTONIC_USEC=")
    manager.give_up("It hangs.")
    assert _told(listener) == ["WATCHDOG=trigger", "STATUS=It hangs."]
    manager.stopping()
    assert _told(listener)[0] == "STOPPING=1"


def test_a_status_is_told_once_and_in_one_short_line(listener: socket.socket) -> None:
    manager = Manager(listener.getsockname())
    manager.status("one\nline " + "x" * 300)
    [line] = _told(listener)
    assert line.startswith("STATUS=one line xxx")
    assert len(line) == len("STATUS=") + 200
    manager.status("one\nline " + "x" * 300)
    with pytest.raises(BlockingIOError):
        _told(listener)


def test_a_status_gives_the_terminal_of_systemctl_no_orders(listener: socket.socket) -> None:
    Manager(listener.getsockname()).status("Lost x\x1b[2J\u202e\udcff\nREADY=1")
    assert _told(listener) == [r"STATUS=Lost x\x1b[2J\u202e\udcff READY=1"]


def test_an_abstract_socket_is_reached() -> None:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as server:
        server.bind(f"\0hearth-test-{os.getpid()}")
        Manager(f"@hearth-test-{os.getpid()}").alive()
        assert server.recv(100) == b"WATCHDOG=1"


def test_a_manager_that_has_gone_is_no_error(tmp_path: Path) -> None:
    Manager(str(tmp_path / "nobody")).ready()


def test_a_manager_that_does_not_read_holds_nobody_up(listener: socket.socket) -> None:
    manager = Manager(listener.getsockname())
    for _ in range(2000):  # more than its queue takes
        manager.alive()


def test_a_status_that_was_not_taken_is_told_again(listener: socket.socket) -> None:
    manager = Manager(listener.getsockname())
    for _ in range(2000):  # more than its queue takes
        manager.alive()
    manager.status("Not listening.")
    assert set(_all_told(listener)) == {"WATCHDOG=1"}
    manager.status("Not listening.")
    assert _told(listener) == ["STATUS=Not listening."]
    manager.status("Not listening.")
    with pytest.raises(BlockingIOError):
        _told(listener)


@pytest.mark.parametrize(
    ("environ", "there", "watchdog_s"),
    [
        ({}, False, None),
        ({"NOTIFY_SOCKET": "relative"}, False, None),
        ({"NOTIFY_SOCKET": "/run/notify"}, True, None),
        ({"NOTIFY_SOCKET": "@notify", "WATCHDOG_USEC": "20000000"}, True, 20.0),
        ({"NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "no"}, True, None),
        ({"NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "9", "WATCHDOG_PID": "1"}, True, None),
    ],
)
def test_who_started_us(environ: dict[str, str], there: bool, watchdog_s: float | None) -> None:
    manager = service_manager(environ)
    assert (manager.there, manager.watchdog_s) == (there, watchdog_s)


def test_the_pauses_grow_and_end_growing() -> None:
    assert [pause_s(failed) for failed in range(7)] == [0, 0, 2, 4, 8, 16, 32]
    assert pause_s(9) == 256
    assert pause_s(10) == pause_s(10_000) == LONGEST_S


def test_each_process_finds_how_many_before_it_have_failed(tmp_path: Path) -> None:
    assert [Starts(tmp_path, lambda: 5.0).begin() for _ in range(4)] == [0, 1, 2, 3]
    Starts(tmp_path, lambda: 6.0).succeed()
    assert Starts(tmp_path, lambda: 7.0).begin() == 0


def test_what_is_long_ago_is_forgotten(tmp_path: Path) -> None:
    Starts(tmp_path, lambda: 10.0).begin()
    assert Starts(tmp_path, lambda: 900.0).begin() == 1
    assert Starts(tmp_path, lambda: 1900.0).begin() == 0


def test_a_machine_that_went_down_meanwhile_begins_anew(tmp_path: Path) -> None:
    Starts(tmp_path, lambda: 5000.0).begin()
    assert Starts(tmp_path, lambda: 20.0).begin() == 0


def test_a_broken_file_or_none_keeps_nobody_from_starting(tmp_path: Path) -> None:
    (tmp_path / "starts").write_text("{[")
    assert Starts(tmp_path).begin() == 0
    gone = Starts(tmp_path / "gone")
    assert gone.begin() == 0
    gone.succeed()
    nowhere = Starts(None)
    assert (nowhere.begin(), nowhere.begin()) == (0, 0)
    nowhere.succeed()


def test_the_folder_is_the_services_first() -> None:
    assert runtime_folder({}) is None
    assert runtime_folder({"RUNTIME_DIRECTORY": "/run/hearth:/run/more"}) == Path("/run/hearth")
