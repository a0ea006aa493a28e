"""A list in one call becomes one call for each thing."""

import pytest

from assistant.tools.house.intents import MAX_ITEMS, as_said, spread


@pytest.mark.parametrize(
    ("item", "items"),
    [
        ("milk", ["milk"]),
        ("milk, eggs and bread", ["milk", "eggs", "bread"]),
        ("milk, eggs, and bread", ["milk", "eggs", "bread"]),
        ("milk; eggs", ["milk", "eggs"]),
        ("leche, huevos y pan", ["leche", "huevos", "pan"]),
        ("Milch, Eier und Brot", ["Milch", "Eier", "Brot"]),
        ("salt and pepper", ["salt and pepper"]),
        ("1,5 l of milk", ["1,5 l of milk"]),
        ("candy", ["candy"]),
        ("brandy, andouille", ["brandy", "andouille"]),
        ("milk, ", ["milk, "]),
        (", ".join("abcdefghijklmn"), [", ".join("abcdefghijklmn")]),
    ],
)
def test_items(item: str, items: list[str]) -> None:
    calls = spread("HassListAddItem", {"item": item, "name": "Shopping"})
    assert calls == [{"item": one, "name": "Shopping"} for one in items]


@pytest.mark.parametrize(
    ("item", "sentence", "said"),
    [
        ("milk eggs and bread", "Add milk, eggs and bread to it.", "milk, eggs and bread"),
        ("leche huevos y pan", "añade Leche, huevos y pan", "Leche, huevos y pan"),
        ("milk", "add milky milk", "milk"),
        ("oil (2 l)", "add oil, (2 l)!", "oil, (2 l)"),
        ("tea", "add coffee", "tea"),
        ("", "add", ""),
    ],
)
def test_what_a_parser_took_out_of_it_is_put_back(item: str, sentence: str, said: str) -> None:
    assert as_said(item, sentence) == said


def test_only_lists_are_spread() -> None:
    arguments = {"item": "a, b and c"}
    assert spread("HassBroadcast", arguments) == [arguments]
    assert spread("", arguments) == [arguments]
    assert spread("HassListAddItem", {"item": 3}) == [{"item": 3}]


def test_as_many_as_allowed() -> None:
    items = [f"thing {number}" for number in range(MAX_ITEMS)]
    assert len(spread("HassListAddItem", {"item": ", ".join(items)})) == MAX_ITEMS
