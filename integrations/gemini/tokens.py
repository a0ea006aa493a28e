"""Estimates the tokens that Gemini reads and writes, where the service doesn't report them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from integrations.gemini.declarations import Declaration
from integrations.gemini.events import TokensUsed
from integrations.gemini.models import ModelRow
from integrations.gemini.subset import as_json

# google-genai 3.6.1 counts no Live model's tokens offline. Gemma 3's tokenizer, which it uses for
# Gemini 2.x and 3, gives 4.0 to 4.1 characters a token for schemas and texts.
_CHARACTERS_A_TOKEN = 4


def text_tokens(text: str) -> int:
    """Estimate how many tokens a text takes."""
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def tool_tokens(declaration: Declaration) -> int:
    """Estimate how many tokens of the prompt a tool takes."""
    schema = as_json(declaration.parameters, compact=True) if declaration.parameters else ""
    return text_tokens(f"{declaration.name}{declaration.description}{schema}")


def prompt_tokens(instruction: str, declarations: Sequence[Declaration]) -> int:
    """Estimate how many tokens an instruction and a menu take, which every turn pays for."""
    return text_tokens(instruction) + sum(map(tool_tokens, declarations))


@dataclass(frozen=True, slots=True)
class Amount:
    """An estimated number of tokens."""

    text: float = 0.0
    audio: float = 0.0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.text + other.text, self.audio + other.audio)

    @property
    def total(self) -> int:
        return math.ceil(self.text) + math.ceil(self.audio)


def text(*texts: str) -> Amount:
    return Amount(text=sum(text_tokens(one) for one in texts))


def audio(row: ModelRow, pcm: bytes, rate: int) -> Amount:
    """Estimate the tokens of mono int16 audio."""
    return Amount(audio=len(pcm) / 2 / rate * row.audio_tokens_s)


def most(one: TokensUsed | None, other: TokensUsed | None) -> TokensUsed | None:
    """Return the larger value of each count, because a later report can lack some counts."""
    if one is None or other is None:
        return one or other
    keys = one.by_modality | other.by_modality
    return TokensUsed(
        max(one.input_tokens, other.input_tokens),
        max(one.output_tokens, other.output_tokens),
        {key: max(one.by_modality.get(key, 0), other.by_modality.get(key, 0)) for key in keys},
        max(one.total_tokens, other.total_tokens),
    )


def completed(told: TokensUsed | None, read: Amount, made: Amount) -> TokensUsed:
    """Return the reported counts, with estimates for what the service left out.

    The service can report nothing, only a total, or counts without their modalities.
    """
    told = told or TokensUsed(0, 0)
    known_in, known_out = told.input_tokens, told.output_tokens
    if known_in or known_out:
        rest = max(0, told.total_tokens - known_in - known_out)
        known_in, known_out = known_in or rest, known_out or rest
    else:
        rest = told.total_tokens - made.total
        known_in = rest if rest > read.total else 0
    sides = (_side(told, "input", known_in, read), _side(told, "output", known_out, made))
    (count_in, by_in, sure_in), (count_out, by_out, sure_out) = sides
    estimated = not (sure_in and sure_out)
    return TokensUsed(count_in, count_out, {**by_in, **by_out}, estimated=estimated)


def _side(
    told: TokensUsed, side: str, known: int, guess: Amount
) -> tuple[int, dict[str, int], bool]:
    """Return the count of one side, its modalities, and True if nothing was estimated."""
    details = {key: one for key, one in told.by_modality.items() if key.startswith(side)}
    if (known or not guess.total) and (details or not guess.audio):
        return known, details, True
    count = known or guess.total
    sound = min(count, math.ceil(guess.audio))
    parts = {f"{side}_audio": sound, f"{side}_text": count - sound}
    return count, {key: one for key, one in parts.items() if one}, False
