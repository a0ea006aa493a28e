"""Failed starts are counted over processes, and each waits longer than the one before."""

from pathlib import Path

from assistant.service.notify import LONGEST_S, Starts, pause_s, runtime_folder


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
