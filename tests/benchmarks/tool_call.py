"""One tool call through Hearth against a plain keep-alive POST of the same call (p50 <= 1.5 times)
and against the MCP SDK's own client.

The house is the one at HA_URL with HA_TOKEN, else the embedded one in this process. The call asks a
light for the state that it is in, so the house stays as it was. The kinds of call take turns, in an
order that is drawn anew each time.
"""

import asyncio
import os
import random
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from assistant.domain.clock import SystemClock
from assistant.domain.tool_call import Status, ToolCall
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.tools.execution.toolbox import Toolbox
from integrations.demo_home import DemoHome
from integrations.home_assistant.client import HomeAssistant
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import HOME_ASSISTANT, home_assistant_server
from tests.benchmarks.figures import how_many, print_table, spread, write_figures

BUDGET = 1.5  # times the plain call, of McpHub.call
ENDPOINT = "/api/mcp/assist"
PLAIN, HUB, TOOLBOX, SDK = "plain", "McpHub.call", "Toolbox.call", "mcp.Client.call_tool"
WARM_UP = 10  # calls of each kind that do not count

Call = Callable[[], Awaitable[None]]
Where = Callable[[], AbstractAsyncContextManager[tuple[str, str, str]]]


@asynccontextmanager
async def embedded() -> AsyncIterator[tuple[str, str, str]]:
    """Yield its description, URL and token."""
    async with DemoHome() as home:
        yield "embedded", home.url, home.token


@asynccontextmanager
async def house() -> AsyncIterator[tuple[str, str, str]]:
    """Yield the same of the house at HA_URL, if that is set."""
    url, token = os.environ.get("HA_URL"), os.environ.get("HA_TOKEN")
    if url and token:
        yield "real", url.rstrip("/"), token
        return
    async with embedded() as found:
        yield found


async def harmless(hub: McpHub, rest: httpx.AsyncClient) -> tuple[str, dict[str, Any]]:
    """Return a call that a light of this house accepts, and that changes nothing."""
    names = {tool.name.rpartition("__")[2]: tool.name for tool in await hub.tools()}
    states = (await rest.get("/api/states")).raise_for_status().json()
    lights = [state for state in states if state["entity_id"].startswith("light.")]
    for light in lights:
        if light["state"] not in ("on", "off"):
            continue
        tool = names["HassTurnOn" if light["state"] == "on" else "HassTurnOff"]
        arguments = {"name": light["attributes"]["friendly_name"], "domain": ["light"]}
        if not (await hub.call(HOME_ASSISTANT, tool, arguments)).is_error:
            return tool, arguments
    raise AssertionError("no light of this house can be switched by name")


def kinds(
    hub: McpHub, toolbox: Toolbox, rest: httpx.AsyncClient, tool: str, arguments: dict[str, Any]
) -> dict[str, Call]:
    """Return the ways to make the call; each raises if it did not succeed."""
    numbers = count()
    params = {"name": tool, "arguments": arguments}

    async def plain() -> None:
        request = {"jsonrpc": "2.0", "id": next(numbers), "method": "tools/call", "params": params}
        answer = (await rest.post(ENDPOINT, json=request)).raise_for_status().json()
        assert not answer["result"].get("isError")

    async def through_hub() -> None:
        assert not (await hub.call(HOME_ASSISTANT, tool, arguments)).is_error

    async def through_toolbox() -> None:
        number = next(numbers)
        outcome = await toolbox.call(
            ToolCall(str(number), tool, arguments), f"turn-{number}", heard="the light"
        )
        assert outcome.status is Status.DONE, outcome

    return {PLAIN: plain, HUB: through_hub, TOOLBOX: through_toolbox}


async def measure(calls: dict[str, Call], rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each call by kind."""
    order, taken = list(calls), {kind: list[float]() for kind in calls}
    chance = random.Random(1)
    for number in range(-WARM_UP, rounds):
        chance.shuffle(order)
        for kind in order:
            began = time.perf_counter()
            await calls[kind]()
            if number >= 0:
                taken[kind].append((time.perf_counter() - began) * 1000)
    return taken


@asynccontextmanager
async def by_sdk(url: str, token: str, tool: str, arguments: dict[str, Any]) -> AsyncIterator[Call]:
    """Yield the call by a session of the SDK alone, set up as its documentation says."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30.0, trust_env=False) as http,
        Client(streamable_http_client(f"{url}{ENDPOINT}", http_client=http)) as client,
    ):

        async def call() -> None:
            assert not (await client.call_tool(tool, arguments)).is_error

        yield call


@asynccontextmanager
async def ways(
    folder: Path, where: Where = house, *, sdk: bool = False
) -> AsyncIterator[tuple[str, dict[str, Call]]]:
    """Yield the house's description, and the ways to make the call there.

    `sdk` adds the SDK's own. The journal is in the folder.
    """
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        kind, url, token = await stack.enter_async_context(where())
        rest = await stack.enter_async_context(
            httpx.AsyncClient(
                base_url=url,
                headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
                trust_env=False,
            )
        )
        hub = await stack.enter_async_context(McpHub([home_assistant_server(url, token)]))
        home = await stack.enter_async_context(HomeAssistant(url, token))
        store = await stack.enter_async_context(Store(folder / "journal.db", clock))
        toolbox = Toolbox(hub, home, store, Catalogue(), clock)
        await toolbox.menu()
        tool, arguments = await harmless(hub, rest)
        calls = kinds(hub, toolbox, rest, tool, arguments)
        if sdk:
            calls[SDK] = await stack.enter_async_context(by_sdk(url, token, tool, arguments))
        yield kind, calls


async def _run(folder: Path) -> tuple[str, dict[str, list[float]]]:
    async with ways(folder, sdk=True) as (kind, calls):
        return kind, await measure(calls, how_many(300, 2000))


def main() -> None:
    """Measure, and fail if the hub's overhead exceeds the budget."""
    with tempfile.TemporaryDirectory() as folder:
        house_kind, taken = asyncio.run(_run(Path(folder)))
    figures = {kind: spread(values) for kind, values in taken.items()}
    plain = figures[PLAIN].p50
    ratios = {kind: round(figure.p50 / plain, 2) for kind, figure in figures.items()}
    print(f"  the {house_kind} house")
    print_table(
        ("call", "n", "ms p50 / p95 / max", "p50 by plain"),
        [(kind, figure.count, figure, ratios[kind]) for kind, figure in figures.items()],
    )
    document = {"house": house_kind, "calls": figures, "ratios": ratios, "budget": BUDGET}
    write_figures("tool_call", document)
    if ratios[HUB] > BUDGET:
        raise AssertionError(f"{ratios[HUB]} times a plain call, the budget {BUDGET:g}")
