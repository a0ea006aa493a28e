"""Tests of the offline brain's events, for typed and for spoken turns."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from assistant.brains.offline import OfflineBrain
from assistant.domain.brain import (
    PEOPLE,
    BrainFault,
    ConversationOwner,
    Heard,
    ReplyText,
    TurnDone,
    TurnRequest,
)
from assistant.domain.clock import VirtualClock
from assistant.domain.tool_call import Tier
from assistant.domain.turn_audio import TurnAudio
from assistant.speech.catalogue import Catalogue
from assistant.tools.builtin.date_and_weather import Weather
from assistant.tools.catalog.menu import Menu, build_menu
from audio.errors import InputUnusable, TookTooLong
from integrations.home_assistant.house import House
from tests.corpus.house import corpus_house
from tests.corpus.runs import Turn, corpus_brain, hear, read, run
from tests.corpus.speech import Spoken

SOUND = Spoken(bytes(32_000), 4_800)
TRY = {
    "en": "I didn't understand that. Try “turn on the kitchen light” or "
    "“close the tramontz blind”.",
    "es": "No lo he entendido. Prueba con «enciende Kitchen Light» o «cierra Tramontz Blind».",
    "de": "Das habe ich nicht verstanden. Sag zum Beispiel „schalte Kitchen Light ein“ oder "
    "„schließe Tramontz Blind“.",
}


class FreeRecognizer:
    """A recogniser without a grammar, which hears what the test gives it."""

    def __init__(self, text: str = "", languages: tuple[str, ...] = ("en",)) -> None:
        self.languages = languages
        self._text = text

    def transcribe(self, pcm: bytes) -> str:
        assert len(pcm) == 32_000 - 2 * 4_800  # from the detection on
        return self._text


class BrokenRecognizer(FreeRecognizer):
    """A recogniser whose model is gone."""

    def transcribe(self, pcm: bytes) -> str:
        raise InputUnusable("The model folder is empty.")


class LateRecognizer(FreeRecognizer):
    """A recogniser that is still busy when its result is no longer awaited."""

    def transcribe(self, pcm: bytes) -> str:
        raise TookTooLong("too long")


class NoForecasts:
    """A home that is never asked: the tool is only offered here."""

    connected = True

    async def command(self, kind: str, **fields: Any) -> Any:
        raise AssertionError(kind)


@pytest.fixture
def brain() -> Callable[..., OfflineBrain]:
    def make(recognizer: FreeRecognizer | None = None, **options: Any) -> OfflineBrain:
        return corpus_brain(recognizer or FreeRecognizer(), **options)

    return make


Make = Callable[..., OfflineBrain]


def typed(text: str, language: str = "en") -> TurnRequest:
    return TurnRequest("t", language, "text", text, None)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("is the front door locked", "Yes, the front door is locked."),
        ("is the kitchen window open", "No, the kitchen window is closed."),
        ("how many lights are on", "Three are on."),
        ("which lights are on", "The living room light, the dining room light and the lamp."),
        ("are any fans on", "No, none of them are on."),
        ("what is the temperature in the hall", "It's 19.5 degrees in the hall."),
        ("what is the temperature in the garage", "I don't know the temperature there."),
        ("what time is it", "It's 12:00."),
        ("what's the date today", "It's Thursday, January 1."),
        ("never mind", "OK."),
        ("turn on the lamp", "Do you mean the lamp in the living room or the lamp in the bedroom?"),
        ("turn on the kitchen lamp", "There's no Lamp in the kitchen."),
    ],
)
async def test_answers_without_a_call(brain: Make, text: str, answer: str) -> None:
    turn = await read(brain(), text)
    assert (turn.answer, turn.calls, turn.understood) == (answer, [], True)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("is the front door locked", "the front door was locked."),
        ("which lights are on", "were on."),
        ("are any fans on", "none of them were on."),
        ("what is the temperature in the hall", "it was 19.5 degrees in the hall."),
        ("is everything locked", "the front door was locked."),
    ],
)
async def test_without_contact_questions_are_answered_with_their_age(
    brain: Make, text: str, answer: str
) -> None:
    async def look() -> float | None:
        return 250.0

    asked = brain()
    asked.look = look
    told = (await read(asked, text)).answer
    assert told.startswith("I lost contact with Home Assistant 4 minutes ago. At that point, ")
    assert told.endswith(answer)


async def test_a_house_that_was_never_seen_is_not_told_of(brain: Make) -> None:
    async def look() -> float | None:
        return None

    asked = brain()
    asked.look = look
    turn = await read(asked, "is any door open")
    assert turn.answer == Catalogue().say("tools.not_live", "en")


async def test_only_a_question_about_states_looks_whether_the_house_is_there(brain: Make) -> None:
    async def look() -> float | None:
        raise AssertionError("nobody asked about it")

    asked = brain()
    asked.look = look
    assert (await read(asked, "what time is it")).answer == "It's 12:00."
    assert (await read(asked, "turn on the kitchen light")).calls


@pytest.mark.parametrize(
    ("text", "language", "answer"),
    [
        ("make me a sandwich", "en", TRY["en"]),
        ("who is the prime minister of canada", "en", TRY["en"]),
        ("start a timer for five minutes", "en", "I can't do that here."),
        ("hazme un bocadillo", "es", TRY["es"]),
    ],
)
async def test_says_honestly_what_it_cannot(
    brain: Make, text: str, language: str, answer: str
) -> None:
    turn = await read(brain(), text, language)
    assert turn.answer.startswith(answer)
    assert (turn.calls, turn.understood) == ([], False)


@pytest.mark.parametrize(
    ("text", "language", "answer"),
    [
        ("turn on the lights in the nursery", "en", "I can't find a room called nursery."),
        ("switch the bathroom lamps to purple", "en", "I can't find a room called bathroom."),
        ("enciende la luz del baño", "es", "No conozco ninguna habitación llamada baño."),
    ],
)
async def test_a_room_that_the_house_lacks_is_named(
    brain: Make, text: str, language: str, answer: str
) -> None:
    turn = await read(brain(), text, language)
    assert (turn.answer, turn.calls, turn.understood) == (answer, [], True)


async def test_two_commands_in_order(brain: Make) -> None:
    turn = await read(brain(), "turn on the kitchen light and set the living room to 21 degrees")
    assert [(call.name, call.arguments) for call in turn.calls] == [
        ("intent__HassTurnOn", {"name": "Kitchen Light", "domain": ["light"]}),
        ("climate__HassClimateSetTemperature", {"area": "Living Room", "temperature": 21}),
    ]
    assert len({call.id for call in turn.calls}) == 2
    assert turn.answer == "Turned on the kitchen light. Set the living room to 21 degrees."


async def test_nothing_is_done_when_a_part_is_unclear(brain: Make) -> None:
    turn = await read(brain(), "turn on the kitchen light and turn on the lamp")
    assert turn.calls == []
    assert turn.answer == "Do you mean the lamp in the living room or the lamp in the bedroom?"


async def test_the_place_of_the_assistant_settles_a_doubled_name(brain: Make) -> None:
    turn = await read(brain(area="Bedroom"), "turn off the lamp")
    assert turn.done == ('HassTurnOff {"area": "Bedroom", "domain": ["light"], "name": "Lamp"}')


@pytest.mark.parametrize("words", ["all the lamps", "every lamp", "all lights"])
async def test_all_of_a_kind_is_more_than_the_one_called_so(brain: Make, words: str) -> None:
    """The bedroom has one lamp that is called "Lamp"."""
    turn = await read(brain(), f"turn off {words} in the bedroom")
    assert turn.done == 'HassTurnOff {"area": "Bedroom", "domain": ["light"]}'


async def test_half_degrees_stay(brain: Make) -> None:
    turn = await read(brain(), "set the bedroom thermostat to 19.5 degrees")
    assert turn.calls[0].arguments["temperature"] == 19.5


async def test_an_alias_calls_the_name(brain: Make) -> None:
    house = corpus_house()
    light = replace(house.entities["light.hall"], aliases=("luz de la entrada",))
    aliased = House(house.floors, house.areas, {**house.entities, "light.hall": light})
    turn = await read(brain(house=aliased), "enciende la luz de la entrada", "es")
    assert turn.done == 'HassTurnOn {"domain": ["light"], "name": "Hall Light"}'
    assert turn.answer == "He encendido la luz de la entrada."


async def test_a_recogniser_without_grammar_goes_straight_to_the_parser(brain: Make) -> None:
    turn = await hear(brain(FreeRecognizer("turn on the hall lights")), SOUND)
    assert turn.heard == "turn on the hall lights"
    assert turn.done == 'HassTurnOn {"area": "Hall", "domain": ["light"]}'


async def test_a_spanish_recogniser_is_parsed_in_spanish(brain: Make) -> None:
    turn = await hear(brain(FreeRecognizer("apaga zorblax", ("es",))), SOUND, "es")
    assert turn.done == 'HassTurnOff {"domain": ["light"], "name": "Zorblax"}'
    assert turn.answer == "He apagado zorblax."


@pytest.mark.parametrize(
    ("language", "answer"),
    [
        ("en", "Sorry, I didn't catch that. Please say the command again."),
        ("es", "Por mi cuenta solo entiendo inglés hablado."),
    ],
)
async def test_nothing_heard(brain: Make, language: str, answer: str) -> None:
    turn: Turn = await hear(brain(), SOUND, language)
    assert (turn.heard, turn.answer, turn.understood) == ("", answer, False)


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("es", "blablabla", ReplyText(TRY["es"], language="es")),
        ("de", "blablabla", ReplyText(TRY["de"], language="de")),
        ("it", "blablabla", ReplyText(TRY["en"], language="en")),  # we have no Italian
    ],
)
async def test_the_answer_tells_its_language(
    brain: Make, language: str, text: str, words: ReplyText
) -> None:
    turn = brain().begin(typed(text, language))
    assert words in [event async for event in turn.events()]


async def test_a_broken_recogniser_is_a_fault_and_not_silence(brain: Make) -> None:
    audio = TurnAudio(SOUND.detection)
    audio.append(SOUND.pcm)
    audio.finish()
    turn = brain(BrokenRecognizer()).begin(TurnRequest("t", "en", "voice", None, audio))
    events = [event async for event in turn.events()]
    assert events == [BrainFault("broken", "The model folder is empty.", retryable=False)]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "I couldn't make that out in time. Please say it again in fewer words."),
        ("es", "No me ha dado tiempo a entenderlo. Repítelo con menos palabras."),
    ],
)
async def test_what_takes_too_long_to_recognise_is_said(
    brain: Callable[..., OfflineBrain], language: str, said: str
) -> None:
    audio = TurnAudio(SOUND.detection)
    audio.append(SOUND.pcm)
    audio.finish()
    turn = brain(LateRecognizer()).begin(TurnRequest("t", language, "voice", None, audio))
    events = [event async for event in turn.events()]
    assert events == [ReplyText(said, language=language), TurnDone(understood=False)]


@pytest.mark.parametrize("text", ["turn on the kitchen light", "turn off all the lights"])
async def test_a_house_that_is_away_and_has_left_its_picture(text: str) -> None:
    async def menu() -> Menu:
        return build_menu((), {}, ())

    brain = OfflineBrain(corpus_house, menu, FreeRecognizer(), Catalogue(), VirtualClock())
    events = [event async for event in brain.begin(typed(text)).events()]
    assert events == [
        Heard(text, "en"),
        BrainFault("house_away", "Home Assistant cannot be reached", retryable=False),
    ]


@pytest.mark.parametrize(
    ("text", "house", "said", "understood"),
    [
        (
            "turn on the kitchen light",
            corpus_house(),
            "I can't get any controls from Home Assistant",
            True,
        ),
        (
            "turn on the kitchen light",
            House(),
            "I didn't understand that. Try “set a timer for five minutes” or “what time is it”.",
            False,
        ),
    ],
)
async def test_a_house_that_is_there_but_gives_no_tools_or_shows_no_things_is_not_called_away(
    text: str, house: House, said: str, understood: bool
) -> None:
    async def menu() -> Menu:
        return build_menu((), {}, ())

    brain = OfflineBrain(
        lambda: house, menu, FreeRecognizer(), Catalogue(), VirtualClock(), connected=lambda: True
    )
    events = [event async for event in brain.begin(typed(text)).events()]
    reply, end = events[-2:]
    assert isinstance(reply, ReplyText)
    assert reply.delta.startswith(said)
    assert end == TurnDone(understood=understood)


@pytest.mark.parametrize(
    ("text", "language", "when"),
    [
        ("what is the weather tomorrow", "en", "tomorrow"),
        ("lloverá mañana", "es", "tomorrow"),
        ("what's the weather like", "en", "today"),
    ],
)
async def test_the_weather_is_asked_of_its_own_tool_and_its_sentence_said(
    text: str, language: str, when: str
) -> None:
    house = corpus_house()
    clock = VirtualClock()
    tool = Weather(NoForecasts(), lambda: house, Catalogue(), clock).tool()

    async def menu() -> Menu:
        return build_menu((), {}, (tool,))

    brain = OfflineBrain(lambda: house, menu, FreeRecognizer(), Catalogue(), clock)
    turn = await run(brain, typed(text, language), tier=Tier.READ, sentence="It will be sunny.")
    assert [(call.name, call.arguments) for call in turn.calls] == [
        ("weather_forecast", {"when": when})
    ]
    assert turn.answer == "It will be sunny."


async def test_the_name_that_a_person_was_asked_for_is_not_a_programs_to_tell() -> None:
    asked: list[str] = []

    async def expected(text: str, spoken: bool) -> tuple[Mapping[str, Any], str] | None:
        asked.append(text)
        return None

    async def menu() -> Menu:
        return build_menu((), {}, ())

    brain = OfflineBrain(
        corpus_house, menu, FreeRecognizer(), Catalogue(), VirtualClock(), expected=expected
    )
    for owner in (ConversationOwner("mcp:agent"), PEOPLE):
        request = replace(typed("Ana"), owner=owner)
        assert [event async for event in brain.begin(request).events()]
    assert asked == ["Ana"], "people alone were asked"
