"""The first frame of a Live connection, checked as strictly as by the service.

Sources: "BidiGenerateContentSetup" of the Gemini Live API reference; close reasons as reported in
google-genai's and its users' threads (named at each).
"""

from dataclasses import dataclass
from typing import Any

from tests.simulators.models import ModelRules
from tests.simulators.schema import Tools, read_tools
from tests.simulators.wire import Json, Refusal, known_fields, text_of

_FIELDS = (
    *("model", "generationConfig", "systemInstruction", "tools", "sessionResumption"),
    *("inputAudioTranscription", "outputAudioTranscription", "realtimeInputConfig"),
    *("contextWindowCompression", "proactivity", "historyConfig"),
)
_GENERATION = (
    *("responseModalities", "temperature", "topP", "topK", "maxOutputTokens", "seed"),
    *("mediaResolution", "speechConfig", "thinkingConfig", "enableAffectiveDialog"),
)
_COVERAGES = (
    "TURN_INCLUDES_ONLY_ACTIVITY",
    "TURN_INCLUDES_ALL_INPUT",
    "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO",
)


@dataclass(frozen=True, slots=True)
class Setup:
    """A client's set-up."""

    raw: Json  # the whole setup, in camel case
    model: str  # without "models/"
    instruction: str
    tools: Tools
    resumes: str | None  # the handle, if it came with one
    wants_handles: bool
    hears_input: bool  # it wants its own speech transcribed
    hears_output: bool  # it wants the model's speech transcribed
    manual: bool  # it marks activity itself
    language_codes: tuple[str, ...]
    vocabulary: tuple[str, ...]
    voice: str | None
    without_behavior: int  # functions without a behaviour


def model_name(setup: Any) -> str:
    """Return the model of a set-up, without "models/". Raises Refusal."""
    name = setup.get("model") if isinstance(setup, dict) else None
    if not isinstance(name, str) or not name.startswith("models/"):
        raise Refusal("setup.model: must be given as models/{model}")
    return name.removeprefix("models/")


def read_setup(setup: Any, rules: ModelRules) -> Setup:
    """Check the value under "setup", in camel case. Raises Refusal."""
    fields = known_fields(setup, _FIELDS, "setup")
    voice = _generation(fields.get("generationConfig", {}), rules)
    instruction = fields.get("systemInstruction")
    tools = read_tools(fields.get("tools", []), rules.behaviors or (), "setup.tools")
    resumption = fields.get("sessionResumption")
    handle = None
    if resumption is not None:
        # `transparent` exists only on Vertex.
        handle = known_fields(resumption, ("handle",), "setup.session_resumption").get("handle")
        if handle is not None and (not isinstance(handle, str) or not handle):
            raise Refusal("Invalid value at 'setup.session_resumption.handle' (TYPE_STRING).")
    codes, vocabulary = _transcription(fields.get("inputAudioTranscription"), rules, "input")
    _transcription(fields.get("outputAudioTranscription"), rules, "output")
    _compression(fields.get("contextWindowCompression"))
    _proactivity(fields.get("proactivity"), rules)
    known_fields(
        fields.get("historyConfig", {}), ("initialHistoryInClientContent",), "setup.history_config"
    )
    return Setup(
        raw=fields,
        model=model_name(fields),
        instruction="" if instruction is None else text_of(instruction, "setup.system_instruction"),
        tools=tools,
        resumes=handle,
        wants_handles=resumption is not None,
        hears_input="inputAudioTranscription" in fields,
        hears_output="outputAudioTranscription" in fields,
        manual=_realtime(fields.get("realtimeInputConfig", {})),
        language_codes=codes,
        vocabulary=vocabulary,
        voice=voice,
        without_behavior=sum(one.behavior is None for one in tools.functions),
    )


def _generation(config: Any, rules: ModelRules) -> str | None:
    """Check the generationConfig; returns the prebuilt voice, if one is requested."""
    at = "setup.generation_config"
    fields = known_fields(config, _GENERATION, at)
    modalities = fields.get("responseModalities", ["AUDIO"])
    if modalities != ["AUDIO"]:
        # python-genai #1780
        raise Refusal("Cannot extract voices from a non-audio request.")
    if "enableAffectiveDialog" in fields and not rules.affective:
        raise Refusal("Affective dialog is not supported for this model")
    check_thinking(fields.get("thinkingConfig"), rules, at)
    speech = known_fields(
        fields.get("speechConfig", {}), ("voiceConfig", "languageCode"), f"{at}.speech_config"
    )
    voice = known_fields(
        speech.get("voiceConfig", {}), ("prebuiltVoiceConfig",), f"{at}.speech_config.voice_config"
    )
    prebuilt = known_fields(
        voice.get("prebuiltVoiceConfig", {}), ("voiceName",), f"{at}.prebuilt_voice_config"
    )
    name = prebuilt.get("voiceName")
    if name is not None and (not isinstance(name, str) or not name):
        raise Refusal(f"Invalid value at '{at}.prebuilt_voice_config.voice_name' (TYPE_STRING).")
    return name


def check_thinking(config: Any, rules: ModelRules, where: str) -> str | None:
    """Check a thinkingConfig (None: not given); returns the level. Raises Refusal."""
    if config is None:
        if rules.thinking_required:
            raise Refusal("Thinking level is required for this model")
        return None
    if not rules.thinking_levels:
        # gemini-3.8-live closes on any thinkingConfig.
        raise Refusal("Thinking level is not supported for this model")
    allowed = ("thinkingLevel", "thinkingBudget", "includeThoughts")
    fields = known_fields(config, allowed, f"{where}.thinking_config")
    if "thinkingBudget" in fields:
        raise Refusal("Thinking budget is not supported for this model")
    level = fields.get("thinkingLevel")
    if level is None:
        if rules.thinking_required:
            raise Refusal("Thinking level is required for this model")
        return None
    if level not in rules.thinking_levels:
        raise Refusal(f"Thinking level {level} is not supported for this model")
    return str(level)


def _transcription(
    config: Any, rules: ModelRules, which: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Check a transcription's settings; returns language codes and vocabulary."""
    if config is None:
        return (), ()
    allowed = [
        *(["languageCodes"] if rules.language_codes else []),
        *(["customVocabulary"] if rules.custom_vocabulary and which == "input" else []),
    ]
    fields = known_fields(config, allowed, f"setup.{which}_audio_transcription")
    lists = []
    for key in ("languageCodes", "customVocabulary"):
        values = fields.get(key, [])
        if not isinstance(values, list) or not all(
            isinstance(value, str) and value.strip() for value in values
        ):
            raise Refusal(f"Invalid value at 'setup.{which}_audio_transcription.{key}'.")
        lists.append(tuple(values))
    return lists[0], lists[1]


def _realtime(config: Any) -> bool:
    """Check the realtimeInputConfig; True if the client marks its activity itself."""
    at = "setup.realtime_input_config"
    allowed = ("automaticActivityDetection", "activityHandling", "turnCoverage")
    fields = known_fields(config, allowed, at)
    detection = known_fields(
        fields.get("automaticActivityDetection", {}),
        (
            *("disabled", "startOfSpeechSensitivity", "endOfSpeechSensitivity"),
            *("prefixPaddingMs", "silenceDurationMs"),
        ),
        f"{at}.automatic_activity_detection",
    )
    handling = fields.get("activityHandling", "START_OF_ACTIVITY_INTERRUPTS")
    if handling != "START_OF_ACTIVITY_INTERRUPTS":
        # The service supports NO_INTERRUPTION too; the simulator does not.
        raise Refusal(f"Invalid value at '{at}.activity_handling', \"{handling}\"")
    if fields.get("turnCoverage", _COVERAGES[0]) not in _COVERAGES:
        raise Refusal(f"Invalid value at '{at}.turn_coverage', \"{fields['turnCoverage']}\"")
    return detection.get("disabled") is True


def _compression(config: Any) -> None:
    if config is None:
        return
    at = "setup.context_window_compression"
    fields = known_fields(config, ("triggerTokens", "slidingWindow"), at)
    window = known_fields(
        fields.get("slidingWindow", {}), ("targetTokens",), f"{at}.sliding_window"
    )
    try:
        trigger = int(fields.get("triggerTokens", 80_000))
        target = int(window.get("targetTokens", trigger // 2))
    except (TypeError, ValueError):
        raise Refusal(f"Invalid value at '{at}' (TYPE_INT64).") from None
    if not 0 < target < trigger:
        raise Refusal(f"{at}: target_tokens must be less than trigger_tokens")


def _proactivity(config: Any, rules: ModelRules) -> None:
    if config is None:
        return
    fields = known_fields(config, ("proactiveAudio",), "setup.proactivity")
    if fields.get("proactiveAudio") is not True and rules.proactive_always:
        raise Refusal("Proactive audio cannot be disabled for this model")
    if not rules.proactive_always:
        raise Refusal("Proactive audio is not supported for this model")
