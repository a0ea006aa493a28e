"""The language of a turn: answer, voice and our own lines follow it in that same turn."""

from collections.abc import AsyncGenerator, Callable, Iterator

import pytest

from assistant.domain.brain import BrainEvent, BrainFault, Heard, ReplyText, TurnDone
from assistant.domain.call import ToolCall
from assistant.domain.call_context import CALM, CallContext
from assistant.domain.outcome import ToolOutcome
from assistant.speech.catalogue import Catalogue
from assistant.speech.identify import Languages, TurnLanguage, identify
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

WORDS = {"en": {"the", "is", "turn"}, "es": {"la", "está", "enciende"}}
SAID = {"en": "turn on the lamp", "es": "enciende la Living Room Lamp"}
# The second clause could be either.
ANSWER = {"en": "The lamp is on. 21 °C.", "es": "La Living Room Lamp está encendida. 21 °C."}
SPOKEN = {
    "en": ["The lamp is on.", "twenty-one degrees Celsius."],
    "es": ["La Living Room Lamp está encendida.", "veintiún grados Celsius."],
}


def by_words(text: str, expected: str | None) -> str | None:
    found = [code for code, words in WORDS.items() if words & set(text.lower().split())]
    return found[0] if len(found) == 1 else None


BOTH = Languages(("en", "es"), by_words)


class Voices:
    """Remembers what each language's voice was given."""

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
            await runner.ask("...")  # the typed words tell nothing
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
    language.heard("Alexa", None)  # tells nothing
    assert language.of_clause("La lámpara") == "es"
    assert language.code == "es"
    language.heard("turn it on", "fr")  # not configured: its words tell
    assert language.code == "en"
    assert language.of_clause("La lámpara") == "es"
    assert language.of_clause("OK") is None
    assert language.code == "en"
    language.heard("OK", None)
    assert language.code == "en"
