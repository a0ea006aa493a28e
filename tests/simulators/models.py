"""Rules of each model of the simulated service, deliberately independent of Hearth's own table.

Sources: the model pages of the Gemini API; the threads named at each row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ModelRules:
    """Fields that a model accepts, and its behaviour."""

    live: bool  # False: only generateContent
    thinking_levels: tuple[str, ...] = ()  # empty: thinkingConfig is refused
    thinking_required: bool = False
    behaviors: tuple[str, ...] | None = None  # of function calls; None: the field is unknown
    default_behavior: Literal["BLOCKING", "NON_BLOCKING"] = "BLOCKING"
    scheduling: bool = False  # of function responses
    context_update: bool = False
    proactive_always: bool = False  # it cannot be switched off
    affective: bool = False  # enableAffectiveDialog is accepted
    language_codes: bool = False  # of the transcription
    custom_vocabulary: bool = False  # of the input transcription


MODELS: Mapping[str, ModelRules] = {
    # Thinking is interleaved, and any thinkingConfig is refused; proactive audio is always on and
    # affective dialog was removed; calls do not block unless declared so.
    "gemini-3.8-live": ModelRules(
        live=True,
        behaviors=("BLOCKING", "NON_BLOCKING"),
        default_behavior="NON_BLOCKING",
        scheduling=True,
        context_update=True,
        proactive_always=True,
        language_codes=True,
        custom_vocabulary=True,
    ),
    # A level is required; calls never block; `scheduling` closes with 1007
    # (openclaw/openclaw #152413).
    "gemini-3.8-live-extended-thinking": ModelRules(
        live=True,
        thinking_levels=("LOW", "MEDIUM", "HIGH"),
        thinking_required=True,
        behaviors=("NON_BLOCKING",),
        default_behavior="NON_BLOCKING",
        proactive_always=True,
        language_codes=True,
    ),
    # Calls are synchronous, one after another.
    "gemini-3.1-flash-live-preview": ModelRules(
        live=True,
        thinking_levels=("MINIMAL", "LOW", "MEDIUM", "HIGH"),
        behaviors=("BLOCKING",),
        language_codes=True,
    ),
    # MINIMAL is refused by its predecessor (openclaw/openclaw #123366).
    "gemini-3.8-flash": ModelRules(live=False, thinking_levels=("LOW", "MEDIUM", "HIGH")),
}
