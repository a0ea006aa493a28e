"""The tokens and costs of a Gemini conversation."""

import json
import math

from assistant.domain.brain import Spent, Usage
from integrations.gemini.events import (
    FunctionCalls,
    InnerText,
    LiveEvent,
    OutputAudio,
    OutputText,
    TokensUsed,
    TurnComplete,
)
from integrations.gemini.models import ModelRow, cost_usd, model_row
from integrations.gemini.setup import INPUT_RATE, LiveSetup, full_at_tokens
from integrations.gemini.tokens import Amount, audio, completed, most, prompt_tokens, text

_WORTH_TOKENS = 2_000  # a session isn't replaced unless the new one is smaller by this much


class UsageMeter:
    """Counts a conversation's tokens: those still to report, and those in its session's context.

    The service reports each turn separately, and the input it reports is the whole context
    (pydantic/ pydantic-ai #7269, probed live). It can report a turn several times, each time with
    the totals so far (sierra-research/tau2-bench #454), or not at all. The meter estimates what the
    service doesn't report.
    """

    def __init__(self) -> None:
        # The current interaction.
        self._so_far: TokensUsed | None = None  # reported by the service
        self._read = Amount()  # estimate of what the model has read
        self._read_next = Amount()  # the same of the next interaction, which has begun already
        self._made = Amount()  # estimate of what it has generated
        # It has generated something or ended its turn, or Hearth has given it up.
        self._answered = False
        self._told: TokensUsed | None = None  # already passed on with `take`
        self._owed: list[TokensUsed] = []  # of earlier interactions, not passed on yet
        # The session.
        self._row: ModelRow = model_row("")[0]
        self._context = Amount()
        self._full_at = 0  # tokens
        self._least: int | None = None  # context of the first turn; None if not reported yet

    # --- the session

    def opened(self, setup: LiveSetup) -> None:
        """Note that a session is open. A resumed session keeps its context."""
        self._row, self._full_at = setup.row, full_at_tokens(setup)
        self._read_next = Amount()  # that interaction ended with its connection
        if setup.handle is None:
            fixed = prompt_tokens(setup.instruction, setup.declarations)
            self._context, self._least = Amount(text=fixed), None

    def changed(self, before: LiveSetup, after: LiveSetup) -> None:
        """Note a change of the instruction and the functions."""
        was, now = (prompt_tokens(one.instruction, one.declarations) for one in (before, after))
        self._context += Amount(text=now - was)
        self._full_at = full_at_tokens(after)

    @property
    def is_full(self) -> bool:
        """True if the session should be replaced, before the service trims or closes it.

        A session that is full from the start isn't replaced, because a new one would be too.
        """
        size = self._context.total
        return size >= self._full_at and size - (self._least or 0) >= _WORTH_TOKENS

    # --- an interaction

    def begin(self) -> None:
        """Start a new interaction. The previous interaction's count is final."""
        self._owed += self._untold()
        self._so_far = self._told = None
        self._read, self._read_next = self._read_next, Amount()
        self._made, self._answered = Amount(), False

    def heard(self, pcm: bytes) -> None:
        self._context += audio(self._row, pcm, INPUT_RATE)

    def wrote(self, *texts: str) -> None:
        self._context += text(*texts)

    def generates(self, *, is_next: bool = False) -> None:
        """Note that the model starts to answer. It reads its whole context to do so.

        `is_next` is True if the current interaction has not ended yet.
        """
        if is_next:
            self._read_next += self._context
        else:
            self._read += self._context

    def give_up(self) -> None:
        """Note that Hearth waits no longer. The service may charge for what it has read."""
        self._answered = True

    def note(self, event: LiveEvent) -> None:
        """Count the tokens of an event of the session."""
        made = Amount()
        match event:
            case TokensUsed():
                self.count(event)
                return
            case OutputAudio(pcm, rate):
                made = audio(self._row, pcm, rate)
            case InnerText(thought):
                made = text(thought)
            case FunctionCalls(calls):
                made = text(*(f"{one.name}{json.dumps(one.arguments)}" for one in calls))
            case OutputText() | TurnComplete():
                pass
            case _:
                return
        self._answered = True
        self._made += made
        self._context += made

    def count(self, used: TokensUsed) -> None:
        """Use the service's own count of the interaction so far."""
        self._so_far = most(self._so_far, used)
        if not used.input_tokens:
            return
        size, by = used.input_tokens + used.output_tokens, used.by_modality
        sound = by.get("input_audio", 0) + by.get("output_audio", 0)
        sound = min(size, sound if by else math.ceil(self._context.audio))
        self._context = Amount(size - sound, sound)
        self._least = self._least or used.input_tokens

    def take(self) -> tuple[TokensUsed, ...]:
        """Return all counts that haven't been returned yet."""
        taken = (*self._owed, *self._untold())
        self._owed.clear()
        self._told = self._current()
        return taken

    def _current(self) -> TokensUsed | None:
        # Google doesn't charge for failed requests (its billing page), so a session that broke
        # before there was any answer costs nothing.
        if self._so_far is None and not self._answered:
            return None
        return completed(self._so_far, self._read, self._made)

    def _untold(self) -> list[TokensUsed]:
        current = self._current()
        if current is None or current == self._told:
            return []
        return [_less(current, self._told or TokensUsed(0, 0))]


def _less(whole: TokensUsed, part: TokensUsed) -> TokensUsed:
    return TokensUsed(
        max(0, whole.input_tokens - part.input_tokens),
        max(0, whole.output_tokens - part.output_tokens),
        {
            key: max(0, count - part.by_modality.get(key, 0))
            for key, count in whole.by_modality.items()
        },
        estimated=whole.estimated,
    )


def spent(row: ModelRow, *used: TokensUsed) -> Spent:
    """Return the cost of these tokens at the model's prices."""
    usage = sum((usage_of(one) for one in used), Usage(0, 0))
    return Spent(usage, sum(cost_usd(row, one) for one in used), row.name)


def usage_of(used: TokensUsed) -> Usage:
    return Usage(used.input_tokens, used.output_tokens, dict(used.by_modality), used.estimated)
