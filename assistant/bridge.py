"""The house as a process of Hearth has it: connected, with its tools and the store."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.clock import Clock
from assistant.config.schema import Settings
from assistant.journal.store import Store
from assistant.speech.catalogue import Catalogue
from assistant.tools.toolbox import Toolbox
from integrations.home_assistant.camera import Cameras
from integrations.home_assistant.client import HomeAssistant
from integrations.mcp.hub import McpHub
from integrations.mcp.servers import ServerSpec, home_assistant_server

if TYPE_CHECKING:
    from integrations.demo_home.server import DemoHome

DEMO = "demo"  # as home_assistant.url


@dataclass(frozen=True, slots=True)
class Bridge:
    """The house and its tools, without anybody who listens or speaks."""

    store: Store
    home: HomeAssistant
    hub: McpHub
    tools: Toolbox
    catalogue: Catalogue
    cameras: Cameras
    demo: "DemoHome | None"  # the simulated house, where `home_assistant.url` is "demo"


@asynccontextmanager
async def open_bridge(settings: Settings, clock: Clock) -> AsyncIterator[Bridge]:
    """The house, its tool servers and the store. Raises ConfigError and StoreError."""
    async with AsyncExitStack() as stack:
        demo = None
        url, token = settings.home_assistant.url, settings.home_assistant.token.get_secret_value()
        if url == DEMO:
            # Imported late: mcp's server part takes as long as all the rest of a short command.
            from integrations.demo_home.server import DemoHome

            demo = await stack.enter_async_context(DemoHome())
            url, token = demo.url, demo.token
        store = await stack.enter_async_context(Store(settings.database, clock))
        tls = (settings.home_assistant.verify_tls, settings.home_assistant.ca_file)
        home = await stack.enter_async_context(HomeAssistant(url, token, *tls))
        servers = [
            home_assistant_server(url, token, verify_tls=tls[0], ca_file=tls[1]),
            *_other_servers(settings),
        ]
        hub = await stack.enter_async_context(McpHub(servers))
        catalogue = Catalogue()
        area = settings.assistant.area
        tools = Toolbox(hub, home, store, catalogue, clock, area=area)
        yield Bridge(store, home, hub, tools, catalogue, Cameras(url, token, *tls), demo)


def _other_servers(settings: Settings) -> list[ServerSpec]:
    """The tool servers of the configuration, beside Home Assistant's own."""
    return [
        ServerSpec(
            name=server.name,
            transport=server.transport,
            url=server.url,
            headers={key: value.get_secret_value() for key, value in server.headers.items()},
            command=server.command,
            args=server.args,
            env={key: value.get_secret_value() for key, value in server.env.items()},
            cwd=server.cwd or None,
            timeout_s=server.timeout_s,
            trust=server.trust,
            allow=server.allow,
            deny=server.deny,
        )
        for server in settings.mcp.servers
    ]
