"""Tests of the configuration as text: comments and unknown keys stay, only the answers change."""

import errno
import os
from pathlib import Path

import pytest

from assistant.config.errors import ConfigError
from assistant.config.schema import Settings
from assistant.setup.answers import Answers
from assistant.setup.document import NewFile, applied, begun, put_back, secrets_of, write_all
from tests.unit.assistant.setup.texts import settings_of

TARGET = Path("/etc/hearth/hearth.toml")


OWN = """\
# Ours, written by hand.
[home_assistant]
url = "http://old:8123"   # in the cellar
token = "plain"

[[policy.rules]]          # nobody unlocks at night
domain = "lock"
decide = "deny"

[voice.models]
en = "en_GB-alan-medium"  # we like Alan
"""


SHAPES = (
    # Tables in two places, dotted keys, tables on one line, tables behind their own tables.
    '[voice]\nengine = "piper"\n[assistant]\narea = "A"\n[voice.models]\nen = "x.onnx"\n'
    '[gemini]\napi_key = "secret"\n',
    'assistant.area = "A"\nhome_assistant = {url = "http://o:1", token = "secret"}\n'
    'voice.models.en = "x.onnx"\n',
    '[[policy.rules]]\ndomain = "lock"\ndecide = "deny"\n[gemini]\n[policy]\npin = "1234"\n',
    '[[mcp.servers]]\nname = "a"\ncommand = "x"\n[mcp.servers.env]\nK = "own"\n[home_assistant]\n',
)


def change(text: str, **answers: object) -> str:
    return applied(text, Answers(**answers), TARGET, settings_of(text))  # type: ignore[arg-type]


def test_a_fresh_file_is_valid_and_has_the_defaults() -> None:
    assert settings_of(begun()) == Settings()


def test_a_file_with_nothing_but_comments_gets_the_rest_behind_them() -> None:
    text = begun("# By the installer.\n")
    assert text.startswith("# By the installer.\n\n# Hearth's configuration.")
    assert settings_of(text) == Settings()


def test_a_file_with_anything_in_it_stays() -> None:
    assert begun(OWN) == OWN


def test_answers_go_in_and_everything_else_stays() -> None:
    text = change(OWN, url="http://new:8123", area="Salón", accept_cloud=True)
    for kept in ("# Ours, written by hand.", "# in the cellar", "# nobody unlocks at night"):
        assert kept in text
    settings = settings_of(text)
    assert settings.home_assistant.url == "http://new:8123"
    assert settings.assistant.area == "Salón"
    assert settings.privacy.accept_cloud is True
    assert settings.policy == settings_of(OWN).policy
    unchanged = [line for line in OWN.splitlines() if line and "url" not in line]
    assert [line for line in text.splitlines() if line in unchanged] == unchanged


def test_the_same_answers_again_change_nothing() -> None:
    answers = {"url": "http://new:8123", "languages": ("en", "es"), "token": "t", "input": "usb:1"}
    once = change(begun(), **answers)
    assert change(once, **answers) == once


def test_a_secret_goes_into_a_file_and_the_plain_one_goes() -> None:
    text = change(OWN, token="new-one", gemini_key="AIza")
    assert "plain" not in text
    assert "new-one" not in text
    assert 'token_file = "/etc/hearth/home_assistant.token"' in text
    assert 'api_key_file = "/etc/hearth/gemini.api_key"' in text
    assert secrets_of(Answers(token="new-one")) == {("home_assistant", "token"): "new-one"}


def test_voices_are_added_to_the_table_that_is_there() -> None:
    text = change(OWN, voices={"de": "de_DE-thorsten-medium"})
    assert "# we like Alan" in text
    assert {code: one.model for code, one in settings_of(text).voice.models.items()} == {
        "en": "en_GB-alan-medium",
        "de": "de_DE-thorsten-medium",
    }


def test_without_a_table_the_default_voice_stays_too() -> None:
    models = settings_of(change(begun(), voices={"es": "es_ES-davefx-medium"})).voice.models
    assert {code: one.model for code, one in models.items()} == {
        "en": "en_US-lessac-medium",
        "es": "es_ES-davefx-medium",
    }


def test_the_first_wake_word_asked_for_again_keeps_the_others() -> None:
    text = '[wake]\nwords = ["okay_nabu", {model = "hey_jarvis", sensitivity = "low"}]\n'
    assert change(text, wake_word="okay_nabu") == text
    assert [one.model for one in settings_of(change(text, wake_word="alexa")).wake.words] == [
        "alexa"
    ]


def test_tls_that_is_as_by_default_is_not_written() -> None:
    text = change(begun(), verify_tls=False, ca_file="/our/ca.pem")
    assert settings_of(text).home_assistant.ca_file == "/our/ca.pem"
    assert settings_of(text).home_assistant.verify_tls is False
    assert change(text, verify_tls=True, ca_file="") == change(begun())


@pytest.mark.parametrize("text", SHAPES)
def test_every_way_to_write_a_table_will_do(text: str) -> None:
    everything = {
        "url": "http://new:8123",
        "token": "t",
        "area": "B",
        "languages": ("es", "en"),
        "voices": {"es": "es_ES-davefx-medium"},
        "input": "m",
        "gemini_key": "k",
        "accept_cloud": True,
        "console_host": "0.0.0.0",
    }
    once = change(text, **everything)
    settings = settings_of(once)
    assert settings.assistant.area == "B"
    assert settings.home_assistant.url == "http://new:8123"
    assert set(settings.voice.models) == {"en", "es"}
    assert settings.policy == settings_of(text).policy
    assert settings.mcp == settings_of(text).mcp
    assert "secret" not in once
    assert change(once, **everything) == once


def test_an_answer_that_no_configuration_may_have() -> None:
    with pytest.raises(ConfigError, match=r"home_assistant\.url in /etc/hearth/hearth\.toml must"):
        change(begun(), url="nowhere")


def test_a_text_that_is_no_toml() -> None:
    with pytest.raises(ConfigError, match="not valid TOML"):
        begun("[home_assistant\n")


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_all_are_written_each_with_its_mode(tmp_path: Path) -> None:
    secret, plain = tmp_path / "new" / "secret", tmp_path / "new" / "hearth.toml"
    write_all([NewFile(secret, b"s"), NewFile(plain, b"p", 0o644)])
    assert (secret.read_bytes(), mode(secret)) == (b"s", 0o600)
    assert (plain.read_bytes(), mode(plain)) == (b"p", 0o644)
    assert sorted(path.name for path in plain.parent.iterdir()) == ["hearth.toml", "secret"]


def test_where_the_last_cannot_be_written_the_first_is_as_before(tmp_path: Path) -> None:
    there, fresh, folder = tmp_path / "there", tmp_path / "fresh", tmp_path / "folder"
    there.write_bytes(b"old")
    there.chmod(0o640)
    (folder / "in it").mkdir(parents=True)  # a folder is never replaced by a file
    with pytest.raises(ConfigError, match="Nothing was changed"):
        write_all([NewFile(there, b"new"), NewFile(fresh, b"new"), NewFile(folder, b"new")])
    assert (there.read_bytes(), mode(there)) == (b"old", 0o640)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "there"]


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "etc").write_bytes(b"no folder")
    with pytest.raises(ConfigError, match="Nothing was changed: make that folder writable"):
        write_all([NewFile(tmp_path / "etc" / "hearth.toml", b"new")])
    assert (tmp_path / "etc").read_bytes() == b"no folder"


def test_a_full_disk_is_told_and_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match=r"No space left.*Nothing was changed: free some space"):
        write_all([NewFile(tmp_path / "secret", b"s"), NewFile(tmp_path / "hearth.toml", b"p")])
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_can_be_put_back(tmp_path: Path) -> None:
    there, fresh = tmp_path / "there", tmp_path / "fresh"
    there.write_bytes(b"old")
    put_back(write_all([NewFile(there, b"new"), NewFile(fresh, b"new")]))
    assert there.read_bytes() == b"old"
    assert not fresh.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize(("owner", "expected"), [(1234, 0o600), (0, 0o640)])
def test_root_gives_what_it_writes_to_whose_folder_it_is(
    owner: int, expected: int, tmp_path: Path
) -> None:
    os.chown(tmp_path, owner, 1235)
    write_all([NewFile(tmp_path / "secret", b"s")])
    found = (tmp_path / "secret").stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (owner, 1235, expected)
