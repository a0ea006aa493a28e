"""The capabilities and prices of Gemini models: one row per model, with its source.

If a request contains a field that the model does not support, the service closes the socket (1007),
so sessions are set up from the row. Prices and capabilities are as of November 2026.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from enum import Enum
from typing import Literal

from integrations.gemini.events import TokensUsed

Kind = Literal["live", "once"]
Behavior = Literal["BLOCKING", "NON_BLOCKING"]


class Status(Enum):
    """A model's status on Google's model pages."""

    STABLE = "stable"
    DEPRECATED = "deprecated"  # still answers, but not for long
    RETIRED = "retired"  # closed with 1008
    UNKNOWN = "unknown"  # not in this table


class ThinkingSetting(Enum):
    """The thinking setting that a model supports. Gemini refuses any other (close code 1007)."""

    NONE = "none"  # any setting is refused
    LEVEL = "level"  # thinking_level
    BUDGET = "budget"  # thinking_budget, in tokens; 0 is off


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices in USD per million tokens in the paid tier."""

    text_in: float
    audio_in: float
    text_out: float  # thoughts count as text
    audio_out: float
    since: date = date.min  # first day of this price


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model's capabilities. Never send a field that the model does not support."""

    # `turn_coverage` and `compression` are documented for every Live model. Like all optional
    # parts, they are omitted if the service refuses them (`integrations.gemini.setup.OPTIONAL`).

    name: str  # without "models/"
    kind: Kind  # "live": a websocket session; "once": generate_content
    status: Status
    source: str  # where the capabilities and prices come from
    prices: tuple[Prices, ...]  # ascending by `since`
    thinking: ThinkingSetting = ThinkingSetting.NONE
    levels: tuple[str, ...] = ()  # thinking levels, ascending
    # always send a level: without one the model refuses, or thinks longer than a command needs
    level_always: bool = False
    behaviors: tuple[Behavior, ...] = ()  # of functions; (): omit the field
    context_update: bool = False  # instruction and tools can change during the session
    client_content: bool = False  # accepts turn_complete=False during the session
    custom_vocabulary: bool = False  # for the input transcription
    language_codes: bool = False  # for the input transcription
    search: bool = False  # Google Search together with functions
    turn_coverage: bool = True  # count only speech as input, not the pauses around it
    compression: bool = True  # of the context window
    context_tokens: int = 131_072  # size of the context window (Google's model pages)
    # For estimates. 25: Google's price of a minute of Live audio, divided by that of a token.
    audio_tokens_s: int = 25
    successor: str | None = None  # the model to use instead
    # Announced day of the shutdown. Google's page of deprecations calls these dates the earliest
    # possible ones, so a model can still answer after it.
    shutdown: date | None = None


_LIVE_PRICES = Prices(text_in=0.75, audio_in=3.00, text_out=4.50, audio_out=12.00)
_NATIVE_25_PRICES = Prices(text_in=0.50, audio_in=3.00, text_out=2.00, audio_out=12.00)
_FLASH_PRICES = (  # the same price for text, images and audio; answers are text only
    Prices(text_in=0.75, audio_in=0.75, text_out=3.75, audio_out=3.75),
    Prices(text_in=1.50, audio_in=1.50, text_out=7.50, audio_out=7.50, since=date(2027, 1, 1)),
)
# The highest prices in all rows.
_DEAREST = Prices(text_in=1.50, audio_in=3.00, text_out=7.50, audio_out=12.00)
_NO_SHUTDOWN = "no shutdown announced: Google's page of deprecations, September 2026"

_LEVELS = ("LOW", "MEDIUM", "HIGH")
_BEST_LIVE = "gemini-3.8-live"
_BEST_ONCE = "gemini-3.8-flash"

# The shutdown of one more Live preview, on 2026-11-17, is reported without its name, so there is no
# date here.
_NATIVE_25 = ModelRow(
    name="gemini-2.5-flash-native-audio-preview-12-2025",
    kind="live",
    status=Status.DEPRECATED,
    source=(
        "Google's model page, September 2026; prices: Google's page as quoted in "
        "BerriAI/litellm #32113"
    ),
    prices=(_NATIVE_25_PRICES,),
    thinking=ThinkingSetting.BUDGET,
    behaviors=("BLOCKING", "NON_BLOCKING"),
    search=True,
    successor=_BEST_LIVE,
)

_ROWS = (
    ModelRow(
        name="gemini-3.8-live",
        kind="live",
        status=Status.STABLE,
        # Proactive audio and affective dialogue are always on; setting either is refused. The
        # vocabulary is documented only on Vertex, the language codes only by the SDK.
        source=(
            "Google's model page and Live best practices, September 2026; functions: "
            "MemberJunction/MJ #4512; context update: google-genai 3.4.0; prices: Google's page as "
            "quoted in jferreiros/vortex #109, text also in Vercel's catalogue; " + _NO_SHUTDOWN
        ),
        prices=(_LIVE_PRICES,),
        behaviors=("BLOCKING", "NON_BLOCKING"),
        context_update=True,
        client_content=True,
        custom_vocabulary=True,
        language_codes=True,
        search=True,
    ),
    ModelRow(
        name="gemini-3.8-live-extended-thinking",
        kind="live",
        status=Status.STABLE,
        source=(
            "Google's model page, September 2026; thinking: vercel/ai #20787; scheduling: "
            "openclaw/openclaw #152413 against AidenAI-IO/aiden-firmware #708; prices as "
            "gemini-3.8-live; " + _NO_SHUTDOWN
        ),
        prices=(_LIVE_PRICES,),
        thinking=ThinkingSetting.LEVEL,
        levels=_LEVELS,
        level_always=True,
        behaviors=("NON_BLOCKING",),
        search=True,
    ),
    ModelRow(
        name="gemini-3.1-flash-live-preview",
        kind="live",
        status=Status.DEPRECATED,
        # Functions are synchronous, so there is no behaviour to set. According to the page, client
        # content is allowed during a session, but early reports mention 1007, so it counts as
        # refused.
        source=(
            "Google's model page, September 2026; empty replies with a level: "
            "google-gemini/gemini-live-api-examples #37; language codes: "
            "sierra-research/tau2-bench #544; prices: a public log of September 2026; shutdown: "
            "developersdigest.tech, 2026-10-18, which counts two Live previews, and the model list "
            "of a public project, which names this one"
        ),
        prices=(_LIVE_PRICES,),
        thinking=ThinkingSetting.LEVEL,
        levels=("MINIMAL", *_LEVELS),
        language_codes=True,
        search=True,
        successor=_BEST_LIVE,
        shutdown=date(2026, 11, 17),
    ),
    _NATIVE_25,
    replace(
        _NATIVE_25,
        name="gemini-2.5-flash-native-audio-latest",
        source=(
            "An alias, used in public code of 2026; only on v1beta: google-genai's notes on 3.0; "
            "all else as gemini-2.5-flash-native-audio-preview-12-2025"
        ),
    ),
    replace(
        _NATIVE_25,
        name="gemini-live-2.5-flash-native-audio",
        status=Status.STABLE,
        source=(
            "Only on Vertex AI: Google's model page there, which names no thinking setting; prices "
            "as gemini-2.5-flash-native-audio-preview-12-2025"
        ),
        thinking=ThinkingSetting.NONE,
    ),
    ModelRow(
        name="gemini-live-2.5-flash-preview",
        kind="live",
        status=Status.RETIRED,
        source="Google's changelog, 2025-12-09; price not known, the dearest assumed",
        prices=(_DEAREST,),
        successor=_BEST_LIVE,
        shutdown=date(2025, 12, 9),
    ),
    ModelRow(
        name="gemini-2.0-flash-live-001",
        kind="live",
        status=Status.RETIRED,
        source="Google's changelog, 2025-12-09; price not known, the dearest assumed",
        prices=(_DEAREST,),
        successor=_BEST_LIVE,
        shutdown=date(2025, 12, 9),
    ),
    ModelRow(
        name="gemini-3.8-flash",
        kind="once",
        status=Status.STABLE,
        source=(
            "Google's model page, September 2026; levels: LiveBench/LiveBench #531; prices and "
            "limits: Google's page as quoted in pydantic/genai-prices #678; " + _NO_SHUTDOWN
        ),
        prices=_FLASH_PRICES,
        thinking=ThinkingSetting.LEVEL,
        levels=_LEVELS,
        level_always=True,  # its default level is MEDIUM
        search=True,
        audio_tokens_s=32,  # Google's page on audio
    ),
    ModelRow(
        name="gemini-3.7-flash",
        kind="once",
        status=Status.DEPRECATED,
        source=(
            "No MINIMAL: openclaw/openclaw #123366; prices as gemini-3.8-flash: "
            "Portkey-AI/models #917; limits assumed as there; deprecated, and answered by "
            "gemini-3.8-flash: Google's changelog, 2026-10-08"
        ),
        prices=_FLASH_PRICES,
        thinking=ThinkingSetting.LEVEL,
        levels=_LEVELS,
        level_always=True,  # its default level is MEDIUM
        search=True,
        audio_tokens_s=32,  # Google's page on audio
        successor=_BEST_ONCE,
    ),
)
MODELS: Mapping[str, ModelRow] = {row.name: row for row in _ROWS}

# With every optional field off, a request works with any model. A function without a behaviour
# follows the model's default.
_SAFEST = ModelRow(
    name="",
    kind="live",
    status=Status.UNKNOWN,
    source="not in the table: no optional fields are sent, and the highest price is assumed",
    prices=(_DEAREST,),
)


def model_row(name: str, kind: Kind = "live") -> tuple[ModelRow, bool]:
    """Return the model's row and True, or for an unknown model the safest row of `kind` and False.

    `name` may begin with "models/". The caller should warn about an unknown name.
    """
    bare = name.strip().removeprefix("models/")
    known = MODELS.get(bare)
    if known is not None:
        return known, True
    successor = _BEST_LIVE if kind == "live" else _BEST_ONCE
    return replace(_SAFEST, name=bare, kind=kind, successor=successor), False


def cost_usd(row: ModelRow, used: TokensUsed, on: date | None = None) -> float:
    """Return the cost of the tokens in USD, at the prices on the day `on` (default:
    today in UTC)."""
    day = on or datetime.now(UTC).date()
    prices = [price for price in row.prices if price.since <= day][-1]
    audio_in = used.by_modality.get("input_audio", 0)
    audio_out = used.by_modality.get("output_audio", 0)
    # The details that Google reports by modality do not add up to the totals (Google's developer
    # forum, 188765), so the remainder is priced as text.
    text_in = max(_told(used, "input_") - audio_in, used.input_tokens - audio_in)
    text_out = max(_told(used, "output_") - audio_out, used.output_tokens - audio_out)
    return (
        audio_in * prices.audio_in
        + text_in * prices.text_in
        + audio_out * prices.audio_out
        + text_out * prices.text_out
    ) / 1_000_000


def _told(used: TokensUsed, side: str) -> int:
    return sum(count for key, count in used.by_modality.items() if key.startswith(side))
