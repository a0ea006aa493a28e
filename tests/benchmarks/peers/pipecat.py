"""pipecat-ai with Gemini Live as a process that answers what it heard, and when it answered."""

import ast
import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.peers.environment import Environment, PeerMissing, surroundings
from tests.benchmarks.service import Address

NAME = "pipecat-ai 1.14.0"
ENVIRONMENT = Environment("pipecat-ai-1.14.0", ("pipecat-ai[google,silero]==1.14.0",))
PROGRAM = Path(__file__).with_name("_pipecat.py")
# What of the program an owner would write; the rest of it is the measurement.
WRITTEN = ("turn_on", "tool", "turns_of", "gemini", "assistant")
_THEIRS = ("pipecat", "google")  # packages
_LINE = 1 << 20  # bytes; an answer is one line
_END_S = 20.0


@dataclass(frozen=True, slots=True)
class Heard:
    """The results of one utterance, in seconds of the monotonic clock."""

    began: float  # its first sample was spoken
    audible: float | None  # first audible sample of the answer; None: there was none
    ended: tuple[float, ...]  # each time that its turn was taken to be over


class Pipecat:
    """The process. Every question raises PeerMissing if it ends instead of answering."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self._log = log
        self.versions: Mapping[str, str] = {}

    @property
    def pid(self) -> int:
        return self._process.pid

    async def meet(self) -> None:
        """Wait until it is up."""
        self.versions = await self._answer()

    async def open(self) -> None:
        """Start a pipeline in a room in which nobody speaks."""
        await self._ask(do="open")

    async def say(self, wav: Path) -> Heard:
        """Play the file into its microphone; return when it has answered, or does not."""
        return heard(await self._ask(do="say", wav=str(wav)))

    async def say_cold(self, wav: Path) -> Heard:
        """Play the file to a pipeline that connects while the file begins."""
        return heard(await self._ask(do="cold", wav=str(wav)))

    async def listen(self, wavs: Sequence[Path], streams: int) -> list[Heard]:
        """Return the ends of turns alone, for `streams` files at a time, in real time."""
        told = await self._ask(do="listen", wavs=[str(wav) for wav in wavs], streams=streams)
        return [heard(one) for one in told]

    async def close(self) -> None:
        """End the pipeline."""
        await self._ask(do="close")

    async def _ask(self, **question: Any) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        await self._process.stdin.drain()
        return await self._answer()

    async def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            code = await self._process.wait()
            last = self._log.read_text(errors="replace").strip().splitlines()[-1:]
            raise PeerMissing(f"{NAME}: it ended with {code} {' '.join(last)}".rstrip())
        return json.loads(line)


@asynccontextmanager
async def pipecat(python: Path, address: Address, room: Path) -> AsyncIterator[Pipecat]:
    """Yield its process, with that service and the sound of its room. Raises PeerMissing.

    `python`: its environment's, see `python_of`.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                *(str(python), "-I", str(PROGRAM), address.url, address.key, str(room)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                env={**surroundings(), "SSL_CERT_FILE": address.ca_file, "LOGURU_LEVEL": "WARNING"},
                limit=_LINE,
            )
        try:
            peer = Pipecat(process, log)
            await peer.meet()
            yield peer
        finally:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Wait for it to end by itself when nothing more is asked; kill it otherwise."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(_END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def heard(told: Mapping[str, Any]) -> Heard:
    """Parse an answer of the process."""
    return Heard(told["began"], told["heard"], tuple(told["ended"]))


def lines_to_write(program: Path = PROGRAM) -> int:
    """Return the lines of code that an owner of it writes: its imports, and the functions of
    WRITTEN.

    Blank lines, comments and docstrings do not count.
    """
    tree = ast.parse(program.read_text("utf-8"))
    wanted: set[int] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_THEIRS):
            wanted |= _lines(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in WRITTEN:
            documentation = _lines(node.body[0]) if ast.get_docstring(node) else set()
            wanted |= _lines(node) - documentation
    source = [line.strip() for line in program.read_text("utf-8").splitlines()]
    code = (source[number - 1] for number in wanted)
    return sum(bool(line) and not line.startswith("#") for line in code)


def _lines(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def installed_mb(python: Path) -> tuple[float, int]:
    """Return an environment's MB, without pip and compiled files, and its number of packages.

    `python`: the environment's.
    """
    (packages,) = python.parent.parent.glob("lib/python*/site-packages")
    own = ("pip", "setuptools", "wheel")
    size = 0
    for file in packages.rglob("*"):
        top = file.relative_to(packages).parts[0].partition("-")[0]
        if file.is_file() and file.suffix != ".pyc" and top not in own:
            size += file.stat().st_size
    names = [found for found in packages.glob("*.dist-info") if found.name.split("-")[0] not in own]
    return size / 2**20, len(names)
