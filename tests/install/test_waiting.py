"""Tests of the installer's wait for the HTTP interface: as the service's user, with a limit."""

import os
import subprocess
import time
from pathlib import Path

_PARTS = Path(__file__).parents[2] / "deploy/install"
_RUNUSER = """\
#!/bin/sh
echo "$@" >"$SAID"
shift 3
exec "$@"
"""


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _waited(folder: Path, reader: str) -> tuple[int, str]:
    """Return how it ended and the arguments of `runuser`, with `reader` in place of Python."""
    _program(folder / "bin/python", f"#!/bin/sh\n{reader}\n")
    _program(folder / "shims/runuser", _RUNUSER)
    said = folder / "said"
    script = (
        f". {_PARTS}/talk.sh; . {_PARTS}/places.sh; . {_PARTS}/service.sh; "
        f"CURRENT={folder} LOG={folder}/log OPEN_S=0 READING_S=1; interface_opens"
    )
    done = subprocess.run(
        ["bash", "-euc", script],
        env={"PATH": f"{folder}/shims:{os.environ['PATH']}", "SAID": str(said)},
        timeout=30,
    )
    return done.returncode, said.read_text()


def test_it_is_the_services_user_who_reads_the_settings(tmp_path: Path) -> None:
    code, said = _waited(tmp_path, "exit 0")
    assert code == 0
    assert said.startswith(f"-u hearth -- {tmp_path}/bin/python -P /opt/hearth/installer/")
    assert said.endswith("answers.py /etc/hearth/hearth.toml 0\n")


def test_a_file_of_a_secret_that_never_ends_does_not_hold_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "key")
    started = time.monotonic()
    code, _ = _waited(tmp_path, f"cat {tmp_path}/key")
    assert code != 0
    assert time.monotonic() - started < 20
