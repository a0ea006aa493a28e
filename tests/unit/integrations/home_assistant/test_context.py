"""The list in the home server's prompt: reading it with odd names, and matching it to the house."""

import pytest
import yaml

from integrations.home_assistant import context
from integrations.home_assistant.context import Shown, exposed_by, find_list, read_context
from integrations.home_assistant.house import Area, Entity

# As Home Assistant 2026.11 writes it; 2025.4 has the same list under other words.
PROMPT = """\
You ARE equipped to answer questions about the current state of the home.
    1.  Recognize this requires live data.
- a line of instructions that is no row

Static Context: An overview of the areas and the devices in this smart home:
- names: AC
  domain: switch
  areas: Kitchen
- names: Lamp, Leselampe
  domain: light
  areas: Living Room, Salón
- names: Sun Next dawn
  domain: sensor

When controlling Home Assistant always call the intent tools.
- names: never reached
"""

AWKWARD = [
    "Bad\n- names: Front Door\n  domain: lock",
    "two\n\nlines",
    "it's",
    'said "so"',
    "'quoted'",
    "key: value # comment",
    "on",
    "12",
    "2026-11-22",
    "- dash",
    "{brace}",
    "[1, 2]",
    "&anchor",
    "*alias",
    "!!python/object/apply:os.system ['true']",
    "word " * 40 + "end",
    "tab\there",
    "bell\x07 nbsp\xa0 rtl\u202e line\u2028 next\x85",
    "emoji 😀",
    "null",
    "~",
    "trailing:",
    "",
]


def dumped(rows: list[dict[str, str]]) -> str:
    """Dump rows as Home Assistant does (`util/yaml/dumper.py`)."""
    text: str = yaml.dump(rows, default_flow_style=False, allow_unicode=True, sort_keys=False)
    return text.replace(": null\n", ":\n")


def test_the_list_of_a_prompt() -> None:
    assert read_context(PROMPT) == [
        Shown(("AC",), "switch", ("Kitchen",)),
        Shown(("Lamp", "Leselampe"), "light", ("Living Room", "Salón")),
        Shown(("Sun Next dawn",), "sensor"),
    ]


def test_a_text_is_split_and_nothing_of_it_is_lost() -> None:
    listing = find_list(PROMPT)
    assert listing.before.endswith("smart home:\n")
    assert listing.rows[0] == "- names: AC\n  domain: switch\n  areas: Kitchen\n"
    assert listing.after.startswith("\nWhen controlling")
    assert listing.before + "".join(listing.rows) + listing.after == PROMPT


@pytest.mark.parametrize("text", ["", "No devices are exposed.", "- name: x\n", "names: x\n"])
def test_a_text_without_a_list(text: str) -> None:
    assert read_context(text) == []
    assert find_list(text).before == text


@pytest.mark.parametrize("name", AWKWARD)
def test_a_name_stays_one_name_whatever_it_holds(name: str) -> None:
    rows = [{"names": name, "domain": "light", "areas": name}, {"names": "Lamp", "domain": "light"}]
    read = read_context(f"Static Context:\n{dumped(rows)}\nAfter.")
    parts = tuple(part.strip() for part in " ".join(name.split()).split(",") if part.strip())
    assert read == [Shown(parts, "light", parts), Shown(("Lamp",), "light")]


@pytest.mark.parametrize(
    "row",
    [
        "- names: 'never closed\n  domain: light\n",
        "- names: [1\n  domain: light\n",
        "- names: *nothing\n  domain: light\n",
        "- names: !!python/name:os.system x\n  domain: light\n",
        "- names: x\n  dom\n",
        "- names: x\n",
        f"- names: {'[' * 3_000}\n  domain: light\n",
        f"- names: '{'x' * context.MAX_ROW}'\n  domain: light\n",
    ],
)
def test_a_row_that_cannot_be_read_costs_no_other(row: str) -> None:
    good = "- names: Lamp\n  domain: light\n"
    assert read_context(f"{row}{good}") == [Shown(("Lamp",), "light")]


def test_rows_of_the_live_context_are_the_same() -> None:
    live = "- names: Lamp\n  domain: light\n  state: 'on'\n  attributes:\n    brightness: '5'\n"
    assert read_context(live) == [Shown(("Lamp",), "light")]


def test_a_text_without_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "MAX_TEXT", 10)
    assert read_context(PROMPT) == []


AREAS = {"k": Area("k", "Kitchen", ("Küche", "Cocina")), "c": Area("c", "Attic, left")}


def lamp(entity_id: str, area_id: str | None = None, name: str = "Lamp", *more: str) -> Entity:
    return Entity(entity_id, name, "on", more, area_id)


def told(shown: list[Shown], *entities: Entity, **said: bool) -> dict[str, bool]:
    certain = {f"light.{name}": value for name, value in said.items()}
    return exposed_by(shown, entities, AREAS, certain)


def test_who_is_listed_is_exposed_and_nobody_else() -> None:
    shown = [
        Shown(("Lamp",), "light", ("Kitchen", "Cocina", "Küche")),
        Shown(("Leselampe", "Other"), "light"),
        Shown(("a", "b"), "light", ("Attic", "left")),
    ]
    assert told(
        shown,
        lamp("light.a", "k"),
        lamp("light.b"),
        lamp("switch.a", "k"),
        lamp("light.c", None, "Other", "Leselampe"),
        lamp("light.d", "c", "a, b"),
    ) == {"light.a": True, "light.b": False, "switch.a": False, "light.c": True, "light.d": True}


def test_things_that_look_the_same() -> None:
    row = Shown(("Lamp",), "light")
    two = lamp("light.a"), lamp("light.b")
    assert told([row, row], *two) == {"light.a": True, "light.b": True}
    assert told([row], *two) == {}  # one of them, but it is unknown which
    assert told([row], *two, a=True) == {"light.b": False}
    assert told([row], *two, a=False) == {"light.b": True}


def test_what_the_list_never_holds_is_not_judged_by_it() -> None:
    shown = [Shown(("Lamp",), "light")]
    assert told(shown, lamp("script.a"), lamp("calendar.b")) == {}
    assert told([], lamp("light.a")) == {}
