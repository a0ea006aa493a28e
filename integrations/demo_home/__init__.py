"""A simulated house on loopback, with the MCP, REST and websocket APIs of Home
Assistant 2026.11."""

from integrations.demo_home.rest import DemoHome

__all__ = ["DemoHome"]
