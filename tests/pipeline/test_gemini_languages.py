"""Tests of two languages in one house: everything said in a turn is in that turn's language."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from assistant.config.schema import Settings
from assistant.speech.synthesis import WARM_PHRASE
from audio.sound_files import WavSource
from audio.tts import Chunk, Voice
from tests.pipeline.gemini_rig import LeapingClock, gemini_settings
from tests.pipeline.rig import pipeline
from tests.simulators.gemini_live import GeminiSimulator
from tests.simulators.script import Call, Done, Drop, Hear, Say, Think, Turn

# The sentence, the model's answer, and its spoken form; English and Spanish alternate.
EXCHANGES = (
    (
        "what is the temperature in the living room",
        "It is 21.5 °C in the living room.",
        "It is twenty-one point five degrees Celsius in the living room.",
    ),
    (
        "qué temperatura hay en el salón",
        "Hay 21,5 °C en el salón.",
        "Hay veintiuno coma cinco grados Celsius en el salón.",
    ),
    ("what time is it", "It is 7:30.", "It is seven thirty."),
    ("qué hora es", "Son las 18:05.", "Son las dieciocho cero cinco."),
    (
        "turn on the kitchen light",
        "The kitchen light is at 70 %.",
        "The kitchen light is at seventy percent.",
    ),
    (
        "enciende la luz de la cocina",
        "La luz de la cocina está al 70 %.",
        "La luz de la cocina está al setenta por ciento.",
    ),
    # Answers whose words do not show their language.
    ("how warm is the water", "40 °C.", "forty degrees Celsius."),
    ("a cuánto está el agua", "40 °C.", "cuarenta grados Celsius."),
    ("how humid is it", "45 %.", "forty-five percent."),
    ("qué humedad hay", "45 %.", "cuarenta y cinco por ciento."),
    (
        "when do the shutters close",
        "They close at 9:15 PM.",
        "They close at nine fifteen PM.",
    ),
    (
        "cuándo se cierran las persianas",
        "Se cierran a las 21:15.",
        "Se cierran a las veintiuna quince.",
    ),
    # Names from the other language.
    (
        "dim the Lámpara Azul to 30 percent",
        "The Lámpara Azul is at 30 %.",
        "The Lámpara Azul is at thirty percent.",
    ),
    (
        "baja Office Light al 30 por ciento",
        "Office Light está al 30 %.",
        "Office Light está al treinta por ciento.",
    ),
    (
        "is it cold outside",
        "It is -3 °C outside, so yes.",
        "It is minus three degrees Celsius outside, so yes.",
    ),
    (
        "hace frío fuera",
        "Fuera hace -3 °C, así que sí.",
        "Fuera hace menos tres grados Celsius, así que sí.",
    ),
    (
        "how far is the station",
        "It is 1.5 km away. A taxi costs $12.50.",
        "It is one point five kilometers away. A taxi costs twelve dollars and fifty cents.",
    ),
    (
        "a qué distancia está la estación",
        "Está a 1,5 km. Un taxi cuesta 12,50 €.",
        "Está a uno coma cinco kilómetros. Un taxi cuesta doce euros con cincuenta céntimos.",
    ),
    (
        "set the heating to 19 degrees",
        "The heating is set to 19.5 °C.",
        "The heating is set to nineteen point five degrees Celsius.",
    ),
    (
        "pon la calefacción a 19 grados",
        "La calefacción está a 19,5 °C.",
        "La calefacción está a diecinueve coma cinco grados Celsius.",
    ),
)
LANGUAGES = ("en", "es")
ACCENTS = {"en": "en-GB", "es": "es-419"}  # as a service may report them
SORRY = {
    "en": "I couldn't reach the AI service I use. Please try again in a moment.",
    "es": (
        "No he podido conectar con el servicio que responde por mí. "
        "Inténtalo otra vez dentro de un momento."
    ),
}


@dataclass
class Voices:
    """The voices of all languages, which record their texts."""

    said: list[tuple[str, str]] = field(default_factory=list)  # language, text

    def voice(self, language: str) -> Voice:
        """Return the voice of a language."""
        return _Voice(language, self.said)

    def take(self) -> tuple[set[str], str]:
        """Return the languages spoken since the last call, and everything that was said."""
        languages, texts = {language for language, _ in self.said}, [text for _, text in self.said]
        self.said.clear()
        return languages, " ".join(texts)


@dataclass
class _Voice:
    language: str
    said: list[tuple[str, str]]
    rate: int = 16_000

    @property
    def name(self) -> str:
        return self.language

    def speak(self, text: str) -> Iterator[Chunk]:
        if text != WARM_PHRASE:  # the warm-up phrase is not played
            self.said.append((self.language, text))
        yield Chunk(bytes(3_200))


@pytest.fixture
def voices(monkeypatch: pytest.MonkeyPatch) -> Voices:
    made = Voices()
    monkeypatch.setattr(
        "assistant.app.conversation.voices_of", lambda settings, pace, ahead: made.voice
    )
    return made


def _settings(folder: Path, service: GeminiSimulator, *brains: str) -> Settings:
    return gemini_settings(
        service,
        folder,
        assistant={"data": str(folder / "data"), "languages": list(LANGUAGES)},
        brain={"order": list(brains)},
        gemini={"late_text_ms": 20},  # waited for at the end of each turn
    )


def _heard(number: int) -> Hear:
    """Return the transcript whole or in pieces, with or without the language."""
    said = EXCHANGES[number][0]
    told = ACCENTS[LANGUAGES[number % 2]] if number % 4 < 2 else None
    return Hear(said, pieces=1 + number % 3, language=told)


async def test_forty_turns(voices: Voices, command: Path, tmp_path: Path) -> None:
    """Each exchange is spoken once and typed once, all in one process and one session."""
    script: list[Turn] = []
    for number, (_, answer, _) in enumerate(EXCHANGES):
        script.append(Turn("audio", [_heard(number), Think(0.02), Say(answer), Done()]))
    script += [Turn("text", [Say(answer), Done()]) for _, answer, _ in EXCHANGES]
    async with (
        GeminiSimulator(script) as service,
        pipeline(_settings(tmp_path, service, "gemini-live")) as app,
    ):
        for number, (said, _, spoken) in enumerate(EXCHANGES):
            await app.runner.listen(WavSource(command, realtime=False), turns=1)
            record = app.log.turns[-1].record
            assert (record.heard, record.language) == (said, LANGUAGES[number % 2])
            assert voices.take() == ({LANGUAGES[number % 2]}, spoken)
            assert " ".join(record.clauses) == spoken
        for number, (said, _, spoken) in enumerate(EXCHANGES):
            await app.runner.ask(said)
            record = app.log.turns[-1].record
            assert record.language == LANGUAGES[number % 2]
            assert voices.take() == ({LANGUAGES[number % 2]}, spoken)
        assert app.log.count == 40
        assert service.total_sockets == 1
        setup = service.connections[0].setup
        assert setup is not None
        assert setup.language_codes == LANGUAGES


@pytest.mark.parametrize("way", ["spoken", "typed"])
async def test_our_own_sorry(way: str, voices: Voices, command: Path, tmp_path: Path) -> None:
    """One turn fails in each language in order; only the first is worth two attempts."""

    def lost(said: str) -> Turn:
        if way == "typed":
            return Turn("text", [Drop()])
        return Turn("audio", [Hear(said), Drop()])

    said = {"en": EXCHANGES[0][0], "es": EXCHANGES[1][0]}
    order = ("es", "en", "es")
    clock = LeapingClock()
    script = [lost(said[language]) for language in (order[0], *order)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assistant.app.conversation.SystemClock", lambda: clock)
        async with (
            GeminiSimulator(script) as service,
            pipeline(_settings(tmp_path, service, "gemini-live")) as app,
        ):
            for language in order:
                if way == "spoken":
                    await app.runner.listen(WavSource(command, realtime=False), turns=1)
                else:
                    await app.runner.ask(said[language])
                record = app.log.turns[-1].record
                assert record.error is not None
                assert (record.error.kind, record.language) == ("unreachable", language)
                assert voices.take() == ({language}, SORRY[language])
                clock.leap(120.0)  # it is tried again


async def test_which_rung_answers(voices: Voices, tmp_path: Path) -> None:
    """Both notices, that we are alone and that Gemini is back, are in the language of their
    turn."""
    clock = LeapingClock()
    script = [
        *([Turn("text", [Drop()])] * 2),
        Turn("text", [Say("It is 7:30."), Done()]),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assistant.app.conversation.SystemClock", lambda: clock)
        async with (
            GeminiSimulator(script) as service,
            pipeline(_settings(tmp_path, service, "gemini-live", "offline")) as app,
        ):
            await app.runner.ask("apaga la luz del comedor")
            languages, alone = voices.take()
            assert languages == {"es"}
            assert alone.startswith("No puedo conectar con Gemini, así que de momento contesto yo.")
            assert "apagado" in alone
            clock.leap(600.0)
            await app.runner.ask("what time is it")
            assert voices.take() == ({"en"}, "Gemini is back. It is seven thirty.")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("unlock the front door please", "The person is being asked"),
        ("desbloquea la puerta principal", "Se está pidiendo el sí"),
    ],
)
async def test_what_the_model_is_told(
    said: str, sentence: str, voices: Voices, tmp_path: Path
) -> None:
    """The sentence that is sent back with a call is in the language of the turn, too."""
    del voices
    unlock = Call(
        "intent__HassTurnOff",
        {"name": "Front Door"},
        answer=lambda response: str(response["sentence"]).startswith(sentence),
    )
    async with (
        GeminiSimulator([Turn("text", [unlock, Say("No."), Done()])]) as service,
        pipeline(_settings(tmp_path, service, "gemini-live")) as app,
    ):
        await app.runner.ask(said)
        [outcome] = app.log.turns[-1].outcomes
        assert outcome.decision == "needs_confirmation"
