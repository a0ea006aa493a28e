"""The settings of Google's models."""

from typing import Literal

from pydantic import Field, SecretStr

from assistant.config.kinds import (
    NO_SECRET,
    Amount,
    Count,
    Flag,
    ModelName,
    OptionalWebAddress,
    Seconds,
    Section,
)

Thinking = Literal["", "low", "medium", "high"]


class Gemini(Section):
    """Google's models; used only with `privacy.accept_cloud = true`."""

    api_key: SecretStr = Field(
        default=NO_SECRET, description="The key; `GEMINI_API_KEY` and `GOOGLE_API_KEY` serve too."
    )
    api_key_file: str = Field(default="", description="A file that holds the key.")
    model: ModelName = Field(
        default="gemini-3.8-live", description="The model that is spoken with."
    )
    once_model: ModelName = Field(
        default="gemini-3.8-flash", description="The model that is sent one recording at a time."
    )
    base_url: OptionalWebAddress = Field(default="", description="Another address of the service.")
    ca_file: str = Field(
        default="", description="Certificate authority for `base_url`, as a PEM file."
    )
    api_version: str = Field(default="v1beta", description="Version of the interface.")
    google_search: Flag = Field(default=False, description="Whether the model may search the web.")
    voice: str = Field(
        default="",
        description='The model\'s own voice, such as `Kore`, for `voice.engine = "gemini"`. '
        "Empty: the service chooses.",
    )
    thinking: Thinking = Field(
        default="",
        description="How long a model may think about a hard question. Empty: medium. "
        "Plain commands are never thought about longer than the model must.",
    )
    keep_warm_s: Amount = Field(
        default=180.0, description="Seconds that a connection stays open after its last use."
    )
    fresh_after_s: Seconds = Field(
        default=600.0,
        description="Seconds of quiet after which a conversation is forgotten and begins anew.",
    )
    late_text_ms: Count = Field(
        default=300,
        description="Milliseconds that the end of an answer's text is waited for "
        "after the answer's end.",
    )
    connect_timeout_s: Seconds = Field(default=5.0, description="Seconds that connecting may take.")
    first_event_timeout_s: Seconds = Field(
        default=6.0,
        description="Seconds that the first sign of an answer may take after the sentence's end.",
    )
