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
The same call for a light, to the state that it already has, from the arguments to the parsed
result, in {house}.
The four variants run in random order, each over an open connection. `McpHub.call` is Hearth's
session: a single owner task, timeouts and reading the result. `Toolbox.call` is everything that a
model's call goes through: policy, affected entities, verification in the house, and the journal on
disk. The plain POST sends the JSON-RPC message with httpx and reads the response, which is the
least that any client must do. The SDK is `mcp.Client` over `streamable_http_client` with an
`httpx2.AsyncClient`, as in its documentation.
"""
MOST = "It includes the SDK's client, which takes {sdk:.2f} ms."
INSIDE = (
    "Hearth's figure includes that client. The remaining time goes to the session's owner "
    "task, the timeout and reading the result."
)
WHOLE = (
    "`Toolbox.call` does more than the plain call: policy, entities, reading the house before "
    "and after, and two journal entries. The row is here because people wait for the total."
)


def part() -> Part:
    """Measure 300 rounds; LONG=1: 2,000."""
    with tempfile.TemporaryDirectory() as folder:
        house, taken = asyncio.run(_measure(Path(folder), how_many(300, 2_000)))
    found = {kind: Measured(tuple(values), "ms") for kind, values in taken.items()}
    plain, sdk = "a plain keep-alive POST", f"mcp {version('mcp')} (client only)"
    by_plain = Line("one call, McpHub.call", found[HUB], plain, found[PLAIN], most_ratio=BUDGET)
    lines = (
        by_plain.because(MOST.format(sdk=found[SDK].p50)),
        Line("one call, McpHub.call", found[HUB], sdk, found[SDK]).because(INSIDE),
        Line("one call, all of Toolbox.call", found[TOOLBOX], plain, found[PLAIN]).because(WHOLE),
    )
    named = {"real": "a real Home Assistant", "embedded": "the embedded house of the same process"}
    text = TEXT.format(house=named[house])
    return Part("Tool calls", lines, text=text, versions={"mcp": version("mcp")})


async def _measure(folder: Path, rounds: int) -> tuple[str, dict[str, list[float]]]:
    async with tool_call.ways(folder, sdk=True) as (house, calls):
        return house, await tool_call.measure(calls, rounds)
