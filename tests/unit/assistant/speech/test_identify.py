"""Tests of the language of a short sentence, with names from another configured language."""

from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path

import pytest

from assistant.domain.brain import BrainEvent, BrainFault, Heard, ReplyText, TurnDone
from assistant.domain.tool_call import CALM, CallContext, ToolCall, ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.speech.identify import WORDS, Languages, TurnLanguage, identify
from audio.tts import Chunk
from tests.unit.assistant.conversation.doubles import (
    Script,
    ScriptedBrain,
    ScriptedTurn,
    ToneVoice,
    Tools,
    done,
)
from tests.unit.assistant.conversation.stage import runner_with

SENTENCES = Path(__file__).with_name("languages.tsv")
SIX = ("en", "es", "pt", "de", "fr", "vi")


def sentences(*languages: str) -> list[tuple[str, str | None]]:
    """Return the sentences in these languages, and those in none, with the expected result."""
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [
        (text, None if language == "-" else language)
        for text, language in rows
        if language in (*languages, "-")
    ]


@pytest.mark.parametrize(("text", "language"), sentences("en", "es"))
def test_english_and_spanish_are_told_apart(text: str, language: str | None) -> None:
    assert identify(text, ("en", "es")) == language


@pytest.mark.parametrize(("text", "language"), sentences("en", "es"))
def test_the_order_of_the_settings_does_not_matter(text: str, language: str | None) -> None:
    assert identify(text, ("es", "en")) == language


def test_among_six_it_rather_says_nothing_than_something_wrong() -> None:
    told = [(identify(text, SIX), language) for text, language in sentences(*SIX)]
    assert [pair for pair in told if pair[0] not in (pair[1], None)] == []
    silent = [pair for pair in told if pair[0] is None and pair[1] is not None]
    assert len(silent) <= len(told) * 0.06


@pytest.mark.parametrize(
    ("text", "languages", "found"),
    [
        ("enciende la luz", ("en-GB", "es-MX"), "es-MX"),  # returned as configured
        # The first one configured for that language.
        ("turn on the light", ("en-US", "en-GB", "es"), "en-US"),
        ("Netflix", ("es",), "es"),  # the only language
        ("accendi la luce", ("en", "it"), None),  # Italian has no word list
        ("a Netflix", ("en", "it"), None),  # one word is not enough to rule out Italian
        ("turn on the light", ("en", "it"), "en"),
        ("accendi la luce", ("it", "nl"), None),
        ("heiß", ("en", "de"), "de"),
        ("turn on the light", (), None),
        ("", ("en", "es"), None),
        ("21 °C", ("en", "es"), None),
        ("QUE HORA ES", ("en", "es"), "es"),  # no accents
        ("manana", ("en", "es"), "es"),
        ("¿Sonos?", ("en", "es"), "es"),
        ("yes, enciende la luz", ("en", "es"), None),  # half and half
        ("si\u0301", ("en", "es"), "es"),  # combining accents
    ],
)
def test_codes_and_doubt(text: str, languages: tuple[str, ...], found: str | None) -> None:
    assert identify(text, languages) == found


@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        ("The lamp is on.", "en", "en"),
        # The whole answer is in the other language, so the turn's language was wrong.
        ("La luz está encendida.", "en", "es"),
        ("Buenas noches.", "en", "es"),
        ("Good night.", "es", "en"),
        ("La luz de la cocina is on.", "en", None),
        ("Turning off la luz del salón.", "en", None),
        ("Persiana del dormitorio opened, luz de la entrada off.", "en", None),
        ("Lámpara del salón.", "en", None),
        ("Luz de la cocina.", "en", None),
        ("La lámpara The Old One está encendida.", "es", "es"),
        ("The Lamp.", "es", None),
        ("21 °C.", "en", None),
    ],
)
def test_a_name_does_not_change_the_language_that_is_expected(
    text: str, expected: str, found: str | None
) -> None:
    assert identify(text, ("en", "es"), expected) == found


def test_the_expected_code_stays_beside_another_of_its_language() -> None:
    assert identify("The lamp is on.", ("en-US", "en-GB", "es"), "en-GB") == "en-GB"


def test_every_word_is_written_as_it_is_looked_up() -> None:
    for words in WORDS.values():
        assert all(word == word.lower() for word in words)


# The language of a turn: the answer, the voice and Hearth's own sentences use it immediately.


TELLING = {"en": {"the", "is", "turn"}, "es": {"la", "está", "enciende"}}
SAID = {"en": "turn on the lamp", "es": "enciende la Living Room Lamp"}
# The second clause fits either language.
ANSWER = {"en": "The lamp is on. 21 °C.", "es": "La Living Room Lamp está encendida. 21 °C."}
SPOKEN = {
    "en": ["The lamp is on.", "twenty-one degrees Celsius."],
    "es": ["La Living Room Lamp está encendida.", "veintiún grados Celsius."],
}


def by_words(text: str, expected: str | None) -> str | None:
    found = [code for code, words in TELLING.items() if words & set(text.lower().split())]
    return found[0] if len(found) == 1 else None


BOTH = Languages(("en", "es"), by_words)


class Voices:
    """Records the texts of each language's voice."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def __call__(self, language: str) -> "RecordingVoice":
        return RecordingVoice(language, self.said)


class RecordingVoice(ToneVoice):
    def __init__(self, language: str, said: list[tuple[str, str]]) -> None:
        self._language = language
        self._said = said

    def speak(self, text: str) -> Iterator[Chunk]:
        self._said.append((self._language, text))
        return super().speak(text)


def early(language: str) -> Script:
    async def script(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Heard(SAID[language])
        yield ReplyText(ANSWER[language])
        yield TurnDone()

    return script


def late(language: str) -> Script:
    async def script(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        first, rest = ANSWER[language][:20], ANSWER[language][20:]
        yield ReplyText(first)
        yield Heard(SAID[language], language)
        yield ReplyText(rest)
        yield TurnDone()

    return script


def missing(language: str) -> Script:
    async def script(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield ReplyText(ANSWER[language])
        yield TurnDone()

    return script


@pytest.mark.parametrize("tells", [early, late, missing])
async def test_forty_turns_in_two_languages(tells: Callable[[str], Script]) -> None:
    turns = ["en", "es"] * 20
    voices = Voices()
    brain = ScriptedBrain(*(tells(language) for language in turns))
    async with runner_with(brain, languages=BOTH, voices=voices) as (runner, closed):
        for _ in turns:
            await runner.ask("...")  # the typed text does not show its language
    assert [turn.language for turn, _ in closed] == turns
    assert voices.said == [(language, text) for language in turns for text in SPOKEN[language]]


@pytest.mark.parametrize("language", ["en", "es"])
async def test_our_own_line_follows(language: str) -> None:
    async def fails(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Heard(SAID[language])
        yield BrainFault("unreachable", "It is away.", retryable=False)

    async with runner_with(ScriptedBrain(fails), languages=BOTH) as (runner, closed):
        await runner.ask("...")
    assert closed[0][0].answer == Catalogue().say("fault.unreachable", language)


async def test_a_clause_in_another_language_is_said_in_that() -> None:
    async def quotes(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Heard("turn it into Spanish", "en")
        yield ReplyText("That is easy. Enciende la lámpara. Bueno.")
        yield TurnDone()

    voices = Voices()
    async with runner_with(ScriptedBrain(quotes), languages=BOTH, voices=voices) as (
        runner,
        closed,
    ):
        await runner.ask("...")
    assert [language for language, _ in voices.said] == ["en", "es", "en"]
    assert closed[0][0].language == "en"


async def test_the_name_of_a_thing_does_not_change_the_voice() -> None:
    async def names(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Heard("which lights are on", "en")
        yield ReplyText("La luz de la cocina is on. Lámpara del salón. La luz está apagada.")
        yield TurnDone()

    languages = Languages(("en", "es"), lambda text, code: identify(text, ("en", "es"), code))
    voices = Voices()
    async with runner_with(ScriptedBrain(names), languages=languages, voices=voices) as (runner, _):
        await runner.ask("...")
    assert [language for language, _ in voices.said] == ["en", "en", "es"]


async def test_what_was_typed_tells_the_brain_its_language() -> None:
    brain = ScriptedBrain(missing("es"))
    async with runner_with(brain, languages=BOTH) as (runner, _):
        await runner.ask(SAID["es"])
    assert brain.turns[0].request.language == "es"


async def test_a_tool_is_told_the_language_that_was_heard() -> None:
    class Listening(Tools):
        language = ""

        async def call(
            self,
            call: ToolCall,
            turn_id: str,
            heard: str | None,
            language: str,
            situation: CallContext = CALM,
        ) -> ToolOutcome:
            self.language = language
            return done(call)

    async def calls(turn: ScriptedTurn) -> AsyncGenerator[BrainEvent]:
        yield Heard(SAID["es"])
        yield ToolCall("c1", "any", {})
        await turn.answered.wait()
        yield TurnDone()

    tools = Listening()
    async with runner_with(ScriptedBrain(calls), tools=tools, languages=BOTH) as (runner, _):
        await runner.ask("...")
    assert tools.language == "es"


@pytest.mark.parametrize(
    ("codes", "told", "meant"),
    [
        (("en", "es"), "es", "es"),
        (("en", "es"), "es-MX", "es"),
        (("en", "es-MX"), "es", "es-MX"),
        (("en", "pt-BR", "pt-PT"), "pt-PT", "pt-PT"),
        (("en", "es"), "ES_419", "es"),
        (("en", "es"), "fr", None),
        (("en", "es"), "", None),
        (("en", "es"), None, None),
    ],
)
def test_a_code_stands_for_a_configured_language(
    codes: tuple[str, ...], told: str | None, meant: str | None
) -> None:
    assert Languages(codes).configured(told) == meant


def test_what_the_person_said_goes_before_what_we_answer() -> None:
    language = TurnLanguage(BOTH)
    assert language.code == "en"
    language.heard("Alexa", None)  # does not show a language
    assert language.of_clause("La lámpara") == "es"
    assert language.code == "es"
    language.heard("turn it on", "fr")  # French is not configured, so the words decide
    assert language.code == "en"
    assert language.of_clause("La lámpara") == "es"
    assert language.of_clause("OK") is None
    assert language.code == "en"
    language.heard("OK", None)
    assert language.code == "en"
