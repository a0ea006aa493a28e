"""Which local file a file server means by a path. Only below the folders that it was given."""

import os
from pathlib import Path

from integrations.mcp.servers import ServerSpec


def given_folders(spec: ServerSpec) -> tuple[Path, ...]:
    """The folders among a program's arguments, resolved; those that it may write in."""
    if spec.transport != "stdio":
        return ()
    found = []
    for word in spec.args:
        if not word or word.startswith("-") or "\0" in word:
            continue
        folder = Path(spec.cwd or ".") / _at_home(word, spec)
        if folder.is_dir():
            found.append(folder.resolve())
    return tuple(dict.fromkeys(found))


def meant(path: object, spec: ServerSpec, folders: tuple[Path, ...]) -> Path | None:
    """Where the server would write, with symbolic links resolved as far as there is something.

    None: no path, or one that leads out of `folders`. The file need not exist.
    """
    if not isinstance(path, str) or not path or "\0" in path:
        return None
    wanted = Path(_at_home(path, spec))
    tried = [wanted] if wanted.is_absolute() else [folder / wanted for folder in folders]
    for one in tried:
        try:
            real = one.resolve()
            circle = real.is_symlink()  # since Python 3.13; before it raises
        except (OSError, RuntimeError, ValueError):  # links in a circle, no real name
            continue
        if not circle and any(real.is_relative_to(folder) and real != folder for folder in folders):
            return real
    return None


def _at_home(path: str, spec: ServerSpec) -> str:
    """With the program's own HOME in place of `~`."""
    if path != "~" and not path.startswith("~/"):
        return path
    return spec.env.get("HOME", os.environ.get("HOME", "~")) + path[1:]
