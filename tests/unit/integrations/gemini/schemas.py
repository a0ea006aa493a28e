"""A corpus of generated tool schemas, the same in every run.

Sound ones come with arguments that they accept; broken ones do not.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

Json = Any
Maker = Callable[[int], tuple[dict[str, Any], Any]]
SEED = 20_261_122
_NAMES = (
    "name",
    "area",
    "größe",
    "a b",
    "a_b",
    "1st",
    "",
    "x" * 70,
    "a.b",
    "class",
    "$ref",
    "日本",
)
_WORDS = ("on", "off", "Living Room", "é", "a/b", "", "x" * 300, "1", "true", "[", "{}", "null")


def sound(count: int) -> Iterator[tuple[dict[str, Json], dict[str, Json]]]:
    """Yield schemas of whole tools as servers write them, each with arguments that it accepts."""
    for number in range(count):
        yield _Sound(random.Random(SEED + number)).tool()


def broken(count: int) -> Iterator[Json]:
    """Yield schemas that no validator would accept: any value under any keyword."""
    for number in range(count):
        yield _anything(random.Random(-SEED - number), 5, top=True)


class _Sound:
    """A generator of one tool."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._definitions: dict[str, Json] = {}

    def tool(self) -> tuple[dict[str, Json], dict[str, Json]]:
        schema, value = self._object(self._dice.randint(1, 3))
        if self._definitions:
            schema["$defs"] = self._definitions
        if self._dice.random() < 0.3:
            schema["$schema"] = "http://json-schema.org/draft-07/schema#"
        return schema, value

    def _any(self, depth: int) -> tuple[dict[str, Json], Json]:
        kinds: list[Maker] = [self._text, self._number, self._choice, self._truth, self._nothing]
        if depth:
            kinds += [self._object, self._array, self._alternatives, self._reference, self._whole]
        schema, value = self._dice.choice(kinds)(depth - 1)
        if self._dice.random() < 0.2:
            schema["description"] = self._dice.choice(
                ("What it is", "Zeile\n\x00zwei", "x" * 2_000)
            )
        if self._dice.random() < 0.1:
            schema["default"] = value
        return schema, value

    def _text(self, depth: int) -> tuple[dict[str, Json], Json]:
        value = self._dice.choice(_WORDS)
        schema: dict[str, Json] = {"type": self._dice.choice(("string", ["string", "null"]))}
        if self._dice.random() < 0.3:
            schema |= {"minLength": self._dice.randint(0, len(value)), "maxLength": len(value)}
        if self._dice.random() < 0.2:
            schema |= {"format": "date-time", "pattern": ".*"}
        return schema, value

    def _number(self, depth: int) -> tuple[dict[str, Json], Json]:
        whole = self._dice.random() < 0.6
        value: float = self._dice.randint(-50, 50)
        value = value if whole else value + 0.5
        schema: dict[str, Json] = {"type": "integer" if whole else "number"}
        bounds: tuple[dict[str, Json], ...] = (
            {"minimum": value - 3, "maximum": value},
            {"exclusiveMinimum": value - 1, "exclusiveMaximum": value + 0.25},
            {"minimum": value - 1, "exclusiveMinimum": True},
            {"multipleOf": 0.5},
            {},
        )
        return schema | self._dice.choice(bounds), value

    def _choice(self, depth: int) -> tuple[dict[str, Json], Json]:
        lists: tuple[list[Json], ...] = (
            ["on", "off"],
            [1, 2, 3],
            [1, 5],
            [0.5, 2],
            ["auto", 1, True, None, 1.5],
            [{"a": 1}, "b", [1]],
            [None],
            [True],
            [f"value {n}" for n in range(600)],
        )
        values = self._dice.choice(lists)
        value = self._dice.choice(values)
        if self._dice.random() < 0.2:
            return {"const": value}, value
        return {"enum": values}, value

    def _truth(self, depth: int) -> tuple[dict[str, Json], Json]:
        return {"type": "boolean"}, self._dice.random() < 0.5

    def _nothing(self, depth: int) -> tuple[dict[str, Json], Json]:
        return self._dice.choice(({}, {"title": "Any"})).copy(), self._dice.choice(("x", 3, None))

    def _object(self, depth: int) -> tuple[dict[str, Json], Json]:
        schema: dict[str, Json] = {"type": "object"}
        value: dict[str, Json] = {}
        if depth and self._dice.random() < 0.9:
            schema["properties"] = {}
            for name in self._dice.sample(_NAMES, self._dice.randint(0, 5)):
                schema["properties"][name], value[name] = self._any(depth)
            schema["required"] = list(value)
            # Optional arguments are not given as "" or null.
            for name in list(value):
                if self._dice.random() < 0.5:
                    schema["required"].remove(name)
                    if value[name] in ("", None) or self._dice.random() < 0.3:
                        del value[name]
        if self._dice.random() < 0.3:
            schema["additionalProperties"] = self._dice.choice((False, True, {"type": "integer"}))
        return schema, value

    def _array(self, depth: int) -> tuple[dict[str, Json], Json]:
        if self._dice.random() < 0.2:
            places = [self._any(depth) for _ in range(self._dice.randint(1, 3))]
            tuples = {"prefixItems": [one for one, _ in places], "items": False}
            return {"type": "array", **tuples}, [value for _, value in places]
        if self._dice.random() < 0.1:
            return {"type": "array"}, [1, "a", None]
        items, value = self._any(depth)
        schema = {"type": "array", "items": items, "maxItems": 3}
        return schema, [value] * self._dice.randint(0, 3)

    def _alternatives(self, depth: int) -> tuple[dict[str, Json], Json]:
        schema, value = self._any(depth)
        kinds: list[Json] = [{"type": "null"}, {"const": 7}, {}]
        if "type" in schema:  # beside text, a choice that is given as text cannot be recognised
            kinds.append({"type": "string"})
        members = [schema, *self._dice.sample(kinds, self._dice.randint(0, 2))]
        self._dice.shuffle(members)
        return {"anyOf": members}, value

    def _reference(self, depth: int) -> tuple[dict[str, Json], Json]:
        schema, value = self._any(depth)
        name = self._dice.choice(("plain", "a/b", "a~b", "a%b", "é"))
        name = f"{name}{len(self._definitions)}"
        self._definitions[name] = schema
        anchored = isinstance(schema, dict) and self._dice.random() < 0.2
        if anchored:
            schema["$anchor"] = f"anchor{len(self._definitions)}"
            return {"$ref": f"#{schema['$anchor']}"}, value
        escaped = name.replace("~", "~0").replace("/", "~1").replace("%", "%25")
        return {"$ref": f"#/$defs/{escaped}"}, value

    def _whole(self, depth: int) -> tuple[dict[str, Json], Json]:
        schema, value = self._any(depth)
        if self._dice.random() < 0.5:
            return {"allOf": [schema, {"description": "More."}]}, value
        name = f"tree{len(self._definitions)}"
        itself = {"$ref": f"#/$defs/{name}"}
        tree = {"type": "object", "properties": {"up": itself, "leaf": schema}}
        self._definitions[name] = tree
        return itself.copy(), {"up": {"up": {}}, "leaf": value}


_KEYWORDS = (
    *("type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "items"),
    *("prefixItems", "additionalItems", "properties", "required", "additionalProperties", "$ref"),
    *("$defs", "$anchor", "$id", "$schema", "minimum", "maximum", "exclusiveMinimum", "format"),
    *("exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "title"),
    *("uniqueItems", "pattern", "default", "description", "nullable", "dependentSchemas", "x-own"),
    *("dependentRequired", "patternProperties", "propertyNames", "contains", "unevaluatedItems"),
    *("unevaluatedProperties", "minProperties", "examples", "$dynamicRef", "contentEncoding"),
)
_VALUES: tuple[Json, ...] = (
    *(None, True, False, 0, 1, -1, 2.5, 10**400, 1e308, float("nan"), float("inf"), "", "string"),
    *(
        "object",
        "array",
        "null",
        "thing",
        "#",
        "#/properties/a",
        "#/$defs/a",
        "#a",
        "https://a.b/c",
    ),
    *("(a+)+$", "[", "\ud800", "\x00", "é" * 100, "x" * 3_000, ["null"], ["string", 3], [[]], {}),
)


def _anything(dice: random.Random, depth: int, *, top: bool = False) -> Json:
    """Make a value for a keyword: a plain one, or a list or an object."""
    if not depth or (not top and dice.random() < 0.35):
        return dice.choice(_VALUES)
    if not top and dice.random() < 0.3:
        return [_anything(dice, depth - 1) for _ in range(dice.randint(0, 3))]
    keys = dice.sample(_KEYWORDS, dice.randint(1, 6))
    found: dict[Json, Json] = {key: _anything(dice, depth - 1) for key in keys}
    if top or dice.random() < 0.4:
        names = [*dice.sample(_NAMES, 2), "a"]
        found["properties"] = {name: _anything(dice, depth - 1) for name in names}
    if dice.random() < 0.5:
        found["type"] = dice.choice(("string", "integer", "number", "boolean", "array", "object"))
    if dice.random() < 0.05:
        found[3] = "a key that is no text"
    if dice.random() < 0.05:
        found["items"] = found
    return found
