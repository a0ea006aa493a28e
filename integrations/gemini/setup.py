"""Build a session's configuration, and the tools and thinking level of any request.

Only fields that the model's row allows are sent, because the service closes the socket if it gets
any other.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from integrations.gemini.declarations import Declaration
from integrations.gemini.models import ModelRow, ThinkingSetting
from integrations.gemini.tokens import prompt_tokens

if TYPE_CHECKING:
    from google.genai import types

# mono int16; the service resamples other rates (Google's Live API documentation)
INPUT_RATE = 16_000
AUDIO_MIME = f"audio/pcm;rate={INPUT_RATE}"

# Keep the window short, because every turn is billed for all of it (Google's Live best practices).
_COMPRESS_AT_TOKENS = 10_000
_COMPRESS_TO_TOKENS = 4_000
_TALK_TOKENS = 6_000  # minimum for the conversation, on top of the set-up
_TURN_TOKENS = 1_500  # a long turn: 20 s of question, 20 s of answer, and two results
_MAX_VOCABULARY = 1_000  # Google's Live transcription documentation; up to 100 work best

# Tokens per level, from the mapping for 2.5 models in Google's OpenAI-compatible interface.
_BUDGETS = {"LOW": 1_024, "MEDIUM": 8_192, "HIGH": 24_576}


@dataclass(frozen=True, slots=True)
class LiveSetup:
    """The settings of a Live session."""

    row: ModelRow
    instruction: str
    declarations: tuple[Declaration, ...]
    # names to help the transcription, most important first
    vocabulary: tuple[str, ...] = ()
    language_codes: tuple[str, ...] = ()  # BCP-47
    voice: str = ""  # a prebuilt voice; "" for the model's own
    google_search: bool = False
    handle: str | None = None  # resumption handle of the session to continue
    thinking: str = ""  # a level, e.g. "low"; "" for the model's minimum


@dataclass(frozen=True, slots=True)
class OptionalPart:
    """A part of the session set-up that can be omitted."""

    name: str
    fields: re.Pattern[str]  # matches its field names in a refusal by the service
    absent: Mapping[str, Any]  # changes to the row that omit it
    is_sent: Callable[[LiveSetup], bool]


# Those most likely to be refused come first. Public logs of 2026 show refusals of the vocabulary
# and the language codes ("Unknown name "languageCodes" at 'setup.input_audio_transcription'"). The
# other parts are refused with the general "Request contains an invalid argument." (pipecat #4168).
OPTIONAL = (
    OptionalPart(
        "custom vocabulary",
        re.compile(r"custom_?vocabulary", re.IGNORECASE),
        {"custom_vocabulary": False},
        lambda setup: bool(setup.vocabulary and setup.row.custom_vocabulary),
    ),
    OptionalPart(
        "language codes",
        re.compile(r"language_?(codes|hints)", re.IGNORECASE),
        {"language_codes": False},
        lambda setup: bool(setup.language_codes and setup.row.language_codes),
    ),
    OptionalPart(
        "context compression",
        re.compile(r"compression|trigger_?tokens|sliding_?window", re.IGNORECASE),
        {"compression": False},
        lambda setup: setup.row.compression,
    ),
    OptionalPart(
        "turn coverage",
        re.compile(r"turn_?coverage", re.IGNORECASE),
        {"turn_coverage": False},
        lambda setup: setup.row.turn_coverage,
    ),
    OptionalPart(
        "behaviour of functions",
        re.compile(r"behavior", re.IGNORECASE),
        {"behaviors": ()},
        lambda setup: bool(setup.declarations and setup.row.behaviors),
    ),
    OptionalPart(
        "Google Search",
        re.compile(r"google_?search", re.IGNORECASE),
        {"search": False},
        lambda setup: setup.google_search and setup.row.search,
    ),
)


def without(setup: LiveSetup, names: Collection[str]) -> LiveSetup:
    """Return the set-up without the optional parts with these names."""
    row = setup.row
    for part in OPTIONAL:
        if part.name in names:
            row = replace(row, **part.absent)
    return replace(setup, row=row)


def suspects(setup: LiveSetup) -> tuple[str, ...]:
    """Return the names of the optional parts that this set-up sends, those likely to be refused
    first."""
    return tuple(part.name for part in OPTIONAL if part.is_sent(setup))


def named_in(reason: str, names: Collection[str]) -> tuple[str, ...]:
    """Return the optional parts in `names` whose fields are mentioned in the service's reason."""
    return tuple(
        part.name for part in OPTIONAL if part.name in names and part.fields.search(reason)
    )


def live_config(setup: LiveSetup) -> "types.LiveConnectConfig":
    """Return the configuration for google-genai's `live.connect`."""
    from google.genai import types

    row = setup.row
    config = types.LiveConnectConfig(
        # No conversational Live model can answer with text (Google's model pages).
        response_modalities=[types.Modality.AUDIO],
        system_instruction=setup.instruction,
        tools=list(tools_of(row, setup.declarations, google_search=setup.google_search)) or None,
        thinking_config=thinking_of(row, setup.thinking),
        input_audio_transcription=types.AudioTranscriptionConfig(
            custom_vocabulary=_some(setup.vocabulary[:_MAX_VOCABULARY], row.custom_vocabulary),
            language_codes=_some(setup.language_codes, row.language_codes),
        ),
        output_audio_transcription=types.AudioTranscriptionConfig(),
        # Hearth reports when speech begins and ends; audio outside of it is not input.
        realtime_input_config=types.RealtimeInputConfig(
            automatic_activity_detection=types.AutomaticActivityDetection(disabled=True),
            activity_handling=types.ActivityHandling.START_OF_ACTIVITY_INTERRUPTS,
            turn_coverage=(
                types.TurnCoverage.TURN_INCLUDES_ONLY_ACTIVITY if row.turn_coverage else None
            ),
        ),
        session_resumption=types.SessionResumptionConfig(handle=setup.handle),
        context_window_compression=_compression(setup) if row.compression else None,
    )
    if setup.voice:
        named = types.PrebuiltVoiceConfig(voice_name=setup.voice)
        config.speech_config = types.SpeechConfig(
            voice_config=types.VoiceConfig(prebuilt_voice_config=named)
        )
    return config


def tools_of(
    row: ModelRow, declarations: Sequence[Declaration], *, google_search: bool
) -> "tuple[types.Tool, ...]":
    """Return all functions as one tool, plus Google Search if requested and supported
    by the model."""
    from google.genai import types

    from integrations.gemini.checked import CheckedSchema

    tools = []
    if declarations:
        behavior = types.Behavior(row.behaviors[0]) if row.behaviors else None
        functions = [
            types.FunctionDeclaration(
                name=one.name,
                description=one.description,
                # With `parameters_json_schema`, one of the models speaks its calls instead of
                # making them (AidenAI-IO/aiden-firmware #708).
                parameters=(
                    CheckedSchema.model_validate(one.parameters) if one.parameters else None
                ),
                # Omitting it keeps the previous value; it does not restore the default
                # (MemberJunction/MJ #4512).
                behavior=behavior,
            )
            for one in declarations
        ]
        tools.append(types.Tool(function_declarations=functions))
    if google_search and row.search:
        tools.append(types.Tool(google_search=types.GoogleSearch()))
    return tuple(tools)


def thinking_of(row: ModelRow, wish: str) -> "types.ThinkingConfig | None":
    """Return the thinking setting for the level `wish`, or None if none should be sent.

    If the model lacks that level, the next higher level is used, or otherwise the model's highest.
    "" means the model's minimum.
    """
    from google.genai import types

    wanted = wish.strip().upper()
    if row.thinking is ThinkingSetting.BUDGET:
        return types.ThinkingConfig(thinking_budget=_BUDGETS.get(wanted, 0))
    if row.thinking is ThinkingSetting.NONE or (not wanted and not row.level_always):
        return None
    return types.ThinkingConfig(thinking_level=types.ThinkingLevel(_level(row.levels, wanted)))


def _level(levels: tuple[str, ...], wanted: str) -> str:
    ascending = ("", "MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH")
    place = ascending.index(wanted) if wanted in ascending else 0
    above = [level for level in levels if ascending.index(level) >= place]
    return above[0] if above else levels[-1]


def full_at_tokens(setup: LiveSetup) -> int:
    """Return the size of the context at which the session should be replaced.

    At this size, there is room for one more turn before the service trims the context. The
    service's own trimming doesn't keep the context small: with a trigger of 25,000 tokens, a spoken
    conversation grew to 71,000 in 25 turns (Google's developer forum, 147228). Without compression,
    the service closes the session when the model's context window is full (livekit/agents #5985).
    """
    fixed = prompt_tokens(setup.instruction, setup.declarations)
    return min(_trigger_tokens(fixed), setup.row.context_tokens) - _TURN_TOKENS


def _trigger_tokens(fixed: int) -> int:
    return max(_COMPRESS_AT_TOKENS, fixed + _TALK_TOKENS)


def _compression(setup: LiveSetup) -> "types.ContextWindowCompressionConfig":
    # Compression starts early, because every turn is billed for the whole window. However, the
    # set-up alone must not trigger it, although it is long for a large house.
    from google.genai import types

    fixed = prompt_tokens(setup.instruction, setup.declarations)
    return types.ContextWindowCompressionConfig(
        trigger_tokens=_trigger_tokens(fixed),
        sliding_window=types.SlidingWindow(
            target_tokens=max(_COMPRESS_TO_TOKENS, fixed + _TALK_TOKENS // 3)
        ),
    )


def _some(values: tuple[str, ...], allowed: bool) -> list[str] | None:
    return list(values) if values and allowed else None
