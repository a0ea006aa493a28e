"""Tests of a release, on a small repository with a bare one as its forge."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "deploy/development/release.py"
PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "hearth-voice"
version = "0.1.0"

[project.scripts]
hearth = "x:y"
"""
# Builds a wheel without anything from an index.
BACKEND = """\
import zipfile, tomllib
def build_wheel(folder, config_settings=None, metadata_directory=None):
    version = tomllib.load(open("pyproject.toml", "rb"))["project"]["version"]
    name = f"hearth_voice-{version}-py3-none-any.whl"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as file:
        info = f"hearth_voice-{version}.dist-info"
        about = ["Metadata-Version: 2.1", "Name: hearth-voice", f"Version: {version}", ""]
        made = ["Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any", ""]
        file.writestr(f"{info}/METADATA", "\\n".join(about))
        file.writestr(f"{info}/WHEEL", "\\n".join(made))
        file.writestr(f"{info}/RECORD", "")
    return name
"""
CHANGELOG = """\
# Changelog

## [Unreleased]

### Added

- A bell.

## [0.0.9] - 2026-01-01

- Old.
"""


def git(folder: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", folder, *words], capture_output=True, text=True, check=True, timeout=30
    ).stdout.strip()


@pytest.fixture
def forge(tmp_path: Path) -> Path:
    folder = tmp_path / "forge.git"
    subprocess.run(["git", "init", "--quiet", "--bare", folder], check=True, timeout=30)
    return folder


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A tester")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "tester@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    folder = tmp_path / "checkout"
    for name, text in {
        "pyproject.toml": PYPROJECT,
        "backend.py": BACKEND,
        "CHANGELOG.md": CHANGELOG,
        "deploy/addon/config.yaml": "name: Hearth\nversion: 0.1.0\n",
        ".gitignore": "dist/\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    supply = folder / "deploy/development/supply.sh"
    supply.parent.mkdir()
    supply.write_text('#!/bin/sh\necho "{}" >"$2"\n')
    supply.chmod(0o755)
    git(tmp_path, "init", "--quiet", "--initial-branch", "main", str(folder))
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Begin")
    return folder


def release(checkout: Path, *words: str) -> tuple[int, str]:
    command = [sys.executable, str(SCRIPT), *words]
    done = subprocess.run(
        command, cwd=checkout, capture_output=True, text=True, timeout=90, check=False
    )
    return done.returncode, done.stderr


def test_a_release_reaches_the_forge(checkout: Path, forge: Path) -> None:
    assert release(checkout, "prepare", "0.2.0", "--home", "https://forge.example/a/hearth") == (
        0,
        "",
    )
    assert 'version = "0.2.0"' in (checkout / "pyproject.toml").read_text()
    assert (
        'Issues = "https://forge.example/a/hearth/issues"'
        in (checkout / "pyproject.toml").read_text()
    )
    assert "version: 0.2.0" in (checkout / "deploy/addon/config.yaml").read_text()
    changelog = (checkout / "CHANGELOG.md").read_text()
    assert changelog.startswith("# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 20")
    assert git(checkout, "log", "-1", "--format=%s") == "release: set the version to 0.2.0"

    code, told = release(checkout, "publish", str(forge), "--unsigned", "--skip-tests")
    assert code == 0, told
    assert (
        git(forge, "rev-parse", "main", "v0.2.0^{commit}").split()
        == [git(checkout, "rev-parse", "HEAD")] * 2
    )
    folder = checkout / "dist/0.2.0"
    wheel = folder / "hearth_voice-0.2.0-py3-none-any.whl"
    assert zipfile.is_zipfile(wheel)
    assert (folder / "NOTES.md").read_text() == "### Added\n\n- A bell.\n"
    sums = dict(line.split("  ")[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == {wheel.name, "NOTES.md", "hearth.cdx.json"}
    assert sums[wheel.name] == hashlib.sha256(wheel.read_bytes()).hexdigest()

    code, told = release(checkout, "publish", str(forge), "--unsigned", "--skip-tests")
    assert (code, "tag v0.2.0 already" in told) == (1, True)


def test_links_are_replaced_and_not_repeated(checkout: Path) -> None:
    release(checkout, "prepare", "0.2.0", "--home", "https://forge.example/a/hearth")
    (checkout / "CHANGELOG.md").write_text(CHANGELOG)
    git(checkout, "commit", "--quiet", "--all", "--message", "Go on")
    assert (
        release(checkout, "prepare", "0.2.1", "--home", "https://forge.example/b/hearth/")[0] == 0
    )
    text = (checkout / "pyproject.toml").read_text()
    assert text.count("[project.urls]") == 1
    assert "forge.example/a" not in text


def test_a_refused_push_leaves_no_tag(checkout: Path, forge: Path) -> None:
    (forge / "hooks/pre-receive").write_text("#!/bin/sh\necho full >&2\nexit 1\n")
    (forge / "hooks/pre-receive").chmod(0o755)
    release(checkout, "prepare", "0.2.0")
    code, told = release(checkout, "publish", str(forge), "--unsigned", "--skip-tests")
    assert (code, "full" in told) == (1, True)
    assert git(checkout, "tag") == ""


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["prepare", "v2"], "three numbers"),
        (["prepare", "0.2.0", "--home", "forge"], "no address"),
        (["publish", "nowhere", "--unsigned", "--skip-tests"], "no section for 0.1.0"),
    ],
)
def test_what_cannot_be_released_is_refused(checkout: Path, words: list[str], fault: str) -> None:
    code, told = release(checkout, *words)
    assert (code, told.startswith("No release: "), fault in told) == (1, True, True)
    assert git(checkout, "log", "--format=%s") == "Begin"
    assert git(checkout, "status", "--porcelain") == ""


def test_a_release_without_a_key_says_so(checkout: Path, forge: Path) -> None:
    release(checkout, "prepare", "0.2.0")
    code, told = release(checkout, "publish", str(forge), "--skip-tests")
    assert (code, "user.signingkey" in told) == (1, True)


def test_uncommitted_work_and_an_empty_section_are_refused(checkout: Path) -> None:
    (checkout / "backend.py").write_text("")
    assert "uncommitted" in release(checkout, "prepare", "0.2.0")[1]
    (checkout / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n- A.\n"
    )
    git(checkout, "commit", "--quiet", "--all", "--message", "Empty it")
    assert 'nothing under "Unreleased"' in release(checkout, "prepare", "0.2.0")[1]
