"""How a server that is a program is started, and with which environment."""

import os
import shutil
from pathlib import Path

from mcp import StdioServerParameters
from mcp.client.stdio import get_default_environment

from integrations.errors import Misconfigured
from integrations.mcp.servers import ServerSpec

_INHERITED = ("PATH", "HOME", "LANG")


def program(spec: ServerSpec) -> StdioServerParameters:
    """The program with `env` plus PATH, HOME and LANG, nothing else. Raises Misconfigured.

    The SDK (2.3) adds LOGNAME, SHELL, TERM and USER to any environment; env(1) takes them out.
    """
    own = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    env = {"LANG": "C.UTF-8", **own, **spec.env}
    if _found(spec, env.get("PATH")) is None:
        raise Misconfigured(
            f"There is no program {spec.command!r}: check {spec.key('command')}, "
            "or install the program."
        )
    unset = [f"--unset={name}" for name in get_default_environment() if name not in env]
    return StdioServerParameters(
        command="env", args=[*unset, "--", spec.command, *spec.args], env=env, cwd=spec.cwd
    )


def _found(spec: ServerSpec, path: str | None) -> str | None:
    """Where the program is: a path counts from its folder, a bare name is searched for."""
    if os.sep in spec.command:
        return shutil.which(Path(spec.cwd or ".") / spec.command)
    return shutil.which(spec.command, path=path)
