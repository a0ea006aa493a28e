"""What a tool is: its entry in the menu, the checks of its arguments and what runs behind it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from integrations.demo_home import schemas, slots
from integrations.demo_home.house import DemoHouse
from integrations.demo_home.intents import Action, Place
from integrations.demo_home.schemas import Schema

Run = Callable[[DemoHouse, Mapping[str, Any], Place], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Hints:
    """What the server says of a tool's effect. Home Assistant's are true only for reading tools."""

    destructive: bool = True
    idempotent: bool = False
    open_world: bool = False
    read_only: bool = False


READ = Hints(read_only=True)
READ_LIST = Hints(destructive=False, idempotent=True, read_only=True)
ADD = Hints(destructive=False)
ONCE = Hints()
AGAIN = Hints(idempotent=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """One entry of the menu and what runs behind it."""

    name: str
    title: str
    description: str
    input_schema: Schema
    hints: Hints
    slots: slots.Slots | slots.Fields
    run: Run
    needs: str | None = None  # offered only while an entity of this domain is exposed

    @property
    def intent(self) -> str:
        """The name without the integration in front."""
        return self.name.rpartition("__")[2]


def action_tool(
    name: str,
    title: str,
    description: str,
    hints: Hints,
    action: Action,
    *,
    domain: str | None = None,
    device_classes: tuple[str, ...] = (),
    extra: Schema | None = None,
    checks: Mapping[str, slots.Check] | None = None,
    required: tuple[str, ...] = (),
) -> Tool:
    """A tool that acts on whatever matches name, area, floor, domain and device class."""
    properties = schemas.target(domain, device_classes, any_domain=domain is None)
    known: dict[str, slots.Check] = {
        **dict.fromkeys(("name", "area", "floor"), slots.text),
        # In no schema, but obeyed.
        **dict.fromkeys(("preferred_area_id", "preferred_floor_id"), slots.text),
        "domain": slots.texts((domain,) if domain else ()),
        "device_class": slots.texts(device_classes),
    }
    return Tool(
        name,
        title,
        description,
        schemas.input_schema(properties | (extra or {}), required),
        hints,
        slots.Slots(known | dict(checks or {}), required),
        action,
        domain,
    )
