"""The context window of a simulated session, which is counted, trimmed and ended as by the service.

Every turn is billed for the whole window (Google staff, forum 140340). The window is trimmed by
whole turns when a turn begins above the trigger, as reported prompt counts suggest (forum 147228).
Without compression, a session whose window is full is closed with 1007 (livekit/agents #5985).
"""

from dataclasses import dataclass, field

from tests.simulators.script import Tokens
from tests.simulators.wire import Json, Refusal

AUDIO_TOKENS_S = 25  # Google's prices of a minute and of a token
_CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True, slots=True)
class WindowRules:
    """The service's rules for context windows."""

    tells: bool = True  # usage comes with the end of a turn
    most_tokens: int = 131_072  # Google's page of gemini-3.8-live


@dataclass(slots=True)
class Window:
    """The tokens in a session's context."""

    fixed: float = 0.0  # instruction and tools
    turns: list[float] = field(default_factory=list)  # oldest first
    trimmed: int = 0  # how often
    read: float = 0.0  # size when the current turn's input ended
    said: float = 0.0  # by the model in the current turn

    def begin(self) -> None:
        """Start a turn."""
        self.turns.append(0.0)
        self.said = 0.0

    def add_text(self, text: str) -> None:
        self._add(len(text) / _CHARACTERS_A_TOKEN)

    def add_audio(self, seconds: float) -> None:
        self._add(seconds * AUDIO_TOKENS_S)

    def add_reply(self, seconds: float) -> None:
        """Add the model's speech."""
        self.said += seconds * AUDIO_TOKENS_S
        self._add(seconds * AUDIO_TOKENS_S)

    def input_ended(self, setup: Json, rules: WindowRules) -> None:
        """Trim the window if the set-up asks for it. Raises Refusal if the window is full."""
        compression = setup.get("contextWindowCompression")
        if compression is not None and self.total > int(compression["triggerTokens"]):
            target = int(compression["slidingWindow"]["targetTokens"])
            self.trimmed += 1
            while len(self.turns) > 1 and self.total > target:
                self.turns.pop(0)
        if self.total > rules.most_tokens:
            raise Refusal("Request contains an invalid argument.", scripted=True)
        self.read = self.total

    @property
    def total(self) -> float:
        return self.fixed + sum(self.turns)

    @property
    def usage(self) -> Tokens:
        """The current turn's usage."""
        read, said = round(self.read), round(self.said)
        return Tokens(read, said, prompt_details={"TEXT": read}, response_details={"AUDIO": said})

    def _add(self, tokens: float) -> None:
        if not self.turns:
            self.turns.append(0.0)
        self.turns[-1] += tokens
