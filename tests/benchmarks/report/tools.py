"""Cost of one tool call: through Hearth, by the MCP SDK's own client, and by a plain POST."""

import asyncio
import tempfile
from importlib.metadata import version
from pathlib import Path

from tests.benchmarks import tool_call
from tests.benchmarks.figures import how_many
from tests.benchmarks.report.line import Line, Measured, Part
from tests.benchmarks.tool_call import BUDGET, HUB, PLAIN, SDK, TOOLBOX

TEXT = """\
The same call of a light, to the state that it is in already, from the arguments to the read result;
in {house}.
The three ways and the plain one take turns in random order; all keep their connection.
`McpHub.call` is Hearth's session: one owner, timeouts, reading the result. `Toolbox.call` is
everything that a model's call goes through: policy, the entities that are meant, what is read back
from the house, and the journal on disk. The plain POST sends the JSON-RPC message with httpx and
reads the answer, the least that any client must do; the SDK is `mcp.Client` over
`streamable_http_client` with an `httpx2.AsyncClient`, as in its documentation.
"""
MOST = "It includes the SDK's client, which takes {sdk:.2f} ms of it."
INSIDE = "Hearth's figure includes that client; the rest is the owner, the timeout and the result."
WHOLE = (
    "It does more than the plain call: policy, entities, reading the house before and after, two "
    "entries in the journal. A person waits for the sum, so that is shown."
)


def part() -> Part:
    """Measure 300 rounds; LONG=1: 2,000."""
    with tempfile.TemporaryDirectory() as folder:
        house, taken = asyncio.run(_measure(Path(folder), how_many(300, 2_000)))
    found = {kind: Measured(tuple(values), "ms") for kind, values in taken.items()}
    plain, sdk = "a plain POST, kept alive", f"mcp {version('mcp')}, its client alone"
    by_plain = Line("one call, McpHub.call", found[HUB], plain, found[PLAIN], most_ratio=BUDGET)
    lines = (
        by_plain.because(MOST.format(sdk=found[SDK].p50)),
        Line("one call, McpHub.call", found[HUB], sdk, found[SDK]).because(INSIDE),
        Line("one call, all of Toolbox.call", found[TOOLBOX], plain, found[PLAIN]).because(WHOLE),
    )
    named = {"real": "a real Home Assistant", "embedded": "the embedded house of the same process"}
    text = TEXT.format(house=named[house])
    return Part("A tool call", lines, text=text, versions={"mcp": version("mcp")})


async def _measure(folder: Path, rounds: int) -> tuple[str, dict[str, list[float]]]:
    async with tool_call.ways(folder, sdk=True) as (house, calls):
        return house, await tool_call.measure(calls, rounds)
