"""How a server that is a program is started, and with which environment."""

import asyncio
import os
import shutil
from asyncio.subprocess import Process, SubprocessStreamProtocol
from dataclasses import dataclass
from pathlib import Path

from integrations.errors import Misconfigured
from integrations.mcp.servers import ServerSpec

_INHERITED = ("PATH", "HOME", "LANG")
_CHUNK = 64 * 1024  # bytes that wait in a pipe's reader before the program is made to wait


@dataclass(frozen=True, slots=True)
class ProgramCommand:
    """What is started."""

    words: tuple[str, ...]
    env: dict[str, str]
    cwd: str | None


@dataclass(frozen=True, slots=True)
class Running:
    """A program with its pipes. It leads a process group of its own."""

    process: Process
    transport: asyncio.SubprocessTransport


def command(spec: ServerSpec) -> ProgramCommand:
    """The program with `env` plus PATH, HOME and LANG, nothing else. Raises Misconfigured."""
    own = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    env = {"LANG": "C.UTF-8", **own, **spec.env}
    if spec.cwd is not None and not Path(spec.cwd).is_dir():
        raise Misconfigured(f"There is no folder {spec.cwd!r}: check {spec.key('cwd')}.")
    found = _found(spec, env.get("PATH"))
    if found is None:
        raise Misconfigured(
            f"There is no program {spec.command!r}: check {spec.key('command')}, "
            "or install the program."
        )
    return ProgramCommand((found, *spec.args), env, spec.cwd)


async def start(made: ProgramCommand) -> Running:
    """Start it with three pipes. Raises OSError and ValueError (a zero character in an argument).

    Not `asyncio.create_subprocess_exec`, which does the same: it keeps the transport, without which
    the pipes stay open while a child that the program has let go holds their other ends.
    """
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
    """Where the program is: a path counts from its folder, a bare name is searched for."""
    if os.sep in spec.command:
        found = shutil.which(Path(spec.cwd or ".") / spec.command)
        return str(Path(found).absolute()) if found else None
    return shutil.which(spec.command, path=path)
