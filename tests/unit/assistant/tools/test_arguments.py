"""What a model writes, made to fit the server's schema."""

import socket
from typing import Any

import pytest

from assistant.tools.arguments import fit

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "area": {"type": "string"},
        "domain": {"type": "array", "items": {"type": "string", "enum": ["light", "fan"]}},
        "brightness": {"type": "integer", "minimum": 0, "maximum": 100},
        "temperature": {"type": "number"},
        "position": {"allOf": [{"type": "integer"}, {"type": "number", "maximum": 100}]},
        "step": {"anyOf": [{"enum": ["up", "down"]}, {"type": "integer"}]},
        "mood": {"type": "string", "enum": ["calm", "action"]},
        "on": {"type": "boolean"},
        "options": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "kind": {"$ref": "#/$defs/kind"},
    },
    "$defs": {"kind": {"enum": ["x", "y"]}},
}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"brightness": "30"}, {"brightness": 30}),
        ({"brightness": "30 %"}, {"brightness": 30}),
        ({"brightness": 30.0}, {"brightness": 30}),
        ({"brightness": [30]}, {"brightness": 30}),
        ({"temperature": "21.5"}, {"temperature": 21.5}),
        ({"temperature": "21 °C"}, {"temperature": 21}),
        ({"position": "40"}, {"position": 40}),
        ({"step": "-20"}, {"step": -20}),
        ({"step": "up"}, {"step": "up"}),
        ({"domain": "light"}, {"domain": ["light"]}),
        ({"domain": ["light"]}, {"domain": ["light"]}),
        ({"mood": "Calm"}, {"mood": "calm"}),
        ({"on": "True"}, {"on": True}),
        ({"name": 7}, {"name": "7"}),
        ({"kind": "X"}, {"kind": "x"}),
        ({"options": '{"a": 1}'}, {"options": {"a": 1}}),
        ({"name": "Lamp", "area": None, "domain": ""}, {"name": "Lamp"}),
    ],
)
def test_plain_meanings_are_mended(given: dict[str, Any], wanted: dict[str, Any]) -> None:
    fitted = fit(SCHEMA, given)
    assert fitted.problem == ""
    assert fitted.arguments == wanted
    assert [type(value) for value in fitted.arguments.values()] == [
        type(value) for value in wanted.values()
    ]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"brightness": "very"}, "brightness: it must be of type integer"),
        ({"brightness": 400}, "brightness: it must be at most 100"),
        ({"mood": "sad"}, "mood: it must be one of calm, action"),
        ({"bogus": 1}, "there is no argument bogus"),
        ({"preferred_area_id": "hall"}, "there is no argument preferred_area_id"),
        ({"domain": ["lock"]}, "domain.0: it must be one of light, fan"),
    ],
)
def test_what_cannot_be_mended_is_said_shortly(given: dict[str, Any], words: str) -> None:
    problem = fit(SCHEMA, given).problem
    assert problem.startswith(words)
    assert len(problem) <= 200


def test_a_missing_argument_is_named() -> None:
    assert fit({**SCHEMA, "required": ["name"]}, {}).problem == "name is missing"


def test_renamed_arguments_go_back() -> None:
    schema = {"properties": {"a b": {"type": "integer"}}}
    assert fit(schema, {"a_b": "1"}, {"a_b": "a b"}).arguments == {"a b": 1}


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_arguments_ignores_them(schema: dict[str, Any]) -> None:
    assert fit(schema, {"x": 1}).arguments == {}
    assert fit(schema, {"x": 1}).problem == ""


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "nonsense"},
        {"minimum": True, "exclusiveMinimum": "x"},
        {"$ref": "https://example.org/schema.json"},
        {"pattern": "("},
    ],
)
def test_a_broken_schema_leaves_the_judgement_to_the_server(
    bad: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a schema is never fetched")

    monkeypatch.setattr(socket.socket, "connect", forbidden)
    fitted = fit({"properties": {"x": bad}}, {"x": "1"})
    assert fitted.problem == ""
    assert "x" in fitted.arguments


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"mood": "calmer"}, ("calm",)),
        ({"mood": "wild"}, ("calm", "action")),
        ({"domain": ["lights"]}, ("light",)),
        ({"brightnes": 5}, ("brightness",)),
        ({"brightness": 500}, ()),
        ({"mood": "calm"}, ()),
    ],
)
def test_what_would_be_right_is_told(given: dict[str, Any], options: tuple[str, ...]) -> None:
    assert fit(SCHEMA, given).options == options
