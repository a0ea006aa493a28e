"""Install a release of Home Assistant, and run commands where it is installed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.home_assistant.real.places import Places, Refused
from tests.home_assistant.real.releases import INTEGRATIONS, Place, Version, place, release

HERE = Path(__file__).parent
DEBIAN = HERE / "debian.sh"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed release."""

    root: Path | None  # the Debian that it lies in; None: on the machine itself
    venv: str  # its environment, as it is seen where it lies

    def command(self, *words: str, folder: Path | None = None) -> list[str]:
        """Return a command that runs `words` there; the machine's `folder` is seen as /config."""
        if self.root is None:
            return list(words)
        seen = [f"{folder}:/config"] if folder else []
        return [str(DEBIAN), "run", str(self.root), *seen, "--", *words]

    def config(self, folder: Path) -> str:
        """Return the path of `folder` for a command that was given it."""
        return str(folder) if self.root is None else "/config"

    @property
    def kept(self) -> Path:
        """Return the environment's path on the machine."""
        return Path(f"{self.root or ''}{self.venv}")


def environment() -> dict[str, str]:
    """Return a command's environment, without variables for Hearth or another Python."""
    kept = {"HOME", "LANG", "PATH", "SSL_CERT_FILE", "PIP_CONFIG_FILE", "HA_MIRROR"}
    return {
        **{key: value for key, value in os.environ.items() if key in kept},
        "PYTHONUNBUFFERED": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "UV_NO_CACHE": "1",
        "UV_HTTP_TIMEOUT": "180",
    }


def install(places: Places, version: str, say: Say) -> Installed:
    """Install the release if needed. Raises Refused with a sentence."""
    wanted = release(version)
    debian = shutil.which("apt-get") is not None
    where = place(wanted, _pythons(), _version_of, root=os.geteuid() == 0, debian=debian)
    if where.suite:
        installed = Installed(places.debian(where.suite), f"/opt/home-assistant-{version}")
    else:
        installed = Installed(None, str(places.root / f"home-assistant-{version}"))
    mark = installed.kept / "hearth-complete"
    content = " ".join(INTEGRATIONS)
    with places.alone():
        if installed.root is not None:
            _make_debian(installed.root, where.suite, say)
        if not mark.exists() or mark.read_text() != content:
            _make_environment(installed, where, version, places.root / "install.log", say)
            mark.write_text(content)
    return installed


def broker(places: Places) -> Installed:
    """Return where mosquitto is installed: any Debian root of ours."""
    for root in sorted(places.root.glob("debian-*/etc/hearth-complete")):
        return Installed(root.parent.parent, "")
    raise Refused(
        "the broker lies in the Debian root, and there is none: start the newest first, or set "
        "HA_MQTT=0"
    )


def _make_debian(root: Path, suite: str, say: Say) -> None:
    if not (root / "etc/hearth-complete").exists():
        say(f"Debian {suite}, with a Python for it (a minute)")
    made = subprocess.run(
        [str(DEBIAN), "make", str(root), suite], env=environment(), capture_output=True, text=True
    )
    if made.returncode != 0:
        raise Refused((made.stderr.strip().splitlines() or ["debian.sh failed"])[-1])


def _make_environment(
    installed: Installed, where: Place, version: str, log: Path, say: Say
) -> None:
    say(f"Home Assistant {version} from the package registry (a minute)")
    venv, python = installed.venv, f"{installed.venv}/bin/python"

    def run(*words: str) -> str:
        return _run(installed.command(*words), log)

    # over what is there: a house that runs may stand on it
    run(where.python or "python3", "-m", "venv", venv)
    run(python, "-m", "pip", "install", "-q", "uv")
    uv = (f"{venv}/bin/uv", "pip", "install", "-q", "--python", python)
    run(*uv, f"homeassistant=={version}")
    source = (HERE / "requirements.py").read_text()
    needed = run(python, "-c", source, *INTEGRATIONS).split()
    package = run(python, "-c", "import homeassistant as h; print(h.__path__[0])").strip()
    run(*uv, *needed, "-c", f"{package}/package_constraints.txt")


def _run(command: Sequence[str], log: Path) -> str:
    """Return its output; its errors go to the log."""
    with log.open("a") as words:
        done = subprocess.run(
            command, env=environment(), stdout=subprocess.PIPE, stderr=words, text=True
        )
        words.write(done.stdout)
    if done.returncode != 0:
        raise Refused(f"{' '.join(command[-4:])} failed; its words are in {log}")
    return done.stdout


def _pythons() -> list[str]:
    """Return Pythons that the machine may have; a version manager's shim may not start."""
    managed = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [shutil.which(f"python3.{minor}") for minor in (13, 14)]
    try:
        more = sorted(managed.glob("3.1[34].*/bin/python"), reverse=True)
    except PermissionError:  # somebody else's
        more = []
    return [sys.executable, *(path for path in found if path), *map(str, more)]


def _version_of(python: str) -> Version | None:
    asked = "import sys, venv, ensurepip; print(*sys.version_info[:3])"
    try:
        told = subprocess.run(
            [python, "-c", asked], env=environment(), capture_output=True, text=True, timeout=20
        )
        first, second, third = (int(part) for part in told.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return first, second, third
