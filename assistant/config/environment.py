"""Settings from the environment: HEARTH_SECTION__KEY stands above the file."""

import tomllib
from collections.abc import Mapping
from typing import Any

from pydantic.fields import FieldInfo

from assistant.config.errors import Origins
from assistant.config.fields import all_keys, is_secret, is_text
from assistant.config.suggest import nearest

PREFIX = "HEARTH_"


def variable(section: str, key: str) -> str:
    """The name of a setting in the environment."""
    return f"{PREFIX}{section}__{key}".upper()


_VARIABLES = {variable(section, key): (section, key, field) for section, key, field in all_keys()}


def overlay(
    raw: dict[str, Any], environ: Mapping[str, str], origins: Origins
) -> tuple[dict[str, Any], list[str]]:
    """The file's values under the environment's, and a sentence for each unknown name.

    An empty secret counts as not given: service files often pass on variables that nobody set.
    """
    merged = {
        name: dict(table) if isinstance(table, dict) else table for name, table in raw.items()
    }
    unknown: list[str] = []
    for name, text in sorted(environ.items()):
        if not name.startswith(PREFIX) or "__" not in name:
            continue
        if name not in _VARIABLES:
            unknown.append(_unknown(name))
            continue
        section, key, field = _VARIABLES[name]
        table = merged.setdefault(section, {})
        if (text or not is_secret(field)) and isinstance(table, dict):
            table[key] = parse(text, field)
            origins.others[section, key] = name
    return merged, unknown


def parse(text: str, field: FieldInfo) -> Any:
    """A variable's value: text settings take it as it is, all others as a TOML value.

    What is no TOML value stays text, and the schema then says what it should have been.
    """
    if is_text(field):
        return text
    try:
        table = tomllib.loads(f"value = {text.strip()}")
    except tomllib.TOMLDecodeError:
        return text
    return table["value"] if len(table) == 1 else text


def _unknown(name: str) -> str:
    bare = {known.removeprefix(PREFIX).lower(): known for known in _VARIABLES}
    near = nearest(name.removeprefix(PREFIX), bare)
    hint = f"; did you mean {bare[near]}?" if near else "; unset it"
    return f"The environment variable {name} is no setting{hint}"
