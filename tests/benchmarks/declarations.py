"""1,000 tools, each with a schema of its own, to declarations (budget: 50 ms)."""

import gc
import itertools
import json
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from google.genai import types

from assistant.tools.catalog.menu import build_menu
from integrations.gemini.declarations import Declaration, convert
from integrations.mcp.servers import McpTool, ServerSpec
from tests.benchmarks.figures import how_many, print_table, write_figures
from tests.shared_data import shared_folder

BUDGET_MS = 50.0
COUNT = 1_000
RECORDED = (
    ("data", "ha-mcp-tools-list.json"),
    ("home-assistant", "tools-list-assist.json"),
    ("home-assistant", "tools-timers.json"),
)
# As pydantic and zod write them: what Home Assistant's own tools do not have.
OTHERS: tuple[dict[str, Any], ...] = (
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "Where the file lies"},
            "head": {
                "anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}],
                "default": None,
            },
            "order": {"oneOf": [{"const": "name"}, {"const": "size"}, {"const": "date"}]},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}, "minItems": 1},
            "mode": {"allOf": [{"$ref": "#/$defs/Mode"}], "default": "dry", "title": "Mode"},
        },
        "required": ["edits"],
        "$defs": {
            "Edit": {
                "type": "object",
                "properties": {
                    "old": {"type": "string"},
                    "new": {"type": ["string", "null"]},
                    "line": {"type": "integer", "exclusiveMinimum": 0},
                },
                "required": ["old", "new"],
            },
            "Mode": {"enum": ["dry", "wet"], "type": "string"},
        },
    },
)


Kind = tuple[str, str, dict[str, Any]]  # name, description, schema


def tools() -> list[McpTool]:
    """Return 1,000 tools, made of the recorded ones if there are any, and of `OTHERS`."""
    kinds: list[Kind] = [("edit", "", one) for one in OTHERS]
    for parts in RECORDED:
        file = shared_folder().joinpath(*parts)
        if file.exists():
            content = json.loads(file.read_text())
            listed = content["result"]["tools"] if isinstance(content, dict) else content
            kinds += [(one["name"], one["description"], one["inputSchema"]) for one in listed]
    return a_thousand(kinds)


def a_thousand(kinds: Sequence[Kind]) -> list[McpTool]:
    """Repeat these kinds; no two schemas are the same, because each has an argument of its own."""
    made = []
    for number, (name, about, schema) in zip(range(COUNT), itertools.cycle(kinds), strict=False):
        fresh = json.loads(json.dumps(schema))
        fresh.setdefault("properties", {})[f"argument_{number}"] = {"type": "string"}
        made.append(McpTool("many", f"{name}_{number}", "", about, fresh, False))
    return made


def milliseconds(work: Callable[[], Any], times: int) -> float:
    """Return the median of several runs, of this process's own time."""
    taken = []
    for _ in range(times):
        gc.collect()
        began = time.process_time()
        work()
        taken.append((time.process_time() - began) * 1000)
    return round(median(taken), 1)


def sdk(declarations: Sequence[Declaration]) -> list[types.FunctionDeclaration]:
    """Return the same as objects of google-genai, with which a session is opened."""
    return [
        types.FunctionDeclaration(
            name=one.name,
            description=one.description,
            parameters=types.Schema.model_validate(one.parameters) if one.parameters else None,
        )
        for one in declarations
    ]


def main() -> None:
    """Measure, and fail if the budget is exceeded."""
    listed, times = tools(), how_many(9, 51)
    declarations = [convert(one.name, one.description, one.input_schema) for one in listed]
    assert len({json.dumps(one.parameters) for one in declarations}) == COUNT
    spec = {"many": ServerSpec("many", "http", trust="trusted")}

    def converting() -> None:
        for one in listed:
            convert(one.name, one.description, one.input_schema)

    figures = {
        "convert_ms": milliseconds(converting, times),
        "menu_ms": milliseconds(lambda: build_menu(listed, spec), times),
        "sdk_ms": milliseconds(lambda: sdk(declarations), times),
        "tools": COUNT,
        "budget_ms": BUDGET_MS,
    }
    print_table(
        ("tools", "converted and checked", "a whole menu of them", "google-genai's objects"),
        [(COUNT, *(f"{figures[key]} ms" for key in ("convert_ms", "menu_ms", "sdk_ms")))],
    )
    write_figures("declarations", figures)
    if figures["convert_ms"] > BUDGET_MS:
        raise AssertionError(f"{figures['convert_ms']} ms, the budget is {BUDGET_MS:g} ms")
