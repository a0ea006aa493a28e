"""Tests that an answer that cannot be heard counts as none, and that the log says why."""

import asyncio
from pathlib import Path
from typing import Literal
from unittest.mock import patch

import pytest

from assistant.confirmation.forms import Forms
from assistant.confirmation.witness import ANSWER_S, Hears, OwnersPhone, Witness, weigh
from assistant.domain.tool_call import Question, Tier
from assistant.speech.catalogue import Catalogue
from audio.errors import InputUnusable
from integrations.errors import Misconfigured
from integrations.home_assistant import phones
from integrations.home_assistant.phones import Phone


class DeafEar:
    """A recogniser that never finishes, or fails."""

    languages = ("en",)

    def __init__(self, fails: bool) -> None:
        self._fails = fails

    async def transcribe(self, pcm: bytes) -> str:
        if self._fails:
            raise InputUnusable("The model is gone.")
        await asyncio.get_running_loop().create_future()
        raise AssertionError("nobody ends this")

    async def spell(self, pcm: bytes) -> str:
        return await self.transcribe(pcm)


@pytest.mark.parametrize(("fails", "why"), [(True, "The model is gone."), (False, "too slow")])
async def test_why_an_answer_was_not_heard(
    fails: bool, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def ear() -> DeafEar:
        return DeafEar(fails)

    witness = Witness(("en",), None, ear, Hears(("en",), ("en",)))
    with patch("assistant.confirmation.witness.RECOGNISE_S", 0.0):
        assert await witness.recognise(b"\0\0", "en") is None
        assert await witness.spelled(b"\0\0") == ""
    assert [record.getMessage() for record in caplog.records] == [
        f"an answer could not be recognised on this machine: {why}",
        f"a PIN could not be recognised on this machine: {why}",
    ]


# Two transcripts of the person's words and one verdict.


ROWS = [
    tuple(line.replace("\\u200b", "\u200b").split("\t"))  # zero-width space
    for line in Path(__file__).with_name("verdicts.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
FORMS = Forms(["en", "es"])
THINGS = ["Front Door"]
ASKED = "Unlock the front door?"


@pytest.mark.parametrize(("transcript", "recognised", "tier", "verdict", "always"), ROWS)
def test_the_verdict(
    transcript: str, recognised: str, tier: str, verdict: str, always: str
) -> None:
    told, own = (None if text == "-" else text for text in (transcript, recognised))
    result = weigh(told, own, tier == "secure", FORMS, THINGS, ASKED)
    assert result == (verdict, always == "always")


def test_the_table_is_long_enough_and_has_no_row_twice() -> None:
    assert len(ROWS) >= 60
    assert len({row[:3] for row in ROWS}) == len(ROWS)


NO_YES = [
    row[0] for row in ROWS if row[1:3] == ("-", "secure") and row[3] != "yes" and row[0] != "-"
]


@pytest.mark.parametrize("other", NO_YES)
def test_where_both_exist_one_yes_is_not_enough_for_secure(other: str) -> None:
    assert weigh("yes", other, True, FORMS, THINGS, ASKED)[0] in ("no", "unclear")
    assert weigh(other, "yes", True, FORMS, THINGS, ASKED)[0] in ("no", "unclear")


def test_without_the_question_the_echo_is_of_opening() -> None:
    assert weigh("yes, unlock it", None, True, FORMS, THINGS) == ("yes", False)
    assert weigh("yes, lock it", None, True, FORMS, THINGS) == ("new_command", False)


# The owner's phone: the named one, asked in the person's language.


PIXEL, IPAD = Phone("mobile_app_pixel_12", "Ana's Pixel"), Phone("mobile_app_ipad", "iPad")


def question(language: str) -> Question:
    return Question("q", "t", "c", "phone", Tier.SECURE, "Unlock the front door?", language)


class Phones(phones.Phones):
    """Phones that all answer the same."""

    def __init__(self, *known: Phone, answer: Literal["yes", "no"] | None = "yes") -> None:
        self._known, self._answer = list(known), answer
        self.asked: list[tuple[str, str, str, float, tuple[str, str]]] = []

    async def all(self) -> list[Phone]:
        return self._known

    async def ask(
        self,
        phone: Phone,
        title: str,
        question: str,
        timeout_s: float,
        buttons: tuple[str, str] = ("Yes", "No"),
    ) -> Literal["yes", "no"] | None:
        self.asked.append((phone.service, title, question, timeout_s, buttons))
        return self._answer


@pytest.mark.parametrize("answer", ["yes", "no", None])
@pytest.mark.parametrize(("language", "buttons"), [("en", ("Yes", "No")), ("es", ("Sí", "No"))])
async def test_it_is_asked_there(
    answer: Literal["yes", "no"] | None, language: str, buttons: tuple[str, str]
) -> None:
    phones = Phones(IPAD, PIXEL, answer=answer)
    phone = OwnersPhone(phones, PIXEL.service, "Hearth", Catalogue())
    assert phone.name == "pixel 12"
    assert await phone.ask(question(language)) == answer
    assert phones.asked == [(PIXEL.service, "Hearth", "Unlock the front door?", ANSWER_S, buttons)]
    assert phone.name == "Ana's Pixel"


@pytest.mark.parametrize(("known", "there"), [([IPAD], "mobile_app_ipad"), ([], "none")])
async def test_no_other_one_is_asked_instead(known: list[Phone], there: str) -> None:
    phones = Phones(*known)
    with pytest.raises(Misconfigured, match=f"policy.phone = .* its phones are: {there}"):
        await OwnersPhone(phones, PIXEL.service, "Hearth", Catalogue()).ask(question("en"))
    assert phones.asked == []
