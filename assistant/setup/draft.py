"""The settings as they would be with what was answered so far: for trying it out. Pure."""

from typing import Any

from pydantic import ValidationError

from assistant.config.errors import Origins, complaints, one_sentence
from assistant.config.schema import Settings
from assistant.setup.answers import Answers
from assistant.setup.document import secrets_of
from assistant.setup.sound_check import all_voices


def draft(present: Settings, answers: Answers) -> Settings:
    """`present` with the answers over it. Raises ConfigError for what the schema refuses."""
    raw = present.model_dump(by_alias=True)
    told: dict[tuple[str, str], Any] = {**answers.values(), **secrets_of(answers)}
    if answers.voices:
        told["voice", "models"] = all_voices(present, answers.voices)
    for (section, key), value in told.items():
        raw[section][key] = value
    try:
        return Settings.model_validate(raw)
    except ValidationError as error:
        raise one_sentence(complaints(error, Origins("the answers"))) from None
