"""Where the configuration is looked for, and where what must survive is kept."""

from collections.abc import Mapping
from pathlib import Path

import platformdirs

SYSTEM_FILE = Path("/etc/hearth/hearth.toml")


def candidate_files() -> tuple[Path, ...]:
    """The places that are tried in order when no file is named."""
    return (platformdirs.user_config_path("hearth") / "hearth.toml", SYSTEM_FILE)


def candidate_folders() -> tuple[Path, ...]:
    """Folders that hold nothing but Hearth's configuration and what belongs to it."""
    return tuple(file.parent for file in candidate_files())


def data_folder(environ: Mapping[str, str]) -> Path:
    """The default of `assistant.data`: the service's state folder, else the user's.

    systemd may give several folders in STATE_DIRECTORY, joined by colons; the first is ours.
    """
    state = environ.get("STATE_DIRECTORY", "").split(":")[0]
    return Path(state) if state else platformdirs.user_state_path("hearth")
