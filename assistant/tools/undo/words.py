"""What is said about undoing."""

from collections.abc import Sequence
from itertools import groupby

from assistant.speech.catalogue import Catalogue
from assistant.tools.undo.step import UndoneReport

MAX_NAMED = 4  # things told one by one


def tell(report: UndoneReport, catalogue: Catalogue, language: str) -> str:
    """What was put back and what could not be, in whole sentences; "" for an empty report."""

    def some(key: str, names: Sequence[str], **values: str) -> str:
        told = [name for name in dict.fromkeys(names) if name]
        if not names:
            return ""
        if not told:
            return catalogue.say(f"{key}_it", language, **values)
        if len(told) > MAX_NAMED:
            return catalogue.say(f"{key}_many", language, count=len(told), **values)
        return catalogue.say(key, language, names=", ".join(told), **values)

    sentences = [some("undo.done", report.put_back), some("undo.moving", report.on_the_way)]
    if not any((report.put_back, report.on_the_way, report.not_put_back)):
        sentences.append(some("undo.unchanged", report.unchanged))
    left = sorted(report.not_put_back, key=lambda one: one.why)
    for why, ones in groupby(left, key=lambda one: one.why):
        names = [one.name for one in ones]
        sentences.append(some("undo.left", names, why=catalogue.say(why, language)))
    return " ".join(filter(None, sentences))
