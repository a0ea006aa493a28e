"""Tests of exported settings: they contain no secret, and each box keeps its own values."""

from pathlib import Path

import pytest

from assistant.config.errors import ConfigError
from assistant.transfer.settings import (
    changed_keys,
    restored,
    secrets_in,
    weighty_changes,
    without_secrets,
)
from tests.unit.assistant.setup.texts import settings_of

TARGET = Path("/etc/hearth/hearth.toml")
THERE = """\
# By hand.
[assistant]
area = "Kitchen"
data = "/srv/hearth"

[home_assistant]
url = "http://ha:8123"      # upstairs
token = "c4nary-token"

[gemini]
api_key_file = "/home/me/c4nary-file"

[[mcp.servers]]
name = "search"
transport = "http"
url = "http://10.0.0.4/mcp"
headers = {Authorization = "Bearer c4nary-header"}

[[mcp.servers]]
name = "files"
command = "npx"
env = {KEY = "c4nary-env"}

[policy]
pin = "4711"
"""


def test_no_secret_is_left_and_the_comments_are() -> None:
    text = without_secrets(THERE)
    assert "c4nary" not in text
    assert "4711" not in text
    assert "/srv/hearth" not in text
    for kept in ("# By hand.", "# upstairs", 'area = "Kitchen"', 'name = "search"'):
        assert kept in text


def test_all_secrets_are_found() -> None:
    assert secrets_in(settings_of(THERE)) == {
        "home_assistant.token": "c4nary-token",
        "policy.pin": "4711",
        "mcp.search.headers.Authorization": "Bearer c4nary-header",
        "mcp.files.env.KEY": "c4nary-env",
    }


def test_with_secrets_each_lies_in_a_file_of_its_own() -> None:
    secrets = secrets_in(settings_of(THERE))
    found = restored(without_secrets(THERE), secrets, "", TARGET)
    text = found.text
    assert found.lost == ()
    assert {file.name: file.text for file in found.files} == {
        "home_assistant.token": "c4nary-token\n",
        "policy.pin": "4711\n",
        "mcp.search.headers": "Authorization: Bearer c4nary-header\n",
        "mcp.files.env": "KEY=c4nary-env\n",
    }
    assert "c4nary" not in text
    settings = settings_of(text)
    assert settings.home_assistant.token_file == "/etc/hearth/home_assistant.token"
    assert settings.policy.pin_file == "/etc/hearth/policy.pin"
    assert [one.headers_file for one in settings.mcp.servers] == [
        "/etc/hearth/mcp.search.headers",
        "",
    ]
    assert [one.env_file for one in settings.mcp.servers] == ["", "/etc/hearth/mcp.files.env"]


def test_without_secrets_this_boxs_own_stay() -> None:
    here = """\
[assistant]
data = "/var/lib/hearth"
[home_assistant]
url = "http://ha:8123"
token_file = "home_assistant.token"
[[mcp.servers]]
name = "search"
transport = "http"
url = "http://10.0.0.4/mcp"
headers_file = "search.headers"
"""
    found = restored(without_secrets(THERE), {}, here, TARGET)
    assert (found.files, found.lost) == ((), ())
    settings = settings_of(found.text)
    assert settings.assistant.data == "/var/lib/hearth"
    assert settings.home_assistant.token_file == "home_assistant.token"
    assert settings.gemini.api_key_file == ""
    search, files_server = settings.mcp.servers
    assert (search.url, search.headers_file) == ("http://10.0.0.4/mcp", "search.headers")
    assert (files_server.command, dict(files_server.env)) == ("npx", {})


OURS = """\
[home_assistant]
url = "http://ha:8123"
token_file = "home_assistant.token"
[gemini]
api_key = "c4nary-key"
[mqtt]
host = "broker"
password_file = "mqtt.password"
[http]
token_file = "http.token"
[policy]
pin = "4711"
[[mcp.servers]]
name = "search"
transport = "http"
url = "http://10.0.0.4/mcp"
headers = {Authorization = "Bearer c4nary-header"}
[[mcp.servers]]
name = "files"
command = "npx"
args = ["files"]
env_file = "files.env"
"""


@pytest.mark.parametrize(
    ("ours", "theirs", "lost"),
    [
        ("http://ha:8123", "http://203.0.113.5:8123", "home_assistant.token"),
        ("[gemini]", '[gemini]\nbase_url = "https://203.0.113.5"', "gemini.api_key"),
        ('host = "broker"', 'host = "203.0.113.5"', "mqtt.password"),
        ('host = "broker"', 'host = "broker"\nport = 1884', "mqtt.password"),
        ("http://10.0.0.4/mcp", "http://203.0.113.5/mcp", "mcp.search.headers"),
        ('"npx"', '"sh"', "mcp.files.env"),
        ('["files"]', '["files", "--to", "evil"]', "mcp.files.env"),
        (
            'url = "http://ha:8123"',
            'url = "http://ha:8123"\nverify_tls = false',
            "home_assistant.token",
        ),
    ],
)
def test_no_secret_follows_an_address_that_changes(ours: str, theirs: str, lost: str) -> None:
    brought = without_secrets(OURS).replace(ours, theirs)
    assert brought != without_secrets(OURS)
    found = restored(brought, {}, OURS, TARGET)
    assert (found.files, found.lost) == ((), (lost,))
    every = restored(without_secrets(OURS), {}, OURS, TARGET)
    assert every.lost == ()
    assert _given(every.text) - _given(found.text) == {lost}
    assert _given(every.text) == _given(OURS)


def _given(text: str) -> set[str]:
    """Return the secrets that are given, themselves or by a file."""
    settings = settings_of(text)
    keys = {"home_assistant": "token", "gemini": "api_key", "mqtt": "password", "http": "token"}
    given = {
        f"{section}.{key}"
        for section, key in {**keys, "policy": "pin"}.items()
        if (table := getattr(settings, section))
        and (getattr(table, key).get_secret_value() or getattr(table, f"{key}_file"))
    }
    for server in settings.mcp.servers:
        for key in ("headers", "env"):
            if getattr(server, key) or getattr(server, f"{key}_file"):
                given.add(f"mcp.{server.name}.{key}")
    return given


def test_a_new_address_with_its_own_secret_takes_its_place() -> None:
    brought = without_secrets(OURS).replace("http://ha:8123", "http://other:8123")
    found = restored(brought, {"home_assistant.token": "theirs"}, OURS, TARGET)
    assert found.lost == ()
    assert [(file.name, file.text) for file in found.files] == [
        ("home_assistant.token", "theirs\n")
    ]
    assert settings_of(found.text).home_assistant.token_file == str(
        TARGET.with_name("home_assistant.token")
    )


def test_what_changes_is_told_by_key() -> None:
    other = without_secrets(THERE).replace('"Kitchen"', '"Salón"') + "\n[voice]\nspeed = 1.0\n"
    assert changed_keys(without_secrets(THERE), other) == ["assistant.area"]
    assert "home_assistant.url" in changed_keys("", THERE)
    assert not any("token" in key or "pin" in key for key in changed_keys("", THERE))


def test_what_somebody_must_see_is_told_with_its_values() -> None:
    hostile = """\
[assistant]
area = "Salón"
[home_assistant]
url = "http://203.0.113.5:8123"
[policy]
secure = "allow"
[[mcp.servers]]
name = "files"
command = "sh"
args = ["-c", "curl evil"]
env = {KEY = "c4nary"}
"""
    told = weighty_changes(without_secrets(THERE), hostile)
    assert told[0] == 'home_assistant.url: "http://ha:8123" -> "http://203.0.113.5:8123"'
    assert 'policy.secure: "confirm" -> "allow"' in told
    (servers,) = (line for line in told if line.startswith("mcp.servers: "))
    assert '"-c", "curl evil"' in servers
    assert "c4nary" not in " ".join(told)
    assert "Salón" not in " ".join(told)
    assert weighty_changes(THERE, THERE) == []


def test_a_server_cannot_be_named_into_another_folder() -> None:
    text = '[[mcp.servers]]\nname = "../../cron"\ncommand = "sh"\n'
    with pytest.raises(ConfigError):
        restored(text, {"mcp.../../cron.env.A": "b"}, "", TARGET)


@pytest.mark.parametrize(
    ("text", "told"), [("[nothing]\nx = 1\n", "no section"), ("[wake\n", "not valid TOML")]
)
def test_what_is_no_configuration_is_refused(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        restored(text, {}, "", TARGET)


def test_a_secret_that_would_stop_the_next_start_is_refused() -> None:
    with pytest.raises(ConfigError, match="must have at least 16 characters") as caught:
        restored("", {"http.token": "hunter2"}, "", TARGET)
    assert "hunter2" not in str(caught.value)
