"""Tests of errors in settings: one sentence with file, key and remedy, and without secrets."""

from pathlib import Path

import pytest

from assistant.config import ConfigError, load_settings

WRONG_FILES = [
    (
        '[wake]\nsensitivty = "low"',
        "In FILE, [wake] has no key sensitivty; did you mean sensitivity?",
    ),
    ("[wakes]", "In FILE, there is no section [wakes]; did you mean [wake]?"),
    ('name = "x"', "In FILE, name is outside any section; move it under [assistant]"),
    ("[voice]\nwords = []", "In FILE, [voice] has no key words; did you mean words under [wake]?"),
    (
        "[offline]\nzzz = 1",
        "In FILE, [offline] has no key zzz; its keys are recognizer",
    ),
    (
        '[[policy.rules]]\nentitty = "x"\ndecide = "allow"',
        "In FILE, policy.rules entry 1 has no key entitty; did you mean entity?",
    ),
    (
        '[wake]\nwords = [{modl = "x"}]',
        "wake.words entry 1 in FILE has no model; add it (and 1 more)",
    ),
    ("[audio]\ninput = 3", "audio.input in FILE must be text, not a number"),
    ("[journal]\npath = 2026-01-01", "journal.path in FILE must be text, not a date or time"),
    ('[http]\nport = "80"', "http.port in FILE must be a whole number, not text"),
    ("[http]\nport = true", "http.port in FILE must be a whole number, not true or false"),
    ("[http]\nport = 99999", "http.port in FILE must be at most 65535"),
    ("[limits]\ncalls_per_turn = 0", "limits.calls_per_turn in FILE must be at least 1"),
    ("[limits]\ndaily_cost_usd = inf", "limits.daily_cost_usd in FILE must be a finite number"),
    (
        "[privacy]\naccept_cloud = 1",
        "privacy.accept_cloud in FILE must be true or false, not a number",
    ),
    ('[brain]\norder = "offline"', "brain.order in FILE must be a list, not text"),
    ("[brain]\norder = []", "brain.order in FILE must have at least one entry"),
    (
        '[brain]\norder = ["offline", "offline"]',
        "brain.order in FILE must not contain duplicates",
    ),
    (
        '[brain]\nprefer_local = "allways"',
        "brain.prefer_local in FILE must be never, sentences or always; did you mean always?",
    ),
    (
        '[assistant]\nlanguages = ["English"]',
        'assistant.languages entry 1 in FILE must be a language code such as "en" or "es-MX"',
    ),
    (
        '[voice]\nmodels = {EN = "x"}',
        'voice.models.EN in FILE must be a language code such as "en" or "es-MX"',
    ),
    ("[voice.models]\nen = 3", "voice.models.en in FILE must be a table, not a number"),
    (
        "[voice.models.en]\nspeaker = true",
        "voice.models.en.speaker in FILE must be text, not true or false",
    ),
    ("[voice.models.en]\nspeed = 9", "voice.models.en.speed in FILE must be at most 4"),
    (
        "[voice.models.en]\nspeeed = 1",
        "In FILE, voice.models.en has no key speeed; did you mean speed?",
    ),
    ("wake = 3", "wake in FILE must be a table, not a number"),
    ("[[audio]]", "audio in FILE must be a table, not a list"),
    (
        '[[mcp.servers]]\nname = "home_assistant"\ncommand = "x"',
        'mcp.servers in FILE must not use the name "home_assistant", which is the house\'s own',
    ),
    (
        '[[mcp.servers]]\nname = "hearth"\ncommand = "x"',
        'mcp.servers in FILE must not use the name "hearth", which is for Hearth\'s own tools',
    ),
    ("[mcp]\nservers = [1]", "mcp.servers entry 1 in FILE must be a table, not a number"),
    (
        '[home_assistant]\nurl = "homeassistant"',
        'home_assistant.url in FILE must be an address such as "http://192.168.1.5:8123"',
    ),
    (
        '[[mcp.servers]]\nname = "a"\ntransport = "http"',
        'mcp.servers entry 1 in FILE must have a url, because its transport is "http"',
    ),
    (
        '[[policy.rules]]\nfrom = "22:00"\ndecide = "allow"',
        "policy.rules entry 1 in FILE must have both from and to, or neither",
    ),
    (
        '[[policy.rules]]\nfrom = "9:00"\nto = "10:00"\ndecide = "allow"',
        'from of policy.rules entry 1 in FILE must be a time such as "22:00"',
    ),
    (
        '[policy]\nsecure = "pin"',
        "policy in FILE must have a pin, because one of its decisions is pin",
    ),
    (
        '[[policy.rules]]\ndomain = "lock"\ndecide = "phone"',
        "policy in FILE must have a phone, because one of its decisions is phone",
    ),
    (
        '[policy]\nphone = "My Phone"',
        'policy.phone in FILE must be the name of a notify action such as "mobile_app_pixel"',
    ),
    (
        "[http]\nport = 0\n[limits]\ncalls_per_turn = 0\nrounds_per_turn = 0",
        "limits.rounds_per_turn in FILE must be at least 1 (and 2 more)",
    ),
    (
        '[wake]\nwords = ["alexa", {model = "x", profile = "kid"}]\n[profiles.kids]',
        'profile of wake.words entry 2 in FILE must name a profile; there is no profile "kid"; '
        'did you mean "kids"?',
    ),
    (
        '[wake]\nwords = [{model = "x", profile = "night"}]',
        'profile of wake.words entry 1 in FILE must name a profile; there is no profile "night"; '
        "add a table [profiles.night]",
    ),
    (
        "[profiles.kids]\ntone = 1",
        "In FILE, [profiles.kids] has no key tone; its keys are persona, language, thinking, "
        "voice, local_voice, tools, brain",
    ),
    (
        '[profiles.kids]\nthinking = "lots"',
        'profiles.kids.thinking in FILE must be "", low, medium or high',
    ),
    (
        '[profiles.kids]\nlanguage = "fr"',
        "profiles.kids.language in FILE must be one of assistant.languages: en",
    ),
    (
        '[brain]\norder = ["offline"]\n[profiles.kids]\nbrain = ["gemini-live"]',
        "profiles.kids.brain in FILE must name only brains that are in brain.order: offline",
    ),
    ("[profiles]\nkids = 3", "profiles.kids in FILE must be a table, not a number"),
    (
        '[profiles."my kids"]',
        'profiles.my kids in FILE must contain only letters, digits, "-" and "_"',
    ),
    ("[profile.kids]", "In FILE, there is no section [profile]; did you mean [profiles]?"),
    (
        '[audio]\ninput = "a\nb"',
        "FILE is not valid TOML at line 2, column 11: illegal character '\\n'",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG_FILES)
def test_one_sentence_for_each_mistake(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(file, {})
    assert str(caught.value) == sentence.replace("FILE", str(file))


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        (
            {"HEARTH_WAKE__SENSITIVTY": "low"},
            "The environment variable HEARTH_WAKE__SENSITIVTY is not a setting; "
            "did you mean HEARTH_WAKE__SENSITIVITY?",
        ),
        (
            {"HEARTH_QQ__QQ": "", "HEARTH_HTTP__PORT": "x"},
            "The environment variable HEARTH_QQ__QQ is not a setting; unset it (and 1 more)",
        ),
        ({"HEARTH_HTTP__PORT": "x"}, "HEARTH_HTTP__PORT must be a whole number, not text"),
        (
            {"HEARTH_ASSISTANT__LANGUAGES": "en"},
            "HEARTH_ASSISTANT__LANGUAGES must be a list, not text",
        ),
        ({"HEARTH_POLICY__PIN": "s3cret"}, "HEARTH_POLICY__PIN must be 4 to 12 digits"),
    ],
)
def test_a_wrong_variable_is_named(tmp_path: Path, environ: dict[str, str], sentence: str) -> None:
    file = tmp_path / "hearth.toml"
    file.touch()
    with pytest.raises(ConfigError) as caught:
        load_settings(file, environ)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("content", "rest"),
    [
        (None, "does not exist; create the file or correct the path"),
        ("folder", "is a folder; name a file"),
        (b"  \n", "is empty; write the secret into it"),
        (b"s3cret\ns3cret2", "has several lines; leave only the secret"),
        (b"\xff\xfe", "is not text; write the secret into it"),
    ],
)
def test_a_secret_file_that_cannot_serve(
    tmp_path: Path, content: bytes | str | None, rest: str
) -> None:
    file, secret = tmp_path / "hearth.toml", tmp_path / "token"
    file.write_text('[home_assistant]\ntoken_file = "token"')
    if isinstance(content, bytes):
        secret.write_bytes(content)
    elif content:
        secret.mkdir()
    with pytest.raises(ConfigError) as caught:
        load_settings(file, {})
    expected = f"home_assistant.token_file in {file} names {secret}, which {rest}"
    assert str(caught.value) == expected


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The open call itself refuses, so that the test also works for root."""

    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    file = tmp_path / "hearth.toml"
    file.write_text("")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", refuse)
        with pytest.raises(
            ConfigError, match=r"toml is not readable; give Hearth's user read access to it"
        ):
            load_settings(file, {})
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: '[http]\ntoken_file = "token"')
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(
        ConfigError, match=r"token, which is not readable; give Hearth's user read access"
    ):
        load_settings(file, {})


def test_an_empty_credential(tmp_path: Path) -> None:
    file, credential = tmp_path / "hearth.toml", tmp_path / "http.token"
    file.touch()
    credential.touch()
    with pytest.raises(ConfigError) as caught:
        load_settings(file, {"CREDENTIALS_DIRECTORY": str(tmp_path)})
    assert str(caught.value) == (
        f"The systemd credential http.token ({credential}) is empty; write the secret into it"
    )


def test_a_secret_of_the_wrong_form_names_its_file_and_not_itself(tmp_path: Path) -> None:
    file, secret = tmp_path / "hearth.toml", tmp_path / "pin"
    file.write_text('[policy]\npin_file = "pin"')
    secret.write_text("s3cret")
    with pytest.raises(ConfigError) as caught:
        load_settings(file, {})
    assert str(caught.value) == f"policy.pin, read from {secret}, must be 4 to 12 digits"


@pytest.mark.parametrize("text", ['[policy]\npin = "s3cret"', "[mqtt]\npassword = 5318008"])
def test_secrets_are_not_repeated(tmp_path: Path, text: str) -> None:
    file = tmp_path / "hearth.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(file, {})
    assert "s3cret" not in str(caught.value)
    assert "5318008" not in str(caught.value)


def test_a_missing_or_unusable_configuration_file(tmp_path: Path) -> None:
    missing = tmp_path / "none.toml"
    with pytest.raises(ConfigError) as caught:
        load_settings(missing, {})
    assert str(caught.value) == (
        f"The configuration file {missing} does not exist; create it with `hearth setup`"
    )
    with pytest.raises(ConfigError, match="does not exist"):
        load_settings(None, {"HEARTH_CONFIG": str(missing)})
    with pytest.raises(ConfigError, match="is a folder; name the configuration file in it"):
        load_settings(tmp_path, {})
    missing.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="is not UTF-8 text; save it as UTF-8"):
        load_settings(missing, {})
