"""What tells the end of a turn, by the languages spoken."""

import asyncio

import pytest

from assistant.conversation import endpointing
from assistant.conversation.endpointing import (
    Endings,
    LateEndings,
    PlainEndings,
    keep_names,
    open_endings,
)
from assistant.conversation.grammar_endpointer import GrammarEndpointer
from audio.endpoint import HANG_OVER_MS
from integrations.home_assistant.house import House
from tests.corpus.house import corpus_house


@pytest.mark.parametrize("languages", [("es",), ("es-MX", "en"), ("de", "en")])
async def test_elsewhere_only_how_much_was_said_counts(languages: tuple[str, ...]) -> None:
    async with open_endings(languages, corpus_house) as endings:
        assert isinstance(endings, PlainEndings)


async def test_where_no_language_is_told_every_pause_is_the_same() -> None:
    async with open_endings((), corpus_house) as endings:
        assert type(endings) is Endings
        assert endings.hang_over_ms(0, None) == HANG_OVER_MS


async def test_where_english_is_spoken_the_words_count_once_somebody_speaks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = asyncio.Event()

    def note(late: LateEndings, endings: Endings) -> None:
        assert isinstance(endings, GrammarEndpointer)
        made.set()

    monkeypatch.setattr(LateEndings, "become", note)
    async with open_endings(("en-GB", "es"), corpus_house) as endings:
        assert isinstance(endings, LateEndings)
        await asyncio.sleep(0)
        assert not made.is_set()  # the recogniser is made when it is needed
        endings.begin(0)
        async with asyncio.timeout(20):
            await made.wait()


async def test_a_picture_is_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = corpus_house(), House()
    pictures = [first, first, second, second]
    told: list[House] = []
    looked = asyncio.Event()
    monkeypatch.setattr(endpointing, "LOOK_S", 0.0)

    def house() -> House:
        if len(pictures) == 1:
            looked.set()
            return pictures[0]
        return pictures.pop(0)

    task = asyncio.create_task(keep_names(told.append, house))
    await looked.wait()
    task.cancel()
    assert told == [first, second]
