"""Tests that docs/configuration.md agrees with the schema."""

from pathlib import Path

from assistant.config.document import document
from assistant.config.schema import all_keys

PAGE = Path(__file__).parents[4] / "docs" / "configuration.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), (
        "run: python -m assistant.config.document > docs/configuration.md"
    )


def test_every_key_stands_on_it_with_a_meaning() -> None:
    page = document()
    for section, key, field in all_keys():
        assert f"## `[{section}]`" in page
        assert f"| `{key}` |" in page
        assert field.description


def test_profiles_stand_on_it_under_a_name_of_the_persons_own() -> None:
    section = document().partition("## `[profiles.NAME]`")[2]
    assert '| `thinking` | `""` | `""`, `low`, `medium`, `high` |' in section
