"""Converters of an MCP server's tools into declarations for Gemini Live: ours, and five others.

The others run in their own environments, one process each for as long as they are asked.
"""

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from assistant.tools.catalog.arguments import fit
from integrations.gemini.declarations import Declaration, convert
from integrations.gemini.models import model_row
from integrations.gemini.setup import tools_of
from tests.benchmarks.peers._converters import MODEL, Session
from tests.benchmarks.peers.environment import (
    Environment,
    PeerMissing,
    Say,
    python_of,
    surroundings,
)
from tests.benchmarks.schema_corpus import Case
from tests.benchmarks.schema_judge import Converted, Json

RUNNER = Path(__file__).parent / "peers" / "_converters.py"
_ANSWER_S = 300.0  # the first one includes what the package imports
_MOST_BYTES = 64 * 2**20  # of one answer


@dataclass(frozen=True, slots=True)
class Peer:
    """A package of PyPI, and how its converter is used here."""

    package: str
    version: str
    more: tuple[str, ...]  # what it needs beside it, for pip
    extras: str
    used: str  # Markdown: as it is called

    @property
    def title(self) -> str:
        """Return name and version."""
        return f"{self.package} {self.version}"

    @property
    def environment(self) -> Environment:
        """Return its environment, separate from those of comparisons that need other extras."""
        asked = f"{self.package}{self.extras}=={self.version}"
        return Environment(f"converter-{self.package}-{self.version}", (asked, *self.more))


PEERS = (
    Peer(
        "pipecat-ai",
        "1.14.0",
        (),
        "[google,mcp]",
        "`MCPClient`'s schema of each tool through `GeminiLiveLLMAdapter`, as "
        "`GeminiLiveLLMService` does it",
    ),
    Peer(
        "livekit-agents",
        "1.8.9",
        (),
        "[google,mcp]",
        "`MCPServerHTTP`'s tools through `create_tools_config`, as `google.realtime.RealtimeModel` "
        "does it",
    ),
    Peer(
        "google-adk",
        "2.13.0",
        (),
        "[mcp]",
        "`McpTool`'s declaration with the feature `JSON_SCHEMA_FOR_FUNC_DECL` off. It is on by "
        "default; then nothing is converted, and the schema goes as `parametersJsonSchema`, which "
        "Live has ignored (googleapis/python-genai #1147)",
    ),
    Peer(
        "pydantic-ai-slim",
        "2.68.0",
        ("mcp>=2.2,<3",),
        "[google-realtime]",
        "the declaration that `GoogleRealtimeModel` makes of a `ToolDefinition`",
    ),
    Peer(
        "google-genai",
        "3.4.0",
        ("mcp>=2.2,<3",),
        "",
        "MCP's `Tool` objects as `tools` of `live.connect`, which converts them itself",
    ),
)


class Ours:
    """Hearth's converter, up to the same point on the wire."""

    def __init__(self) -> None:
        self._session = Session()
        self._row, _ = model_row(MODEL)

    async def converted(self, cases: Sequence[Case]) -> list[Converted]:
        """Return the declaration of each tool alone."""
        return [await self._converted(case) for case in cases]

    async def ms(self, tools: Sequence[Json]) -> float:
        """Return the milliseconds of CPU for all of them together, until the set-up is written."""
        began = time.process_time()
        await self._sent(_declared(tools))
        return (time.process_time() - began) * 1000

    def own_ms(self, tools: Sequence[Json]) -> float:
        """Return the part of it that is Hearth's own; the rest is google-genai's."""
        began = time.process_time()
        _declared(tools)
        return (time.process_time() - began) * 1000

    async def _converted(self, case: Case) -> Converted:
        made = convert(case.tool, case.about, case.schema)
        (sent,) = await self._sent([made])
        return Converted(
            sent,
            reports=made.losses,
            renamed=made.renamed,
            back=partial(_sent_to_server, case.schema, made),
        )

    async def _sent(self, made: Sequence[Declaration]) -> list[Json]:
        return await self._session.sent(list(tools_of(self._row, made, google_search=False)))


def _declared(tools: Sequence[Json]) -> list[Declaration]:
    return [convert(one["name"], one["description"], one["inputSchema"]) for one in tools]


def _sent_to_server(schema: Json, made: Declaration, written: Json) -> Json:
    """Return the arguments that the server gets for what the model wrote."""
    fitted = fit(schema, written, made.renamed)
    return {"refused": fitted.problem} if fitted.problem else fitted.arguments


class Theirs:
    """A peer's process, which answers one question after the other."""

    def __init__(self, peer: Peer, process: asyncio.subprocess.Process, errors: IO[bytes]) -> None:
        self.peer = peer
        self.versions = dict[str, str]()
        self._process = process
        self._errors = errors

    async def converted(self, cases: Sequence[Case]) -> list[Converted]:
        """Return its declaration of each tool alone. Raises PeerMissing."""
        answers = await self._ask([case.listed() for case in cases], 0)
        if len(answers) != len(cases):
            raise PeerMissing(f"{self.peer.title}: {len(answers)} answers to {len(cases)} tools")
        return [
            Converted(
                one.get("declaration", {}), one.get("error", ""), tuple(one.get("reports", ()))
            )
            for one in answers
        ]

    async def ms(self, tools: Sequence[Json]) -> float:
        """Return the milliseconds of its CPU for all of them together. Raises PeerMissing."""
        (found,) = await self._ask(tools, 1)
        return float(found)

    async def _ask(self, tools: Sequence[Json], passes: int) -> list[Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"tools": tools, "passes": passes}).encode())
            self._process.stdin.write(b"\n")
            await self._process.stdin.drain()
            async with asyncio.timeout(_ANSWER_S):
                answer = json.loads(await self._process.stdout.readline())
        except (OSError, ValueError) as error:  # TimeoutError is an OSError
            raise PeerMissing(f"{self.peer.title}: {self._reason(error)}") from error
        self.versions = answer["versions"]
        if self.versions[self.peer.package] != self.peer.version:
            raise PeerMissing(f"{self.peer.title}: there is {self.versions[self.peer.package]}")
        found: list[Any] = answer["answer"]
        return found

    def _reason(self, error: Exception) -> str:
        """Return the last line that it printed, or else the kind of the failure."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else str(error) or type(error).__name__


@asynccontextmanager
async def running(peer: Peer, say: Say) -> AsyncIterator[Theirs]:
    """Yield the peer, after its installation if needed. Raises PeerMissing."""
    python = await asyncio.to_thread(python_of, peer.environment, say)
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            *(str(python), "-I", str(RUNNER), peer.package),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=surroundings(),
            limit=_MOST_BYTES,
        )
        try:
            yield Theirs(peer, process, errors)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
