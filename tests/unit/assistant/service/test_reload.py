"""Tests of which settings are in force after a reload was requested."""

from pathlib import Path

import pytest

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.service.notify import News, read_news
from assistant.service.reload import Reloading


def settings(folder: str = "/tmp/hearth", port: int = 8765) -> Settings:
    return Settings.model_validate({"assistant": {"data": folder}, "http": {"port": port}})


class File:
    """The source that `load` reads."""

    def __init__(self) -> None:
        self.content: Settings | str = settings()

    def load(self) -> Settings:
        if isinstance(self.content, str):
            raise ConfigError(self.content)
        return self.content


@pytest.fixture
def file() -> File:
    return File()


def _state(folder: Path) -> str:
    news = read_news(folder)
    assert news is not None
    return news.state


def test_good_settings_hold_once_they_are_open(file: File, tmp_path: Path) -> None:
    reloading = Reloading(settings(), file.load, tmp_path)
    file.content = settings(port=1234)
    assert reloading.wish()
    assert reloading.serving.http.port == 8765  # until it is time
    assert _state(tmp_path) == "waits"
    assert reloading.take_up().http.port == 1234
    reloading.opened()
    assert read_news(tmp_path) == News(1, "done", "The new settings are in use.")
    assert reloading.serving.http.port == 1234
    assert not reloading.cannot_open(OSError())  # there is nothing to go back to any more


def test_a_mistake_changes_nothing_and_says_why(
    file: File, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reloading = Reloading(settings(), file.load, tmp_path)
    file.content = "x.toml is wrong"
    assert not reloading.wish()
    why = "The new settings were rejected, so the previous ones stay in use: x.toml is wrong"
    assert reloading.trouble == why
    assert caplog.messages == [why]
    assert read_news(tmp_path) == News(1, "refused", why)
    assert reloading.take_up() == settings()


def test_a_mended_mistake_ends_the_trouble_though_nothing_is_different(file: File) -> None:
    reloading = Reloading(settings(), file.load)
    file.content = "wrong"
    reloading.wish()
    file.content = settings()
    assert not reloading.wish()
    assert reloading.trouble == ""


def test_what_cannot_be_opened_gives_way_to_what_was_there(file: File, tmp_path: Path) -> None:
    reloading = Reloading(settings(), file.load, tmp_path)
    file.content = settings(port=1)
    reloading.wish()
    reloading.take_up()
    assert reloading.cannot_open(ConfigError("port 1 is not ours"))
    assert _state(tmp_path) == "refused"
    assert reloading.take_up().http.port == 8765
    reloading.opened()
    assert _state(tmp_path) == "refused"
    assert "port 1 is not ours" in reloading.trouble
    assert not reloading.cannot_open(OSError())  # the old ones have nothing before them


def test_a_later_mistake_leaves_what_waits_to_be_taken_up(file: File) -> None:
    reloading = Reloading(settings(), file.load)
    file.content = settings(port=1234)
    reloading.wish()
    file.content = "wrong"
    assert reloading.wish()
    assert "wrong" in reloading.trouble
    assert reloading.take_up().http.port == 1234
    reloading.opened()
    assert "wrong" in reloading.trouble  # the file still is, and the next start would fail by it


def test_what_has_not_stood_is_no_way_back(file: File) -> None:
    reloading = Reloading(settings(), file.load)
    for port in (1, 2):
        file.content = settings(port=port)
        assert reloading.wish()
        reloading.take_up()  # the second while the first is being opened
    assert reloading.cannot_open(ConfigError("port 2 is not ours"))
    assert reloading.take_up().http.port == 8765
    reloading.opened()
    assert not reloading.cannot_open(OSError())


def test_each_wish_has_its_own_answer(file: File, tmp_path: Path) -> None:
    reloading = Reloading(settings(), file.load, tmp_path)
    file.content = settings(port=1)
    reloading.wish()
    reloading.take_up()
    file.content = settings(port=2)
    assert reloading.wish()  # while the first is being opened, and that fails
    assert reloading.cannot_open(ConfigError("port 1 is not ours"))
    found = read_news(tmp_path)
    assert found is not None
    assert (found.number, found.state) == (1, "refused")
    assert reloading.take_up().http.port == 2
    reloading.opened()
    assert read_news(tmp_path) == News(2, "done", "The new settings are in use.")
    assert reloading.trouble == ""


def test_the_same_wish_again_is_answered_once_they_are_open(file: File, tmp_path: Path) -> None:
    reloading = Reloading(settings(), file.load, tmp_path)
    file.content = settings(port=1)
    reloading.wish()
    reloading.take_up()
    assert not reloading.wish()  # it is being opened already
    assert _state(tmp_path) == "waits"
    assert reloading.cannot_open(ConfigError("port 1 is not ours"))
    found = read_news(tmp_path)
    assert found is not None
    assert (found.number, found.state) == (2, "refused")


def test_the_newest_of_several_wishes_counts(file: File) -> None:
    reloading = Reloading(settings(), file.load)
    for port in (1, 2, 3):
        file.content = settings(port=port)
        assert reloading.wish()
    assert reloading.wish()  # the same again: it still waits
    assert reloading.take_up().http.port == 3


def test_a_wish_that_is_taken_back_leaves_all_as_it_is(file: File, tmp_path: Path) -> None:
    reloading = Reloading(settings(), file.load, tmp_path)
    file.content = settings(port=1)
    reloading.wish()
    file.content = settings()
    assert not reloading.wish()
    assert reloading.take_up() == settings()
    assert _state(tmp_path) == "done"


def test_another_data_folder_needs_a_restart(file: File) -> None:
    reloading = Reloading(settings(), file.load)
    file.content = settings("/tmp/elsewhere")
    assert not reloading.wish()
    assert "assistant.data" in reloading.trouble
    assert "restart" in reloading.trouble


def test_the_numbers_go_on_over_processes(file: File, tmp_path: Path) -> None:
    for number in (1, 2):
        Reloading(settings(), file.load, tmp_path).wish()
        news = read_news(tmp_path)
        assert news is not None
        assert news.number == number


def test_news_that_cannot_be_written_are_no_reason_to_refuse(file: File, tmp_path: Path) -> None:
    reloading = Reloading(settings(), file.load, tmp_path / "gone")
    file.content = settings(port=1)
    assert reloading.wish()
    assert read_news(tmp_path / "gone") is None
