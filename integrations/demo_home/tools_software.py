"""Tools of what is not a device: scripts and to-do lists."""

from typing import Any

from integrations.demo_home import arguments, intents, services
from integrations.demo_home.arguments import TEXT, Schema, described
from integrations.demo_home.house import CallerPlace, DemoHouse
from integrations.demo_home.intents import ADD, AGAIN, ONCE, READ_LIST, Hints, Run, Tool
from integrations.demo_home.scenes import SCRIPTS, run_script


def script_tools(house: DemoHouse) -> list[Tool]:
    """A tool for each exposed script; its fields are described, but not enforced."""
    return [
        Tool(
            f"script__{thing.entity_id.partition('.')[2]}",
            thing.name,
            f"{SCRIPTS[thing.entity_id].description} Aliases: {sorted(thing.names)}",
            arguments.input_schema(*_fields(thing.entity_id)),
            Hints(open_world=True),
            arguments.Slots(dict.fromkeys(SCRIPTS[thing.entity_id].fields, arguments.anything)),
            _script_runner(thing.entity_id),
            "script",
        )
        for thing in house.exposed()
        if thing.domain == "script"
    ]


def _fields(entity_id: str) -> tuple[Schema, tuple[str, ...]]:
    """The schema of a script's fields, and which of them it says are required."""
    fields = SCRIPTS[entity_id].fields
    return (
        {name: described(field.schema, field.description) for name, field in fields.items()},
        tuple(name for name, field in fields.items() if field.required),
    )


def _script_runner(entity_id: str) -> Run:
    def run(house: DemoHouse, values: intents.Values, place: CallerPlace) -> dict[str, Any]:
        return {"result": run_script(house, entity_id, values, services.call) or {}}

    return run


_STATUSES = ("needs_action", "completed", "all")
_ITEM = arguments.input_schema({"item": TEXT, "name": TEXT}, ("item", "name"))
_ITEM_SLOTS = arguments.Slots({"item": arguments.text, "name": arguments.text}, ("item", "name"))


def _item_tool(name: str, title: str, description: str, hints: Hints, run: Run) -> Tool:
    """A tool for one item of a list."""
    return Tool(f"todo__{name}", title, description, _ITEM, hints, _ITEM_SLOTS, run, "todo")


_ITEM_TOOLS = (
    _item_tool(
        "HassListAddItem",
        "Add to-do list item",
        "Puts an item on a to-do list",
        ADD,
        intents.add_item,
    ),
    _item_tool(
        "HassListCompleteItem",
        "Complete to-do list item",
        "Ticks an item off a to-do list",
        ONCE,
        intents.complete_item,
    ),
    _item_tool(
        "HassListRemoveItem",
        "Remove to-do list item",
        "Takes an item off a to-do list",
        ONCE,
        intents.remove_item,
    ),
)


def todo_tools(house: DemoHouse) -> list[Tool]:
    """The tools of the exposed to-do lists, whose names stand in the schema."""
    lists = {thing.name: thing.entity_id for thing in house.exposed() if thing.domain == "todo"}
    properties = {
        "todo_list": arguments.choice(*lists),
        "status": described(
            {**arguments.choice(*_STATUSES), "default": "needs_action"},
            "Which items: open, completed or all",
        ),
    }
    get_items = Tool(
        "todo__get_items",
        "Get to-do list items",
        "Tells what is on a to-do list, by default what is still open.",
        arguments.input_schema(properties, ("todo_list",)),
        READ_LIST,
        arguments.Fields(
            {"todo_list": arguments.one_of(tuple(lists)), "status": arguments.one_of(_STATUSES)},
            ("todo_list",),
        ),
        _items_reader(lists),
        "todo",
    )
    return [get_items, *_ITEM_TOOLS]


def _items_reader(lists: dict[str, str]) -> Run:
    """Reads the lists, given as entity ids by name."""

    def get_items(house: DemoHouse, values: intents.Values, place: CallerPlace) -> dict[str, Any]:
        status = values.get("status", "needs_action")
        items = [item.row() for item in house.todo[lists[values["todo_list"]]]]
        return {"items": [item for item in items if status in ("all", item["status"])]}

    return get_items


def _cancel_all(house: DemoHouse, values: intents.Values, place: CallerPlace) -> dict[str, Any]:
    area = {"area": values["area"]} if "area" in values else {}
    return intents.done([], []) | {"speech_slots": {"canceled": 0, **area}}


# Home Assistant offers it to everyone, and no device of this house keeps timers.
CANCEL_ALL_TIMERS = Tool(
    "intent__HassCancelAllTimers",
    "Cancel all timers",
    "Ends every timer, or those of one area",
    arguments.input_schema({"area": TEXT}),
    AGAIN,
    arguments.Slots({"area": arguments.text}),
    _cancel_all,
)
