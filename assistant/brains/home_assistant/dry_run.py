"""What the home's engine would make of a sentence, asked before anything is done."""

from collections.abc import Sequence
from typing import Protocol

from assistant.brains.home_assistant.lead_in import without_wake
from assistant.domain.call import SentenceMatch
from integrations.home_assistant.conversation import Recognized


class Engine(Protocol):
    """The conversation engine (`integrations.home_assistant.conversation.Conversation`)."""

    async def recognize(self, texts: Sequence[str], language: str) -> Recognized | None:
        """The first of `texts` that it knows. Raises CommandRefused and Unavailable."""
        ...


class DryRun:
    """Tries a sentence as it was heard, and without the wake word in front of it."""

    def __init__(
        self, engine: Engine, languages: Sequence[str] = ("en",), wake_phrases: Sequence[str] = ()
    ) -> None:
        """`languages`: those that a person may speak; `wake_phrases`: such as "okay nabu"."""
        self._engine = engine
        self._languages = tuple(languages)
        self._wake_phrases = tuple(wake_phrases)

    async def match(self, text: str, language: str) -> SentenceMatch | None:
        """What it would do, in `language` or else in another of the person's; None: nothing.

        Raises CommandRefused (`unknown`: this release has no dry run) and Unavailable.
        """
        tried = (text.strip(), without_wake(text, self._wake_phrases))
        texts = [one for one in dict.fromkeys(tried) if one]
        if not texts:
            return None
        for code in dict.fromkeys((language, *self._languages)):
            found = await self._engine.recognize(texts, code)
            if found is not None:
                return SentenceMatch(
                    found.text, code, found.source, found.intent, found.slots, found.targets
                )
        return None
