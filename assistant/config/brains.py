"""The brains, what they are allowed to send, and the services that they use."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from assistant.config.kinds import (
    NO_SECRET,
    TOKEN_PREFIX,
    Amount,
    BrainName,
    Count,
    Flag,
    ModelName,
    ModelNames,
    OptionalLocalModel,
    OptionalWebAddress,
    PlainNameOrEmpty,
    Seconds,
    Section,
    Thinking,
    at_least_one,
    no_repeats,
)


class Privacy(Section):
    """Data that Hearth is allowed to send out of your home."""

    accept_cloud: Flag = Field(
        default=False,
        description=(
            "Allow Hearth to send speech to Google, together with the data that is needed to "
            "answer it. The same setting allows a `local.url` outside your home network."
        ),
    )
    share_heard: Flag = Field(
        default=False,
        description="Share the recognised words and the answers with Home Assistant and MQTT.",
    )


class BrainChoice(Section):
    """The brains that interpret commands."""

    order: Annotated[
        tuple[BrainName, ...], AfterValidator(at_least_one), AfterValidator(no_repeats)
    ] = Field(
        default=("gemini-live", "gemini-once", "home-assistant", "offline"),
        description=(
            "Brains in the order in which Hearth tries them. Hearth skips unavailable brains. If "
            "`home-assistant` and `offline` follow each other, both read a sentence, and the one "
            "that understands it better handles it."
        ),
    )
    prefer_local: Literal["never", "sentences", "always"] = Field(
        default="never",
        description=(
            "Sentences that Home Assistant handles even if Gemini is available: none "
            "(`never`), those that you wrote for Home Assistant (`sentences`), or all that "
            "Home Assistant understands (`always`)."
        ),
    )


class Gemini(Section):
    """Google's models, used only with `privacy.accept_cloud = true`."""

    api_key: SecretStr = Field(
        default=NO_SECRET,
        description=(
            "The API key, or an ephemeral token, which opens only Live sessions. You can also set "
            "it as `GEMINI_API_KEY` or `GOOGLE_API_KEY` in the environment."
        ),
    )
    api_key_file: str = Field(default="", description="File that contains the key.")
    model: ModelNames = Field(
        default=("gemini-3.8-live",),
        description=(
            "Model for live conversations. In a list of models, Hearth uses the first one that "
            "Google still offers."
        ),
    )
    once_model: ModelName = Field(
        default="gemini-3.8-flash",
        description="Model for single recordings, pictures and hard questions.",
    )
    base_url: OptionalWebAddress = Field(
        default="", description="Alternative address of the service."
    )
    ca_file: str = Field(
        default="", description="PEM file with the certificate authority for `base_url`."
    )
    api_version: str = Field(
        default="",
        description=(
            "API version. If empty, Hearth uses `v1beta1` with Vertex AI, `v1alpha` with an "
            "ephemeral token, and otherwise `v1beta`."
        ),
    )
    vertex_project: PlainNameOrEmpty = Field(
        default="",
        description=(
            "Google Cloud project. If it is set, Hearth uses Gemini through Vertex AI, without "
            "`api_key`."
        ),
    )
    vertex_location: PlainNameOrEmpty = Field(
        default="",
        description="Vertex AI region, such as `us-central1`. It must offer the models.",
    )
    vertex_credentials_file: str = Field(
        default="",
        description=(
            "JSON file with the credentials for Vertex AI: the key of a service account, or the "
            "file that `gcloud auth application-default login` writes."
        ),
    )
    google_search: Flag = Field(default=False, description="Allow the model to search the web.")
    voice: str = Field(
        default="",
        description=(
            'Name of the model\'s own voice for `voice.engine = "gemini"`, such as `Kore`. If '
            "empty, the service chooses a voice."
        ),
    )
    thinking: Thinking = Field(
        default="",
        description=(
            "Amount of thinking for a hard question. If empty, Hearth uses `medium`. For "
            "simple commands, Hearth always uses the smallest amount that the model allows."
        ),
    )
    menu: Literal["small", "whole"] = Field(
        default="small",
        description=(
            "Tools that Gemini gets with every turn: all of them (`whole`), or a core chosen by "
            "the house and by use, and a tool to find the others (`small`)."
        ),
    )
    keep_warm_s: Amount = Field(
        default=180.0,
        description="Number of seconds for which Hearth keeps an unused connection open.",
    )
    fresh_after_s: Seconds = Field(
        default=600.0,
        description="Seconds of silence after which Hearth forgets a conversation.",
    )
    late_text_ms: Count = Field(
        default=300,
        description=(
            "Number of milliseconds that Hearth waits for the rest of an answer's text after "
            "the answer's audio has ended."
        ),
    )
    connect_timeout_s: Seconds = Field(
        default=5.0, description="Timeout for connecting, in seconds."
    )
    first_event_timeout_s: Seconds = Field(
        default=6.0,
        description=(
            "Number of seconds that Hearth waits for the first part of an answer after the "
            "end of the sentence."
        ),
    )

    @model_validator(mode="after")
    def _one_way_to_sign_in(self) -> Self:
        key = self.api_key.get_secret_value().strip()
        rest = {
            "vertex_location": self.vertex_location,
            "vertex_credentials_file": self.vertex_credentials_file,
        }
        if self.vertex_project and key:
            raise ValueError(
                "must have either api_key or vertex_project; remove one of them (the key can also "
                "come from GEMINI_API_KEY or GOOGLE_API_KEY in the environment)"
            )
        for name, value in rest.items():
            if bool(value) != bool(self.vertex_project):
                missing = name if self.vertex_project else "vertex_project"
                raise ValueError(f"must also have {missing} in order to use Vertex AI")
        if key.startswith(TOKEN_PREFIX) and self.api_version not in ("", "v1alpha"):
            raise ValueError(
                'must have api_version = "v1alpha", or none, if api_key is an ephemeral token'
            )
        return self


class LocalModel(Section):
    """A language model on your own computer, for the brain `local`. Any server with an
    OpenAI-compatible chat API and tools can be used, such as Ollama, llama.cpp or vLLM."""

    url: OptionalWebAddress = Field(
        default="",
        description=(
            'Address of the server\'s API, such as `"http://192.168.1.20:11434/v1"`. An address '
            "outside your home network counts as cloud and needs `privacy.accept_cloud = true`."
        ),
    )
    model: OptionalLocalModel = Field(
        default="", description='Name of the model on the server, such as `"qwen3:4b-instruct"`.'
    )
    api_key: SecretStr = Field(
        default=NO_SECRET, description="The server's API key, if it requires one."
    )
    api_key_file: str = Field(default="", description="File that contains the key.")
    thinking: Flag = Field(
        default=False,
        description="Let the model think before it answers. This delays every answer.",
    )
    connect_timeout_s: Seconds = Field(
        default=5.0, description="Timeout for connecting, in seconds."
    )
    first_word_timeout_s: Seconds = Field(
        default=20.0,
        description=(
            "Number of seconds that Hearth waits for the first word or call of an answer before "
            "it asks the next brain."
        ),
    )
