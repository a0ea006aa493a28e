"""The whole configuration, where its file lies, and a look into its sections and keys.

docs/configuration.md is made from it.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, get_args, get_origin

import platformdirs
from pydantic import Field, PrivateAttr, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from assistant.config.kinds import PlainName, Section
from assistant.config.sections import (
    Assistant,
    BrainChoice,
    Gemini,
    HomeAssistant,
    Http,
    Journal,
    Mqtt,
    Offline,
    Privacy,
    Profile,
    Wyoming,
    misfits,
    no_profile,
)
from assistant.config.sound import (
    Audio,
    Media,
    QuietHours,
    Recordings,
    SoundChoice,
    VoiceChoice,
    Wake,
)
from assistant.config.tools import Limits, Mcp, Policy, Tools

SYSTEM_FILE = Path("/etc/hearth/hearth.toml")


def candidate_files() -> tuple[Path, ...]:
    """The places that are tried in order when no file is named."""
    return (platformdirs.user_config_path("hearth") / "hearth.toml", SYSTEM_FILE)


def candidate_folders() -> tuple[Path, ...]:
    """Folders that hold nothing but Hearth's configuration and what belongs to it."""
    return tuple(file.parent for file in candidate_files())


def data_folder(environ: Mapping[str, str]) -> Path:
    """The default of `assistant.data`: the service's state folder, else the user's.

    systemd may give several folders in STATE_DIRECTORY, joined by colons; the first is ours.
    """
    state = environ.get("STATE_DIRECTORY", "").split(":")[0]
    return Path(state) if state else platformdirs.user_state_path("hearth")


def _at(place: tuple[str | int, ...], sentence: str) -> InitErrorDetails:
    """A complaint about one key, from a check that looks at several sections."""
    kind = PydanticCustomError("value_error", "{error}", {"error": sentence})
    return InitErrorDetails(type=kind, loc=place, input=None)


class Settings(Section):
    """The whole configuration."""

    assistant: Assistant = Assistant()
    privacy: Privacy = Privacy()
    home_assistant: HomeAssistant = HomeAssistant()
    mcp: Mcp = Mcp()
    gemini: Gemini = Gemini()
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
        """The folder of everything that must survive; it may not exist yet."""
        return Path(self.assistant.data) if self.assistant.data else data_folder(os.environ)

    @property
    def database(self) -> Path:
        """The store's file; a relative `journal.path` lies in the data folder."""
        return self.data_folder / Path(self.journal.path or "hearth.db").expanduser()

    @property
    def source(self) -> Path | None:
        """The file that these were read from, if any."""
        return self._source

    def read_from(self, file: Path | None) -> Self:
        """Return these settings, knowing the file that they were read from."""
        copy = self.model_copy()
        copy._source = file
        return copy


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
    """Return True if the value must never be shown."""
    return core(field.annotation) is SecretStr


def is_text(field: FieldInfo) -> bool:
    """Return True if the value is written as text: a secret and one of a few words too."""
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
