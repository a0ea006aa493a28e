"""One argument of each kind: its declaration and its losses."""

from typing import Any

import pytest

from integrations.gemini.declarations import convert
from tests.unit.integrations.gemini.declared import accepted, argument

SAID = "(said in the description)"
ANY = "x: any value, but no object can be given"
TEXT = {"type": "STRING"}
NUMBER, TRUTH = {"type": "NUMBER"}, {"type": "BOOLEAN"}
A_LIST = {"type": "ARRAY", "items": {"anyOf": [TEXT, NUMBER, TRUTH]}}
ANYTHING = {"anyOf": [{**one, "nullable": True} for one in (TEXT, NUMBER, TRUTH, A_LIST)]}

PLAIN: list[tuple[str, Any, Any, tuple[str, ...]]] = [
    ("string", {"type": "string"}, TEXT, ()),
    ("integer", {"type": "integer"}, {"type": "INTEGER"}, ()),
    ("number", {"type": "number"}, {"type": "NUMBER"}, ()),
    ("boolean", {"type": "boolean"}, {"type": "BOOLEAN"}, ()),
    ("type in capitals", {"type": "STRING"}, TEXT, ()),
    ("null", {"type": "null"}, {**TEXT, "nullable": True}, ()),
    ("{}", {}, ANYTHING, (ANY,)),
    ("true", True, ANYTHING, (ANY,)),
    ("false", False, None, ()),
    ("an unknown type", {"type": "thing"}, ANYTHING, (ANY,)),
    ("no schema at all", 5, ANYTHING, (ANY,)),
    ("missing type, length", {"maxLength": 3}, {**TEXT, "maxLength": 3}, ()),
    ("missing type, bound", {"minimum": 1}, {"type": "NUMBER", "minimum": 1}, ()),
    ("missing type, items", {"items": {"type": "string"}}, {"type": "ARRAY", "items": TEXT}, ()),
    ("type list with null", {"type": ["string", "null"]}, {**TEXT, "nullable": True}, ()),
    ("nullable", {"type": "string", "nullable": True}, {**TEXT, "nullable": True}, ()),
    (
        "type list",
        {"type": ["string", "integer"], "minimum": 1, "maxLength": 2, "description": "d"},
        {
            "anyOf": [
                {"type": "STRING", "maxLength": 2, "description": "d"},
                {"type": "INTEGER", "minimum": 1, "description": "d"},
            ]
        },
        (),
    ),
    (
        "type list with null and more",
        {"type": ["string", "integer", "null"]},
        {"anyOf": [{"type": "STRING", "nullable": True}, {"type": "INTEGER", "nullable": True}]},
        (),
    ),
    ("type list of nothing known", {"type": ["thing", 3, []]}, ANYTHING, (ANY,)),
    ("title", {"type": "string", "title": "T"}, {**TEXT, "description": "T"}, ()),
    (
        "description in control characters",
        {"type": "string", "description": "a\n\x00b \ud800 c"},
        {**TEXT, "description": "a b c"},
        (),
    ),
    ("description of a wrong kind", {"type": "string", "description": ["d"]}, TEXT, ()),
    ("format", {"type": "string", "format": "time"}, "Format: time.", (f"x: format {SAID}",)),
    ("pattern", {"type": "string", "pattern": "^a"}, "Pattern: ^a.", (f"x: pattern {SAID}",)),
    (
        "encoding",
        {"type": "string", "contentEncoding": "base64"},
        "Encoding: base64.",
        (f"x: contentEncoding {SAID}",),
    ),
    ("default", {"type": "string", "default": "é"}, 'Default: "é".', ()),
    ("default null", {"type": "string", "default": None}, TEXT, ()),
    ("examples", {"type": "string", "examples": ["a", "b"]}, 'For example "a".', ()),
    ("unknown keywords", {"type": "string", "x-order": 3, "$comment": "c"}, TEXT, ()),
    (
        "not a value",
        {"type": "string", "not": {"enum": ["a", "b"]}},
        'Not "a", "b".',
        (f"x: not {SAID}",),
    ),
    ("not a kind", {"type": "string", "not": {"pattern": "a"}}, TEXT, ("x: not",)),
]

NUMBERS: list[tuple[str, Any, Any, tuple[str, ...]]] = [
    ("bounds", {"type": "integer", "minimum": 0, "maximum": 9}, {"minimum": 0, "maximum": 9}, ()),
    ("exclusive", {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 9},
     {"minimum": 1, "maximum": 8}, ()),
    ("exclusive between", {"type": "integer", "exclusiveMinimum": 0.5, "exclusiveMaximum": 2.5},
     {"minimum": 1, "maximum": 2}, ()),
    ("exclusive and not", {"type": "integer", "minimum": 5, "exclusiveMinimum": 0},
     {"minimum": 5}, ()),
    ("draft 4", {"type": "integer", "minimum": 0, "exclusiveMinimum": True}, {"minimum": 1}, ()),
    ("draft 4, not exclusive", {"type": "integer", "minimum": 0, "exclusiveMinimum": False},
     {"minimum": 0}, ()),
    ("fractions of integers", {"type": "integer", "minimum": 0.5, "maximum": 2.5},
     {"minimum": 1, "maximum": 2}, ()),
    ("exclusive number", {"type": "number", "exclusiveMinimum": 0},
     {"minimum": 0, "description": "Greater than 0."}, (f"x: exclusiveMinimum {SAID}",)),
    ("draft 4 number", {"type": "number", "maximum": 1, "exclusiveMaximum": True},
     {"maximum": 1, "description": "Less than 1."}, (f"x: exclusiveMaximum {SAID}",)),
    ("multiple", {"type": "number", "multipleOf": 0.5}, {"description": "Multiple of 0.5."},
     (f"x: multipleOf {SAID}",)),
    ("nothing between", {"type": "integer", "minimum": 3, "maximum": 1}, {},
     ("x: minimum above maximum",)),
    ("not finite", {"type": "number", "minimum": float("nan"), "maximum": float("inf")}, {}, ()),
    ("huge", {"type": "number", "minimum": -(10**400), "maximum": 10**200}, {"maximum": 10**200},
     ()),
    ("wrong kinds", {"type": "number", "minimum": "1", "maximum": [], "exclusiveMaximum": {}}, {},
     ()),
]  # fmt: skip

CHOICES: list[tuple[str, Any, Any, tuple[str, ...]]] = [
    ("const", {"const": "a"}, {**TEXT, "enum": ["a"]}, ()),
    ("const null", {"const": None}, {**TEXT, "nullable": True}, ()),
    ("const true", {"const": True}, {"type": "BOOLEAN", "description": "One of: true."}, ()),
    ("const 7", {"const": 7}, {"type": "INTEGER", "minimum": 7, "maximum": 7}, ()),
    ("const object", {"const": {"a": 1}}, {**TEXT, "enum": ['{"a": 1}']},
     ("x: a list of mixed values, given as text",)),
    ("strings twice", {"enum": ["a", "b", "a"]}, {**TEXT, "enum": ["a", "b"]}, ()),
    ("booleans", {"enum": [True, False]}, {"type": "BOOLEAN"}, ()),
    ("with null", {"enum": ["a", None]}, {**TEXT, "enum": ["a"], "nullable": True}, ()),
    ("nullable type", {"type": ["string", "null"], "enum": ["a"]},
     {**TEXT, "enum": ["a"], "nullable": True}, ()),
    ("empty text", {"enum": ["", "a"]}, {**TEXT, "enum": ["a"]},
     ("x: a choice that cannot be expressed",)),
    ("half a character", {"enum": ["\ud800", "a"]}, {**TEXT, "enum": ["a"]},
     ("x: a choice that cannot be expressed",)),
    ("numbers without gaps", {"enum": [3, 1, 2]}, {"type": "INTEGER", "minimum": 1, "maximum": 3},
     ()),
    ("numbers with gaps", {"type": "integer", "enum": [1, 5]},
     {"type": "INTEGER", "minimum": 1, "maximum": 5, "description": "One of: 1, 5."},
     (f"x: a list of numbers {SAID}",)),
    ("fractions", {"enum": [0.5, 2]},
     {"type": "NUMBER", "minimum": 0.5, "maximum": 2, "description": "One of: 0.5, 2."},
     (f"x: a list of numbers {SAID}",)),
    ("mixed", {"enum": ["a", 1, True, None, 1.5]},
     {**TEXT, "enum": ["a", "1", "true", "1.5"], "nullable": True},
     ("x: a list of mixed values, given as text",)),
    ("mixed, but typed", {"type": "string", "enum": ["a", 1]}, {**TEXT, "enum": ["a"]}, ()),
    ("not finite", {"enum": [float("nan"), "a"]}, {**TEXT, "enum": ["a"]},
     ("x: a list of mixed values, given as text", "x: a choice that cannot be expressed")),
    ("numbers, typed", {"type": "number", "enum": [0.5, 2]},
     {"type": "NUMBER", "minimum": 0.5, "maximum": 2, "description": "One of: 0.5, 2."},
     (f"x: a list of numbers {SAID}",)),
    ("none", {"enum": []}, ANYTHING, (ANY,)),
    ("of a wrong kind", {"enum": "ab"}, ANYTHING, (ANY,)),
]  # fmt: skip

ALTERNATIVES: list[tuple[str, Any, Any, tuple[str, ...]]] = [
    ("null", {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "d"},
     {"type": "INTEGER", "description": "d", "nullable": True}, ()),
    ("null alone", {"type": "string", "description": "d", "anyOf": [{"type": "null"}]},
     {**TEXT, "description": "d", "nullable": True}, ()),
    ("nullable", {"nullable": True, "anyOf": [{"type": "string"}, {"type": "number"}]},
     {"anyOf": [{**TEXT, "nullable": True}, {**NUMBER, "nullable": True}]}, ()),
    ("described in and outside",
     {"description": "d", "anyOf": [{"type": "string", "description": "inner"},
                                    {"type": "number", "description": "d"}]},
     {"anyOf": [{**TEXT, "description": "d inner"}, {**NUMBER, "description": "d"}]}, ()),
    ("default", {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 3},
     {"type": "INTEGER", "description": "Default: 3.", "nullable": True}, ()),
    ("anything", {"anyOf": [{}, {"type": "array", "items": {"type": "string"}}]},
     {"anyOf": [{**one, "nullable": True}
                for one in ({"type": "ARRAY", "items": TEXT}, TEXT, NUMBER, TRUTH)]},
     ("x: any other list or object",)),
    ("anything beside choices", {"anyOf": [{"const": "a"}, {}], "description": "d"},
     {"anyOf": [{**one, "description": "d", "nullable": True}
                for one in ({**TEXT, "enum": ["a"]}, TEXT, NUMBER, TRUTH)]},
     ("x: any other list or object",)),
    ("anything of one type", {"type": "string", "anyOf": [{"enum": ["a"]}, {}]},
     {"anyOf": [{**TEXT, "enum": ["a"]}, TEXT]}, ()),
    ("anything alone", {"anyOf": [{}, True]}, ANYTHING, (ANY,)),
    ("anything or null", {"anyOf": [{}, {"type": "null"}]},
     ANYTHING, (ANY,)),
    ("nothing", {"anyOf": [False, {"type": "string"}]}, TEXT, ("x: it admits nothing",)),
    ("oneOf", {"oneOf": [{"type": "string"}, {"type": "number"}], "description": "d"},
     {"anyOf": [{"type": "STRING", "description": "d"}, {"type": "NUMBER", "description": "d"}]},
     ()),
    ("nested", {"anyOf": [{"oneOf": [{"type": "string"}, {"type": "number"}]},
                          {"type": "boolean"}, {"type": "string"}]},
     {"anyOf": [TEXT, {"type": "NUMBER"}, {"type": "BOOLEAN"}]}, ()),
    ("constants", {"oneOf": [{"const": "l", "title": "Low"}, {"const": "h", "title": "High"}]},
     {**TEXT, "enum": ["l", "h"], "description": "l: Low; h: High."}, ()),
    ("choices, each described",
     {"oneOf": [{"const": "l", "title": "L", "description": "Low"},
                {"enum": ["m", "h"], "description": "More"},
                {"const": "off", "description": "off"}]},
     {**TEXT, "enum": ["l", "m", "h", "off"], "description": "l: Low; m, h: More."}, ()),
    ("constants and lists", {"anyOf": [{"const": "a"}, {"enum": ["b", "c"]}, {"type": "null"}]},
     {**TEXT, "enum": ["a", "b", "c"], "nullable": True}, ()),
    ("what stands beside", {"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 1}]},
     {"anyOf": [{"type": "INTEGER", "minimum": 5}, {"type": "INTEGER", "maximum": 1}]}, ()),
    ("both", {"anyOf": [{"type": "string"}], "oneOf": [{"type": "string"}]}, TEXT,
     ("x: only one of anyOf and oneOf",)),
    ("none", {"anyOf": []}, ANYTHING, (ANY,)),
    ("of a wrong kind", {"anyOf": {"type": "string"}, "oneOf": 3}, ANYTHING, (ANY,)),
    ("members of a wrong kind", {"anyOf": [3, "a", {"type": "string"}]}, TEXT,
     ("x: any other value",)),
    ("allOf", {"allOf": [{"type": "integer"}, {"type": "number", "minimum": 0, "maximum": 9}]},
     {"type": "INTEGER", "minimum": 0, "maximum": 9}, ()),
    ("allOf, the integer last", {"allOf": [{"type": "number", "minimum": 0}, {"type": "integer"}]},
     {"type": "INTEGER", "minimum": 0}, ()),
    ("allOf of items",
     {"allOf": [{"type": "array", "items": {"type": "integer"}}, {"items": {"minimum": 3}}]},
     {"type": "ARRAY", "items": {"type": "INTEGER", "minimum": 3}}, ()),
    ("allOf of exclusions", {"type": "string", "allOf": [{"not": {"const": "a"}},
                                                         {"not": {"const": "b"}}]},
     {**TEXT, "description": 'Not "a".'}, ("x: only the first of two not", f"x: not {SAID}")),
    ("allOf of bounds", {"allOf": [{"minimum": 1, "maximum": 9}, {"minimum": 3}, {"maximum": 7}]},
     {"type": "NUMBER", "minimum": 3, "maximum": 7}, ()),
    ("allOf of choices", {"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]},
     {**TEXT, "enum": ["b"]}, ()),
    ("allOf of types", {"allOf": [{"type": ["string", "null"]}, {"type": "string"}]}, TEXT, ()),
    ("allOf that excludes", {"allOf": [{"type": "string"}, {"type": "integer"}]}, TEXT,
     ("x: types that exclude each other",)),
    ("allOf of patterns", {"type": "string", "allOf": [{"pattern": "a"}, {"pattern": "b"}]},
     {**TEXT, "description": "Pattern: a."},
     ("x: only the first of two pattern", f"x: pattern {SAID}")),
    ("allOf of anyOfs", {"allOf": [{"anyOf": [{"type": "string"}]}, {"anyOf": [{"minLength": 1}]}]},
     TEXT, ("x: only the first of two anyOf",)),
    ("allOf of a wrong kind", {"allOf": {"type": "string"}}, ANYTHING, (ANY,)),
    ("a condition", {"type": "string", "if": {}, "then": {"minLength": 1}}, TEXT,
     ("x: conditional rules",)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "wanted", "losses"),
    [case[1:] for case in (*PLAIN, *CHOICES, *ALTERNATIVES)],
    ids=[case[0] for case in (*PLAIN, *CHOICES, *ALTERNATIVES)],
)
def test_one_argument(schema: Any, wanted: Any, losses: tuple[str, ...]) -> None:
    if schema is False:
        assert accepted(convert("t", "", {"properties": {"x": False}})).parameters is None
        return
    declared, lost = argument(schema)
    assert declared == ({**TEXT, "description": wanted} if isinstance(wanted, str) else wanted)
    assert lost == losses


@pytest.mark.parametrize(
    ("schema", "wanted", "losses"),
    [case[1:] for case in NUMBERS],
    ids=[case[0] for case in NUMBERS],
)
def test_bounds(schema: Any, wanted: dict[str, Any], losses: tuple[str, ...]) -> None:
    assert argument(schema) == ({"type": schema["type"].upper(), **wanted}, losses)


def test_a_long_list_of_choices_is_begun_in_the_description() -> None:
    declared, losses = argument({"enum": [f"value {n}" for n in range(5_000)]})
    assert "enum" not in declared
    assert declared["description"].startswith('One of: "value 0", "value 1", ')
    assert declared["description"].endswith(" and 4960 more.")
    assert losses == ("x: a list of 5000 choices (begun in the description)",)


def test_long_choices_are_begun_in_a_short_description() -> None:
    declared, losses = argument({"enum": [f"{n:03}{'v' * 100}" for n in range(501)]})
    begun = ", ".join(f'"{n:03}{"v" * 76}' for n in range(8))  # the eighth exceeds 600 characters
    assert declared == {**TEXT, "description": f"One of: {begun} and 493 more."}
    assert losses == ("x: a list of 501 choices (begun in the description)",)


def test_many_alternatives_are_cut() -> None:
    members = [{"type": "array", "minItems": n, "items": {"type": "string"}} for n in range(40)]
    declared, losses = argument({"anyOf": members})
    assert len(declared["anyOf"]) == 12
    assert losses == ("x: 28 of 40 alternatives",)


def test_many_alternatives_of_alternatives_are_cut() -> None:
    lists = [{"type": "array", "minItems": n, "items": {"type": "string"}} for n in range(18)]
    declared, losses = argument({"anyOf": [{"anyOf": lists[n : n + 6]} for n in (0, 6, 12)]})
    assert [one["minItems"] for one in declared["anyOf"]] == list(range(12))
    assert losses == ("x: 6 of 18 alternatives",)


def test_a_note_outlives_a_long_description() -> None:
    schema = {"type": "string", "description": "word " * 1_000, "pattern": "^a$"}
    declared, _ = argument(schema)
    assert len(declared["description"]) <= 1_500
    assert declared["description"].endswith(" Pattern: ^a$.")


def test_the_end_of_a_long_description_is_a_loss() -> None:
    declaration = convert("t", "word " * 1_000, {})
    assert len(declaration.description) <= 1_500
    assert declaration.losses == ("the end of the description",)
