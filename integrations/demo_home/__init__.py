"""A simulated house on loopback: MCP, REST and websocket APIs as in Home Assistant 2026.11."""

from integrations.demo_home.rest import DemoHome

__all__ = ["DemoHome"]
