"""Tests of `hearth setup` with flags alone: each changes its own setting and nothing else."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.cli import setup_steps
from assistant.cli.main import main
from assistant.config import load_settings
from assistant.config.schema import Settings
from assistant.setup import services
from integrations.demo_home.rest import DemoHome
from integrations.errors import IntegrationError, SignInAgain, Unavailable
from integrations.gemini.access import Access

KEY = "AIza" + "k" * 35


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the data folder of these tests."""
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> "Google":
    google = Google()
    monkeypatch.setattr(services, "try_key", google.try_key)
    monkeypatch.setattr(setup_steps, "try_live", google.try_live)
    return google


class Google:
    """A replacement for the request that checks a key."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.error: IntegrationError | None = None

    async def try_key(self, access: Access, model: str) -> None:
        self.asked.append(access.api_key)
        if self.error is not None:
            raise self.error

    async def try_live(self, settings: Settings) -> Sequence[str]:
        return ["live session: refused"]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write a configuration as a person would, and return its path."""
    file = tmp_path / "hearth.toml"
    file.write_text('# By hand.\n[assistant]\narea = "Kitchen"  # upstairs\n')
    return file


async def setup(config: Path, *arguments: object) -> int:
    words = ["setup", "--config", str(config), *map(str, arguments)]
    return await asyncio.to_thread(main, words)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def text_of(config: Path) -> str:
    return config.read_text()


def loaded(config: Path) -> Settings:
    return load_settings(config, {})


async def test_everything_by_flags(house: DemoHome, tmp_path: Path, google: Google) -> None:
    token, key, file = tmp_path / "token", tmp_path / "key", tmp_path / "etc" / "hearth.toml"
    token.write_text(house.token)
    key.write_text(KEY + "\n")
    given: tuple[object, ...] = (
        *("--non-interactive", "--url", house.url, "--token-file", token, "--area", "Kitchen"),
        *("--name", "Alfred", "--languages", "es,en", "--voice", "piper"),
        *("--wake-word", "hey_jarvis", "--input", "usb:1", "--output", "usb:2"),
        *("--accept-cloud", "--gemini-key-file", key, "--open-console"),
    )
    assert await setup(file, *given) == 0
    settings = loaded(file)
    assert settings.assistant.name == "Alfred"
    assert settings.assistant.languages == ("es", "en")
    assert settings.voice.models["es"].model == "es_ES-davefx-medium"
    assert [word.model for word in settings.wake.words] == ["hey_jarvis"]
    assert (settings.audio.input, settings.audio.output) == ("usb:1", "usb:2")
    assert settings.privacy.accept_cloud is True
    assert settings.gemini.api_key.get_secret_value() == KEY
    assert settings.http.host == "0.0.0.0"
    assert google.asked == [KEY]
    assert KEY not in file.read_text()
    for secret in ("home_assistant.token", "gemini.api_key"):
        assert file.with_name(secret).stat().st_mode & 0o777 == 0o600
    before = file.read_text()
    assert await setup(file, *given) == 0
    assert file.read_text() == before


async def test_a_yes_alone_is_recorded_and_asks_no_house(
    config: Path, google: Google, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await setup(config, "--accept-cloud") == 0
    told = capsys.readouterr().err
    for part in ("What leaves your home", "Who gets it", "What it costs", "Which terms apply"):
        assert part in told
    assert loaded(config).privacy.accept_cloud is True
    assert text_of(config).startswith('# By hand.\n[assistant]\narea = "Kitchen"  # upstairs\n')
    assert google.asked == []
    assert await setup(config, "--local-only") == 0
    assert loaded(config).privacy.accept_cloud is False


async def test_a_key_without_a_yes_goes_nowhere(
    config: Path, tmp_path: Path, google: Google, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "key"
    key.write_text(KEY)
    assert await setup(config, "--gemini-key-file", key) == 0
    assert google.asked == []
    assert "It isn't used until you agree: hearth setup --accept-cloud." in capsys.readouterr().err
    assert loaded(config).gemini.api_key.get_secret_value() == KEY


@pytest.mark.parametrize(
    ("written", "error", "told", "code"),
    [
        ("short", None, "A key is one word", 2),
        (KEY, SignInAgain("Gemini does not accept gemini.api_key."), "does not accept", 1),
    ],
)
async def test_a_key_that_will_not_do_writes_nothing(
    config: Path,
    tmp_path: Path,
    google: Google,
    capsys: pytest.CaptureFixture[str],
    written: str,
    error: IntegrationError | None,
    told: str,
    code: int,
) -> None:
    google.error = error
    key, before = tmp_path / "key", text_of(config)
    key.write_text(written)
    assert await setup(config, "--accept-cloud", "--gemini-key-file", key) == code
    shown = capsys.readouterr().err
    assert "Nothing was written" in shown
    assert told in shown
    assert text_of(config) == before
    assert names_in(tmp_path) == ["hearth.toml", "key"]


async def test_a_problem_of_live_is_told_and_the_key_is_kept(
    config: Path, tmp_path: Path, google: Google, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "key"
    key.write_text(KEY)
    assert await setup(config, "--accept-cloud", "--gemini-key-file", key) == 0
    assert "live session: refused" in capsys.readouterr().err
    assert loaded(config).gemini.api_key.get_secret_value() == KEY


async def test_a_key_that_could_not_be_tried_is_kept(
    config: Path, tmp_path: Path, google: Google, capsys: pytest.CaptureFixture[str]
) -> None:
    google.error = Unavailable("Gemini cannot be reached.")
    key = tmp_path / "key"
    key.write_text(KEY)
    assert await setup(config, "--accept-cloud", "--gemini-key-file", key) == 0
    assert "Could not test the key" in capsys.readouterr().err
    assert loaded(config).gemini.api_key.get_secret_value() == KEY


async def test_a_wake_word_that_nothing_listens_for_writes_nothing(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = text_of(config)
    assert await setup(config, "--wake-word", "hey_nobody") == 2
    assert "Nothing was written" in capsys.readouterr().err
    assert text_of(config) == before


async def test_the_page_is_opened_with_a_link_and_closed_again(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await setup(config, "--open-console") == 0
    shown = capsys.readouterr()
    assert "/#code=" in shown.err
    assert loaded(config).http.host == "0.0.0.0"
    assert await setup(config, "--close-console") == 0
    assert "/#code=" not in capsys.readouterr().err
    assert loaded(config).http.host == "127.0.0.1"


async def test_an_address_that_does_not_answer_changes_nothing(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = text_of(config)
    assert await setup(config, "--url", "http://127.0.0.1:9") == 1
    assert "Nothing was written" in capsys.readouterr().err
    assert text_of(config) == before


async def test_a_configuration_that_is_wrong_is_told_and_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text("[assistant]\nroom = 'x'\n")
    assert await setup(file, "--accept-cloud") == 2
    assert "no key room" in capsys.readouterr().err


@pytest.mark.parametrize("codes", ["English", ","])
async def test_languages_that_are_none(
    config: Path, capsys: pytest.CaptureFixture[str], codes: str
) -> None:
    assert await setup(config, "--languages", codes) == 2
    assert "--languages" in capsys.readouterr().err
