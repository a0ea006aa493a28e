"""Tests of the sentences and names that the household chose."""

import pytest

from assistant.memory.own_sentences import MOST, OWN_SENTENCES, NoSentence, OwnSentences
from tests.fakes.small_values import FakeValues


@pytest.fixture
async def own() -> OwnSentences:
    own = OwnSentences(FakeValues())
    await own.add("movie time", "close the blinds and turn off the big lamp", "sentence")
    await own.add("the big lamp", "Ceiling light", "name")
    await own.add("lamp", "Desk lamp", "name")
    return own


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Movie time!", "close the blinds and turn off Ceiling light"),
        ("  movie,  TIME ", "close the blinds and turn off Ceiling light"),
        ("it is movie time", "it is movie time"),
        ("turn on the big lamp, please", "turn on Ceiling light, please"),
        ("turn on the lamp", "turn on the Desk lamp"),
        ("turn on the lampshade", "turn on the lampshade"),
        ("", ""),
    ],
)
def test_what_is_meant(own: OwnSentences, said: str, meant: str) -> None:
    assert own.meant(said) == meant


async def test_a_meaning_is_not_read_again() -> None:
    own = OwnSentences(FakeValues())
    await own.add("good night", "sleep well", "sentence")
    await own.add("sleep well", "good night", "sentence")
    assert (own.meant("good night"), own.meant("sleep well")) == ("sleep well", "good night")


async def test_they_survive_a_restart_and_are_changed_and_deleted() -> None:
    kept = FakeValues()
    first = await OwnSentences(kept).add("Kino!", "close the blinds", "sentence")
    own = OwnSentences(kept)
    await own.load()
    assert own.told() == ('"Kino!" means "close the blinds"',)
    changed = await own.add("kino", "open the blinds", "sentence")
    assert changed.id == first.id
    assert [one.means for one in own.all] == ["open the blinds"]
    assert await own.remove(first.id) is True
    assert await own.remove(first.id) is False
    assert (own.all, own.meant("kino")) == ((), "kino")


@pytest.mark.parametrize(
    ("said", "means"), [("?!", "on"), ("on", "…"), ("The lamp", "the lamp."), ("", "on")]
)
async def test_what_has_no_meaning_is_refused(said: str, means: str) -> None:
    own = OwnSentences(FakeValues())
    with pytest.raises(NoSentence):
        await own.add(said, means, "sentence")
    assert own.all == ()


async def test_there_are_not_too_many() -> None:
    own = OwnSentences(FakeValues())
    for number in range(MOST):
        await own.add(f"word {number}", "turn on the light", "sentence")
    with pytest.raises(NoSentence, match="delete one"):
        await own.add("one more", "turn on the light", "sentence")
    await own.add("word 1", "turn off the light", "sentence")


@pytest.mark.parametrize("damaged", [[], {"x": {"said": 1}}, "text", {"x": None}])
async def test_a_damaged_value_counts_as_none(damaged: object) -> None:
    kept = FakeValues()
    await kept.keep(OWN_SENTENCES, damaged)
    own = OwnSentences(kept)
    await own.load()
    assert own.all == ()
