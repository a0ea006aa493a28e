"""Generates docs/configuration.md from the schema: python -m assistant.config.document > FILE."""

import inspect
import json
import sys
from typing import Any, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from assistant.config.kinds import Section
from assistant.config.schema import NAMED, SECTIONS, core, is_secret, keys_of, table_in

_INTRODUCTION = """\
# Configuration

<!-- Made by `python -m assistant.config.document` from the schema; do not edit. -->

Hearth reads one TOML file, which is the first of these: the file passed with `--config`, the file
named in `$HEARTH_CONFIG`, `~/.config/hearth/hearth.toml`, or `/etc/hearth/hearth.toml`. Without a
file, Hearth uses the defaults. All keys are optional, except those marked *required*. For an
unknown key, Hearth reports an error and suggests the most similar key.

**Environment variables.** `HEARTH_SECTION__KEY` overrides the file: `HEARTH_AUDIO__INPUT=null`,
`HEARTH_HOME_ASSISTANT__VERIFY_TLS=false`. Text needs no quotes. All other values are written as in
TOML: `HEARTH_ASSISTANT__LANGUAGES='["en", "es"]'`, `HEARTH_VOICE__SPEED=1.2`.

**Secrets.** Hearth looks for a secret in four places, in this order: in the environment, in the
systemd credential `section.key` (`LoadCredential=gemini.api_key:/etc/hearth/key`), in the file
named by `KEY_file`, and in the key itself. Such a file contains only the secret, on one line. An
empty environment variable counts as unset. The files for `headers_file` and `env_file` contain one
`Name: value` or `NAME=value` per line.

**Paths.** `~` is the user's home folder. Relative paths in `*_file` keys and in `assistant.data`
are relative to the folder of the configuration file, and `journal.path` is relative to the data
folder.
"""


def document() -> str:
    parts = [_INTRODUCTION]
    for name, section in SECTIONS.items():
        parts.append(_section(f"`[{name}]`", section))
        for key, field in keys_of(section).items():
            table = table_in(field)
            if table is not None:
                block = not field.default  # with a default, entries are mostly written as text
                title = f"`[[{name}.{key}]]`" if block else f"Table in `{name}.{key}`"
                parts.append(_section(title, table, level=3))
    for name, table in NAMED.items():
        parts.append(_section(f"`[{name}.NAME]`", table))
    return "\n".join(parts)


def _section(title: str, section: type[Section], level: int = 2) -> str:
    rows = [_row(key, field) for key, field in keys_of(section).items()]
    head = ["| Key | Default | Kind | Meaning |", "|---|---|---|---|"]
    return "\n".join(
        [f"{'#' * level} {title}", "", inspect.getdoc(section) or "", "", *head, *rows, ""]
    )


def _row(key: str, field: FieldInfo) -> str:
    cells = (f"`{key}`", _default(field), _kind(field), field.description or "")
    return f"| {' | '.join(cells)} |"


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is PydanticUndefined:
        return "*required*"
    if value is None:
        return "*unset*"
    return f"`{_toml('' if is_secret(field) else value)}`"


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_toml(entry)}' for key, entry in value.items())}}}"
    if isinstance(value, Section):  # an entry that is written as its name alone
        return _toml(next(iter(value.model_dump().values())))
    return json.dumps(value, ensure_ascii=False)


def _kind(field: FieldInfo) -> str:
    if table_in(field) and field.default:
        whole = "table" if isinstance(field.default, dict) else "list"
        return f"{whole} of text or tables"
    return _kind_of(field.annotation)


def _kind_of(annotation: object) -> str:
    kind = core(annotation)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        words = (choice or '""' for choice in inner)
        return ", ".join(f"`{word}`" for word in words)
    if origin is tuple:
        return f"list of {_kind_of(inner[0])}"
    if origin is dict:
        return "table of secrets" if core(inner[1]) is SecretStr else "table of text"
    if inner:  # X | None
        return _kind_of(inner[0])
    if isinstance(kind, type) and issubclass(kind, Section):
        return "tables"
    return _PLAIN[kind]


_PLAIN: dict[object, str] = {
    str: "text",
    SecretStr: "secret",
    bool: "`true`, `false`",
    int: "whole number",
    float: "number",
}


if __name__ == "__main__":
    sys.stdout.write(document())
