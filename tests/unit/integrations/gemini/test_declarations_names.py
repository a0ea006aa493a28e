"""Names that Gemini does not take are changed, and lead back."""

from typing import Any

import pytest

from assistant.tools.catalog.arguments import fit
from integrations.gemini.declarations import convert
from integrations.gemini.merge import legal_name
from tests.unit.integrations.gemini.declared import accepted


@pytest.mark.parametrize(
    ("name", "legal"),
    [
        ("HassTurnOn", "HassTurnOn"),
        ("a.b:c-d_e", "a.b:c-d_e"),
        ("1bad", "_1bad"),
        ("-a", "_-a"),
        ("a b", "a_b"),
        ("ñandú", "_and_"),
        ("", "_"),
        ("x" * 300, "x" * 128),
        ("1" * 128, "_" + "1" * 127),
    ],
)
def test_tools(name: str, legal: str) -> None:
    assert accepted(convert(name, "", {})).name == legal == legal_name(name)


@pytest.mark.parametrize(
    ("names", "declared"),
    [
        (["a", "_b", "C3"], ["a", "_b", "C3"]),
        (["a b"], ["a_b"]),
        (["a b", "a_b"], ["a_b_2", "a_b"]),
        (["a_b", "a b", "a.b"], ["a_b", "a_b_2", "a_b_3"]),
        (["größe", "1st", ""], ["gr__e", "_1st", "_"]),
        (["日本", "中国"], ["__", "___2"]),
        (["x" * 64, "x" * 65, "x" * 66], ["x" * 64, "x" * 56, "x" * 56 + "_2"]),
        ([1, "1"], ["_1"]),
    ],
)
def test_arguments(names: list[Any], declared: list[str]) -> None:
    schema = {"properties": {name: {"type": "integer"} for name in names}, "required": names}
    declaration = accepted(convert("t", "", schema))
    assert declaration.parameters is not None
    assert list(declaration.parameters["properties"]) == declared
    written = {name: number for number, name in enumerate(declared)}
    texts = dict.fromkeys(str(name) for name in names)
    given = fit(schema, written, declaration.renamed)
    assert given.arguments == {name: number for number, name in enumerate(texts)}


@pytest.mark.parametrize("order", [("outer", "inner"), ("inner", "outer")])
def test_one_level_does_not_take_the_names_of_another(order: tuple[str, str]) -> None:
    kinds: dict[str, Any] = {
        "outer": {"a b": {"type": "integer"}},
        "inner": {"in": {"type": "object", "properties": {"a_b": {"type": "integer"}}}},
    }
    schema = {"properties": {**kinds[order[0]], **kinds[order[1]]}}
    declaration = accepted(convert("t", "", schema))
    assert declaration.parameters is not None
    properties = declaration.parameters["properties"]
    (inner,) = properties["in"]["properties"]
    (outer,) = properties.keys() - {"in"}
    fitted = fit(schema, {outer: 1, "in": {inner: 2}}, declaration.renamed)
    assert fitted.arguments == {"a b": 1, "in": {"a_b": 2}}
