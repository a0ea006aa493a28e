"""What is said."""

import pytest

from assistant.speech.catalogue import Catalogue
from assistant.tools.undo import step
from assistant.tools.undo.step import NotPutBack, UndoneReport
from assistant.tools.undo.tools import tell

CATALOGUE = Catalogue()


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (UndoneReport(), ""),
        (UndoneReport(put_back=("Lamp", "Fan", "Lamp")), "I put back Lamp, Fan."),
        (UndoneReport(put_back=tuple("ABCDE")), "I put back 5 things."),
        (UndoneReport(put_back=("",)), "I put it back."),
        (UndoneReport(on_the_way=("Blind",)), "On its way back: Blind."),
        (UndoneReport(unchanged=("Lamp",)), "Nothing had changed: Lamp."),
        (UndoneReport(put_back=("Fan",), unchanged=("Lamp",)), "I put back Fan."),
        (
            UndoneReport(
                put_back=("Fan",),
                not_put_back=(
                    NotPutBack("Lamp", step.WHY_NOT_REACHED),
                    NotPutBack("Door", step.WHY_NEVER),
                    NotPutBack("Shelf", step.WHY_NOT_REACHED),
                ),
            ),
            "I put back Fan. I could not put back Door: I never undo that kind of thing. "
            "I could not put back Lamp, Shelf: it cannot be reached.",
        ),
        (
            UndoneReport(not_put_back=(NotPutBack("", step.WHY_UNKNOWN),)),
            "I could not undo that: I do not know how.",
        ),
    ],
)
def test_sentences(report: UndoneReport, said: str) -> None:
    assert tell(report, CATALOGUE, "en") == said


@pytest.mark.parametrize("language", CATALOGUE.languages())
def test_every_reason_has_its_words(language: str) -> None:
    reasons = [value for name, value in vars(step).items() if name.startswith("WHY_")]
    assert len(reasons) == 8
    for why in reasons:
        for names in (("Lamp",), ("",), tuple("ABCDE")):
            report = UndoneReport(not_put_back=tuple(NotPutBack(name, why) for name in names))
            assert CATALOGUE.text(why, language) in tell(report, CATALOGUE, language)
