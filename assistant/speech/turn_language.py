"""Which of the configured languages a turn is in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from assistant.speech.identify import identify


def _cannot_tell(text: str, expected: str | None) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Languages:
    """The configured languages, and how to tell a text's.

    `identify` gives one of `codes` for a text, or None where it cannot tell; its second argument is
    the code that the text should have, None where nobody knows. It is called on the loop for every
    clause, so it must be quick.
    """

    codes: tuple[str, ...] = ("en",)  # the first is assumed until we know better
    identify: Callable[[str, str | None], str | None] = _cannot_tell

    @property
    def first(self) -> str:
        """What is assumed of somebody who has not spoken yet."""
        return self.codes[0]

    def led_by(self, code: str) -> "Languages":
        """The same, with that one assumed; "" or one that is not configured changes nothing."""
        return replace(self, codes=led_by(code, self.codes))

    def configured(self, code: str | None) -> str | None:
        """The configured language that a code such as "es-MX" stands for, None where none is."""
        if not code:
            return None
        if code in self.codes:
            return code
        base = _base(code)
        return next((known for known in self.codes if _base(known) == base), None)


def led_by(code: str, codes: Sequence[str]) -> tuple[str, ...]:
    """The codes with that one in front; "" or one that is not among them changes nothing."""
    return tuple(sorted(codes, key=lambda each: each != code))


def languages_of(codes: Sequence[str]) -> Languages:
    """The configured codes, told apart by the words of a sentence."""
    return Languages(tuple(codes), lambda text, expected: identify(text, codes, expected))


def _base(code: str) -> str:
    return code.replace("_", "-").split("-")[0].lower()


class TurnLanguage:
    """One turn's language: assumed at first, then as the person's words show, else the answer's."""

    def __init__(self, languages: Languages, given: str | None = None) -> None:
        """`given`: where it is known beforehand."""
        self.code = given or languages.first
        self._languages = languages
        self._known = given is not None

    def heard(self, text: str, code: str | None) -> None:
        """What the person said, and its language where the brain can tell."""
        self._settle(self._languages.configured(code) or self._languages.identify(text, None))

    def of_clause(self, text: str) -> str | None:
        """The language of one clause of the answer, None where it cannot be told.

        Where the person's own words have not told the turn's, the first clause that can does.
        Where they have, a clause must be wholly in another to be said in that.
        """
        told = self._languages.identify(text, self.code if self._known else None)
        if not self._known:
            self._settle(told)
        return told

    def now(self, clause: str) -> str:
        """The language in which to say that clause: its own, else the turn's."""
        return self.of_clause(clause) or self.code

    def _settle(self, told: str | None) -> None:
        if told is not None:
            self.code, self._known = told, True
