"""Start a tool server that is a local program, and restrict which files it can open.

Without a sandbox, the program could read Hearth's tokens and journal and the owner's other files.
docs/servers.md describes for owners what it can open.
"""

import asyncio
import json
import os
import shutil
import stat
import sys
import tempfile
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from integrations.errors import Misconfigured
from integrations.mcp import confine
from integrations.mcp.servers import ServerSpec

_INHERITED = ("PATH", "HOME", "LANG")
_CHUNK = 64 * 1024  # bytes that Hearth buffers from a pipe before the program has to wait


@dataclass(frozen=True, slots=True)
class ProgramCommand:
    """The command line, environment and working folder of a program."""

    words: tuple[str, ...]
    env: dict[str, str]
    cwd: str | None


@dataclass(frozen=True, slots=True)
class Running:
    """A running program and its pipes. The program is the leader of its own process group."""

    process: Process
    transport: asyncio.SubprocessTransport


def command(spec: ServerSpec) -> ProgramCommand:
    """Return the command that starts the server. Raises Misconfigured."""
    # The program gets no other variables of Hearth's environment.
    own = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    env = {"LANG": "C.UTF-8", **own, **spec.env}
    if spec.cwd is not None and not Path(spec.cwd).is_dir():
        raise Misconfigured(f"The folder {spec.cwd!r} does not exist: check {spec.key('cwd')}.")
    found = _found(spec, env.get("PATH"))
    if found is None:
        raise Misconfigured(
            f"The program {spec.command!r} was not found: check {spec.key('command')}, or "
            "install it."
        )
    return ProgramCommand((found, *spec.args), env, spec.cwd)


async def start(made: ProgramCommand) -> Running:
    """Start the program, with pipes for stdin, stdout and stderr.

    Raises OSError, or ValueError if an argument contains a null character.
    """
    # `asyncio.create_subprocess_exec` gives no access to the transport. Unless that is closed, the
    # pipes stay open as long as an orphaned child of the program holds their other ends.
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(limit=_CHUNK, loop=loop),
        *made.words,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=made.env,
        cwd=made.cwd,
        start_new_session=True,
    )
    return Running(Process(transport, protocol, loop), transport)


def _found(spec: ServerSpec, path: str | None) -> str | None:
    # A path is relative to the working folder.
    if os.sep in spec.command:
        found = shutil.which(Path(spec.cwd or ".") / spec.command)
        return str(Path(found).absolute()) if found else None
    return shutil.which(spec.command, path=path)


_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/proc", "/sys")
# The parts of /etc that are needed for name resolution, certificates, users, fonts and
# interpreters.
_ETC = (
    *("alternatives", "ca-certificates", "fonts", "gai.conf", "group", "host.conf", "hosts"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "machine-id", "mime.types"),
    *("npmrc", "nsswitch.conf", "os-release", "passwd", "pip.conf", "pki", "protocols"),
    *("python3", "resolv.conf", "services", "ssl", "timezone", "xdg"),
)
# Needed for name resolution.
_RESOLVER = ("/run/systemd/resolve", "/run/resolvconf", "/run/nscd", "/run/NetworkManager")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "pts", "ptmx", "shm")
# Folders and files of an installation, including its folder `bin`.
_INSTALLED = ("bin", "lib", "lib64", "libexec", "share", "include", "versions", "pyvenv.cfg")
_MODULES = "node_modules"
# Caches in the user's home folder that package runners need.
_CACHES = {
    "npx": (".npm",),
    "npm": (".npm",),
    "pnpm": (".local/share/pnpm", ".cache/pnpm"),
    "bunx": (".bun",),
    "bun": (".bun",),
    "deno": (".cache/deno",),
    "uvx": (".cache/uv", ".local/share/uv"),
    "uv": (".cache/uv", ".local/share/uv"),
    "pipx": (".cache/pipx", ".local/share/pipx"),
}
_RUNNER_SETTINGS = (".npmrc", ".config/uv", ".config/pip")
_MAX_DEPTH = 12  # levels of folders to search for files that must stay closed


@dataclass(frozen=True, slots=True)
class Grants:
    """Paths that a program can open. For a folder, this includes everything in it."""

    read: tuple[str, ...]
    write: tuple[str, ...]


@lru_cache(1)
def landlock_abi() -> int:
    """Return the Landlock version that this kernel enforces, or 0 if it enforces none."""
    return confine.landlock_abi()


def holds(spec: ServerSpec) -> bool:
    """Return True if this server is a program that is sandboxed on this machine."""
    return spec.transport == "stdio" and spec.sandbox and landlock_abi() > 0


def confined(spec: ServerSpec, made: ProgramCommand) -> ProgramCommand:
    """Return the command that starts the program in its sandbox, or `made` if there is no sandbox.

    The program gets its own temporary folder as TMPDIR. Raises OSError if that folder cannot be
    created.
    """
    if not holds(spec):
        return made
    own = _scratch(spec.name)
    made = replace(made, env={"TMPDIR": own, **made.env})
    found = grants(made, spec, own)
    rules = {"abi": landlock_abi(), "read": found.read, "write": found.write}
    launcher = (sys.executable, "-I", "-S", confine.__file__, json.dumps(rules))
    return replace(made, words=(*launcher, *made.words))


def grants(made: ProgramCommand, spec: ServerSpec, temporary: str = "") -> Grants:
    """Return the paths that the program can open.

    Files in `spec.closed` stay inaccessible even if the settings name a folder that contains them.
    Missing cache folders are created.
    """
    home = Path(made.env.get("HOME", "/nonexistent"))
    closed = tuple(_real(path) for path in spec.closed)
    program = Path(made.words[0])
    search = [Path(one) for one in made.env.get("PATH", "").split(os.pathsep) if one]
    read = [Path(one) for one in (*_SYSTEM, *_RESOLVER)]
    read += [Path("/etc", name) for name in _ETC]
    read += [home / name for name in _RUNNER_SETTINGS]
    for folder in (program.parent, *_interpreter(program), *search):
        read += _installation(folder)
    for file in (program, _real(program)):
        read += _around(file, home)
    write = [Path("/dev", name) for name in _DEVICES]
    write += [_made(home / name) for name in _CACHES.get(program.name, ())]
    if temporary:
        write.append(Path(temporary))
    base = Path(made.cwd or ".")
    named = [*([made.cwd] if made.cwd else []), *spec.folders]
    named += [*_named(made.words[1:], base), *_named(tuple(spec.env.values()), base)]
    write += [one for path in named for one in _folder_of(Path(path).expanduser(), home)]
    return Grants(_opened(read, closed), _opened(write, closed))


def _scratch(name: str) -> str:
    """Return a temporary folder that only this user can enter. Raises OSError."""
    # The path stays the same across starts. Otherwise a server that mentions the path in a tool's
    # description would seem to have changed.
    base = Path(tempfile.gettempdir(), f"hearth-servers-{os.getuid()}")
    base.mkdir(mode=0o700, exist_ok=True)
    found = base.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        return tempfile.mkdtemp(prefix="hearth-server-")  # another user created `base`
    folder = base / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return str(folder)


def _installation(folder: Path) -> list[Path]:
    found = [folder, *(folder.parent / name for name in _INSTALLED)]
    # The folder can belong to a virtual environment, whose Python is installed elsewhere.
    python = _real(folder / "python3")
    if python.parent != folder and python.is_file():
        found += [python.parent.parent / name for name in _INSTALLED]
    return found


def _interpreter(program: Path) -> list[Path]:
    try:
        with program.open("rb") as file:
            line = file.readline(256).decode("utf-8", "replace")
    except OSError:
        return []
    words = line.removeprefix("#!").split() if line.startswith("#!/") else []
    return [Path(words[0]).parent] if words else []


def _around(file: Path, home: Path) -> list[Path]:
    modules = [one for one in file.parents if one.name == _MODULES]
    found = [modules[-1]] if modules else []
    if file.parent not in (home, Path("/")):
        found += [file.parent, *_installation(file.parent)]
    return found or [file]


def _named(texts: Sequence[str], base: Path) -> list[str]:
    # Paths occur as "/srv/notes", "--root=~/notes" or "server.py".
    tails = [text.partition("=")[2] if text.startswith("-") else text for text in texts]
    return [
        one if one.startswith("~/") else str((base / one).absolute())
        for one in tails
        if "\0" not in one and (one.startswith(("/", "~/")) or _is_file(base / one))
    ]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long for a path
        return False


def _folder_of(path: Path, home: Path) -> list[Path]:
    # For a file, the program can open the file's folder, unless that is too broad.
    around = path.parent
    wide = around == home or around.parent == Path("/home") or len(around.parts) < 3
    return [path if path.is_dir() or wide else around]


def _opened(paths: Sequence[Path], closed: Sequence[Path]) -> tuple[str, ...]:
    found: set[Path] = set()
    for path in paths:
        found.update(_but(_real(path), closed, _MAX_DEPTH))
    # A path inside a folder that is also returned is left out.
    return tuple(sorted(str(one) for one in found if not found & set(one.parents)))


def _but(path: Path, closed: Sequence[Path], depth: int) -> list[Path]:
    # Landlock cannot exclude a file in an allowed folder, so the folder's other contents are
    # allowed one by one.
    if path in closed or not path.exists() or not depth:
        return []
    if not any(path in one.parents for one in closed):
        return [path]
    try:
        parts = sorted(one for one in path.iterdir() if not one.is_symlink())
    except OSError:
        return []
    return [found for one in parts for found in _but(one, closed, depth - 1)]


def _real(path: str | Path) -> Path:
    return Path(os.path.realpath(path))


def _made(folder: Path) -> Path:
    # Landlock would not let the program create the folder.
    with suppress(OSError):  # the program will report what is missing
        folder.mkdir(parents=True, exist_ok=True)
    return folder
