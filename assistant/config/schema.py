"""The complete configuration, its default locations, and functions that inspect the schema.
docs/configuration.md is generated from this schema."""

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, get_args, get_origin

import platformdirs
from pydantic import Field, PrivateAttr, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from assistant.config.brains import BrainChoice, Gemini, LocalModel, Privacy
from assistant.config.kinds import PlainName, Section, nearest
from assistant.config.sections import (
    Assistant,
    HomeAssistant,
    Http,
    Journal,
    Mqtt,
    Profile,
    Wyoming,
)
from assistant.config.sound import (
    Audio,
    Media,
    Offline,
    QuietHours,
    Recordings,
    SoundChoice,
    VoiceChoice,
    Wake,
)
from assistant.config.tools import Limits, Mcp, Policy, Tools

SYSTEM_FILE = Path("/etc/hearth/hearth.toml")


def candidate_files() -> tuple[Path, ...]:
    """Return the default locations of the configuration file, in order of precedence."""
    return (platformdirs.user_config_path("hearth") / "hearth.toml", SYSTEM_FILE)


def candidate_folders() -> tuple[Path, ...]:
    """Return the default configuration folders, which contain only Hearth's files."""
    return tuple(file.parent for file in candidate_files())


def data_folder(environ: Mapping[str, str]) -> Path:
    """Return the default of `assistant.data`: the service's state folder if there is one, otherwise
    the user's."""
    state = environ.get("STATE_DIRECTORY", "").split(":")[0]
    return Path(state) if state else platformdirs.user_state_path("hearth")


def _at(place: tuple[str | int, ...], sentence: str) -> InitErrorDetails:
    kind = PydanticCustomError("value_error", "{error}", {"error": sentence})
    return InitErrorDetails(type=kind, loc=place, input=None)


class Settings(Section):
    assistant: Assistant = Assistant()
    privacy: Privacy = Privacy()
    home_assistant: HomeAssistant = HomeAssistant()
    mcp: Mcp = Mcp()
    gemini: Gemini = Gemini()
    local: LocalModel = LocalModel()
    profiles: dict[PlainName, Profile] = Field(default={})
    brain: BrainChoice = BrainChoice()
    offline: Offline = Offline()
    audio: Audio = Audio()
    wake: Wake = Wake()
    media: Media = Media()
    recordings: Recordings = Recordings()
    voice: VoiceChoice = VoiceChoice()
    sounds: SoundChoice = SoundChoice()
    quiet_hours: QuietHours = QuietHours()
    policy: Policy = Policy()
    tools: Tools = Tools()
    limits: Limits = Limits()
    http: Http = Http()
    mqtt: Mqtt = Mqtt()
    wyoming: Wyoming = Wyoming()
    journal: Journal = Journal()
    _source: Path | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _profiles_are_there(self) -> Self:
        wrong = [
            _at(("wake", "words", number, "profile"), no_profile(word.profile, self.profiles))
            for number, word in enumerate(self.wake.words)
            if word.profile and word.profile not in self.profiles
        ]
        there = (self.profiles, self.assistant.languages, self.brain.order)
        wrong += [_at(place, sentence) for place, sentence in misfits(*there)]
        if wrong:
            raise ValidationError.from_exception_data("Settings", wrong, hide_input=True)
        return self

    @property
    def data_folder(self) -> Path:
        """Folder for the data that Hearth keeps across restarts. It might not exist yet."""
        return Path(self.assistant.data) if self.assistant.data else data_folder(os.environ)

    @property
    def database(self) -> Path:
        """Path of the database. A relative `journal.path` is resolved against the data folder."""
        return self.data_folder / Path(self.journal.path or "hearth.db").expanduser()

    @property
    def source(self) -> Path | None:
        return self._source

    def read_from(self, file: Path | None) -> Self:
        copy = self.model_copy()
        copy._source = file
        return copy


SECTIONS: dict[str, type[Section]] = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
}


# Sections that consist of tables named by the user: `[profiles.NAME]`.
NAMED: dict[str, type[Section]] = {
    name: get_args(field.annotation)[1]
    for name, field in Settings.model_fields.items()
    if get_origin(field.annotation) is dict
}


def keys_of(section: type[Section]) -> dict[str, FieldInfo]:
    """Return a section's fields by their keys in the file."""
    return {field.alias or name: field for name, field in section.model_fields.items()}


def all_keys() -> Iterator[tuple[str, str, FieldInfo]]:
    """Yield (section, key, field) for every key, except those in nested tables."""
    for name, section in SECTIONS.items():
        for key, field in keys_of(section).items():
            yield name, key, field


def core(annotation: object) -> object:
    return core(get_args(annotation)[0]) if get_origin(annotation) is Annotated else annotation


def is_secret(field: FieldInfo) -> bool:
    return core(field.annotation) is SecretStr


def is_text(field: FieldInfo) -> bool:
    """Return True for text, secrets and choices, which are all written as text."""
    kind = core(field.annotation)
    return kind in (str, SecretStr) or get_origin(kind) is Literal


def table_in(field: FieldInfo) -> type[Section] | None:
    """Return the section class of a field that contains tables, such as `mcp.servers`, or None for
    other fields."""
    kind = core(field.annotation)
    origin = get_origin(kind)
    values = get_args(kind)[origin is dict] if origin in (tuple, dict) else None
    inner = core(values)
    return inner if isinstance(inner, type) and issubclass(inner, Section) else None


def secret_files(settings: Settings) -> Iterator[Path]:
    """Yield the files that the settings name for secrets, including the TLS certificate's key."""
    for section, key, field in all_keys():
        if is_secret(field):
            named = getattr(getattr(settings, section), f"{key}_file", "")
            if named:
                yield Path(named)
    for server in settings.mcp.servers:
        yield from (Path(named) for named in (server.headers_file, server.env_file) if named)
    key_file = (
        settings.http.tls_key or settings.http.tls_cert
    )  # the certificate file can contain the key
    if key_file:
        yield Path(key_file)
    if settings.gemini.vertex_credentials_file:
        yield Path(settings.gemini.vertex_credentials_file)


def own_paths(settings: Settings) -> tuple[Path, ...]:
    """Return the paths of Hearth's data, configuration and secrets. Tool servers must not read
    them."""
    sources = [*candidate_folders(), *([settings.source] if settings.source else [])]
    return (settings.data_folder, settings.database, *sources, *secret_files(settings))


Complaint = tuple[tuple[str, ...], str]  # place in the file, and the end of an error message


def misfits(
    profiles: Mapping[str, Profile], languages: Collection[str], brains: Collection[str]
) -> Iterator[Complaint]:
    """Yield a complaint for each language or brain in a profile that the settings don't include."""
    for name, profile in profiles.items():
        if profile.language and profile.language not in languages:
            known = ", ".join(languages)
            yield ("profiles", name, "language"), f"must be one of assistant.languages: {known}"
        for brain in profile.brain:
            if brain not in brains:
                hint = ", ".join(brains)
                yield (
                    ("profiles", name, "brain"),
                    f"must name only brains that are in brain.order: {hint}",
                )


def no_profile(name: str, known: Collection[str]) -> str:
    """Return the end of an error message about an unknown profile."""
    near = nearest(name, known)
    hint = f'; did you mean "{near}"?' if near else f"; add a table [profiles.{name}]"
    return f'must name a profile; there is no profile "{name}"{hint}'
