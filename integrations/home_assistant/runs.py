"""What scripts are seen to do.

`search/related` does not tell all of it (`related`). But Home Assistant gives a run and all that it
does one context, which state changes carry; what an automation does that the run has set off has it
as its parent (2026.11, `core.Context`). So a door that a script was seen to open counts as touched
by it from then on, however the script came to it.
"""

from collections.abc import Mapping
from typing import Any

from integrations.home_assistant.shapes import mapping, text

MAX_RUNS = 256  # remembered; the oldest are forgotten
LETS_IN = frozenset({"alarm_control_panel", "cover", "lock", "siren", "valve"})
_RUNNING = ("script", "automation")


class Runs:
    """The newest runs, by their contexts."""

    def __init__(self) -> None:
        self._begun_by: dict[str, str] = {}  # context id -> its first script; "": an automation

    def see(self, entity_id: str, state: Mapping[str, Any]) -> str:
        """Take a new state. Returns the script that has done it to a thing that lets someone in,
        or ""."""
        context = mapping(state.get("context"))
        own, parent = text(context.get("id")), text(context.get("parent_id"))
        if not own:
            return ""
        domain = entity_id.partition(".")[0]
        if domain in LETS_IN:
            return self._begun_by.get(own) or self._begun_by.get(parent, "")
        if domain in _RUNNING and own not in self._begun_by:
            script = entity_id if domain == "script" and state.get("state") == "on" else ""
            self._begun_by[own] = self._begun_by.get(parent) or script
            if len(self._begun_by) > MAX_RUNS:
                del self._begun_by[next(iter(self._begun_by))]
        return ""
