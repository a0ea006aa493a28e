"""Looks into the schema: which sections and keys there are, which are secret, which are text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from assistant.config.kinds import Section
from assistant.config.places import candidate_folders
from assistant.config.schema import Settings

SECTIONS: dict[str, type[Section]] = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
}

# Sections that are made of tables under names of the person's own: `[profiles.NAME]`.
NAMED: dict[str, type[Section]] = {
    name: get_args(field.annotation)[1]
    for name, field in Settings.model_fields.items()
    if get_origin(field.annotation) is dict
}


def keys_of(section: type[Section]) -> dict[str, FieldInfo]:
    """A section's keys as they stand in the file."""
    return {field.alias or name: field for name, field in section.model_fields.items()}


def all_keys() -> Iterator[tuple[str, str, FieldInfo]]:
    """Every (section, key, field) that stands directly in a section."""
    for name, section in SECTIONS.items():
        for key, field in keys_of(section).items():
            yield name, key, field


def core(annotation: object) -> object:
    """The type without its checks."""
    return core(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation


def is_secret(field: FieldInfo) -> bool:
    """Whether the value must never be shown."""
    return core(field.annotation) is SecretStr


def is_text(field: FieldInfo) -> bool:
    """Whether the value is written as text, secret or one of a few words included."""
    kind = core(field.annotation)
    return kind in (str, SecretStr) or get_origin(kind) is Literal


def table_in(field: FieldInfo) -> type[Section] | None:
    """The table that a list such as `mcp.servers`, or a table of tables, is made of, if any."""
    kind = core(field.annotation)
    origin = get_origin(kind)
    values = get_args(kind)[origin is dict] if origin in (tuple, dict) else None
    inner = core(values)
    return inner if isinstance(inner, type) and issubclass(inner, Section) else None


def secret_files(settings: Settings) -> Iterator[Path]:
    """The files that the configuration says secrets are in, the key of its certificate included."""
    for section, key, field in all_keys():
        if is_secret(field):
            named = getattr(getattr(settings, section), f"{key}_file", "")
            if named:
                yield Path(named)
    for server in settings.mcp.servers:
        yield from (Path(named) for named in (server.headers_file, server.env_file) if named)
    key_file = settings.http.tls_key or settings.http.tls_cert  # which may hold the key too
    if key_file:
        yield Path(key_file)


def own_paths(settings: Settings) -> tuple[Path, ...]:
    """Hearth's own files and folders, which no tool server may read: its state, its configuration
    and its secrets."""
    sources = [*candidate_folders(), *([settings.source] if settings.source else [])]
    return (settings.data_folder, settings.database, *sources, *secret_files(settings))
