"""In which words and languages a sentence is tried."""

from collections.abc import Sequence

from assistant.brains.home_assistant import DryRun
from assistant.domain.call import SentenceMatch
from integrations.home_assistant.assist import Recognized


class Engine:
    """Knows some sentences of some languages."""

    def __init__(self, **known: str) -> None:
        self._known = known
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def __call__(self, texts: Sequence[str], language: str) -> Recognized | None:
        self.asked.append((language, tuple(texts)))
        text = next((text for text in texts if self._known.get(language) == text), None)
        slots = {"name": "Lamp"}
        return Recognized(text, "builtin", "HassTurnOn", slots, ("light.lamp",)) if text else None


async def test_a_match_says_all_that_the_policy_needs() -> None:
    found = await DryRun(Engine(en="lamp on")).match("lamp on", "en")
    slots = {"name": "Lamp"}
    assert found == SentenceMatch("lamp on", "en", "builtin", "HassTurnOn", slots, ("light.lamp",))


async def test_without_the_wake_word_in_the_same_request() -> None:
    engine = Engine(en="lamp on")
    found = await DryRun(engine, ["en"], ["okay nabu"]).match("Nabu, lamp on", "en")
    assert found is not None
    assert found.text == "lamp on"
    assert engine.asked == [("en", ("Nabu, lamp on", "lamp on"))]


async def test_the_persons_other_languages_follow() -> None:
    engine = Engine(es="enciende la luz")
    found = await DryRun(engine, ["en", "es"]).match("enciende la luz", "en")
    assert found is not None
    assert found.language == "es"
    assert [language for language, _ in engine.asked] == ["en", "es"]


async def test_nothing_is_nothing() -> None:
    engine = Engine(en="lamp on")
    dry_run = DryRun(engine, ["en"], ["okay nabu"])
    assert await dry_run.match("tell me a joke", "en") is None
    assert await dry_run.match("  ", "en") is None
    assert len(engine.asked) == 1
