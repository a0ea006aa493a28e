"""Run `hearth` as its console script does, in a folder of its own."""

import os
import subprocess
import sys
from pathlib import Path

from tests.ports import free_port

SCRIPT = "import sys; from assistant.cli.entry import main; sys.exit(main())"
PROGRAM = (sys.executable, "-c", SCRIPT)


def environment(folder: Path) -> dict[str, str]:
    """Return an environment for the demo home, without sound devices and without the cloud."""
    (folder / "hearth.toml").touch()
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("HEARTH_")},
        "HOME": str(folder),
        "HEARTH_CONFIG": str(folder / "hearth.toml"),
        "HEARTH_ASSISTANT__DATA": str(folder / "data"),
        "HEARTH_HOME_ASSISTANT__URL": "demo",
        "HEARTH_BRAIN__ORDER": '["offline"]',
        "HEARTH_VOICE__ENGINE": "espeak",
        "HEARTH_AUDIO__INPUT": "null",
        "HEARTH_AUDIO__OUTPUT": "null",
        "HEARTH_HTTP__PORT": str(free_port()),
    }


def hearth(
    *words: str | bytes, folder: Path, **options: object
) -> "subprocess.CompletedProcess[str]":
    """Run one command to its end and return what it wrote."""
    streams: dict[str, object] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        **options,
    }
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [*PROGRAM, *words], env=environment(folder), text=True, timeout=90, check=False, **streams
    )
