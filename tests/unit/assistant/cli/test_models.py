"""Tests of `hearth models`: list, download and check, with a server on loopback."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.cli.main import main
from integrations.downloads import downloading_into
from tests.tiny_voice import make_tiny_voice
from tests.unit.integrations.file_server import FileServer, file_server

BODY = {"/a": b"a voice", "/a.json": b"{}", "/b": b"another", "/b.json": b"{ }", "/w": b"a word"}
TABLE = """
[[model]]
name = "{name}"
kind = "{kind}"
language = "en_US"
quality = "low"
licence = "{licence}"
noncommercial = {noncommercial}
source = "https://models.example"
read = "a test"
files = [{files}]
"""


def table(server: FileServer, name: str, kind: str, paths: list[str], licence: str = "CC0") -> str:
    files = ", ".join(
        f'{{url = "{server.url(path)}", size = {len(BODY[path])}, '
        f'sha256 = "{hashlib.sha256(BODY[path]).hexdigest()}"}}'
        for path in paths
    )
    return TABLE.format(
        name=name,
        kind=kind,
        licence=licence,
        noncommercial=str("NC" in licence).lower(),
        files=files,
    )


@pytest.fixture
def server() -> Iterator[FileServer]:
    with file_server(BODY) as served:
        yield served


@pytest.fixture(autouse=True)
def home(server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "list.toml").write_text(
        "version = 1\n"
        + table(server, "en_US-a-low", "voice", ["/a", "/a.json"])
        + table(server, "en_US-b-low", "voice", ["/b", "/b.json"])
        + table(server, "weather", "open", ["/w"], "CC BY-NC-SA 4.0")
    )
    monkeypatch.setenv("COLUMNS", "160")
    write(tmp_path, voices='{en = "en_US-a-low"}')
    return tmp_path


def write(home: Path, voices: str, wake: str = "") -> None:
    text = f'[assistant]\ndata = "{home}/data"\n[voice]\nmodels = {voices}\n{wake}'
    (home / "hearth.toml").write_text(text)


def run(home: Path, *words: str) -> int:
    return main(
        ["models", *words, "--config", f"{home}/hearth.toml", "--manifest", f"{home}/list.toml"]
    )


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_without_names_it_fetches_what_the_settings_lack(
    home: Path, server: FileServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(home, "download", "--json") == 0
    out = capsys.readouterr()
    assert [(e["name"], e["fetched"]) for e in json.loads(out.out)] == [("en_US-a-low", True)]
    assert "en_US-a-low: 0.0 MB, licence: CC0" in out.err
    assert (home / "data/models/en_US-a-low.onnx").read_bytes() == BODY["/a"]
    assert (home / "data/models/en_US-a-low.onnx.json").read_bytes() == BODY["/a.json"]
    assert run(home, "download") == 0
    assert "en_US-a-low: was already in" in capsys.readouterr().out
    assert len(server.asked) == 2


def test_a_licence_against_business_use_is_told(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(home, "download", "weather") == 0
    out = capsys.readouterr()
    assert "licence: CC BY-NC-SA 4.0; not for commercial use" in out.err
    assert (home / "data/models/weather.tflite").read_bytes() == BODY["/w"]


def test_an_unknown_name_suggests_the_nearest(
    home: Path, server: FileServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(home, "download", "en_US-a-lwo") == 2
    said = "There is no model en_US-a-lwo to download; did you mean en_US-a-low?"
    assert said in capsys.readouterr().err
    assert run(home, "download", "zzz") == 2
    assert "run hearth models list" in capsys.readouterr().err
    assert server.asked == []


def test_a_tampered_source_is_refused_in_one_sentence(
    home: Path, server: FileServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.files = {**BODY, "/a": b"a vOice"}
    assert run(home, "download") == 2
    err = capsys.readouterr().err
    assert "hearth: en_US-a-low.onnx was downloaded incorrectly" in err
    assert "Traceback" not in err
    assert not (home / "data/models/en_US-a-low.onnx").exists()


def test_the_list_tells_states_and_own_files(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / "data/models"
    folder.mkdir(parents=True)
    (folder / "en_US-a-low.onnx").write_bytes(BODY["/a"])
    (folder / "en_US-b-low.onnx").write_bytes(BODY["/b"])
    (folder / "en_US-b-low.onnx.json").write_bytes(BODY["/b.json"])
    (folder / "mine.onnx").write_bytes(b"x")
    (folder / "house.tflite").write_bytes(b"x")
    (folder / "house.json").write_text("{}")
    (folder / "half.onnx.part").write_bytes(b"x")
    (folder / "weather.tflite.part").write_bytes(b"a")
    write(home, f'{{en = "en_US-a-low", es = "{home}/es.onnx", de = "gone"}}')
    with (home / "hearth.toml").open("a") as settings:
        settings.write('[wake]\nwords = ["okay_nabu", "house"]\n')
    assert run(home, "list", "--json") == 0
    rows = [(r["name"], r["kind"], r["state"], r["used"]) for r in printed(capsys)]
    assert rows == [
        ("en_US-a-low", "voice", "broken", True),  # its .json is missing
        ("en_US-b-low", "voice", "there", False),
        ("weather", "open", "partial", False),
        (f"{home}/es.onnx", "voice", "missing", True),
        ("house", "micro", "own file", True),
        ("mine", "voice", "own file", False),
    ]
    assert run(home, "list") == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.split() == "name kind language quality size state used licence".split()
    assert lines[0].split() == "en_US-a-low voice en_US low 0.0 MB broken yes 1".split()
    assert lines[2].split() == "weather open en_US low 0.0 MB partial 2".split()
    assert lines[-2:] == ["Licence 1: CC0", "Licence 2: CC BY-NC-SA 4.0; not for commercial use"]


def test_check_finds_what_is_missing_then_whole_then_tampered_with(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told() -> list[tuple[str, str, str | None]]:
        return [(r["name"], r["state"], r["problem"]) for r in printed(capsys)]

    mend = "hearth models download en_US-a-low."
    assert run(home, "check", "--json") == 1
    assert told() == [
        ("en_US-a-low", "missing", f"en_US-a-low is missing: download it with {mend}")
    ]
    assert run(home, "download", "--json") == 0
    capsys.readouterr()
    assert run(home, "check", "--json") == 0
    assert told() == [("en_US-a-low", "there", None)]
    (home / "data/models/en_US-a-low.onnx").write_bytes(b"a vOice")  # of the same size
    assert run(home, "check", "--json") == 1
    wrong = "en_US-a-low.onnx is missing or differ from the manifest"
    assert told() == [("en_US-a-low", "broken", f"{wrong}: download it again with {mend}")]
    assert run(home, "download") == 0
    assert run(home, "check") == 0


@pytest.mark.parametrize("name", ["mine.onnx", "word.tflite", "pair.tflite"])
def test_check_loads_own_files(name: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = home / "data/models"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(b"no model at all")
    (folder / "mine.onnx.json").write_text("{}")
    (folder / "pair.json").write_text("{}")
    write(home, "{}")
    assert run(home, "check", "--json") == 1
    (row,) = printed(capsys)
    assert (row["name"], row["state"]) == (Path(name).stem, "broken")
    assert row["problem"].endswith(".")
    assert "\n" not in row["problem"]


def test_nothing_to_do_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(home, "{}")
    assert run(home, "download") == 0
    assert "These settings need no downloads." in capsys.readouterr().out
    assert run(home, "check") == 0
    assert "No models in" in capsys.readouterr().out


def test_a_voice_of_the_settings_that_nobody_has(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(home, '{en = "en_US-c-low"}')
    assert run(home, "download") == 1
    said = "The settings name en_US-c-low, which cannot be downloaded; did you mean en_US-"
    assert said in capsys.readouterr().err


def test_config_may_stand_before_the_deed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = ["models", "--config", f"{home}/hearth.toml", "list", "--json"]
    assert main([*before, "--manifest", f"{home}/list.toml"]) == 0
    assert printed(capsys)[0]["used"] is True


def test_a_language_without_voice_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(home, "{}")
    assert run(home, "download") == 0
    said = "voice.models has no voice for en; run hearth models list for all voices, such as "
    assert f"{said}en_US-a-low or en_US-b-low" in capsys.readouterr().err


def test_where_to_get_what_the_list_does_not_have(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "list.toml").write_text("version = 1\nmodel = []\n")
    write(home, '{en = "en_US-a-low"}')
    assert run(home, "download") == 1
    out, err = capsys.readouterr()
    assert out == ""
    get = "get en_US-a-low.onnx and en_US-a-low.onnx.json from its publisher and put it into"
    assert err == (
        "hearth: The settings name en_US-a-low, which cannot be downloaded; "
        f"{get} {home}/data/models\n"
    )
    assert run(home, "check", "--json") == 1
    (row,) = printed(capsys)
    assert row["problem"] == f"en_US-a-low is missing: {get} {home}/data/models."


def test_a_failure_leaves_one_json_value_and_one_sentence(
    home: Path, server: FileServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.files = {**BODY, "/b": b"anOther"}
    names = ("weather", "en_US-b-low", "en_US-a-low")
    assert run(home, "download", *names, "--json") == 2
    out, err = capsys.readouterr()
    told = [(one["name"], one["fetched"], bool(one["problem"])) for one in json.loads(out)]
    assert told == [("weather", True, False), (names[1], None, True), (names[2], None, False)]
    assert err.splitlines()[-1] == f"hearth: {json.loads(out)[1]['problem']}"
    assert "\x1b" not in err  # no bar without a terminal


def test_check_tells_to_go_on_with_what_was_begun(
    home: Path, server: FileServer, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / "data/models"
    folder.mkdir(parents=True)
    (folder / "en_US-a-low.onnx.part").write_bytes(BODY["/a"][:3])
    (folder / "en_US-b-low.onnx.part").write_bytes(b"a")  # nobody needs it
    assert run(home, "check", "--json") == 1
    (row,) = printed(capsys)
    assert (row["name"], row["state"]) == ("en_US-a-low", "partial")
    assert row["problem"].startswith("en_US-a-low is incomplete: download it with hearth models")
    assert run(home, "download") == 0
    assert server.asked[0] == ("/a", "bytes=3-", "")
    assert run(home, "check") == 0


def test_check_knows_an_own_voice_that_loads(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make_tiny_voice(home)
    write(home, f'{{en = "{path}"}}')
    assert run(home, "check", "--json") == 0
    (row,) = printed(capsys)
    assert (row["name"], row["state"], row["problem"]) == (str(path), "own file", None)
    path.with_name("tiny.onnx.json").unlink()
    assert run(home, "check", "--json") == 1
    (row,) = printed(capsys)
    assert row["state"] == "broken"
    assert "tiny.onnx" in row["problem"]
    path.unlink()
    assert run(home, "check", "--json") == 1
    (row,) = printed(capsys)
    assert row["problem"] == (
        f"{path} is missing: put it there, or change the path in the settings."
    )


def test_while_another_download_runs(
    home: Path, server: FileServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with downloading_into(home / "data/models"):
        assert run(home, "download", "--json") == 2
    out, err = capsys.readouterr()
    assert json.loads(out)[0]["fetched"] is None
    assert err == (
        f"hearth: Another download into {home}/data/models is running: wait until it has "
        "finished.\n"
    )
    assert server.asked == []
