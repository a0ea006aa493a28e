"""Tools for to-do lists and calendars, whose schemas contain the names of the exposed ones."""

from typing import Any

from integrations.demo_home import almanac, arguments
from integrations.demo_home.arguments import TEXT, described
from integrations.demo_home.house import CallerPlace, DemoHouse, Snapshot, TodoItem
from integrations.demo_home.intents import (
    ADD,
    ONCE,
    READ_LIST,
    IntentError,
    Run,
    Tool,
    Values,
    done,
    named,
)
from integrations.demo_home.matching import Target, match, same_name


def add_item(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    """Add an item to a to-do list, with its first letter capitalised."""
    todo = _todo_list(house, values["name"])
    item = values["item"].strip()
    house.todo[todo.entity_id].append(TodoItem(item[:1].upper() + item[1:]))
    return _todo_done(house, todo, values["name"])


def complete_item(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    todo = _todo_list(house, values["name"])
    _todo_item(house, todo, values["item"]).tick_off()
    return _todo_done(house, todo, values["name"])


def remove_item(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    """Remove an item from a to-do list, even if it is completed."""
    todo = _todo_list(house, values["name"])
    item = _todo_item(house, todo, values["item"], ticked_too=True)
    house.todo[todo.entity_id].remove(item)
    return _todo_done(house, todo, values["name"])


def _todo_list(house: DemoHouse, name: str) -> Snapshot:
    return match(house, Target(name=name, domains=("todo",))).states[0]


def _todo_item(
    house: DemoHouse, todo: Snapshot, summary: str, *, ticked_too: bool = False
) -> TodoItem:
    for item in house.todo[todo.entity_id]:
        if same_name(item.summary, summary) and (ticked_too or not item.done):
            return item
    raise IntentError(f"Item '{summary}' not found on list")


def _todo_done(house: DemoHouse, todo: Snapshot, name: str) -> dict[str, Any]:
    house.count_todo(todo.entity_id)
    return done([named("entity", name, todo.entity_id)], [])


_STATUSES = ("needs_action", "completed", "all")
_RANGES = ("today", "week")
_ITEM = arguments.input_schema({"item": TEXT, "name": TEXT}, ("item", "name"))
_ITEM_SLOTS = arguments.Slots({"item": arguments.text, "name": arguments.text}, ("item", "name"))
_ITEM_TOOLS = tuple(
    Tool(f"todo__{name}", title, does, _ITEM, hints, _ITEM_SLOTS, run, "todo")
    for name, title, does, hints, run in (
        ("HassListAddItem", "Add to-do list item", "Puts an item on a to-do list", ADD, add_item),
        (
            "HassListCompleteItem",
            "Complete to-do list item",
            "Ticks an item off a to-do list",
            ONCE,
            complete_item,
        ),
        (
            "HassListRemoveItem",
            "Remove to-do list item",
            "Takes an item off a to-do list",
            ONCE,
            remove_item,
        ),
    )
)


def todo_tools(house: DemoHouse) -> list[Tool]:
    """Return the to-do list tools, whose schemas contain the names of the exposed lists."""
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
        "Lists the items on a to-do list; by default, those not completed.",
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
    def get_items(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
        status = values.get("status", "needs_action")
        items = [item.row() for item in house.todo[lists[values["todo_list"]]]]
        return {"items": [item for item in items if status in ("all", item["status"])]}

    return get_items


def calendar_tools(house: DemoHouse) -> list[Tool]:
    """Return the calendar tool, whose schema contains the names of the exposed calendars."""
    names = [thing.name for thing in house.exposed() if thing.domain == "calendar"]
    properties = {
        "calendar": arguments.choice(*names),
        "range": arguments.choice(*_RANGES),
    }
    checks = {
        "calendar": arguments.one_of(names),
        "range": arguments.one_of(_RANGES),
    }
    return [
        Tool(
            "calendar__get_events",
            "Get calendar events",
            "Lists the events of a calendar. The end of an event is exclusive.",
            arguments.input_schema(properties, tuple(properties)),
            READ_LIST,
            arguments.Fields(checks, tuple(properties)),
            _events,
            "calendar",
        )
    ]


def _events(house: DemoHouse, values: Values, place: CallerPlace) -> dict[str, Any]:
    return {"events": almanac.events_in(house.clock.now(), values["range"])}
