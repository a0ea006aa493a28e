"""What a person answered, on the terminal or by flags."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LOOPBACK = "127.0.0.1"  # what the HTTP interface listens on: this machine alone
EVERYWHERE = "0.0.0.0"  # or the home network too


@dataclass(frozen=True, slots=True)
class Answers:
    """One value for each thing that can be answered; None: it was not, and stays as it is."""

    url: str | None = None  # Home Assistant's
    token: str | None = field(default=None, repr=False)
    verify_tls: bool | None = None
    ca_file: str | None = None  # absolute; "" takes the setting away
    name: str | None = None  # what Hearth calls itself
    area: str | None = None
    languages: tuple[str, ...] | None = None
    voice_engine: str | None = None
    voices: Mapping[str, str] | None = None  # language -> Piper's name, for those that had none
    wake_word: str | None = None
    input: str | None = None  # as `hearth devices` names it
    output: str | None = None
    accept_cloud: bool | None = None
    gemini_key: str | None = field(default=None, repr=False)
    console_host: str | None = None  # what the HTTP interface listens on

    @property
    def given(self) -> bool:
        """Whether anything was answered at all."""
        return self != Answers()

    def values(self) -> dict[tuple[str, str], Any]:
        """What was answered, by section and key of the settings. Without secrets and voices, which
        come into the file in another way."""
        told = {
            ("home_assistant", "url"): self.url,
            ("home_assistant", "verify_tls"): self.verify_tls,
            ("home_assistant", "ca_file"): self.ca_file,
            ("assistant", "name"): self.name,
            ("assistant", "area"): self.area,
            ("assistant", "languages"): None if self.languages is None else [*self.languages],
            ("voice", "engine"): self.voice_engine,
            ("wake", "words"): None if self.wake_word is None else [self.wake_word],
            ("audio", "input"): self.input,
            ("audio", "output"): self.output,
            ("privacy", "accept_cloud"): self.accept_cloud,
            ("http", "host"): self.console_host,
        }
        return {place: value for place, value in told.items() if value is not None}

    @property
    def of_the_house(self) -> bool:
        """Whether something was answered that Home Assistant has to be asked about."""
        told = (self.url, self.token, self.verify_tls, self.ca_file, self.name, self.area)
        return any(one is not None for one in told)
