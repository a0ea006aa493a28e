"""Tests of the sources of settings, and of their precedence."""

import os
from pathlib import Path

import pytest

from assistant.config import ConfigError, Settings, find_file, load_settings
from assistant.config.schema import secret_files
from assistant.config.sound import VoiceModel, WakeWord


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "hearth.toml"


def test_nothing_given_is_the_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("assistant.config.schema.SYSTEM_FILE", tmp_path / "none.toml")
    settings = load_settings(None, {})
    assert settings.assistant.languages == ("en",)
    assert settings.home_assistant.url == "http://homeassistant.local:8123"
    assert settings.brain.order == ("gemini-live", "gemini-once", "home-assistant", "offline")
    assert settings.wake.words == (WakeWord(model="okay_nabu", sensitivity=None, profile=""),)
    assert settings.voice.models == {"en": VoiceModel(model="en_US-lessac-medium")}
    assert (settings.http.host, settings.http.port) == ("127.0.0.1", 8765)
    assert settings.privacy.accept_cloud is False
    assert settings.data_folder == tmp_path / "state" / "hearth"
    assert settings.database == tmp_path / "state" / "hearth" / "hearth.db"


def test_every_kind_of_value_is_read(file: Path) -> None:
    file.write_text("""
[assistant]
languages = ["es-MX", "en"]
[wake]
words = ["alexa", {model = "/models/hey.json", sensitivity = "high", profile = "night"}]
[profiles.night]
persona = "Whisper."
thinking = "low"
[voice]
models = {es = "es_MX-claude-high", en = {model = "~/x.onnx", speaker = 3, speed = 0.9}}
speed = 2
[[policy.rules]]
entity = "cover.*"
direction = "open"
from = "22:00"
to = "07:00"
decide = "deny"
[[mcp.servers]]
name = "search"
command = "npx"
args = ["-y", "server"]
env = {KEY = "hidden"}
allow = ["search"]
""")
    settings = load_settings(file, {})
    assert [word.model for word in settings.wake.words] == ["alexa", "/models/hey.json"]
    assert settings.wake.words[1].sensitivity == "high"
    night = settings.profiles[settings.wake.words[1].profile]
    assert (night.persona, night.thinking, night.voice) == ("Whisper.", "low", "")
    assert settings.voice.speed == 2.0
    assert settings.voice.models["es"] == VoiceModel(model="es_MX-claude-high")
    english = settings.voice.models["en"]
    assert (Path(english.model).name, english.speaker, english.speed) == ("x.onnx", "3", 0.9)
    assert english.volume == 1.0
    (rule,) = settings.policy.rules
    assert (rule.from_, rule.to, rule.decide) == ("22:00", "07:00", "deny")
    (server,) = settings.mcp.servers
    assert (server.transport, server.timeout_s, server.trust) == ("stdio", 10.0, "untrusted")
    assert server.env["KEY"].get_secret_value() == "hidden"


def test_the_environment_stands_above_the_file(file: Path) -> None:
    file.write_text('[audio]\ninput = "mic"\noutput = "speaker"\n[http]\nport = 1\n')
    settings = load_settings(
        file,
        {
            "HEARTH_AUDIO__INPUT": "file:a b.wav",
            "HEARTH_HTTP__PORT": "9000",
            "HEARTH_HOME_ASSISTANT__VERIFY_TLS": "false",
            "HEARTH_WAKE__WORDS": '["alexa", "hey_jarvis"]',
            "HEARTH_VOICE__MODELS": '{es = "voice"}',
            "HEARTH_LIMITS__DAILY_COST_USD": " 0.5 ",
            "HEARTH_SHARED": "/no/setting",
            "PATH": "/bin",
        },
    )
    assert (settings.audio.input, settings.audio.output) == ("file:a b.wav", "speaker")
    assert settings.http.port == 9000
    assert settings.home_assistant.verify_tls is False
    assert [word.model for word in settings.wake.words] == ["alexa", "hey_jarvis"]
    assert settings.voice.models == {"es": VoiceModel(model="voice")}
    assert settings.limits.daily_cost_usd == 0.5


def test_the_live_models_are_one_name_or_a_list(file: Path) -> None:
    for written, models in (
        ('"gemini-a"', ("gemini-a",)),
        ('["gemini-a", "models/gemini-b"]', ("gemini-a", "models/gemini-b")),
    ):
        file.write_text(f"[gemini]\nmodel = {written}\n")
        assert load_settings(file, {}).gemini.model == models
        file.write_text("")
        assert load_settings(file, {"HEARTH_GEMINI__MODEL": written}).gemini.model == models
    plain = {"HEARTH_GEMINI__MODEL": "gemini-3.8-live"}
    assert load_settings(file, plain).gemini.model == ("gemini-3.8-live",)
    for wrong, words in (
        ("[]", "must have at least one entry"),
        ('["gemini-a", "gemini-a"]', "must not contain duplicates"),
        ('"two words"', "must be the name of a model"),
        ("8", "gemini.model"),
    ):
        file.write_text(f"[gemini]\nmodel = {wrong}\n")
        with pytest.raises(ConfigError, match=words):
            load_settings(file, {})


VERTEX = 'vertex_project = "p"\nvertex_location = "global"\nvertex_credentials_file = "a.json"\n'
TOKEN = 'api_key = "auth_tokens/abc"\n'


def test_vertex_and_tokens_are_ways_to_sign_in(file: Path) -> None:
    file.write_text(f"[gemini]\n{VERTEX}")
    settings = load_settings(file, {})
    credentials = file.parent / "a.json"
    assert settings.gemini.vertex_credentials_file == str(credentials)
    assert credentials in secret_files(settings)
    for version in ("", 'api_version = "v1alpha"\n'):
        file.write_text(f"[gemini]\n{TOKEN}{version}")
        load_settings(file, {})


@pytest.mark.parametrize(
    ("written", "environ", "words"),
    [
        (f'{VERTEX}api_key = "k"', {}, "either api_key or vertex_project; remove one"),
        (VERTEX, {"GOOGLE_API_KEY": "k"}, "can also come from GEMINI_API_KEY or GOOGLE_API_KEY"),
        ('vertex_project = "p"', {}, "must also have vertex_location"),
        ('vertex_location = "l"', {}, "must also have vertex_project"),
        ('vertex_credentials_file = "f"', {}, "must also have vertex_project"),
        (VERTEX.rpartition("vertex_cred")[0], {}, "must also have vertex_credentials_file"),
        (f'{TOKEN}api_version = "v1beta"', {}, 'must have api_version = "v1alpha", or none'),
        ('vertex_project = "p/q"', {}, "must contain only letters"),
    ],
)
def test_ways_to_sign_in_that_contradict_each_other(
    file: Path, written: str, environ: dict[str, str], words: str
) -> None:
    file.write_text(f"[gemini]\n{written}\n")
    with pytest.raises(ConfigError, match=words):
        load_settings(file, environ)


def test_a_variable_cannot_smuggle_in_another_key(file: Path) -> None:
    file.touch()
    with pytest.raises(ConfigError, match="HEARTH_HTTP__PORT must be a whole number, not text"):
        load_settings(file, {"HEARTH_HTTP__PORT": '1\nhost = "0.0.0.0"'})


def test_each_source_of_a_secret_yields_to_the_one_above(file: Path, tmp_path: Path) -> None:
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    (credentials / "gemini.api_key").write_text("from credential\n")
    (tmp_path / "key").write_text("  from file \n")
    file.write_text('[gemini]\napi_key = "plain"\napi_key_file = "key"\n')
    sources = [
        ({"HEARTH_GEMINI__API_KEY": "from variable"}, "from variable"),
        ({"GEMINI_API_KEY": "from gemini"}, "from gemini"),
        ({"GOOGLE_API_KEY": "from google"}, "from google"),
        ({"CREDENTIALS_DIRECTORY": str(credentials)}, "from credential"),
        ({"CREDENTIALS_DIRECTORY": str(tmp_path)}, "from file"),
    ]
    for number, (_, expected) in enumerate(sources):
        environ: dict[str, str] = {}
        for variables, _ in reversed(sources[number:]):
            environ |= variables
        assert load_settings(file, environ).gemini.api_key.get_secret_value() == expected
    file.write_text('[gemini]\napi_key = "plain"\n')
    environ = {"HEARTH_GEMINI__API_KEY": "", "GEMINI_API_KEY": ""}  # passed on, but never set
    assert load_settings(file, environ).gemini.api_key.get_secret_value() == "plain"


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("home_assistant", "token"),
        ("gemini", "api_key"),
        ("http", "token"),
        ("mqtt", "password"),
        ("policy", "pin"),
    ],
)
def test_every_secret_may_lie_in_a_file_and_is_never_shown(
    file: Path, tmp_path: Path, section: str, key: str
) -> None:
    secret = "271828" if key == "pin" else "271828-to-be-kept"
    (tmp_path / "secret").write_text(f"{secret}\n")
    file.write_text(f'[{section}]\n{key}_file = "{tmp_path}/secret"\n')
    settings = load_settings(file, {})
    assert getattr(getattr(settings, section), key).get_secret_value() == secret
    assert "271828" not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_headers_and_environment_of_a_server_may_lie_in_files(file: Path, tmp_path: Path) -> None:
    (tmp_path / "headers").write_text("Authorization: Bearer a:b\n\nX-Team: home\n")
    (tmp_path / "env").write_text("API_KEY=a=b\n")
    file.write_text("""
[[mcp.servers]]
name = "web"
transport = "http"
url = "https://tools.example/mcp/"
headers = {X-Team = "office"}
headers_file = "headers"
[[mcp.servers]]
name = "local"
command = "server"
env_file = "env"
""")
    web, local = load_settings(file, {}).mcp.servers
    headers = {name: value.get_secret_value() for name, value in web.headers.items()}
    assert headers == {"Authorization": "Bearer a:b", "X-Team": "home"}
    assert web.url == "https://tools.example/mcp"
    assert local.env["API_KEY"].get_secret_value() == "a=b"


def test_paths_are_meant_from_the_file_and_from_home(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    file.write_text("""
[assistant]
data = "state"
[home_assistant]
ca_file = "ca.pem"
[offline]
recognizer = "~/vosk"
[journal]
path = "turns.db"
""")
    settings = load_settings(file, {})
    assert settings.data_folder == tmp_path / "state"
    assert settings.database == tmp_path / "state" / "turns.db"
    assert settings.home_assistant.ca_file == str(tmp_path / "ca.pem")
    assert settings.offline.recognizer == "/home/ana/vosk"


def test_the_service_keeps_its_data_in_its_state_folder(file: Path) -> None:
    file.touch()
    settings = load_settings(file, {"STATE_DIRECTORY": "/var/lib/hearth:/var/lib/other"})
    assert settings.data_folder == Path("/var/lib/hearth")


def test_files_are_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    system, named, users = tmp_path / "etc.toml", tmp_path / "named", tmp_path / "user/hearth"
    monkeypatch.setattr("assistant.config.schema.SYSTEM_FILE", system)
    assert find_file(None, {}) is None
    system.touch()
    assert find_file(None, {}) == system
    users.mkdir(parents=True)
    (users / "hearth.toml").touch()
    assert find_file(None, {}) == users / "hearth.toml"
    assert find_file(None, {"HEARTH_CONFIG": str(named)}) == named
    assert find_file(system, {"HEARTH_CONFIG": str(named)}) == system


def test_settings_are_fixed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().audio.input = "other"


def test_data_folder_without_loading_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "STATE_DIRECTORY", "/var/lib/hearth")
    assert Settings().data_folder == Path("/var/lib/hearth")
