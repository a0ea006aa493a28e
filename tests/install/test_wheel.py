"""Tests that the wheel is complete: the demo runs from it, outside the checkout."""

import os
import shlex
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOP_LEVEL = {"assistant", "audio", "integrations"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of this checkout without the network, and return its path."""
    folder = tmp_path_factory.mktemp("wheel")
    command = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder))
    subprocess.run([*command, *options, str(ROOT)], check=True, timeout=100)
    (found,) = folder.glob("*.whl")
    return found


def test_it_has_the_name_and_version_of_the_project(wheel: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert wheel.name == f"hearth_voice-{project['version']}-py3-none-any.whl"


def test_it_holds_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = {name for name in file.namelist() if ".dist-info/" not in name}
    listed = subprocess.run(
        ["git", "ls-files", "-z", *sorted(TOP_LEVEL)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    kept = {name for name in listed.stdout.split("\0") if name}
    assert names == kept | {"assistant/models/manifest.toml"}


def test_the_demo_runs_from_it(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "venv"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    options = ("--quiet", "--no-deps", "--no-index", str(wheel))
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", *options],
        check=True,
        timeout=60,
    )
    # The packages that Hearth needs are those of these tests; Hearth itself is not among them.
    needed = Path(sysconfig.get_path("purelib"))
    assert not any((needed / name / "__init__.py").exists() for name in TOP_LEVEL)
    environment = {
        "HOME": str(tmp_path),
        "PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(needed),
        "LC_ALL": "C.UTF-8",
    }

    def run(*command: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert Path(run("python", "-c", "import assistant; print(assistant.__file__)")).is_relative_to(
        place
    )
    shown = run("hearth", "demo")
    assert "All 6 commands worked." in shown
    command = next(line for line in shown.splitlines() if line.startswith("  hearth ask "))
    assert "Turned on the kitchen light." in run(*shlex.split(command))
